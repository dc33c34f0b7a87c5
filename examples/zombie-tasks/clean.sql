-- flowmend bundle d9003b568de15167: drops the bundle's own tables
-- After this the bundle cannot be rolled back. The ledger keeps its rows.
DROP TABLE IF EXISTS `flowmend_d9003b568de1_03_work`;
DROP TABLE IF EXISTS `flowmend_d9003b568de1_03_before`;
DROP TABLE IF EXISTS `flowmend_d9003b568de1_03_after`;
DROP TABLE IF EXISTS `flowmend_d9003b568de1_04_work`;
DROP TABLE IF EXISTS `flowmend_d9003b568de1_04_before`;
DROP TABLE IF EXISTS `flowmend_d9003b568de1_04_after`;
DROP TABLE IF EXISTS `flowmend_d9003b568de1_05_work`;
DROP TABLE IF EXISTS `flowmend_d9003b568de1_05_before`;
DROP TABLE IF EXISTS `flowmend_d9003b568de1_05_after`;
DROP TABLE IF EXISTS `flowmend_d9003b568de1_06_work`;
DROP TABLE IF EXISTS `flowmend_d9003b568de1_06_before`;
DROP TABLE IF EXISTS `flowmend_d9003b568de1_06_after`;
