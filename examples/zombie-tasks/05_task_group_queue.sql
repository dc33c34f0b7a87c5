-- 05_task_group_queue: release task-group slots of final tasks, and call forgotten waiters again (1 rows of t_ds_task_group_queue)
--   status: 1 ACQUIRE_SUCCESS → 2 RELEASE (1 row)
--   update_time: the moment of apply
UPDATE `t_ds_task_group_queue` t
  JOIN `flowmend_d812c68044cf_05_before` b ON t.`id` = b.`id`
  JOIN `flowmend_d812c68044cf_05_work` w ON t.`id` = w.`k_id`
  JOIN `flowmend_ledger` g ON g.bundle = 'd812c68044cf190f' AND g.step = '04_workflow_instance.exact'
   SET t.`status` = 2 /* RELEASE */,
       t.`update_time` = CURRENT_TIMESTAMP
 WHERE t.`status` <=> w.`o_status`
   AND t.`in_queue` <=> w.`o_in_queue`
   AND t.`update_time` <=> w.`o_update_time`
   AND t.`force_start` <=> w.`o_force_start`
   AND t.`task_id` <=> w.`o_task_id`
   AND NOT EXISTS (SELECT 1 FROM `flowmend_ledger` o WHERE o.bundle = 'd812c68044cf190f' AND o.step = '05_task_group_queue');
SET @flowmend_rows = ROW_COUNT();
SELECT '05_task_group_queue' AS guard, 1 AS expected, @flowmend_rows AS found;
INSERT INTO `flowmend_ledger` (bundle, step, expected, actual, held)
SELECT 'd812c68044cf190f', '05_task_group_queue', 1, @flowmend_rows, IF(@flowmend_rows = 1, 1, (SELECT 1 UNION ALL SELECT 2))
  FROM `flowmend_ledger` p
 WHERE p.bundle = 'd812c68044cf190f' AND p.step = '04_workflow_instance.exact'
   AND NOT EXISTS (SELECT 1 FROM `flowmend_ledger` o WHERE o.bundle = 'd812c68044cf190f' AND o.step = '05_task_group_queue');
-- guard 05_task_group_queue.after: the rows as they are now, for verify and rollback (expected 1)
INSERT INTO `flowmend_d812c68044cf_05_after` (`id`, `task_id`, `task_name`, `group_id`, `process_id`, `priority`, `status`, `force_start`, `in_queue`, `create_time`, `update_time`)
SELECT t.`id`, t.`task_id`, t.`task_name`, t.`group_id`, t.`process_id`, t.`priority`, t.`status`, t.`force_start`, t.`in_queue`, t.`create_time`, t.`update_time`
  FROM `t_ds_task_group_queue` t
  JOIN `flowmend_d812c68044cf_05_before` b ON t.`id` = b.`id`
  JOIN `flowmend_ledger` g ON g.bundle = 'd812c68044cf190f' AND g.step = '05_task_group_queue'
 WHERE NOT EXISTS (SELECT 1 FROM `flowmend_ledger` o WHERE o.bundle = 'd812c68044cf190f' AND o.step = '05_task_group_queue.after');
SET @flowmend_rows = ROW_COUNT();
SELECT '05_task_group_queue.after' AS guard, 1 AS expected, @flowmend_rows AS found;
INSERT INTO `flowmend_ledger` (bundle, step, expected, actual, held)
SELECT 'd812c68044cf190f', '05_task_group_queue.after', 1, @flowmend_rows, IF(@flowmend_rows = 1, 1, (SELECT 1 UNION ALL SELECT 2))
  FROM `flowmend_ledger` p
 WHERE p.bundle = 'd812c68044cf190f' AND p.step = '05_task_group_queue'
   AND NOT EXISTS (SELECT 1 FROM `flowmend_ledger` o WHERE o.bundle = 'd812c68044cf190f' AND o.step = '05_task_group_queue.after');
-- guard 05_task_group_queue.exact: rows that hold the planned values and nothing else changed (expected 1)
INSERT INTO `flowmend_ledger` (bundle, step, expected, actual, held)
SELECT 'd812c68044cf190f', '05_task_group_queue.exact', 1, c.n, IF(c.n = 1, 1, (SELECT 1 UNION ALL SELECT 2))
  FROM (SELECT (SELECT COUNT(*) FROM `flowmend_d812c68044cf_05_after` a JOIN `flowmend_d812c68044cf_05_before` b ON a.`id` = b.`id` JOIN `flowmend_d812c68044cf_05_work` w ON b.`id` = w.`k_id`
 WHERE a.`id` <=> b.`id`
   AND a.`task_id` <=> b.`task_id`
   AND CAST(a.`task_name` AS BINARY) <=> CAST(b.`task_name` AS BINARY)
   AND a.`group_id` <=> b.`group_id`
   AND a.`process_id` <=> b.`process_id`
   AND a.`priority` <=> b.`priority`
   AND a.`status` <=> w.`n_status`
   AND a.`force_start` <=> b.`force_start`
   AND a.`in_queue` <=> b.`in_queue`
   AND a.`create_time` <=> b.`create_time`) AS n) c
  JOIN `flowmend_ledger` p ON p.bundle = 'd812c68044cf190f' AND p.step = '05_task_group_queue.after'
 WHERE NOT EXISTS (SELECT 1 FROM `flowmend_ledger` o WHERE o.bundle = 'd812c68044cf190f' AND o.step = '05_task_group_queue.exact');
