-- flowmend bundle c9b7095e27df7072: drops the bundle's own tables
-- After this the bundle cannot be rolled back. The ledger keeps its rows.
DROP TABLE IF EXISTS `flowmend_c9b7095e27df_03_work`;
DROP TABLE IF EXISTS `flowmend_c9b7095e27df_03_before`;
DROP TABLE IF EXISTS `flowmend_c9b7095e27df_03_after`;
DROP TABLE IF EXISTS `flowmend_c9b7095e27df_04_work`;
DROP TABLE IF EXISTS `flowmend_c9b7095e27df_04_before`;
DROP TABLE IF EXISTS `flowmend_c9b7095e27df_04_after`;
DROP TABLE IF EXISTS `flowmend_c9b7095e27df_05_work`;
DROP TABLE IF EXISTS `flowmend_c9b7095e27df_05_before`;
DROP TABLE IF EXISTS `flowmend_c9b7095e27df_05_after`;
DROP TABLE IF EXISTS `flowmend_c9b7095e27df_06_work`;
DROP TABLE IF EXISTS `flowmend_c9b7095e27df_06_before`;
DROP TABLE IF EXISTS `flowmend_c9b7095e27df_06_after`;
