INSERT INTO xxl_job_lock (lock_name) VALUES ('schedule_lock');
INSERT INTO xxl_job_group (id, app_name, title, address_type, address_list, update_time) VALUES
  (1, 'billing-executor', 'Billing', 0, 'http://10.0.0.7:9999/,http://10.0.0.9:9999/', '2026-03-02 03:59:40');
INSERT INTO xxl_job_registry (id, registry_group, registry_key, registry_value, update_time) VALUES
  (1, 'EXECUTOR', 'billing-executor', 'http://10.0.0.7:9999/', '2026-03-02 03:59:45'),
  (2, 'EXECUTOR', 'billing-executor', 'http://10.0.0.9:9999/', '2026-03-02 03:59:41');
-- Trigger times are milliseconds: 1772427600000 is 05:00 UTC on 2 March 2026.
INSERT INTO xxl_job_info (id, job_group, job_desc, add_time, update_time, author, alarm_email, schedule_type, schedule_conf, misfire_strategy, executor_route_strategy, executor_handler, executor_block_strategy, executor_timeout, executor_fail_retry_count, glue_type, child_jobid, trigger_status, trigger_last_time, trigger_next_time) VALUES
  (11, 1, 'send invoices', '2026-01-01 00:00:00', '2026-01-01 00:00:00', 'ann', 'night@example.org', 'CRON', '0 30 * * * ?', 'DO_NOTHING', 'FIRST', 'invoices', 'SERIAL_EXECUTION', 0, 2, 'BEAN', '12', 1, 1772422200000, 1772425800000),
  (12, 1, 'load orders', '2026-01-01 00:00:00', '2026-01-01 00:00:00', 'ann', 'night@example.org', 'CRON', '0 0 * * * ?', 'DO_NOTHING', 'ROUND', 'orders', 'SERIAL_EXECUTION', 0, 1, 'BEAN', NULL, 1, 1772424000000, 1772427600000);
-- 901: a day's old failure, alarmed. 1001, 1002: lost, the second in the queue of the first.
-- 1003: on 10.0.0.7, it runs. 1004: no answer. 1005: failed, its alarm half done. 1006: of the new process.
INSERT INTO xxl_job_log (id, job_group, job_id, executor_address, executor_handler, executor_fail_retry_count, trigger_time, trigger_code, trigger_msg, handle_time, handle_code, handle_msg, alarm_status) VALUES
  (901, 1, 12, 'http://10.0.0.7:9999/', 'orders', 0, '2026-03-01 01:00:00', 200, 'ok', '2026-03-01 01:12:00', 500, 'no space left on device', 2),
  (1001, 1, 11, 'http://10.0.0.9:9999/', 'invoices', 2, '2026-03-02 00:30:00', 200, 'ok', NULL, 0, NULL, 0),
  (1002, 1, 11, 'http://10.0.0.9:9999/', 'invoices', 2, '2026-03-02 01:30:00', 200, 'ok', NULL, 0, NULL, 0),
  (1003, 1, 12, 'http://10.0.0.7:9999/', 'orders', 1, '2026-03-02 02:00:00', 200, 'ok', NULL, 0, NULL, 0),
  (1004, 1, 12, NULL, NULL, 1, '2026-03-02 02:09:58', 0, NULL, NULL, 0, NULL, 0),
  (1005, 1, 12, 'http://10.0.0.9:9999/', 'orders', 0, '2026-03-02 01:00:00', 200, 'ok', '2026-03-02 02:09:50', 500, 'connection refused', -1),
  (1006, 1, 11, 'http://10.0.0.9:9999/', 'invoices', 2, '2026-03-02 02:30:00', 200, 'ok', NULL, 0, NULL, 0);
INSERT INTO xxl_job_log_report (id, trigger_day, running_count, suc_count, fail_count, update_time) VALUES
  (1, '2026-03-01 00:00:00', 0, 0, 1, NULL),
  (2, '2026-03-02 00:00:00', 5, 0, 1, NULL);
