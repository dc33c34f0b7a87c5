-- flowmend bundle 08ead15462525495: drops the bundle's own tables
-- After this the bundle cannot be rolled back. The ledger keeps its rows.
DROP TABLE IF EXISTS `flowmend_08ead1546252_03_work`;
DROP TABLE IF EXISTS `flowmend_08ead1546252_03_before`;
DROP TABLE IF EXISTS `flowmend_08ead1546252_03_after`;
DROP TABLE IF EXISTS `flowmend_08ead1546252_04_work`;
DROP TABLE IF EXISTS `flowmend_08ead1546252_04_before`;
DROP TABLE IF EXISTS `flowmend_08ead1546252_04_after`;
DROP TABLE IF EXISTS `flowmend_08ead1546252_05_work`;
DROP TABLE IF EXISTS `flowmend_08ead1546252_05_before`;
DROP TABLE IF EXISTS `flowmend_08ead1546252_05_after`;
DROP TABLE IF EXISTS `flowmend_08ead1546252_06_work`;
DROP TABLE IF EXISTS `flowmend_08ead1546252_06_before`;
DROP TABLE IF EXISTS `flowmend_08ead1546252_06_after`;
