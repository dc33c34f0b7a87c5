-- flowmend bundle 54f63a11a98c40d5: drops the bundle's own tables
-- After this the bundle cannot be rolled back. The ledger keeps its rows.
DROP TABLE IF EXISTS `flowmend_54f63a11a98c_03_work`;
DROP TABLE IF EXISTS `flowmend_54f63a11a98c_03_before`;
DROP TABLE IF EXISTS `flowmend_54f63a11a98c_03_after`;
DROP TABLE IF EXISTS `flowmend_54f63a11a98c_04_work`;
DROP TABLE IF EXISTS `flowmend_54f63a11a98c_04_before`;
DROP TABLE IF EXISTS `flowmend_54f63a11a98c_04_after`;
DROP TABLE IF EXISTS `flowmend_54f63a11a98c_05_work`;
DROP TABLE IF EXISTS `flowmend_54f63a11a98c_05_before`;
DROP TABLE IF EXISTS `flowmend_54f63a11a98c_05_after`;
DROP TABLE IF EXISTS `flowmend_54f63a11a98c_06_work`;
DROP TABLE IF EXISTS `flowmend_54f63a11a98c_06_before`;
DROP TABLE IF EXISTS `flowmend_54f63a11a98c_06_after`;
