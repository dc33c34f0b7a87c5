-- flowmend bundle 873e78571649bc70: drops the bundle's own tables
-- After this the bundle cannot be rolled back. The ledger keeps its rows.
DROP TABLE IF EXISTS `flowmend_873e78571649_03_work`;
DROP TABLE IF EXISTS `flowmend_873e78571649_03_before`;
DROP TABLE IF EXISTS `flowmend_873e78571649_03_after`;
DROP TABLE IF EXISTS `flowmend_873e78571649_04_work`;
DROP TABLE IF EXISTS `flowmend_873e78571649_04_before`;
DROP TABLE IF EXISTS `flowmend_873e78571649_04_after`;
DROP TABLE IF EXISTS `flowmend_873e78571649_05_work`;
DROP TABLE IF EXISTS `flowmend_873e78571649_05_before`;
DROP TABLE IF EXISTS `flowmend_873e78571649_05_after`;
DROP TABLE IF EXISTS `flowmend_873e78571649_06_work`;
DROP TABLE IF EXISTS `flowmend_873e78571649_06_before`;
DROP TABLE IF EXISTS `flowmend_873e78571649_06_after`;
