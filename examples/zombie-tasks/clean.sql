-- flowmend bundle 3bce59b480048cf3: drops the bundle's own tables
-- After this the bundle cannot be rolled back. The ledger keeps its rows.
DROP TABLE IF EXISTS `flowmend_3bce59b48004_03_work`;
DROP TABLE IF EXISTS `flowmend_3bce59b48004_03_before`;
DROP TABLE IF EXISTS `flowmend_3bce59b48004_03_after`;
DROP TABLE IF EXISTS `flowmend_3bce59b48004_04_work`;
DROP TABLE IF EXISTS `flowmend_3bce59b48004_04_before`;
DROP TABLE IF EXISTS `flowmend_3bce59b48004_04_after`;
DROP TABLE IF EXISTS `flowmend_3bce59b48004_05_work`;
DROP TABLE IF EXISTS `flowmend_3bce59b48004_05_before`;
DROP TABLE IF EXISTS `flowmend_3bce59b48004_05_after`;
DROP TABLE IF EXISTS `flowmend_3bce59b48004_06_work`;
DROP TABLE IF EXISTS `flowmend_3bce59b48004_06_before`;
DROP TABLE IF EXISTS `flowmend_3bce59b48004_06_after`;
