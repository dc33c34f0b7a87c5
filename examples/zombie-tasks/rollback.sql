-- Rollback: restores the rows that nobody changed since; refuses if one moved.
-- guard rollback.begin: the bundle was applied (a duplicate means "already rolled back")
INSERT INTO `flowmend_ledger` (bundle, step, expected, actual, held)
SELECT 'd812c68044cf190f', 'rollback.begin', 1, c.n, IF(c.n = 1, 1, (SELECT 1 UNION ALL SELECT 2))
  FROM (SELECT (SELECT COUNT(*) FROM `flowmend_ledger` e WHERE e.bundle = 'd812c68044cf190f' AND e.step = 'end') AS n) c;
-- guard rollback.03_task_instance.no_command: rows for which it is not true that no command is queued for the task's run (expected 0)
INSERT INTO `flowmend_ledger` (bundle, step, expected, actual, held)
SELECT 'd812c68044cf190f', 'rollback.03_task_instance.no_command', 0, c.n, IF(c.n = 0, 1, (SELECT 1 UNION ALL SELECT 2))
  FROM (SELECT (SELECT COUNT(*) FROM `flowmend_d812c68044cf_03_after` t WHERE CASE WHEN NOT (t.`process_instance_id` IN (SELECT c.`process_instance_id` FROM `t_ds_command` c WHERE c.`process_instance_id` IS NOT NULL)) THEN 0 ELSE 1 END = 1) AS n) c
  JOIN `flowmend_ledger` p ON p.bundle = 'd812c68044cf190f' AND p.step = 'rollback.begin'
 WHERE NOT EXISTS (SELECT 1 FROM `flowmend_ledger` o WHERE o.bundle = 'd812c68044cf190f' AND o.step = 'rollback.03_task_instance.no_command');
-- guard rollback.04_workflow_instance.no_command: rows for which it is not true that no command is queued for the run (expected 0)
INSERT INTO `flowmend_ledger` (bundle, step, expected, actual, held)
SELECT 'd812c68044cf190f', 'rollback.04_workflow_instance.no_command', 0, c.n, IF(c.n = 0, 1, (SELECT 1 UNION ALL SELECT 2))
  FROM (SELECT (SELECT COUNT(*) FROM `flowmend_d812c68044cf_04_after` t WHERE CASE WHEN NOT (t.`id` IN (SELECT c.`process_instance_id` FROM `t_ds_command` c WHERE c.`process_instance_id` IS NOT NULL)) THEN 0 ELSE 1 END = 1) AS n) c
  JOIN `flowmend_ledger` p ON p.bundle = 'd812c68044cf190f' AND p.step = 'rollback.03_task_instance.no_command'
 WHERE NOT EXISTS (SELECT 1 FROM `flowmend_ledger` o WHERE o.bundle = 'd812c68044cf190f' AND o.step = 'rollback.04_workflow_instance.no_command');
-- guard rollback.03_task_instance.tied: rows whose row of t_ds_process_instance has another state since, which this bundle did not write (expected 0)
INSERT INTO `flowmend_ledger` (bundle, step, expected, actual, held)
SELECT 'd812c68044cf190f', 'rollback.03_task_instance.tied', 0, c.n, IF(c.n = 0, 1, (SELECT 1 UNION ALL SELECT 2))
  FROM (SELECT (SELECT COUNT(*) FROM `flowmend_d812c68044cf_03_after` t JOIN `flowmend_d812c68044cf_03_work` w ON t.`id` = w.`k_id` LEFT JOIN `t_ds_process_instance` r ON r.`id` = t.`process_instance_id`
 WHERE NOT (r.`state` <=> w.`r_state`)
   AND NOT EXISTS (SELECT 1 FROM `flowmend_d812c68044cf_04_after` z WHERE z.`id` = r.`id`)) AS n) c
  JOIN `flowmend_ledger` p ON p.bundle = 'd812c68044cf190f' AND p.step = 'rollback.04_workflow_instance.no_command'
 WHERE NOT EXISTS (SELECT 1 FROM `flowmend_ledger` o WHERE o.bundle = 'd812c68044cf190f' AND o.step = 'rollback.03_task_instance.tied');
