-- 04_workflow_instance: close the runs of these tasks, and runs whose tasks are all finished (1 rows of t_ds_process_instance)
--   state: 1 RUNNING_EXECUTION → 6 FAILURE (1 row)
--   end_time: set for 1 row, each to its own time
--   update_time: the moment of apply
UPDATE `t_ds_process_instance` t
  JOIN `flowmend_d812c68044cf_04_before` b ON t.`id` = b.`id`
  JOIN `flowmend_d812c68044cf_04_work` w ON t.`id` = w.`k_id`
  JOIN `flowmend_ledger` g ON g.bundle = 'd812c68044cf190f' AND g.step = '03_task_instance.exact'
   SET t.`state` = 6 /* FAILURE */,
       t.`end_time` = '2026-11-28 10:05:00',
       t.`update_time` = CURRENT_TIMESTAMP
 WHERE t.`state` <=> w.`o_state`
   AND t.`end_time` <=> w.`o_end_time`
   AND t.`update_time` <=> w.`o_update_time`
   AND CAST(t.`host` AS BINARY) <=> CAST(w.`o_host` AS BINARY)
   AND t.`restart_time` <=> w.`o_restart_time`
   AND NOT EXISTS (SELECT 1 FROM `flowmend_ledger` o WHERE o.bundle = 'd812c68044cf190f' AND o.step = '04_workflow_instance');
SET @flowmend_rows = ROW_COUNT();
SELECT '04_workflow_instance' AS guard, 1 AS expected, @flowmend_rows AS found;
INSERT INTO `flowmend_ledger` (bundle, step, expected, actual, held)
SELECT 'd812c68044cf190f', '04_workflow_instance', 1, @flowmend_rows, IF(@flowmend_rows = 1, 1, (SELECT 1 UNION ALL SELECT 2))
  FROM `flowmend_ledger` p
 WHERE p.bundle = 'd812c68044cf190f' AND p.step = '03_task_instance.exact'
   AND NOT EXISTS (SELECT 1 FROM `flowmend_ledger` o WHERE o.bundle = 'd812c68044cf190f' AND o.step = '04_workflow_instance');
-- guard 04_workflow_instance.after: the rows as they are now, for verify and rollback (expected 1)
INSERT INTO `flowmend_d812c68044cf_04_after` (`id`, `name`, `process_definition_code`, `process_definition_version`, `state`, `state_history`, `recovery`, `start_time`, `end_time`, `run_times`, `host`, `command_type`, `command_param`, `task_depend_type`, `max_try_times`, `failure_strategy`, `warning_type`, `warning_group_id`, `schedule_time`, `command_start_time`, `global_params`, `flag`, `update_time`, `is_sub_process`, `executor_id`, `history_cmd`, `process_instance_priority`, `worker_group`, `environment_code`, `timeout`, `tenant_id`, `var_pool`, `dry_run`, `next_process_instance_id`, `restart_time`)
SELECT t.`id`, t.`name`, t.`process_definition_code`, t.`process_definition_version`, t.`state`, t.`state_history`, t.`recovery`, t.`start_time`, t.`end_time`, t.`run_times`, t.`host`, t.`command_type`, t.`command_param`, t.`task_depend_type`, t.`max_try_times`, t.`failure_strategy`, t.`warning_type`, t.`warning_group_id`, t.`schedule_time`, t.`command_start_time`, t.`global_params`, t.`flag`, t.`update_time`, t.`is_sub_process`, t.`executor_id`, t.`history_cmd`, t.`process_instance_priority`, t.`worker_group`, t.`environment_code`, t.`timeout`, t.`tenant_id`, t.`var_pool`, t.`dry_run`, t.`next_process_instance_id`, t.`restart_time`
  FROM `t_ds_process_instance` t
  JOIN `flowmend_d812c68044cf_04_before` b ON t.`id` = b.`id`
  JOIN `flowmend_ledger` g ON g.bundle = 'd812c68044cf190f' AND g.step = '04_workflow_instance'
 WHERE NOT EXISTS (SELECT 1 FROM `flowmend_ledger` o WHERE o.bundle = 'd812c68044cf190f' AND o.step = '04_workflow_instance.after');
