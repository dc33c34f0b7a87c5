-- flowmend bundle 815860806327475f: drops the bundle's own tables
-- After this the bundle cannot be rolled back. The ledger keeps its rows.
DROP TABLE IF EXISTS `flowmend_815860806327_03_work`;
DROP TABLE IF EXISTS `flowmend_815860806327_03_before`;
DROP TABLE IF EXISTS `flowmend_815860806327_03_after`;
DROP TABLE IF EXISTS `flowmend_815860806327_04_work`;
DROP TABLE IF EXISTS `flowmend_815860806327_04_before`;
DROP TABLE IF EXISTS `flowmend_815860806327_04_after`;
DROP TABLE IF EXISTS `flowmend_815860806327_05_work`;
DROP TABLE IF EXISTS `flowmend_815860806327_05_before`;
DROP TABLE IF EXISTS `flowmend_815860806327_05_after`;
DROP TABLE IF EXISTS `flowmend_815860806327_06_work`;
DROP TABLE IF EXISTS `flowmend_815860806327_06_before`;
DROP TABLE IF EXISTS `flowmend_815860806327_06_after`;
