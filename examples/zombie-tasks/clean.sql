-- flowmend bundle ae84a96ee6653461: drops the bundle's own tables
-- After this the bundle cannot be rolled back. The ledger keeps its rows.
DROP TABLE IF EXISTS `flowmend_ae84a96ee665_03_work`;
DROP TABLE IF EXISTS `flowmend_ae84a96ee665_03_before`;
DROP TABLE IF EXISTS `flowmend_ae84a96ee665_03_after`;
DROP TABLE IF EXISTS `flowmend_ae84a96ee665_04_work`;
DROP TABLE IF EXISTS `flowmend_ae84a96ee665_04_before`;
DROP TABLE IF EXISTS `flowmend_ae84a96ee665_04_after`;
DROP TABLE IF EXISTS `flowmend_ae84a96ee665_05_work`;
DROP TABLE IF EXISTS `flowmend_ae84a96ee665_05_before`;
DROP TABLE IF EXISTS `flowmend_ae84a96ee665_05_after`;
DROP TABLE IF EXISTS `flowmend_ae84a96ee665_06_work`;
DROP TABLE IF EXISTS `flowmend_ae84a96ee665_06_before`;
DROP TABLE IF EXISTS `flowmend_ae84a96ee665_06_after`;