-- guard rollback.06_task_group: rows that nobody changed since, restored (expected 1)
UPDATE `t_ds_task_group` t
  JOIN `flowmend_d812c68044cf_06_after` a ON t.`id` = a.`id`
  JOIN `flowmend_d812c68044cf_06_before` b ON t.`id` = b.`id`
  JOIN `flowmend_ledger` g ON g.bundle = 'd812c68044cf190f' AND g.step = 'rollback.03_task_instance.tied'
   SET t.`use_size` = b.`use_size`,
       t.`update_time` = b.`update_time`
 WHERE t.`id` <=> a.`id`
   AND CAST(t.`name` AS BINARY) <=> CAST(a.`name` AS BINARY)
   AND CAST(t.`description` AS BINARY) <=> CAST(a.`description` AS BINARY)
   AND t.`group_size` <=> a.`group_size`
   AND t.`use_size` <=> a.`use_size`
   AND t.`user_id` <=> a.`user_id`
   AND t.`project_code` <=> a.`project_code`
   AND t.`status` <=> a.`status`
   AND t.`create_time` <=> a.`create_time`
   AND t.`update_time` <=> a.`update_time`
   AND NOT EXISTS (SELECT 1 FROM `flowmend_ledger` o WHERE o.bundle = 'd812c68044cf190f' AND o.step = 'rollback.06_task_group');
SET @flowmend_rows = ROW_COUNT();
SELECT 'rollback.06_task_group' AS guard, 1 AS expected, @flowmend_rows AS found;
INSERT INTO `flowmend_ledger` (bundle, step, expected, actual, held)
SELECT 'd812c68044cf190f', 'rollback.06_task_group', 1, @flowmend_rows, IF(@flowmend_rows = 1, 1, (SELECT 1 UNION ALL SELECT 2))
  FROM `flowmend_ledger` p
 WHERE p.bundle = 'd812c68044cf190f' AND p.step = 'rollback.03_task_instance.tied'
   AND NOT EXISTS (SELECT 1 FROM `flowmend_ledger` o WHERE o.bundle = 'd812c68044cf190f' AND o.step = 'rollback.06_task_group');
-- guard rollback.06_task_group.exact: rows equal to the backup in every column (expected 1)
INSERT INTO `flowmend_ledger` (bundle, step, expected, actual, held)
SELECT 'd812c68044cf190f', 'rollback.06_task_group.exact', 1, c.n, IF(c.n = 1, 1, (SELECT 1 UNION ALL SELECT 2))
  FROM (SELECT (SELECT COUNT(*) FROM `t_ds_task_group` t JOIN `flowmend_d812c68044cf_06_before` b ON t.`id` = b.`id`
 WHERE t.`id` <=> b.`id`
   AND CAST(t.`name` AS BINARY) <=> CAST(b.`name` AS BINARY)
   AND CAST(t.`description` AS BINARY) <=> CAST(b.`description` AS BINARY)
   AND t.`group_size` <=> b.`group_size`
   AND t.`use_size` <=> b.`use_size`
   AND t.`user_id` <=> b.`user_id`
   AND t.`project_code` <=> b.`project_code`
   AND t.`status` <=> b.`status`
   AND t.`create_time` <=> b.`create_time`
   AND t.`update_time` <=> b.`update_time`) AS n) c
  JOIN `flowmend_ledger` p ON p.bundle = 'd812c68044cf190f' AND p.step = 'rollback.06_task_group'
 WHERE NOT EXISTS (SELECT 1 FROM `flowmend_ledger` o WHERE o.bundle = 'd812c68044cf190f' AND o.step = 'rollback.06_task_group.exact');
