-- 02 backup: loads keys, pins and new values, then copies the affected rows whole, under row locks.
-- Work table columns: k_ key, o_ old value, n_ new value, r_ value of the related row.
INSERT INTO `flowmend_d812c68044cf_03_work` (`k_id`, `o_state`, `o_end_time`, `o_flag`, `o_host`, `n_state`, `n_end_time`, `r_state`, `r_host`, `r_restart_time`) VALUES
(1, 1, NULL, 1, '10.0.0.4:1234', 6, '2026-11-28 10:05:00', 1, '10.0.0.9:5678', '2026-11-28 10:00:00'),
(7, 1, NULL, 1, '10.0.0.4:1234', 6, '2026-11-28 10:05:00', 6, '10.0.0.1:5678', '2026-11-28 10:00:00');
-- guard 02_backup.03_task_instance.loaded: rows loaded (expected 2)
INSERT INTO `flowmend_ledger` (bundle, step, expected, actual, held)
SELECT 'd812c68044cf190f', '02_backup.03_task_instance.loaded', 2, c.n, IF(c.n = 2, 1, (SELECT 1 UNION ALL SELECT 2))
  FROM (SELECT (SELECT COUNT(*) FROM `flowmend_d812c68044cf_03_work`) AS n) c
  JOIN `flowmend_ledger` p ON p.bundle = 'd812c68044cf190f' AND p.step = '01_preflight.triggers'
 WHERE NOT EXISTS (SELECT 1 FROM `flowmend_ledger` o WHERE o.bundle = 'd812c68044cf190f' AND o.step = '02_backup.03_task_instance.loaded');
INSERT INTO `flowmend_d812c68044cf_04_work` (`k_id`, `o_state`, `o_end_time`, `o_update_time`, `o_host`, `o_restart_time`, `n_state`, `n_end_time`) VALUES
(1, 1, NULL, '2026-11-28 10:00:00', '10.0.0.9:5678', '2026-11-28 10:00:00', 6, '2026-11-28 10:05:00');
-- guard 02_backup.04_workflow_instance.loaded: rows loaded (expected 1)
INSERT INTO `flowmend_ledger` (bundle, step, expected, actual, held)
SELECT 'd812c68044cf190f', '02_backup.04_workflow_instance.loaded', 1, c.n, IF(c.n = 1, 1, (SELECT 1 UNION ALL SELECT 2))
  FROM (SELECT (SELECT COUNT(*) FROM `flowmend_d812c68044cf_04_work`) AS n) c
  JOIN `flowmend_ledger` p ON p.bundle = 'd812c68044cf190f' AND p.step = '02_backup.03_task_instance.loaded'
 WHERE NOT EXISTS (SELECT 1 FROM `flowmend_ledger` o WHERE o.bundle = 'd812c68044cf190f' AND o.step = '02_backup.04_workflow_instance.loaded');
INSERT INTO `flowmend_d812c68044cf_05_work` (`k_id`, `o_status`, `o_in_queue`, `o_update_time`, `o_force_start`, `o_task_id`, `n_status`) VALUES
(1, 1, 0, '2026-11-28 10:00:00', 0, 1, 2);
-- guard 02_backup.05_task_group_queue.loaded: rows loaded (expected 1)
INSERT INTO `flowmend_ledger` (bundle, step, expected, actual, held)
SELECT 'd812c68044cf190f', '02_backup.05_task_group_queue.loaded', 1, c.n, IF(c.n = 1, 1, (SELECT 1 UNION ALL SELECT 2))
  FROM (SELECT (SELECT COUNT(*) FROM `flowmend_d812c68044cf_05_work`) AS n) c
  JOIN `flowmend_ledger` p ON p.bundle = 'd812c68044cf190f' AND p.step = '02_backup.04_workflow_instance.loaded'
 WHERE NOT EXISTS (SELECT 1 FROM `flowmend_ledger` o WHERE o.bundle = 'd812c68044cf190f' AND o.step = '02_backup.05_task_group_queue.loaded');
