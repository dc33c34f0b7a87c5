-- 03_task_instance: close unfinished tasks (2 rows of t_ds_task_instance)
--   state: 1 RUNNING_EXECUTION → 6 FAILURE (2 rows)
--   end_time: set for 2 rows, each to its own time
UPDATE `t_ds_task_instance` t
  JOIN `flowmend_d812c68044cf_03_before` b ON t.`id` = b.`id`
  JOIN `flowmend_d812c68044cf_03_work` w ON t.`id` = w.`k_id`
  JOIN `flowmend_ledger` g ON g.bundle = 'd812c68044cf190f' AND g.step = '02_backup.06_task_group'
   SET t.`state` = 6 /* FAILURE */,
       t.`end_time` = '2026-11-28 10:05:00'
 WHERE t.`state` <=> w.`o_state`
   AND t.`end_time` <=> w.`o_end_time`
   AND t.`flag` <=> w.`o_flag`
   AND CAST(t.`host` AS BINARY) <=> CAST(w.`o_host` AS BINARY)
   AND NOT EXISTS (SELECT 1 FROM `flowmend_ledger` o WHERE o.bundle = 'd812c68044cf190f' AND o.step = '03_task_instance');
SET @flowmend_rows = ROW_COUNT();
SELECT '03_task_instance' AS guard, 2 AS expected, @flowmend_rows AS found;
INSERT INTO `flowmend_ledger` (bundle, step, expected, actual, held)
SELECT 'd812c68044cf190f', '03_task_instance', 2, @flowmend_rows, IF(@flowmend_rows = 2, 1, (SELECT 1 UNION ALL SELECT 2))
  FROM `flowmend_ledger` p
 WHERE p.bundle = 'd812c68044cf190f' AND p.step = '02_backup.06_task_group'
   AND NOT EXISTS (SELECT 1 FROM `flowmend_ledger` o WHERE o.bundle = 'd812c68044cf190f' AND o.step = '03_task_instance');
-- guard 03_task_instance.after: the rows as they are now, for verify and rollback (expected 2)
INSERT INTO `flowmend_d812c68044cf_03_after` (`id`, `name`, `task_type`, `task_execute_type`, `task_code`, `task_definition_version`, `process_instance_id`, `state`, `submit_time`, `start_time`, `end_time`, `host`, `execute_path`, `log_path`, `alert_flag`, `retry_times`, `pid`, `app_link`, `task_params`, `flag`, `retry_interval`, `max_retry_times`, `task_instance_priority`, `worker_group`, `environment_code`, `environment_config`, `executor_id`, `first_submit_time`, `delay_time`, `var_pool`, `task_group_id`, `dry_run`, `cpu_quota`, `memory_max`)
SELECT t.`id`, t.`name`, t.`task_type`, t.`task_execute_type`, t.`task_code`, t.`task_definition_version`, t.`process_instance_id`, t.`state`, t.`submit_time`, t.`start_time`, t.`end_time`, t.`host`, t.`execute_path`, t.`log_path`, t.`alert_flag`, t.`retry_times`, t.`pid`, t.`app_link`, t.`task_params`, t.`flag`, t.`retry_interval`, t.`max_retry_times`, t.`task_instance_priority`, t.`worker_group`, t.`environment_code`, t.`environment_config`, t.`executor_id`, t.`first_submit_time`, t.`delay_time`, t.`var_pool`, t.`task_group_id`, t.`dry_run`, t.`cpu_quota`, t.`memory_max`
  FROM `t_ds_task_instance` t
  JOIN `flowmend_d812c68044cf_03_before` b ON t.`id` = b.`id`
  JOIN `flowmend_ledger` g ON g.bundle = 'd812c68044cf190f' AND g.step = '03_task_instance'
 WHERE NOT EXISTS (SELECT 1 FROM `flowmend_ledger` o WHERE o.bundle = 'd812c68044cf190f' AND o.step = '03_task_instance.after');
