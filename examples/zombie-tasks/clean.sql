-- flowmend bundle d812c68044cf190f: drops the bundle's own tables
-- After this the bundle cannot be rolled back. The ledger keeps its rows.
DROP TABLE IF EXISTS `flowmend_d812c68044cf_03_work`;
DROP TABLE IF EXISTS `flowmend_d812c68044cf_03_before`;
DROP TABLE IF EXISTS `flowmend_d812c68044cf_03_after`;
DROP TABLE IF EXISTS `flowmend_d812c68044cf_04_work`;
DROP TABLE IF EXISTS `flowmend_d812c68044cf_04_before`;
DROP TABLE IF EXISTS `flowmend_d812c68044cf_04_after`;
DROP TABLE IF EXISTS `flowmend_d812c68044cf_05_work`;
DROP TABLE IF EXISTS `flowmend_d812c68044cf_05_before`;
DROP TABLE IF EXISTS `flowmend_d812c68044cf_05_after`;
DROP TABLE IF EXISTS `flowmend_d812c68044cf_06_work`;
DROP TABLE IF EXISTS `flowmend_d812c68044cf_06_before`;
DROP TABLE IF EXISTS `flowmend_d812c68044cf_06_after`;