-- guard rollback.05_task_group_queue: rows that nobody changed since, restored (expected 1)
UPDATE `t_ds_task_group_queue` t
  JOIN `flowmend_d812c68044cf_05_after` a ON t.`id` = a.`id`
  JOIN `flowmend_d812c68044cf_05_before` b ON t.`id` = b.`id`
  JOIN `flowmend_ledger` g ON g.bundle = 'd812c68044cf190f' AND g.step = 'rollback.06_task_group.exact'
   SET t.`status` = b.`status`,
       t.`update_time` = b.`update_time`
 WHERE t.`id` <=> a.`id`
   AND t.`task_id` <=> a.`task_id`
   AND CAST(t.`task_name` AS BINARY) <=> CAST(a.`task_name` AS BINARY)
   AND t.`group_id` <=> a.`group_id`
   AND t.`process_id` <=> a.`process_id`
   AND t.`priority` <=> a.`priority`
   AND t.`status` <=> a.`status`
   AND t.`force_start` <=> a.`force_start`
   AND t.`in_queue` <=> a.`in_queue`
   AND t.`create_time` <=> a.`create_time`
   AND t.`update_time` <=> a.`update_time`
   AND NOT EXISTS (SELECT 1 FROM `flowmend_ledger` o WHERE o.bundle = 'd812c68044cf190f' AND o.step = 'rollback.05_task_group_queue');
SET @flowmend_rows = ROW_COUNT();
SELECT 'rollback.05_task_group_queue' AS guard, 1 AS expected, @flowmend_rows AS found;
INSERT INTO `flowmend_ledger` (bundle, step, expected, actual, held)
SELECT 'd812c68044cf190f', 'rollback.05_task_group_queue', 1, @flowmend_rows, IF(@flowmend_rows = 1, 1, (SELECT 1 UNION ALL SELECT 2))
  FROM `flowmend_ledger` p
 WHERE p.bundle = 'd812c68044cf190f' AND p.step = 'rollback.06_task_group.exact'
   AND NOT EXISTS (SELECT 1 FROM `flowmend_ledger` o WHERE o.bundle = 'd812c68044cf190f' AND o.step = 'rollback.05_task_group_queue');
-- guard rollback.05_task_group_queue.exact: rows equal to the backup in every column (expected 1)
INSERT INTO `flowmend_ledger` (bundle, step, expected, actual, held)
SELECT 'd812c68044cf190f', 'rollback.05_task_group_queue.exact', 1, c.n, IF(c.n = 1, 1, (SELECT 1 UNION ALL SELECT 2))
  FROM (SELECT (SELECT COUNT(*) FROM `t_ds_task_group_queue` t JOIN `flowmend_d812c68044cf_05_before` b ON t.`id` = b.`id`
 WHERE t.`id` <=> b.`id`
   AND t.`task_id` <=> b.`task_id`
   AND CAST(t.`task_name` AS BINARY) <=> CAST(b.`task_name` AS BINARY)
   AND t.`group_id` <=> b.`group_id`
   AND t.`process_id` <=> b.`process_id`
   AND t.`priority` <=> b.`priority`
   AND t.`status` <=> b.`status`
   AND t.`force_start` <=> b.`force_start`
   AND t.`in_queue` <=> b.`in_queue`
   AND t.`create_time` <=> b.`create_time`
   AND t.`update_time` <=> b.`update_time`) AS n) c
  JOIN `flowmend_ledger` p ON p.bundle = 'd812c68044cf190f' AND p.step = 'rollback.05_task_group_queue'
 WHERE NOT EXISTS (SELECT 1 FROM `flowmend_ledger` o WHERE o.bundle = 'd812c68044cf190f' AND o.step = 'rollback.05_task_group_queue.exact');
