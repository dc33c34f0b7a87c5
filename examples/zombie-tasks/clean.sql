-- flowmend bundle 137c65d2bc969a64: drops the bundle's own tables
-- After this the bundle cannot be rolled back. The ledger keeps its rows.
DROP TABLE IF EXISTS `flowmend_137c65d2bc96_03_work`;
DROP TABLE IF EXISTS `flowmend_137c65d2bc96_03_before`;
DROP TABLE IF EXISTS `flowmend_137c65d2bc96_03_after`;
DROP TABLE IF EXISTS `flowmend_137c65d2bc96_04_work`;
DROP TABLE IF EXISTS `flowmend_137c65d2bc96_04_before`;
DROP TABLE IF EXISTS `flowmend_137c65d2bc96_04_after`;
DROP TABLE IF EXISTS `flowmend_137c65d2bc96_05_work`;
DROP TABLE IF EXISTS `flowmend_137c65d2bc96_05_before`;
DROP TABLE IF EXISTS `flowmend_137c65d2bc96_05_after`;
DROP TABLE IF EXISTS `flowmend_137c65d2bc96_06_work`;
DROP TABLE IF EXISTS `flowmend_137c65d2bc96_06_before`;
DROP TABLE IF EXISTS `flowmend_137c65d2bc96_06_after`;
