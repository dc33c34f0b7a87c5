-- flowmend bundle 75367b4440a82e1b: drops the bundle's own tables
-- After this the bundle cannot be rolled back. The ledger keeps its rows.
DROP TABLE IF EXISTS `flowmend_75367b4440a8_03_work`;
DROP TABLE IF EXISTS `flowmend_75367b4440a8_03_before`;
DROP TABLE IF EXISTS `flowmend_75367b4440a8_03_after`;
DROP TABLE IF EXISTS `flowmend_75367b4440a8_04_work`;
DROP TABLE IF EXISTS `flowmend_75367b4440a8_04_before`;
DROP TABLE IF EXISTS `flowmend_75367b4440a8_04_after`;
DROP TABLE IF EXISTS `flowmend_75367b4440a8_05_work`;
DROP TABLE IF EXISTS `flowmend_75367b4440a8_05_before`;
DROP TABLE IF EXISTS `flowmend_75367b4440a8_05_after`;
DROP TABLE IF EXISTS `flowmend_75367b4440a8_06_work`;
DROP TABLE IF EXISTS `flowmend_75367b4440a8_06_before`;
DROP TABLE IF EXISTS `flowmend_75367b4440a8_06_after`;
