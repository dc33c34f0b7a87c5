-- flowmend bundle 84678b9eb0bc00ea: drops the bundle's own tables
-- After this the bundle cannot be rolled back. The ledger keeps its rows.
DROP TABLE IF EXISTS `flowmend_84678b9eb0bc_03_work`;
DROP TABLE IF EXISTS `flowmend_84678b9eb0bc_03_before`;
DROP TABLE IF EXISTS `flowmend_84678b9eb0bc_03_after`;
DROP TABLE IF EXISTS `flowmend_84678b9eb0bc_04_work`;
DROP TABLE IF EXISTS `flowmend_84678b9eb0bc_04_before`;
DROP TABLE IF EXISTS `flowmend_84678b9eb0bc_04_after`;
DROP TABLE IF EXISTS `flowmend_84678b9eb0bc_05_work`;
DROP TABLE IF EXISTS `flowmend_84678b9eb0bc_05_before`;
DROP TABLE IF EXISTS `flowmend_84678b9eb0bc_05_after`;
DROP TABLE IF EXISTS `flowmend_84678b9eb0bc_06_work`;
DROP TABLE IF EXISTS `flowmend_84678b9eb0bc_06_before`;
DROP TABLE IF EXISTS `flowmend_84678b9eb0bc_06_after`;
