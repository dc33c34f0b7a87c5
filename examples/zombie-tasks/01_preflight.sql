-- 01 preflight: nothing is changed here.
-- The begin row's key is also the lock against a second run: a duplicate means "already applied".
-- Only into a ledger that can hold; else nothing below takes effect.
INSERT INTO `flowmend_ledger` (bundle, step, expected, actual, held)
SELECT 'd812c68044cf190f', 'begin', 0, 0, 1
  FROM DUAL
 WHERE EXISTS (SELECT 1 FROM information_schema.TABLES m WHERE m.TABLE_SCHEMA = DATABASE() AND m.TABLE_NAME = 'flowmend_ledger' AND m.ENGINE = 'InnoDB')
   AND NOT EXISTS (SELECT 1 FROM information_schema.TRIGGERS tg WHERE tg.EVENT_OBJECT_SCHEMA = DATABASE() AND tg.EVENT_OBJECT_TABLE = 'flowmend_ledger');
-- guard 01_preflight.place: this is the server and the database of the plan (expected 1)
INSERT INTO `flowmend_ledger` (bundle, step, expected, actual, held)
SELECT 'd812c68044cf190f', '01_preflight.place', 1, c.n, IF(c.n = 1, 1, (SELECT 1 UNION ALL SELECT 2))
  FROM (SELECT (SELECT COUNT(*) FROM DUAL WHERE CAST(DATABASE() AS BINARY) = CAST('dolphinscheduler' AS BINARY) AND CAST(CONCAT(@@hostname, ':', @@port, '/', @@server_id) AS BINARY) = CAST('db1.example:3306/1' AS BINARY)) AS n) c
  JOIN `flowmend_ledger` p ON p.bundle = 'd812c68044cf190f' AND p.step = 'begin'
 WHERE NOT EXISTS (SELECT 1 FROM `flowmend_ledger` o WHERE o.bundle = 'd812c68044cf190f' AND o.step = '01_preflight.place');
-- guard 01_preflight.own_tables: the bundle's own tables are empty (expected 0)
INSERT INTO `flowmend_ledger` (bundle, step, expected, actual, held)
SELECT 'd812c68044cf190f', '01_preflight.own_tables', 0, c.n, IF(c.n = 0, 1, (SELECT 1 UNION ALL SELECT 2))
  FROM (SELECT (SELECT (SELECT COUNT(*) FROM `flowmend_d812c68044cf_03_work`) + (SELECT COUNT(*) FROM `flowmend_d812c68044cf_03_before`) + (SELECT COUNT(*) FROM `flowmend_d812c68044cf_03_after`) + (SELECT COUNT(*) FROM `flowmend_d812c68044cf_04_work`) + (SELECT COUNT(*) FROM `flowmend_d812c68044cf_04_before`) + (SELECT COUNT(*) FROM `flowmend_d812c68044cf_04_after`) + (SELECT COUNT(*) FROM `flowmend_d812c68044cf_05_work`) + (SELECT COUNT(*) FROM `flowmend_d812c68044cf_05_before`) + (SELECT COUNT(*) FROM `flowmend_d812c68044cf_05_after`) + (SELECT COUNT(*) FROM `flowmend_d812c68044cf_06_work`) + (SELECT COUNT(*) FROM `flowmend_d812c68044cf_06_before`) + (SELECT COUNT(*) FROM `flowmend_d812c68044cf_06_after`)) AS n) c
  JOIN `flowmend_ledger` p ON p.bundle = 'd812c68044cf190f' AND p.step = '01_preflight.place'
 WHERE NOT EXISTS (SELECT 1 FROM `flowmend_ledger` o WHERE o.bundle = 'd812c68044cf190f' AND o.step = '01_preflight.own_tables');
-- guard 01_preflight.tables: the target tables are plain tables that can be rolled back (expected 4)
INSERT INTO `flowmend_ledger` (bundle, step, expected, actual, held)
SELECT 'd812c68044cf190f', '01_preflight.tables', 4, c.n, IF(c.n = 4, 1, (SELECT 1 UNION ALL SELECT 2))
  FROM (SELECT (SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME IN ('t_ds_process_instance', 't_ds_task_group', 't_ds_task_group_queue', 't_ds_task_instance') AND TABLE_TYPE = 'BASE TABLE' AND ENGINE = 'InnoDB') AS n) c
  JOIN `flowmend_ledger` p ON p.bundle = 'd812c68044cf190f' AND p.step = '01_preflight.own_tables'
 WHERE NOT EXISTS (SELECT 1 FROM `flowmend_ledger` o WHERE o.bundle = 'd812c68044cf190f' AND o.step = '01_preflight.tables');
-- guard 01_preflight.triggers: triggers on the target tables (expected 0)
INSERT INTO `flowmend_ledger` (bundle, step, expected, actual, held)
SELECT 'd812c68044cf190f', '01_preflight.triggers', 0, c.n, IF(c.n = 0, 1, (SELECT 1 UNION ALL SELECT 2))
  FROM (SELECT (SELECT COUNT(*) FROM information_schema.TRIGGERS WHERE EVENT_OBJECT_SCHEMA = DATABASE() AND EVENT_OBJECT_TABLE IN ('t_ds_process_instance', 't_ds_task_group', 't_ds_task_group_queue', 't_ds_task_instance')) AS n) c
  JOIN `flowmend_ledger` p ON p.bundle = 'd812c68044cf190f' AND p.step = '01_preflight.tables'
 WHERE NOT EXISTS (SELECT 1 FROM `flowmend_ledger` o WHERE o.bundle = 'd812c68044cf190f' AND o.step = '01_preflight.triggers');