SET @flowmend_rows = ROW_COUNT();
SELECT '03_task_instance.after' AS guard, 2 AS expected, @flowmend_rows AS found;
INSERT INTO `flowmend_ledger` (bundle, step, expected, actual, held)
SELECT 'd812c68044cf190f', '03_task_instance.after', 2, @flowmend_rows, IF(@flowmend_rows = 2, 1, (SELECT 1 UNION ALL SELECT 2))
  FROM `flowmend_ledger` p
 WHERE p.bundle = 'd812c68044cf190f' AND p.step = '03_task_instance'
   AND NOT EXISTS (SELECT 1 FROM `flowmend_ledger` o WHERE o.bundle = 'd812c68044cf190f' AND o.step = '03_task_instance.after');
-- guard 03_task_instance.exact: rows that hold the planned values and nothing else changed (expected 2)
INSERT INTO `flowmend_ledger` (bundle, step, expected, actual, held)
SELECT 'd812c68044cf190f', '03_task_instance.exact', 2, c.n, IF(c.n = 2, 1, (SELECT 1 UNION ALL SELECT 2))
  FROM (SELECT (SELECT COUNT(*) FROM `flowmend_d812c68044cf_03_after` a JOIN `flowmend_d812c68044cf_03_before` b ON a.`id` = b.`id` JOIN `flowmend_d812c68044cf_03_work` w ON b.`id` = w.`k_id`
 WHERE a.`id` <=> b.`id`
   AND CAST(a.`name` AS BINARY) <=> CAST(b.`name` AS BINARY)
   AND CAST(a.`task_type` AS BINARY) <=> CAST(b.`task_type` AS BINARY)
   AND a.`task_execute_type` <=> b.`task_execute_type`
   AND a.`task_code` <=> b.`task_code`
   AND a.`task_definition_version` <=> b.`task_definition_version`
   AND a.`process_instance_id` <=> b.`process_instance_id`
   AND a.`state` <=> w.`n_state`
   AND a.`submit_time` <=> b.`submit_time`
   AND a.`start_time` <=> b.`start_time`
   AND a.`end_time` <=> w.`n_end_time`
   AND CAST(a.`host` AS BINARY) <=> CAST(b.`host` AS BINARY)
   AND CAST(a.`execute_path` AS BINARY) <=> CAST(b.`execute_path` AS BINARY)
   AND CAST(a.`log_path` AS BINARY) <=> CAST(b.`log_path` AS BINARY)
   AND a.`alert_flag` <=> b.`alert_flag`
   AND a.`retry_times` <=> b.`retry_times`
   AND a.`pid` <=> b.`pid`
   AND CAST(a.`app_link` AS BINARY) <=> CAST(b.`app_link` AS BINARY)
   AND CAST(a.`task_params` AS BINARY) <=> CAST(b.`task_params` AS BINARY)
   AND a.`flag` <=> b.`flag`
   AND a.`retry_interval` <=> b.`retry_interval`
   AND a.`max_retry_times` <=> b.`max_retry_times`
   AND a.`task_instance_priority` <=> b.`task_instance_priority`
   AND CAST(a.`worker_group` AS BINARY) <=> CAST(b.`worker_group` AS BINARY)
   AND a.`environment_code` <=> b.`environment_code`
   AND CAST(a.`environment_config` AS BINARY) <=> CAST(b.`environment_config` AS BINARY)
   AND a.`executor_id` <=> b.`executor_id`
   AND a.`first_submit_time` <=> b.`first_submit_time`
   AND a.`delay_time` <=> b.`delay_time`
   AND CAST(a.`var_pool` AS BINARY) <=> CAST(b.`var_pool` AS BINARY)
   AND a.`task_group_id` <=> b.`task_group_id`
   AND a.`dry_run` <=> b.`dry_run`
   AND a.`cpu_quota` <=> b.`cpu_quota`
   AND a.`memory_max` <=> b.`memory_max`) AS n) c
  JOIN `flowmend_ledger` p ON p.bundle = 'd812c68044cf190f' AND p.step = '03_task_instance.after'
 WHERE NOT EXISTS (SELECT 1 FROM `flowmend_ledger` o WHERE o.bundle = 'd812c68044cf190f' AND o.step = '03_task_instance.exact');
