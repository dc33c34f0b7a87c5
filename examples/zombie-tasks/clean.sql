-- flowmend bundle e94b6176c50a27c7: drops the bundle's own tables
-- After this the bundle cannot be rolled back. The ledger keeps its rows.
DROP TABLE IF EXISTS `flowmend_e94b6176c50a_03_work`;
DROP TABLE IF EXISTS `flowmend_e94b6176c50a_03_before`;
DROP TABLE IF EXISTS `flowmend_e94b6176c50a_03_after`;
DROP TABLE IF EXISTS `flowmend_e94b6176c50a_04_work`;
DROP TABLE IF EXISTS `flowmend_e94b6176c50a_04_before`;
DROP TABLE IF EXISTS `flowmend_e94b6176c50a_04_after`;
DROP TABLE IF EXISTS `flowmend_e94b6176c50a_05_work`;
DROP TABLE IF EXISTS `flowmend_e94b6176c50a_05_before`;
DROP TABLE IF EXISTS `flowmend_e94b6176c50a_05_after`;
DROP TABLE IF EXISTS `flowmend_e94b6176c50a_06_work`;
DROP TABLE IF EXISTS `flowmend_e94b6176c50a_06_before`;
DROP TABLE IF EXISTS `flowmend_e94b6176c50a_06_after`;