-- guard rollback.04_workflow_instance: rows that nobody changed since, restored (expected 1)
UPDATE `t_ds_process_instance` t
  JOIN `flowmend_d812c68044cf_04_after` a ON t.`id` = a.`id`
  JOIN `flowmend_d812c68044cf_04_before` b ON t.`id` = b.`id`
  JOIN `flowmend_ledger` g ON g.bundle = 'd812c68044cf190f' AND g.step = 'rollback.05_task_group_queue.exact'
   SET t.`state` = b.`state`,
       t.`end_time` = b.`end_time`,
       t.`update_time` = b.`update_time`
 WHERE t.`id` <=> a.`id`
   AND CAST(t.`name` AS BINARY) <=> CAST(a.`name` AS BINARY)
   AND t.`process_definition_code` <=> a.`process_definition_code`
   AND t.`process_definition_version` <=> a.`process_definition_version`
   AND t.`state` <=> a.`state`
   AND CAST(t.`state_history` AS BINARY) <=> CAST(a.`state_history` AS BINARY)
   AND t.`recovery` <=> a.`recovery`
   AND t.`start_time` <=> a.`start_time`
   AND t.`end_time` <=> a.`end_time`
   AND t.`run_times` <=> a.`run_times`
   AND CAST(t.`host` AS BINARY) <=> CAST(a.`host` AS BINARY)
   AND t.`command_type` <=> a.`command_type`
   AND CAST(t.`command_param` AS BINARY) <=> CAST(a.`command_param` AS BINARY)
   AND t.`task_depend_type` <=> a.`task_depend_type`
   AND t.`max_try_times` <=> a.`max_try_times`
   AND t.`failure_strategy` <=> a.`failure_strategy`
   AND t.`warning_type` <=> a.`warning_type`
   AND t.`warning_group_id` <=> a.`warning_group_id`
   AND t.`schedule_time` <=> a.`schedule_time`
   AND t.`command_start_time` <=> a.`command_start_time`
   AND CAST(t.`global_params` AS BINARY) <=> CAST(a.`global_params` AS BINARY)
   AND t.`flag` <=> a.`flag`
   AND t.`update_time` <=> a.`update_time`
   AND t.`is_sub_process` <=> a.`is_sub_process`
   AND t.`executor_id` <=> a.`executor_id`
   AND CAST(t.`history_cmd` AS BINARY) <=> CAST(a.`history_cmd` AS BINARY)
   AND t.`process_instance_priority` <=> a.`process_instance_priority`
   AND CAST(t.`worker_group` AS BINARY) <=> CAST(a.`worker_group` AS BINARY)
   AND t.`environment_code` <=> a.`environment_code`
   AND t.`timeout` <=> a.`timeout`
   AND t.`tenant_id` <=> a.`tenant_id`
   AND CAST(t.`var_pool` AS BINARY) <=> CAST(a.`var_pool` AS BINARY)
   AND t.`dry_run` <=> a.`dry_run`
   AND t.`next_process_instance_id` <=> a.`next_process_instance_id`
   AND t.`restart_time` <=> a.`restart_time`
   AND NOT EXISTS (SELECT 1 FROM `flowmend_ledger` o WHERE o.bundle = 'd812c68044cf190f' AND o.step = 'rollback.04_workflow_instance');
SET @flowmend_rows = ROW_COUNT();
SELECT 'rollback.04_workflow_instance' AS guard, 1 AS expected, @flowmend_rows AS found;
INSERT INTO `flowmend_ledger` (bundle, step, expected, actual, held)
SELECT 'd812c68044cf190f', 'rollback.04_workflow_instance', 1, @flowmend_rows, IF(@flowmend_rows = 1, 1, (SELECT 1 UNION ALL SELECT 2))
  FROM `flowmend_ledger` p
 WHERE p.bundle = 'd812c68044cf190f' AND p.step = 'rollback.05_task_group_queue.exact'
   AND NOT EXISTS (SELECT 1 FROM `flowmend_ledger` o WHERE o.bundle = 'd812c68044cf190f' AND o.step = 'rollback.04_workflow_instance');
