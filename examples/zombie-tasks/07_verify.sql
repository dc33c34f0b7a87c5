-- 07 verify: the end is reached only if all of this holds.
-- guard 07_verify.03_task_instance: rows stand as written (expected 2)
INSERT INTO `flowmend_ledger` (bundle, step, expected, actual, held)
SELECT 'd812c68044cf190f', '07_verify.03_task_instance', 2, c.n, IF(c.n = 2, 1, (SELECT 1 UNION ALL SELECT 2))
  FROM (SELECT (SELECT COUNT(*) FROM `t_ds_task_instance` t JOIN `flowmend_d812c68044cf_03_after` a ON t.`id` = a.`id`
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
   AND t.`memory_max` <=> a.`memory_max`) AS n) c
  JOIN `flowmend_ledger` p ON p.bundle = 'd812c68044cf190f' AND p.step = '06_task_group.exact'
 WHERE NOT EXISTS (SELECT 1 FROM `flowmend_ledger` o WHERE o.bundle = 'd812c68044cf190f' AND o.step = '07_verify.03_task_instance');
-- guard 07_verify.04_workflow_instance: rows stand as written (expected 1)
INSERT INTO `flowmend_ledger` (bundle, step, expected, actual, held)
SELECT 'd812c68044cf190f', '07_verify.04_workflow_instance', 1, c.n, IF(c.n = 1, 1, (SELECT 1 UNION ALL SELECT 2))
  FROM (SELECT (SELECT COUNT(*) FROM `t_ds_process_instance` t JOIN `flowmend_d812c68044cf_04_after` a ON t.`id` = a.`id`
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
   AND t.`restart_time` <=> a.`restart_time`) AS n) c
  JOIN `flowmend_ledger` p ON p.bundle = 'd812c68044cf190f' AND p.step = '07_verify.03_task_instance'
 WHERE NOT EXISTS (SELECT 1 FROM `flowmend_ledger` o WHERE o.bundle = 'd812c68044cf190f' AND o.step = '07_verify.04_workflow_instance');
-- guard 07_verify.05_task_group_queue: rows stand as written (expected 1)
INSERT INTO `flowmend_ledger` (bundle, step, expected, actual, held)
SELECT 'd812c68044cf190f', '07_verify.05_task_group_queue', 1, c.n, IF(c.n = 1, 1, (SELECT 1 UNION ALL SELECT 2))
  FROM (SELECT (SELECT COUNT(*) FROM `t_ds_task_group_queue` t JOIN `flowmend_d812c68044cf_05_after` a ON t.`id` = a.`id`
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
   AND t.`update_time` <=> a.`update_time`) AS n) c
  JOIN `flowmend_ledger` p ON p.bundle = 'd812c68044cf190f' AND p.step = '07_verify.04_workflow_instance'
 WHERE NOT EXISTS (SELECT 1 FROM `flowmend_ledger` o WHERE o.bundle = 'd812c68044cf190f' AND o.step = '07_verify.05_task_group_queue');
-- guard 07_verify.06_task_group: rows stand as written (expected 1)
INSERT INTO `flowmend_ledger` (bundle, step, expected, actual, held)
SELECT 'd812c68044cf190f', '07_verify.06_task_group', 1, c.n, IF(c.n = 1, 1, (SELECT 1 UNION ALL SELECT 2))
  FROM (SELECT (SELECT COUNT(*) FROM `t_ds_task_group` t JOIN `flowmend_d812c68044cf_06_after` a ON t.`id` = a.`id`
 WHERE t.`id` <=> a.`id`
   AND CAST(t.`name` AS BINARY) <=> CAST(a.`name` AS BINARY)
   AND CAST(t.`description` AS BINARY) <=> CAST(a.`description` AS BINARY)
   AND t.`group_size` <=> a.`group_size`
   AND t.`use_size` <=> a.`use_size`
   AND t.`user_id` <=> a.`user_id`
   AND t.`project_code` <=> a.`project_code`
   AND t.`status` <=> a.`status`
   AND t.`create_time` <=> a.`create_time`
   AND t.`update_time` <=> a.`update_time`) AS n) c
  JOIN `flowmend_ledger` p ON p.bundle = 'd812c68044cf190f' AND p.step = '07_verify.05_task_group_queue'
 WHERE NOT EXISTS (SELECT 1 FROM `flowmend_ledger` o WHERE o.bundle = 'd812c68044cf190f' AND o.step = '07_verify.06_task_group');
