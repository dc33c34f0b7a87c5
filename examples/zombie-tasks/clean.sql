-- flowmend bundle 20d41b5d849d6d8d: drops the bundle's own tables
-- After this the bundle cannot be rolled back. The ledger keeps its rows.
DROP TABLE IF EXISTS `flowmend_20d41b5d849d_03_work`;
DROP TABLE IF EXISTS `flowmend_20d41b5d849d_03_before`;
DROP TABLE IF EXISTS `flowmend_20d41b5d849d_03_after`;
DROP TABLE IF EXISTS `flowmend_20d41b5d849d_04_work`;
DROP TABLE IF EXISTS `flowmend_20d41b5d849d_04_before`;
DROP TABLE IF EXISTS `flowmend_20d41b5d849d_04_after`;
DROP TABLE IF EXISTS `flowmend_20d41b5d849d_05_work`;
DROP TABLE IF EXISTS `flowmend_20d41b5d849d_05_before`;
DROP TABLE IF EXISTS `flowmend_20d41b5d849d_05_after`;
DROP TABLE IF EXISTS `flowmend_20d41b5d849d_06_work`;
DROP TABLE IF EXISTS `flowmend_20d41b5d849d_06_before`;
DROP TABLE IF EXISTS `flowmend_20d41b5d849d_06_after`;
