-- flowmend bundle 0fa92ba2d907ac6f: drops the bundle's own tables
-- After this the bundle cannot be rolled back. The ledger keeps its rows.
DROP TABLE IF EXISTS `flowmend_0fa92ba2d907_03_work`;
DROP TABLE IF EXISTS `flowmend_0fa92ba2d907_03_before`;
DROP TABLE IF EXISTS `flowmend_0fa92ba2d907_03_after`;
DROP TABLE IF EXISTS `flowmend_0fa92ba2d907_04_work`;
DROP TABLE IF EXISTS `flowmend_0fa92ba2d907_04_before`;
DROP TABLE IF EXISTS `flowmend_0fa92ba2d907_04_after`;
DROP TABLE IF EXISTS `flowmend_0fa92ba2d907_05_work`;
DROP TABLE IF EXISTS `flowmend_0fa92ba2d907_05_before`;
DROP TABLE IF EXISTS `flowmend_0fa92ba2d907_05_after`;
DROP TABLE IF EXISTS `flowmend_0fa92ba2d907_06_work`;
DROP TABLE IF EXISTS `flowmend_0fa92ba2d907_06_before`;
DROP TABLE IF EXISTS `flowmend_0fa92ba2d907_06_after`;