-- guard rollback.04_workflow_instance.exact: rows equal to the backup in every column (expected 1)
INSERT INTO `flowmend_ledger` (bundle, step, expected, actual, held)
SELECT 'd812c68044cf190f', 'rollback.04_workflow_instance.exact', 1, c.n, IF(c.n = 1, 1, (SELECT 1 UNION ALL SELECT 2))
  FROM (SELECT (SELECT COUNT(*) FROM `t_ds_process_instance` t JOIN `flowmend_d812c68044cf_04_before` b ON t.`id` = b.`id`
 WHERE t.`id` <=> b.`id`
   AND CAST(t.`name` AS BINARY) <=> CAST(b.`name` AS BINARY)
   AND t.`process_definition_code` <=> b.`process_definition_code`
   AND t.`process_definition_version` <=> b.`process_definition_version`
   AND t.`state` <=> b.`state`
   AND CAST(t.`state_history` AS BINARY) <=> CAST(b.`state_history` AS BINARY)
   AND t.`recovery` <=> b.`recovery`
   AND t.`start_time` <=> b.`start_time`
   AND t.`end_time` <=> b.`end_time`
   AND t.`run_times` <=> b.`run_times`
   AND CAST(t.`host` AS BINARY) <=> CAST(b.`host` AS BINARY)
   AND t.`command_type` <=> b.`command_type`
   AND CAST(t.`command_param` AS BINARY) <=> CAST(b.`command_param` AS BINARY)
   AND t.`task_depend_type` <=> b.`task_depend_type`
   AND t.`max_try_times` <=> b.`max_try_times`
   AND t.`failure_strategy` <=> b.`failure_strategy`
   AND t.`warning_type` <=> b.`warning_type`
   AND t.`warning_group_id` <=> b.`warning_group_id`
   AND t.`schedule_time` <=> b.`schedule_time`
   AND t.`command_start_time` <=> b.`command_start_time`
   AND CAST(t.`global_params` AS BINARY) <=> CAST(b.`global_params` AS BINARY)
   AND t.`flag` <=> b.`flag`
   AND t.`update_time` <=> b.`update_time`
   AND t.`is_sub_process` <=> b.`is_sub_process`
   AND t.`executor_id` <=> b.`executor_id`
   AND CAST(t.`history_cmd` AS BINARY) <=> CAST(b.`history_cmd` AS BINARY)
   AND t.`process_instance_priority` <=> b.`process_instance_priority`
   AND CAST(t.`worker_group` AS BINARY) <=> CAST(b.`worker_group` AS BINARY)
   AND t.`environment_code` <=> b.`environment_code`
   AND t.`timeout` <=> b.`timeout`
   AND t.`tenant_id` <=> b.`tenant_id`
   AND CAST(t.`var_pool` AS BINARY) <=> CAST(b.`var_pool` AS BINARY)
   AND t.`dry_run` <=> b.`dry_run`
   AND t.`next_process_instance_id` <=> b.`next_process_instance_id`
   AND t.`restart_time` <=> b.`restart_time`) AS n) c
  JOIN `flowmend_ledger` p ON p.bundle = 'd812c68044cf190f' AND p.step = 'rollback.04_workflow_instance'
 WHERE NOT EXISTS (SELECT 1 FROM `flowmend_ledger` o WHERE o.bundle = 'd812c68044cf190f' AND o.step = 'rollback.04_workflow_instance.exact');