-- guard 07_verify.03_task_instance.no_command: rows for which it is not true that no command is queued for the task's run (expected 0)
INSERT INTO `flowmend_ledger` (bundle, step, expected, actual, held)
SELECT 'd812c68044cf190f', '07_verify.03_task_instance.no_command', 0, c.n, IF(c.n = 0, 1, (SELECT 1 UNION ALL SELECT 2))
  FROM (SELECT (SELECT COUNT(*) FROM `flowmend_d812c68044cf_03_after` t WHERE CASE WHEN NOT (t.`process_instance_id` IN (SELECT c.`process_instance_id` FROM `t_ds_command` c WHERE c.`process_instance_id` IS NOT NULL)) THEN 0 ELSE 1 END = 1) AS n) c
  JOIN `flowmend_ledger` p ON p.bundle = 'd812c68044cf190f' AND p.step = '07_verify.06_task_group'
 WHERE NOT EXISTS (SELECT 1 FROM `flowmend_ledger` o WHERE o.bundle = 'd812c68044cf190f' AND o.step = '07_verify.03_task_instance.no_command');
-- guard 07_verify.03_task_instance.no_open_child: rows for which it is not true that no sub-workflow of the task is unfinished or about to start (expected 0)
INSERT INTO `flowmend_ledger` (bundle, step, expected, actual, held)
SELECT 'd812c68044cf190f', '07_verify.03_task_instance.no_open_child', 0, c.n, IF(c.n = 0, 1, (SELECT 1 UNION ALL SELECT 2))
  FROM (SELECT (SELECT COUNT(*) FROM `flowmend_d812c68044cf_03_after` t WHERE CASE WHEN NOT ((t.`id` IN (SELECT p.`parent_task_instance_id` FROM `t_ds_relation_process_instance` p JOIN `t_ds_process_instance` c ON c.`id` = p.`process_instance_id` WHERE p.`parent_task_instance_id` IS NOT NULL AND (c.`state` IS NULL OR c.`state` NOT IN (3, 5, 6, 7, 16) OR c.`state` NOT IN (0, 1, 2, 3, 4, 5, 6, 7, 12, 14, 15, 16)))
    OR (t.`id` IN (SELECT p.`parent_task_instance_id` FROM `t_ds_relation_process_instance` p WHERE p.`parent_task_instance_id` IS NOT NULL AND COALESCE(p.`process_instance_id`, 0) = 0) AND EXISTS (SELECT 1 FROM `t_ds_command` c WHERE c.`command_param` LIKE CONCAT('%"parentTaskInstanceId":', CAST(t.`id` AS CHAR), ',%') OR c.`command_param` LIKE CONCAT('%"parentTaskInstanceId":', CAST(t.`id` AS CHAR), '}%') OR c.`command_param` LIKE CONCAT('%"parentTaskInstanceId":"', CAST(t.`id` AS CHAR), '"%'))))) THEN 0 ELSE 1 END = 1) AS n) c
  JOIN `flowmend_ledger` p ON p.bundle = 'd812c68044cf190f' AND p.step = '07_verify.03_task_instance.no_command'
 WHERE NOT EXISTS (SELECT 1 FROM `flowmend_ledger` o WHERE o.bundle = 'd812c68044cf190f' AND o.step = '07_verify.03_task_instance.no_open_child');
-- guard 07_verify.04_workflow_instance.no_command: rows for which it is not true that no command is queued for the run (expected 0)
INSERT INTO `flowmend_ledger` (bundle, step, expected, actual, held)
SELECT 'd812c68044cf190f', '07_verify.04_workflow_instance.no_command', 0, c.n, IF(c.n = 0, 1, (SELECT 1 UNION ALL SELECT 2))
  FROM (SELECT (SELECT COUNT(*) FROM `flowmend_d812c68044cf_04_after` t WHERE CASE WHEN NOT (t.`id` IN (SELECT c.`process_instance_id` FROM `t_ds_command` c WHERE c.`process_instance_id` IS NOT NULL)) THEN 0 ELSE 1 END = 1) AS n) c
  JOIN `flowmend_ledger` p ON p.bundle = 'd812c68044cf190f' AND p.step = '07_verify.03_task_instance.no_open_child'
 WHERE NOT EXISTS (SELECT 1 FROM `flowmend_ledger` o WHERE o.bundle = 'd812c68044cf190f' AND o.step = '07_verify.04_workflow_instance.no_command');
