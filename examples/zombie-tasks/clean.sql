-- flowmend bundle a263bc7096cea32c: drops the bundle's own tables
-- After this the bundle cannot be rolled back. The ledger keeps its rows.
DROP TABLE IF EXISTS `flowmend_a263bc7096ce_03_work`;
DROP TABLE IF EXISTS `flowmend_a263bc7096ce_03_before`;
DROP TABLE IF EXISTS `flowmend_a263bc7096ce_03_after`;
DROP TABLE IF EXISTS `flowmend_a263bc7096ce_04_work`;
DROP TABLE IF EXISTS `flowmend_a263bc7096ce_04_before`;
DROP TABLE IF EXISTS `flowmend_a263bc7096ce_04_after`;
DROP TABLE IF EXISTS `flowmend_a263bc7096ce_05_work`;
DROP TABLE IF EXISTS `flowmend_a263bc7096ce_05_before`;
DROP TABLE IF EXISTS `flowmend_a263bc7096ce_05_after`;
DROP TABLE IF EXISTS `flowmend_a263bc7096ce_06_work`;
DROP TABLE IF EXISTS `flowmend_a263bc7096ce_06_before`;
DROP TABLE IF EXISTS `flowmend_a263bc7096ce_06_after`;
