-- flowmend bundle e20aee85a5979200: drops the bundle's own tables
-- After this the bundle cannot be rolled back. The ledger keeps its rows.
DROP TABLE IF EXISTS `flowmend_e20aee85a597_03_work`;
DROP TABLE IF EXISTS `flowmend_e20aee85a597_03_before`;
DROP TABLE IF EXISTS `flowmend_e20aee85a597_03_after`;
DROP TABLE IF EXISTS `flowmend_e20aee85a597_04_work`;
DROP TABLE IF EXISTS `flowmend_e20aee85a597_04_before`;
DROP TABLE IF EXISTS `flowmend_e20aee85a597_04_after`;
DROP TABLE IF EXISTS `flowmend_e20aee85a597_05_work`;
DROP TABLE IF EXISTS `flowmend_e20aee85a597_05_before`;
DROP TABLE IF EXISTS `flowmend_e20aee85a597_05_after`;
DROP TABLE IF EXISTS `flowmend_e20aee85a597_06_work`;
DROP TABLE IF EXISTS `flowmend_e20aee85a597_06_before`;
DROP TABLE IF EXISTS `flowmend_e20aee85a597_06_after`;