INSERT INTO `flowmend_d812c68044cf_06_work` (`k_id`, `o_update_time`, `o_use_size`, `n_use_size`) VALUES
(1, '2026-11-28 10:00:00', 2, 1);
-- guard 02_backup.06_task_group.loaded: rows loaded (expected 1)
INSERT INTO `flowmend_ledger` (bundle, step, expected, actual, held)
SELECT 'd812c68044cf190f', '02_backup.06_task_group.loaded', 1, c.n, IF(c.n = 1, 1, (SELECT 1 UNION ALL SELECT 2))
  FROM (SELECT (SELECT COUNT(*) FROM `flowmend_d812c68044cf_06_work`) AS n) c
  JOIN `flowmend_ledger` p ON p.bundle = 'd812c68044cf190f' AND p.step = '02_backup.05_task_group_queue.loaded'
 WHERE NOT EXISTS (SELECT 1 FROM `flowmend_ledger` o WHERE o.bundle = 'd812c68044cf190f' AND o.step = '02_backup.06_task_group.loaded');
-- guard 02_backup.03_task_instance: rows of t_ds_task_instance that still are as planned (expected 2)
--   and no command is queued for the task's run
INSERT INTO `flowmend_d812c68044cf_03_before` (`id`, `name`, `task_type`, `task_execute_type`, `task_code`, `task_definition_version`, `process_instance_id`, `state`, `submit_time`, `start_time`, `end_time`, `host`, `execute_path`, `log_path`, `alert_flag`, `retry_times`, `pid`, `app_link`, `task_params`, `flag`, `retry_interval`, `max_retry_times`, `task_instance_priority`, `worker_group`, `environment_code`, `environment_config`, `executor_id`, `first_submit_time`, `delay_time`, `var_pool`, `task_group_id`, `dry_run`, `cpu_quota`, `memory_max`)
SELECT t.`id`, t.`name`, t.`task_type`, t.`task_execute_type`, t.`task_code`, t.`task_definition_version`, t.`process_instance_id`, t.`state`, t.`submit_time`, t.`start_time`, t.`end_time`, t.`host`, t.`execute_path`, t.`log_path`, t.`alert_flag`, t.`retry_times`, t.`pid`, t.`app_link`, t.`task_params`, t.`flag`, t.`retry_interval`, t.`max_retry_times`, t.`task_instance_priority`, t.`worker_group`, t.`environment_code`, t.`environment_config`, t.`executor_id`, t.`first_submit_time`, t.`delay_time`, t.`var_pool`, t.`task_group_id`, t.`dry_run`, t.`cpu_quota`, t.`memory_max`
  FROM `flowmend_d812c68044cf_03_work` w
  JOIN `flowmend_ledger` g ON g.bundle = 'd812c68044cf190f' AND g.step = '02_backup.06_task_group.loaded'
  JOIN `t_ds_task_instance` t ON t.`id` = w.`k_id`
  JOIN `t_ds_process_instance` r ON r.`id` = t.`process_instance_id` AND r.`state` <=> w.`r_state` AND CAST(r.`host` AS BINARY) <=> CAST(w.`r_host` AS BINARY) AND r.`restart_time` <=> w.`r_restart_time`
 WHERE t.`state` <=> w.`o_state`
   AND t.`end_time` <=> w.`o_end_time`
   AND t.`flag` <=> w.`o_flag`
   AND CAST(t.`host` AS BINARY) <=> CAST(w.`o_host` AS BINARY)
   AND (NOT (t.`process_instance_id` IN (SELECT c.`process_instance_id` FROM `t_ds_command` c WHERE c.`process_instance_id` IS NOT NULL)))
   AND NOT EXISTS (SELECT 1 FROM `flowmend_ledger` o WHERE o.bundle = 'd812c68044cf190f' AND o.step = '02_backup.03_task_instance')
   FOR UPDATE;
