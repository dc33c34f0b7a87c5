-- flowmend bundle 5f66f852902a5327: drops the bundle's own tables
-- After this the bundle cannot be rolled back. The ledger keeps its rows.
DROP TABLE IF EXISTS `flowmend_5f66f852902a_03_work`;
DROP TABLE IF EXISTS `flowmend_5f66f852902a_03_before`;
DROP TABLE IF EXISTS `flowmend_5f66f852902a_03_after`;
DROP TABLE IF EXISTS `flowmend_5f66f852902a_04_work`;
DROP TABLE IF EXISTS `flowmend_5f66f852902a_04_before`;
DROP TABLE IF EXISTS `flowmend_5f66f852902a_04_after`;
DROP TABLE IF EXISTS `flowmend_5f66f852902a_05_work`;
DROP TABLE IF EXISTS `flowmend_5f66f852902a_05_before`;
DROP TABLE IF EXISTS `flowmend_5f66f852902a_05_after`;
DROP TABLE IF EXISTS `flowmend_5f66f852902a_06_work`;
DROP TABLE IF EXISTS `flowmend_5f66f852902a_06_before`;
DROP TABLE IF EXISTS `flowmend_5f66f852902a_06_after`;