SET @flowmend_rows = ROW_COUNT();
SELECT '04_workflow_instance.after' AS guard, 1 AS expected, @flowmend_rows AS found;
INSERT INTO `flowmend_ledger` (bundle, step, expected, actual, held)
SELECT 'd812c68044cf190f', '04_workflow_instance.after', 1, @flowmend_rows, IF(@flowmend_rows = 1, 1, (SELECT 1 UNION ALL SELECT 2))
  FROM `flowmend_ledger` p
 WHERE p.bundle = 'd812c68044cf190f' AND p.step = '04_workflow_instance'
   AND NOT EXISTS (SELECT 1 FROM `flowmend_ledger` o WHERE o.bundle = 'd812c68044cf190f' AND o.step = '04_workflow_instance.after');
-- guard 04_workflow_instance.exact: rows that hold the planned values and nothing else changed (expected 1)
INSERT INTO `flowmend_ledger` (bundle, step, expected, actual, held)
SELECT 'd812c68044cf190f', '04_workflow_instance.exact', 1, c.n, IF(c.n = 1, 1, (SELECT 1 UNION ALL SELECT 2))
  FROM (SELECT (SELECT COUNT(*) FROM `flowmend_d812c68044cf_04_after` a JOIN `flowmend_d812c68044cf_04_before` b ON a.`id` = b.`id` JOIN `flowmend_d812c68044cf_04_work` w ON b.`id` = w.`k_id`
 WHERE a.`id` <=> b.`id`
   AND CAST(a.`name` AS BINARY) <=> CAST(b.`name` AS BINARY)
   AND a.`process_definition_code` <=> b.`process_definition_code`
   AND a.`process_definition_version` <=> b.`process_definition_version`
   AND a.`state` <=> w.`n_state`
   AND CAST(a.`state_history` AS BINARY) <=> CAST(b.`state_history` AS BINARY)
   AND a.`recovery` <=> b.`recovery`
   AND a.`start_time` <=> b.`start_time`
   AND a.`end_time` <=> w.`n_end_time`
   AND a.`run_times` <=> b.`run_times`
   AND CAST(a.`host` AS BINARY) <=> CAST(b.`host` AS BINARY)
   AND a.`command_type` <=> b.`command_type`
   AND CAST(a.`command_param` AS BINARY) <=> CAST(b.`command_param` AS BINARY)
   AND a.`task_depend_type` <=> b.`task_depend_type`
   AND a.`max_try_times` <=> b.`max_try_times`
   AND a.`failure_strategy` <=> b.`failure_strategy`
   AND a.`warning_type` <=> b.`warning_type`
   AND a.`warning_group_id` <=> b.`warning_group_id`
   AND a.`schedule_time` <=> b.`schedule_time`
   AND a.`command_start_time` <=> b.`command_start_time`
   AND CAST(a.`global_params` AS BINARY) <=> CAST(b.`global_params` AS BINARY)
   AND a.`flag` <=> b.`flag`
   AND a.`is_sub_process` <=> b.`is_sub_process`
   AND a.`executor_id` <=> b.`executor_id`
   AND CAST(a.`history_cmd` AS BINARY) <=> CAST(b.`history_cmd` AS BINARY)
   AND a.`process_instance_priority` <=> b.`process_instance_priority`
   AND CAST(a.`worker_group` AS BINARY) <=> CAST(b.`worker_group` AS BINARY)
   AND a.`environment_code` <=> b.`environment_code`
   AND a.`timeout` <=> b.`timeout`
   AND a.`tenant_id` <=> b.`tenant_id`
   AND CAST(a.`var_pool` AS BINARY) <=> CAST(b.`var_pool` AS BINARY)
   AND a.`dry_run` <=> b.`dry_run`
   AND a.`next_process_instance_id` <=> b.`next_process_instance_id`
   AND a.`restart_time` <=> b.`restart_time`) AS n) c
  JOIN `flowmend_ledger` p ON p.bundle = 'd812c68044cf190f' AND p.step = '04_workflow_instance.after'
 WHERE NOT EXISTS (SELECT 1 FROM `flowmend_ledger` o WHERE o.bundle = 'd812c68044cf190f' AND o.step = '04_workflow_instance.exact');
