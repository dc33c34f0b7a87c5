-- flowmend bundle 908b8967d70c8ddc: drops the bundle's own tables
-- After this the bundle cannot be rolled back. The ledger keeps its rows.
DROP TABLE IF EXISTS `flowmend_908b8967d70c_03_work`;
DROP TABLE IF EXISTS `flowmend_908b8967d70c_03_before`;
DROP TABLE IF EXISTS `flowmend_908b8967d70c_03_after`;
DROP TABLE IF EXISTS `flowmend_908b8967d70c_04_work`;
DROP TABLE IF EXISTS `flowmend_908b8967d70c_04_before`;
DROP TABLE IF EXISTS `flowmend_908b8967d70c_04_after`;
DROP TABLE IF EXISTS `flowmend_908b8967d70c_05_work`;
DROP TABLE IF EXISTS `flowmend_908b8967d70c_05_before`;
DROP TABLE IF EXISTS `flowmend_908b8967d70c_05_after`;
DROP TABLE IF EXISTS `flowmend_908b8967d70c_06_work`;
DROP TABLE IF EXISTS `flowmend_908b8967d70c_06_before`;
DROP TABLE IF EXISTS `flowmend_908b8967d70c_06_after`;