-- guard 07_verify.04_workflow_instance.no_active_task: rows for which it is not true that no valid task of the run is unfinished (expected 0)
INSERT INTO `flowmend_ledger` (bundle, step, expected, actual, held)
SELECT 'd812c68044cf190f', '07_verify.04_workflow_instance.no_active_task', 0, c.n, IF(c.n = 0, 1, (SELECT 1 UNION ALL SELECT 2))
  FROM (SELECT (SELECT COUNT(*) FROM `flowmend_d812c68044cf_04_after` t WHERE CASE WHEN NOT (t.`id` IN (SELECT x.`process_instance_id` FROM `t_ds_task_instance` x WHERE x.`flag` = 1 AND x.`state` IN (0, 1, 12, 17) AND x.`process_instance_id` IS NOT NULL)) THEN 0 ELSE 1 END = 1) AS n) c
  JOIN `flowmend_ledger` p ON p.bundle = 'd812c68044cf190f' AND p.step = '07_verify.04_workflow_instance.no_command'
 WHERE NOT EXISTS (SELECT 1 FROM `flowmend_ledger` o WHERE o.bundle = 'd812c68044cf190f' AND o.step = '07_verify.04_workflow_instance.no_active_task');
-- guard 07_verify.05_task_group_queue.task_final: rows for which it is not true that the task of a released row is final, superseded or gone (expected 0)
INSERT INTO `flowmend_ledger` (bundle, step, expected, actual, held)
SELECT 'd812c68044cf190f', '07_verify.05_task_group_queue.task_final', 0, c.n, IF(c.n = 0, 1, (SELECT 1 UNION ALL SELECT 2))
  FROM (SELECT (SELECT COUNT(*) FROM `flowmend_d812c68044cf_05_after` t WHERE CASE WHEN (t.`status` <> 2 OR t.`task_id` IS NULL OR NOT (t.`task_id` IN (SELECT x.`id` FROM `t_ds_task_instance` x WHERE x.`flag` = 1 AND x.`state` IN (0, 1, 12, 17)))) THEN 0 ELSE 1 END = 1) AS n) c
  JOIN `flowmend_ledger` p ON p.bundle = 'd812c68044cf190f' AND p.step = '07_verify.04_workflow_instance.no_active_task'
 WHERE NOT EXISTS (SELECT 1 FROM `flowmend_ledger` o WHERE o.bundle = 'd812c68044cf190f' AND o.step = '07_verify.05_task_group_queue.task_final');
-- guard 07_verify.tasks_of_closed_runs: rows for which it is not true that no valid task of a closed run is unfinished (expected 0)
INSERT INTO `flowmend_ledger` (bundle, step, expected, actual, held)
SELECT 'd812c68044cf190f', '07_verify.tasks_of_closed_runs', 0, c.n, IF(c.n = 0, 1, (SELECT 1 UNION ALL SELECT 2))
  FROM (SELECT (SELECT COUNT(*) FROM `flowmend_d812c68044cf_04_work` w JOIN `t_ds_task_instance` x ON x.`process_instance_id` = w.k_id WHERE x.`flag` = 1 AND x.`state` IN (0, 1, 12, 17)) AS n) c
  JOIN `flowmend_ledger` p ON p.bundle = 'd812c68044cf190f' AND p.step = '07_verify.05_task_group_queue.task_final'
 WHERE NOT EXISTS (SELECT 1 FROM `flowmend_ledger` o WHERE o.bundle = 'd812c68044cf190f' AND o.step = '07_verify.tasks_of_closed_runs');
