-- flowmend bundle efea2bc8607c10a4: drops the bundle's own tables
-- After this the bundle cannot be rolled back. The ledger keeps its rows.
DROP TABLE IF EXISTS `flowmend_efea2bc8607c_03_work`;
DROP TABLE IF EXISTS `flowmend_efea2bc8607c_03_before`;
DROP TABLE IF EXISTS `flowmend_efea2bc8607c_03_after`;
DROP TABLE IF EXISTS `flowmend_efea2bc8607c_04_work`;
DROP TABLE IF EXISTS `flowmend_efea2bc8607c_04_before`;
DROP TABLE IF EXISTS `flowmend_efea2bc8607c_04_after`;
DROP TABLE IF EXISTS `flowmend_efea2bc8607c_05_work`;
DROP TABLE IF EXISTS `flowmend_efea2bc8607c_05_before`;
DROP TABLE IF EXISTS `flowmend_efea2bc8607c_05_after`;
DROP TABLE IF EXISTS `flowmend_efea2bc8607c_06_work`;
DROP TABLE IF EXISTS `flowmend_efea2bc8607c_06_before`;
DROP TABLE IF EXISTS `flowmend_efea2bc8607c_06_after`;
