-- flowmend bundle 834b9808f5920ace: drops the bundle's own tables
-- After this the bundle cannot be rolled back. The ledger keeps its rows.
DROP TABLE IF EXISTS `flowmend_834b9808f592_03_work`;
DROP TABLE IF EXISTS `flowmend_834b9808f592_03_before`;
DROP TABLE IF EXISTS `flowmend_834b9808f592_03_after`;
DROP TABLE IF EXISTS `flowmend_834b9808f592_04_work`;
DROP TABLE IF EXISTS `flowmend_834b9808f592_04_before`;
DROP TABLE IF EXISTS `flowmend_834b9808f592_04_after`;
DROP TABLE IF EXISTS `flowmend_834b9808f592_05_work`;
DROP TABLE IF EXISTS `flowmend_834b9808f592_05_before`;
DROP TABLE IF EXISTS `flowmend_834b9808f592_05_after`;
DROP TABLE IF EXISTS `flowmend_834b9808f592_06_work`;
DROP TABLE IF EXISTS `flowmend_834b9808f592_06_before`;
DROP TABLE IF EXISTS `flowmend_834b9808f592_06_after`;
