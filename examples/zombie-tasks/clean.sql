-- flowmend bundle 4f299b73cd80a358: drops the bundle's own tables
-- After this the bundle cannot be rolled back. The ledger keeps its rows.
DROP TABLE IF EXISTS `flowmend_4f299b73cd80_03_work`;
DROP TABLE IF EXISTS `flowmend_4f299b73cd80_03_before`;
DROP TABLE IF EXISTS `flowmend_4f299b73cd80_03_after`;
DROP TABLE IF EXISTS `flowmend_4f299b73cd80_04_work`;
DROP TABLE IF EXISTS `flowmend_4f299b73cd80_04_before`;
DROP TABLE IF EXISTS `flowmend_4f299b73cd80_04_after`;
DROP TABLE IF EXISTS `flowmend_4f299b73cd80_05_work`;
DROP TABLE IF EXISTS `flowmend_4f299b73cd80_05_before`;
DROP TABLE IF EXISTS `flowmend_4f299b73cd80_05_after`;
DROP TABLE IF EXISTS `flowmend_4f299b73cd80_06_work`;
DROP TABLE IF EXISTS `flowmend_4f299b73cd80_06_before`;
DROP TABLE IF EXISTS `flowmend_4f299b73cd80_06_after`;