SET @flowmend_rows = ROW_COUNT();
SELECT '02_backup.03_task_instance' AS guard, 2 AS expected, @flowmend_rows AS found;
INSERT INTO `flowmend_ledger` (bundle, step, expected, actual, held)
SELECT 'd812c68044cf190f', '02_backup.03_task_instance', 2, @flowmend_rows, IF(@flowmend_rows = 2, 1, (SELECT 1 UNION ALL SELECT 2))
  FROM `flowmend_ledger` p
 WHERE p.bundle = 'd812c68044cf190f' AND p.step = '02_backup.06_task_group.loaded'
   AND NOT EXISTS (SELECT 1 FROM `flowmend_ledger` o WHERE o.bundle = 'd812c68044cf190f' AND o.step = '02_backup.03_task_instance');
-- guard 02_backup.04_workflow_instance: rows of t_ds_process_instance that still are as planned (expected 1)
--   and no command is queued for the run
INSERT INTO `flowmend_d812c68044cf_04_before` (`id`, `name`, `process_definition_code`, `process_definition_version`, `state`, `state_history`, `recovery`, `start_time`, `end_time`, `run_times`, `host`, `command_type`, `command_param`, `task_depend_type`, `max_try_times`, `failure_strategy`, `warning_type`, `warning_group_id`, `schedule_time`, `command_start_time`, `global_params`, `flag`, `update_time`, `is_sub_process`, `executor_id`, `history_cmd`, `process_instance_priority`, `worker_group`, `environment_code`, `timeout`, `tenant_id`, `var_pool`, `dry_run`, `next_process_instance_id`, `restart_time`)
SELECT t.`id`, t.`name`, t.`process_definition_code`, t.`process_definition_version`, t.`state`, t.`state_history`, t.`recovery`, t.`start_time`, t.`end_time`, t.`run_times`, t.`host`, t.`command_type`, t.`command_param`, t.`task_depend_type`, t.`max_try_times`, t.`failure_strategy`, t.`warning_type`, t.`warning_group_id`, t.`schedule_time`, t.`command_start_time`, t.`global_params`, t.`flag`, t.`update_time`, t.`is_sub_process`, t.`executor_id`, t.`history_cmd`, t.`process_instance_priority`, t.`worker_group`, t.`environment_code`, t.`timeout`, t.`tenant_id`, t.`var_pool`, t.`dry_run`, t.`next_process_instance_id`, t.`restart_time`
  FROM `flowmend_d812c68044cf_04_work` w
  JOIN `flowmend_ledger` g ON g.bundle = 'd812c68044cf190f' AND g.step = '02_backup.03_task_instance'
  JOIN `t_ds_process_instance` t ON t.`id` = w.`k_id`
 WHERE t.`state` <=> w.`o_state`
   AND t.`end_time` <=> w.`o_end_time`
   AND t.`update_time` <=> w.`o_update_time`
   AND CAST(t.`host` AS BINARY) <=> CAST(w.`o_host` AS BINARY)
   AND t.`restart_time` <=> w.`o_restart_time`
   AND (NOT (t.`id` IN (SELECT c.`process_instance_id` FROM `t_ds_command` c WHERE c.`process_instance_id` IS NOT NULL)))
   AND NOT EXISTS (SELECT 1 FROM `flowmend_ledger` o WHERE o.bundle = 'd812c68044cf190f' AND o.step = '02_backup.04_workflow_instance')
   FOR UPDATE;
SET @flowmend_rows = ROW_COUNT();
SELECT '02_backup.04_workflow_instance' AS guard, 1 AS expected, @flowmend_rows AS found;
INSERT INTO `flowmend_ledger` (bundle, step, expected, actual, held)
SELECT 'd812c68044cf190f', '02_backup.04_workflow_instance', 1, @flowmend_rows, IF(@flowmend_rows = 1, 1, (SELECT 1 UNION ALL SELECT 2))
  FROM `flowmend_ledger` p
 WHERE p.bundle = 'd812c68044cf190f' AND p.step = '02_backup.03_task_instance'
   AND NOT EXISTS (SELECT 1 FROM `flowmend_ledger` o WHERE o.bundle = 'd812c68044cf190f' AND o.step = '02_backup.04_workflow_instance');
