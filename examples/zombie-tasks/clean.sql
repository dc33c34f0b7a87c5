-- flowmend bundle 74dbb881dfadde84: drops the bundle's own tables
-- After this the bundle cannot be rolled back. The ledger keeps its rows.
DROP TABLE IF EXISTS `flowmend_74dbb881dfad_03_work`;
DROP TABLE IF EXISTS `flowmend_74dbb881dfad_03_before`;
DROP TABLE IF EXISTS `flowmend_74dbb881dfad_03_after`;
DROP TABLE IF EXISTS `flowmend_74dbb881dfad_04_work`;
DROP TABLE IF EXISTS `flowmend_74dbb881dfad_04_before`;
DROP TABLE IF EXISTS `flowmend_74dbb881dfad_04_after`;
DROP TABLE IF EXISTS `flowmend_74dbb881dfad_05_work`;
DROP TABLE IF EXISTS `flowmend_74dbb881dfad_05_before`;
DROP TABLE IF EXISTS `flowmend_74dbb881dfad_05_after`;
DROP TABLE IF EXISTS `flowmend_74dbb881dfad_06_work`;
DROP TABLE IF EXISTS `flowmend_74dbb881dfad_06_before`;
DROP TABLE IF EXISTS `flowmend_74dbb881dfad_06_after`;
