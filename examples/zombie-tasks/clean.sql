-- flowmend bundle 310ef7240f42cbea: drops the bundle's own tables
-- After this the bundle cannot be rolled back. The ledger keeps its rows.
DROP TABLE IF EXISTS `flowmend_310ef7240f42_03_work`;
DROP TABLE IF EXISTS `flowmend_310ef7240f42_03_before`;
DROP TABLE IF EXISTS `flowmend_310ef7240f42_03_after`;
DROP TABLE IF EXISTS `flowmend_310ef7240f42_04_work`;
DROP TABLE IF EXISTS `flowmend_310ef7240f42_04_before`;
DROP TABLE IF EXISTS `flowmend_310ef7240f42_04_after`;
DROP TABLE IF EXISTS `flowmend_310ef7240f42_05_work`;
DROP TABLE IF EXISTS `flowmend_310ef7240f42_05_before`;
DROP TABLE IF EXISTS `flowmend_310ef7240f42_05_after`;
DROP TABLE IF EXISTS `flowmend_310ef7240f42_06_work`;
DROP TABLE IF EXISTS `flowmend_310ef7240f42_06_before`;
DROP TABLE IF EXISTS `flowmend_310ef7240f42_06_after`;