-- guard 07_verify.waiters_are_woken: rows for which it is not true that runs that waited in line behind a closed run are woken, or stopped (expected 0)
INSERT INTO `flowmend_ledger` (bundle, step, expected, actual, held)
SELECT 'd812c68044cf190f', '07_verify.waiters_are_woken', 0, c.n, IF(c.n = 0, 1, (SELECT 1 UNION ALL SELECT 2))
  FROM (SELECT (SELECT COUNT(*) FROM `flowmend_d812c68044cf_04_work` w JOIN `t_ds_process_instance` x ON x.`id` = w.k_id WHERE w.o_state IN (0, 1, 17) AND NOT (NOT (x.`process_definition_code` IN (SELECT w.`process_definition_code` FROM `t_ds_process_instance` w WHERE w.`state` IN (14) AND w.`process_definition_code` IS NOT NULL))
 OR x.`process_definition_code` IN (SELECT c.`process_definition_code` FROM `t_ds_command` c)
 OR x.`process_definition_code` IN (SELECT w.`process_definition_code` FROM `t_ds_process_instance` w WHERE w.`state` IN (0, 1, 2, 4, 12, 14, 15) AND w.`state` NOT IN (14))
 OR x.`process_definition_code` IN (SELECT w.`process_definition_code` FROM `t_ds_process_instance` w WHERE w.`end_time` > '2026-11-28 22:00:00' AND w.`process_definition_code` IS NOT NULL))) AS n) c
  JOIN `flowmend_ledger` p ON p.bundle = 'd812c68044cf190f' AND p.step = '07_verify.tasks_of_closed_runs'
 WHERE NOT EXISTS (SELECT 1 FROM `flowmend_ledger` o WHERE o.bundle = 'd812c68044cf190f' AND o.step = '07_verify.waiters_are_woken');
-- guard 07_verify.use_size: rows for which it is not true that use_size is the number of slots held (expected 0)
INSERT INTO `flowmend_ledger` (bundle, step, expected, actual, held)
SELECT 'd812c68044cf190f', '07_verify.use_size', 0, c.n, IF(c.n = 0, 1, (SELECT 1 UNION ALL SELECT 2))
  FROM (SELECT (SELECT COUNT(*) FROM `flowmend_d812c68044cf_06_work` w JOIN `t_ds_task_group` x ON x.`id` = w.k_id WHERE x.`use_size` <> (SELECT COUNT(*) FROM `t_ds_task_group_queue` q WHERE q.`group_id` = x.`id` AND q.`status` = 1 AND q.`force_start` = 0) OR x.`use_size` < 0) AS n) c
  JOIN `flowmend_ledger` p ON p.bundle = 'd812c68044cf190f' AND p.step = '07_verify.waiters_are_woken'
 WHERE NOT EXISTS (SELECT 1 FROM `flowmend_ledger` o WHERE o.bundle = 'd812c68044cf190f' AND o.step = '07_verify.use_size');
-- guard end: guards that held (expected 37)
INSERT INTO `flowmend_ledger` (bundle, step, expected, actual, held)
SELECT 'd812c68044cf190f', 'end', 37, c.n, IF(c.n = 37, 1, (SELECT 1 UNION ALL SELECT 2))
  FROM (SELECT (SELECT COUNT(*) FROM `flowmend_ledger` e WHERE e.bundle = 'd812c68044cf190f' AND e.step IN ('begin', '01_preflight.place', '01_preflight.own_tables', '01_preflight.tables', '01_preflight.triggers', '02_backup.03_task_instance.loaded', '02_backup.04_workflow_instance.loaded', '02_backup.05_task_group_queue.loaded', '02_backup.06_task_group.loaded', '02_backup.03_task_instance', '02_backup.04_workflow_instance', '02_backup.05_task_group_queue', '02_backup.06_task_group', '03_task_instance', '03_task_instance.after', '03_task_instance.exact', '04_workflow_instance', '04_workflow_instance.after', '04_workflow_instance.exact', '05_task_group_queue', '05_task_group_queue.after', '05_task_group_queue.exact', '06_task_group', '06_task_group.after', '06_task_group.exact', '07_verify.03_task_instance', '07_verify.04_workflow_instance', '07_verify.05_task_group_queue', '07_verify.06_task_group', '07_verify.03_task_instance.no_command', '07_verify.03_task_instance.no_open_child', '07_verify.04_workflow_instance.no_command', '07_verify.04_workflow_instance.no_active_task', '07_verify.05_task_group_queue.task_final', '07_verify.tasks_of_closed_runs', '07_verify.waiters_are_woken', '07_verify.use_size')) AS n) c
  JOIN `flowmend_ledger` p ON p.bundle = 'd812c68044cf190f' AND p.step = '07_verify.use_size'
 WHERE NOT EXISTS (SELECT 1 FROM `flowmend_ledger` o WHERE o.bundle = 'd812c68044cf190f' AND o.step = 'end');
