-- 06_task_group: recount the slots in use (1 rows of t_ds_task_group)
--   update_time: the moment of apply
--   use_size: 2 → 1 (1 row, recounted when it is written)
UPDATE `t_ds_task_group` t
  JOIN `flowmend_d812c68044cf_06_before` b ON t.`id` = b.`id`
  JOIN `flowmend_d812c68044cf_06_work` w ON t.`id` = w.`k_id`
  JOIN `flowmend_ledger` g ON g.bundle = 'd812c68044cf190f' AND g.step = '05_task_group_queue.exact'
   SET t.`update_time` = CURRENT_TIMESTAMP,
       t.`use_size` = (SELECT COUNT(*) FROM `t_ds_task_group_queue` q WHERE q.`group_id` = t.`id` AND q.`status` = 1 AND q.`force_start` = 0)
 WHERE t.`update_time` <=> w.`o_update_time`
   AND t.`use_size` <=> w.`o_use_size`
   AND NOT (t.`use_size` <=> (SELECT COUNT(*) FROM `t_ds_task_group_queue` q WHERE q.`group_id` = t.`id` AND q.`status` = 1 AND q.`force_start` = 0))
   AND NOT EXISTS (SELECT 1 FROM `flowmend_ledger` o WHERE o.bundle = 'd812c68044cf190f' AND o.step = '06_task_group');
SET @flowmend_rows = ROW_COUNT();
SELECT '06_task_group' AS guard, 1 AS expected, @flowmend_rows AS found;
INSERT INTO `flowmend_ledger` (bundle, step, expected, actual, held)
SELECT 'd812c68044cf190f', '06_task_group', 1, @flowmend_rows, IF(@flowmend_rows = 1, 1, (SELECT 1 UNION ALL SELECT 2))
  FROM `flowmend_ledger` p
 WHERE p.bundle = 'd812c68044cf190f' AND p.step = '05_task_group_queue.exact'
   AND NOT EXISTS (SELECT 1 FROM `flowmend_ledger` o WHERE o.bundle = 'd812c68044cf190f' AND o.step = '06_task_group');
-- guard 06_task_group.after: the rows as they are now, for verify and rollback (expected 1)
INSERT INTO `flowmend_d812c68044cf_06_after` (`id`, `name`, `description`, `group_size`, `use_size`, `user_id`, `project_code`, `status`, `create_time`, `update_time`)
SELECT t.`id`, t.`name`, t.`description`, t.`group_size`, t.`use_size`, t.`user_id`, t.`project_code`, t.`status`, t.`create_time`, t.`update_time`
  FROM `t_ds_task_group` t
  JOIN `flowmend_d812c68044cf_06_before` b ON t.`id` = b.`id`
  JOIN `flowmend_ledger` g ON g.bundle = 'd812c68044cf190f' AND g.step = '06_task_group'
 WHERE NOT EXISTS (SELECT 1 FROM `flowmend_ledger` o WHERE o.bundle = 'd812c68044cf190f' AND o.step = '06_task_group.after');
SET @flowmend_rows = ROW_COUNT();
SELECT '06_task_group.after' AS guard, 1 AS expected, @flowmend_rows AS found;
INSERT INTO `flowmend_ledger` (bundle, step, expected, actual, held)
SELECT 'd812c68044cf190f', '06_task_group.after', 1, @flowmend_rows, IF(@flowmend_rows = 1, 1, (SELECT 1 UNION ALL SELECT 2))
  FROM `flowmend_ledger` p
 WHERE p.bundle = 'd812c68044cf190f' AND p.step = '06_task_group'
   AND NOT EXISTS (SELECT 1 FROM `flowmend_ledger` o WHERE o.bundle = 'd812c68044cf190f' AND o.step = '06_task_group.after');
-- guard 06_task_group.exact: rows that hold the planned values and nothing else changed (expected 1)
INSERT INTO `flowmend_ledger` (bundle, step, expected, actual, held)
SELECT 'd812c68044cf190f', '06_task_group.exact', 1, c.n, IF(c.n = 1, 1, (SELECT 1 UNION ALL SELECT 2))
  FROM (SELECT (SELECT COUNT(*) FROM `flowmend_d812c68044cf_06_after` a JOIN `flowmend_d812c68044cf_06_before` b ON a.`id` = b.`id` JOIN `flowmend_d812c68044cf_06_work` w ON b.`id` = w.`k_id`
 WHERE a.`id` <=> b.`id`
   AND CAST(a.`name` AS BINARY) <=> CAST(b.`name` AS BINARY)
   AND CAST(a.`description` AS BINARY) <=> CAST(b.`description` AS BINARY)
   AND a.`group_size` <=> b.`group_size`
   AND a.`user_id` <=> b.`user_id`
   AND a.`project_code` <=> b.`project_code`
   AND a.`status` <=> b.`status`
   AND a.`create_time` <=> b.`create_time`) AS n) c
  JOIN `flowmend_ledger` p ON p.bundle = 'd812c68044cf190f' AND p.step = '06_task_group.after'
 WHERE NOT EXISTS (SELECT 1 FROM `flowmend_ledger` o WHERE o.bundle = 'd812c68044cf190f' AND o.step = '06_task_group.exact');