-- guard 02_backup.05_task_group_queue: rows of t_ds_task_group_queue that still are as planned (expected 1)
INSERT INTO `flowmend_d812c68044cf_05_before` (`id`, `task_id`, `task_name`, `group_id`, `process_id`, `priority`, `status`, `force_start`, `in_queue`, `create_time`, `update_time`)
SELECT t.`id`, t.`task_id`, t.`task_name`, t.`group_id`, t.`process_id`, t.`priority`, t.`status`, t.`force_start`, t.`in_queue`, t.`create_time`, t.`update_time`
  FROM `flowmend_d812c68044cf_05_work` w
  JOIN `flowmend_ledger` g ON g.bundle = 'd812c68044cf190f' AND g.step = '02_backup.04_workflow_instance'
  JOIN `t_ds_task_group_queue` t ON t.`id` = w.`k_id`
 WHERE t.`status` <=> w.`o_status`
   AND t.`in_queue` <=> w.`o_in_queue`
   AND t.`update_time` <=> w.`o_update_time`
   AND t.`force_start` <=> w.`o_force_start`
   AND t.`task_id` <=> w.`o_task_id`
   AND NOT EXISTS (SELECT 1 FROM `flowmend_ledger` o WHERE o.bundle = 'd812c68044cf190f' AND o.step = '02_backup.05_task_group_queue')
   FOR UPDATE;
SET @flowmend_rows = ROW_COUNT();
SELECT '02_backup.05_task_group_queue' AS guard, 1 AS expected, @flowmend_rows AS found;
INSERT INTO `flowmend_ledger` (bundle, step, expected, actual, held)
SELECT 'd812c68044cf190f', '02_backup.05_task_group_queue', 1, @flowmend_rows, IF(@flowmend_rows = 1, 1, (SELECT 1 UNION ALL SELECT 2))
  FROM `flowmend_ledger` p
 WHERE p.bundle = 'd812c68044cf190f' AND p.step = '02_backup.04_workflow_instance'
   AND NOT EXISTS (SELECT 1 FROM `flowmend_ledger` o WHERE o.bundle = 'd812c68044cf190f' AND o.step = '02_backup.05_task_group_queue');
-- guard 02_backup.06_task_group: rows of t_ds_task_group that still are as planned (expected 1)
INSERT INTO `flowmend_d812c68044cf_06_before` (`id`, `name`, `description`, `group_size`, `use_size`, `user_id`, `project_code`, `status`, `create_time`, `update_time`)
SELECT t.`id`, t.`name`, t.`description`, t.`group_size`, t.`use_size`, t.`user_id`, t.`project_code`, t.`status`, t.`create_time`, t.`update_time`
  FROM `flowmend_d812c68044cf_06_work` w
  JOIN `flowmend_ledger` g ON g.bundle = 'd812c68044cf190f' AND g.step = '02_backup.05_task_group_queue'
  JOIN `t_ds_task_group` t ON t.`id` = w.`k_id`
 WHERE t.`update_time` <=> w.`o_update_time`
   AND t.`use_size` <=> w.`o_use_size`
   AND NOT EXISTS (SELECT 1 FROM `flowmend_ledger` o WHERE o.bundle = 'd812c68044cf190f' AND o.step = '02_backup.06_task_group')
   FOR UPDATE;
SET @flowmend_rows = ROW_COUNT();
SELECT '02_backup.06_task_group' AS guard, 1 AS expected, @flowmend_rows AS found;
INSERT INTO `flowmend_ledger` (bundle, step, expected, actual, held)
SELECT 'd812c68044cf190f', '02_backup.06_task_group', 1, @flowmend_rows, IF(@flowmend_rows = 1, 1, (SELECT 1 UNION ALL SELECT 2))
  FROM `flowmend_ledger` p
 WHERE p.bundle = 'd812c68044cf190f' AND p.step = '02_backup.05_task_group_queue'
   AND NOT EXISTS (SELECT 1 FROM `flowmend_ledger` o WHERE o.bundle = 'd812c68044cf190f' AND o.step = '02_backup.06_task_group');
