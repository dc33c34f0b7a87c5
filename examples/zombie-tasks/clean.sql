-- flowmend bundle 2630a572ccf61788: drops the bundle's own tables
-- After this the bundle cannot be rolled back. The ledger keeps its rows.
DROP TABLE IF EXISTS `flowmend_2630a572ccf6_03_work`;
DROP TABLE IF EXISTS `flowmend_2630a572ccf6_03_before`;
DROP TABLE IF EXISTS `flowmend_2630a572ccf6_03_after`;
DROP TABLE IF EXISTS `flowmend_2630a572ccf6_04_work`;
DROP TABLE IF EXISTS `flowmend_2630a572ccf6_04_before`;
DROP TABLE IF EXISTS `flowmend_2630a572ccf6_04_after`;
DROP TABLE IF EXISTS `flowmend_2630a572ccf6_05_work`;
DROP TABLE IF EXISTS `flowmend_2630a572ccf6_05_before`;
DROP TABLE IF EXISTS `flowmend_2630a572ccf6_05_after`;
DROP TABLE IF EXISTS `flowmend_2630a572ccf6_06_work`;
DROP TABLE IF EXISTS `flowmend_2630a572ccf6_06_before`;
DROP TABLE IF EXISTS `flowmend_2630a572ccf6_06_after`;
