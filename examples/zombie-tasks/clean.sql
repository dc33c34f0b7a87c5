-- flowmend bundle cd5e3ebaca46de05: drops the bundle's own tables
-- After this the bundle cannot be rolled back. The ledger keeps its rows.
DROP TABLE IF EXISTS `flowmend_cd5e3ebaca46_03_work`;
DROP TABLE IF EXISTS `flowmend_cd5e3ebaca46_03_before`;
DROP TABLE IF EXISTS `flowmend_cd5e3ebaca46_03_after`;
DROP TABLE IF EXISTS `flowmend_cd5e3ebaca46_04_work`;
DROP TABLE IF EXISTS `flowmend_cd5e3ebaca46_04_before`;
DROP TABLE IF EXISTS `flowmend_cd5e3ebaca46_04_after`;
DROP TABLE IF EXISTS `flowmend_cd5e3ebaca46_05_work`;
DROP TABLE IF EXISTS `flowmend_cd5e3ebaca46_05_before`;
DROP TABLE IF EXISTS `flowmend_cd5e3ebaca46_05_after`;
DROP TABLE IF EXISTS `flowmend_cd5e3ebaca46_06_work`;
DROP TABLE IF EXISTS `flowmend_cd5e3ebaca46_06_before`;
DROP TABLE IF EXISTS `flowmend_cd5e3ebaca46_06_after`;