-- guard rollback.03_task_instance: rows that nobody changed since, restored (expected 2)
UPDATE `t_ds_task_instance` t
  JOIN `flowmend_d812c68044cf_03_after` a ON t.`id` = a.`id`
  JOIN `flowmend_d812c68044cf_03_before` b ON t.`id` = b.`id`
  JOIN `flowmend_ledger` g ON g.bundle = 'd812c68044cf190f' AND g.step = 'rollback.04_workflow_instance.exact'
   SET t.`state` = b.`state`,
       t.`end_time` = b.`end_time`
 WHERE t.`id` <=> a.`id`
   AND CAST(t.`name` AS BINARY) <=> CAST(a.`name` AS BINARY)
   AND CAST(t.`task_type` AS BINARY) <=> CAST(a.`task_type` AS BINARY)
   AND t.`task_execute_type` <=> a.`task_execute_type`
   AND t.`task_code` <=> a.`task_code`
   AND t.`task_definition_version` <=> a.`task_definition_version`
   AND t.`process_instance_id` <=> a.`process_instance_id`
   AND t.`state` <=> a.`state`
   AND t.`submit_time` <=> a.`submit_time`
   AND t.`start_time` <=> a.`start_time`
   AND t.`end_time` <=> a.`end_time`
   AND CAST(t.`host` AS BINARY) <=> CAST(a.`host` AS BINARY)
   AND CAST(t.`execute_path` AS BINARY) <=> CAST(a.`execute_path` AS BINARY)
   AND CAST(t.`log_path` AS BINARY) <=> CAST(a.`log_path` AS BINARY)
   AND t.`alert_flag` <=> a.`alert_flag`
   AND t.`retry_times` <=> a.`retry_times`
   AND t.`pid` <=> a.`pid`
   AND CAST(t.`app_link` AS BINARY) <=> CAST(a.`app_link` AS BINARY)
   AND CAST(t.`task_params` AS BINARY) <=> CAST(a.`task_params` AS BINARY)
   AND t.`flag` <=> a.`flag`
   AND t.`retry_interval` <=> a.`retry_interval`
   AND t.`max_retry_times` <=> a.`max_retry_times`
   AND t.`task_instance_priority` <=> a.`task_instance_priority`
   AND CAST(t.`worker_group` AS BINARY) <=> CAST(a.`worker_group` AS BINARY)
   AND t.`environment_code` <=> a.`environment_code`
   AND CAST(t.`environment_config` AS BINARY) <=> CAST(a.`environment_config` AS BINARY)
   AND t.`executor_id` <=> a.`executor_id`
   AND t.`first_submit_time` <=> a.`first_submit_time`
   AND t.`delay_time` <=> a.`delay_time`
   AND CAST(t.`var_pool` AS BINARY) <=> CAST(a.`var_pool` AS BINARY)
   AND t.`task_group_id` <=> a.`task_group_id`
   AND t.`dry_run` <=> a.`dry_run`
   AND t.`cpu_quota` <=> a.`cpu_quota`
   AND t.`memory_max` <=> a.`memory_max`
   AND NOT EXISTS (SELECT 1 FROM `flowmend_ledger` o WHERE o.bundle = 'd812c68044cf190f' AND o.step = 'rollback.03_task_instance');
SET @flowmend_rows = ROW_COUNT();
SELECT 'rollback.03_task_instance' AS guard, 2 AS expected, @flowmend_rows AS found;
INSERT INTO `flowmend_ledger` (bundle, step, expected, actual, held)
SELECT 'd812c68044cf190f', 'rollback.03_task_instance', 2, @flowmend_rows, IF(@flowmend_rows = 2, 1, (SELECT 1 UNION ALL SELECT 2))
  FROM `flowmend_ledger` p
 WHERE p.bundle = 'd812c68044cf190f' AND p.step = 'rollback.04_workflow_instance.exact'
   AND NOT EXISTS (SELECT 1 FROM `flowmend_ledger` o WHERE o.bundle = 'd812c68044cf190f' AND o.step = 'rollback.03_task_instance');
