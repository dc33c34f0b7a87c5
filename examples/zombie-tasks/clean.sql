-- flowmend bundle 894f06790bf246bc: drops the bundle's own tables
-- After this the bundle cannot be rolled back. The ledger keeps its rows.
DROP TABLE IF EXISTS `flowmend_894f06790bf2_03_work`;
DROP TABLE IF EXISTS `flowmend_894f06790bf2_03_before`;
DROP TABLE IF EXISTS `flowmend_894f06790bf2_03_after`;
DROP TABLE IF EXISTS `flowmend_894f06790bf2_04_work`;
DROP TABLE IF EXISTS `flowmend_894f06790bf2_04_before`;
DROP TABLE IF EXISTS `flowmend_894f06790bf2_04_after`;
DROP TABLE IF EXISTS `flowmend_894f06790bf2_05_work`;
DROP TABLE IF EXISTS `flowmend_894f06790bf2_05_before`;
DROP TABLE IF EXISTS `flowmend_894f06790bf2_05_after`;
DROP TABLE IF EXISTS `flowmend_894f06790bf2_06_work`;
DROP TABLE IF EXISTS `flowmend_894f06790bf2_06_before`;
DROP TABLE IF EXISTS `flowmend_894f06790bf2_06_after`;