-- guard rollback.03_task_instance.exact: rows equal to the backup in every column (expected 2)
INSERT INTO `flowmend_ledger` (bundle, step, expected, actual, held)
SELECT 'd812c68044cf190f', 'rollback.03_task_instance.exact', 2, c.n, IF(c.n = 2, 1, (SELECT 1 UNION ALL SELECT 2))
  FROM (SELECT (SELECT COUNT(*) FROM `t_ds_task_instance` t JOIN `flowmend_d812c68044cf_03_before` b ON t.`id` = b.`id`
 WHERE t.`id` <=> b.`id`
   AND CAST(t.`name` AS BINARY) <=> CAST(b.`name` AS BINARY)
   AND CAST(t.`task_type` AS BINARY) <=> CAST(b.`task_type` AS BINARY)
   AND t.`task_execute_type` <=> b.`task_execute_type`
   AND t.`task_code` <=> b.`task_code`
   AND t.`task_definition_version` <=> b.`task_definition_version`
   AND t.`process_instance_id` <=> b.`process_instance_id`
   AND t.`state` <=> b.`state`
   AND t.`submit_time` <=> b.`submit_time`
   AND t.`start_time` <=> b.`start_time`
   AND t.`end_time` <=> b.`end_time`
   AND CAST(t.`host` AS BINARY) <=> CAST(b.`host` AS BINARY)
   AND CAST(t.`execute_path` AS BINARY) <=> CAST(b.`execute_path` AS BINARY)
   AND CAST(t.`log_path` AS BINARY) <=> CAST(b.`log_path` AS BINARY)
   AND t.`alert_flag` <=> b.`alert_flag`
   AND t.`retry_times` <=> b.`retry_times`
   AND t.`pid` <=> b.`pid`
   AND CAST(t.`app_link` AS BINARY) <=> CAST(b.`app_link` AS BINARY)
   AND CAST(t.`task_params` AS BINARY) <=> CAST(b.`task_params` AS BINARY)
   AND t.`flag` <=> b.`flag`
   AND t.`retry_interval` <=> b.`retry_interval`
   AND t.`max_retry_times` <=> b.`max_retry_times`
   AND t.`task_instance_priority` <=> b.`task_instance_priority`
   AND CAST(t.`worker_group` AS BINARY) <=> CAST(b.`worker_group` AS BINARY)
   AND t.`environment_code` <=> b.`environment_code`
   AND CAST(t.`environment_config` AS BINARY) <=> CAST(b.`environment_config` AS BINARY)
   AND t.`executor_id` <=> b.`executor_id`
   AND t.`first_submit_time` <=> b.`first_submit_time`
   AND t.`delay_time` <=> b.`delay_time`
   AND CAST(t.`var_pool` AS BINARY) <=> CAST(b.`var_pool` AS BINARY)
   AND t.`task_group_id` <=> b.`task_group_id`
   AND t.`dry_run` <=> b.`dry_run`
   AND t.`cpu_quota` <=> b.`cpu_quota`
   AND t.`memory_max` <=> b.`memory_max`) AS n) c
  JOIN `flowmend_ledger` p ON p.bundle = 'd812c68044cf190f' AND p.step = 'rollback.03_task_instance'
 WHERE NOT EXISTS (SELECT 1 FROM `flowmend_ledger` o WHERE o.bundle = 'd812c68044cf190f' AND o.step = 'rollback.03_task_instance.exact');
-- guard rollback.end: guards that held (expected 12)
INSERT INTO `flowmend_ledger` (bundle, step, expected, actual, held)
SELECT 'd812c68044cf190f', 'rollback.end', 12, c.n, IF(c.n = 12, 1, (SELECT 1 UNION ALL SELECT 2))
  FROM (SELECT (SELECT COUNT(*) FROM `flowmend_ledger` e WHERE e.bundle = 'd812c68044cf190f' AND e.step IN ('rollback.begin', 'rollback.03_task_instance.no_command', 'rollback.04_workflow_instance.no_command', 'rollback.03_task_instance.tied', 'rollback.06_task_group', 'rollback.06_task_group.exact', 'rollback.05_task_group_queue', 'rollback.05_task_group_queue.exact', 'rollback.04_workflow_instance', 'rollback.04_workflow_instance.exact', 'rollback.03_task_instance', 'rollback.03_task_instance.exact')) AS n) c
  JOIN `flowmend_ledger` p ON p.bundle = 'd812c68044cf190f' AND p.step = 'rollback.03_task_instance.exact'
 WHERE NOT EXISTS (SELECT 1 FROM `flowmend_ledger` o WHERE o.bundle = 'd812c68044cf190f' AND o.step = 'rollback.end');
