INSERT INTO t_ds_version (id, version) VALUES (1, '3.1.9');
INSERT INTO t_ds_project (id, name, code, user_id, flag, create_time, update_time) VALUES (1, 'billing', 7001, 1, 1, '2026-01-01 00:00:00', '2026-01-01 00:00:00');
INSERT INTO t_ds_process_definition (id, code, name, version, project_code, release_state, user_id, flag, create_time, update_time) VALUES (1, 8001, 'nightly-invoices', 1, 7001, 1, 1, 1, '2026-01-01 00:00:00', '2026-01-01 00:00:00');
INSERT INTO t_ds_process_definition (id, code, name, version, project_code, release_state, user_id, flag, create_time, update_time) VALUES (2, 8002, 'load-orders', 1, 7001, 1, 1, 1, '2026-01-01 00:00:00', '2026-01-01 00:00:00');
INSERT INTO t_ds_process_definition_log (id, code, name, version, project_code, create_time, update_time) VALUES (1, 8001, 'nightly-invoices', 1, 7001, '2026-01-01 00:00:00', '2026-01-01 00:00:00');
INSERT INTO t_ds_process_definition_log (id, code, name, version, project_code, create_time, update_time) VALUES (2, 8002, 'load-orders', 1, 7001, '2026-01-01 00:00:00', '2026-01-01 00:00:00');
-- 101: the zombie. 102: a zombie being stopped. 103, 104: on the living master.
-- 105: failed, a rerun is queued. 106: finished, but a task of it still runs.
INSERT INTO t_ds_process_instance (id, name, process_definition_code, process_definition_version, state, recovery, start_time, end_time, run_times, host, command_type, executor_id, restart_time, update_time) VALUES
  (101, 'nightly-invoices-1-20260302', 8001, 1, 1, 0, '2026-03-02 01:00:00', NULL, 1, '10.0.0.9:5678', 6, 1, '2026-03-02 01:00:00', '2026-03-02 01:00:00'),
  (102, 'load-orders-1-20260302', 8002, 1, 4, 0, '2026-03-02 01:30:00', NULL, 1, '10.0.0.9:5678', 0, 1, '2026-03-02 01:30:00', '2026-03-02 01:30:00'),
  (103, 'load-orders-1-20260302-2', 8002, 1, 1, 0, '2026-03-02 01:45:00', NULL, 1, '10.0.0.7:5678', 0, 1, '2026-03-02 01:45:00', '2026-03-02 01:45:00'),
  (104, 'load-orders-1-20260302-3', 8002, 1, 4, 0, '2026-03-02 01:50:00', NULL, 1, '10.0.0.7:5678', 0, 1, '2026-03-02 01:50:00', '2026-03-02 01:50:00'),
  (105, 'load-orders-1-20260301', 8002, 1, 6, 0, '2026-03-01 01:00:00', '2026-03-01 01:20:00', 1, '10.0.0.7:5678', 6, 1, '2026-03-01 01:00:00', '2026-03-01 01:00:00'),
  (106, 'nightly-invoices-1-20260301', 8001, 1, 6, 0, '2026-03-01 01:00:00', '2026-03-01 02:00:00', 1, '10.0.0.9:5678', 6, 1, '2026-03-01 01:00:00', '2026-03-01 01:00:00');
INSERT INTO t_ds_task_instance (id, name, task_type, task_code, process_instance_id, state, flag, host, submit_time, start_time, end_time, task_execute_type, task_group_id) VALUES
  (1001, 'extract', 'SHELL', 9001, 101, 7, 1, '10.0.1.4:1234', '2026-03-02 01:00:01', '2026-03-02 01:00:05', '2026-03-02 01:20:00', 0, NULL),
  (1002, 'render invoices', 'SHELL', 9002, 101, 1, 0, '10.0.1.4:1234', '2026-03-02 01:20:01', '2026-03-02 01:20:05', NULL, 0, 1),
  (1003, 'render invoices', 'SHELL', 9002, 101, 1, 1, '10.0.1.5:1234', '2026-03-02 01:40:01', '2026-03-02 01:40:05', NULL, 0, 1),
  (1004, 'mail', 'SHELL', 9003, 101, 17, 1, NULL, '2026-03-02 01:40:02', NULL, NULL, 0, NULL),
  (1011, 'load', 'SHELL', 9011, 102, 1, 1, '10.0.1.5:1234', '2026-03-02 01:30:01', '2026-03-02 01:30:05', NULL, 0, NULL),
  (1021, 'load', 'SHELL', 9011, 103, 0, 1, NULL, '2026-03-02 01:45:01', NULL, NULL, 0, 1),
  (1031, 'load', 'SHELL', 9011, 104, 1, 1, '10.0.1.4:1234', '2026-03-02 01:50:01', '2026-03-02 01:50:05', NULL, 0, NULL),
  (1041, 'load', 'SHELL', 9011, 105, 6, 1, '10.0.1.4:1234', '2026-03-01 01:00:01', '2026-03-01 01:00:05', '2026-03-01 01:20:00', 0, NULL),
  (1051, 'extract', 'SHELL', 9001, 106, 6, 1, '10.0.1.4:1234', '2026-03-01 01:00:01', '2026-03-01 01:00:05', '2026-03-01 02:00:00', 0, NULL),
  (1052, 'mail', 'SHELL', 9003, 106, 1, 1, '10.0.1.4:1234', '2026-03-01 01:00:01', '2026-03-01 01:10:05', NULL, 0, NULL);
INSERT INTO t_ds_task_group (id, name, group_size, use_size, status, create_time, update_time) VALUES (1, 'printer', 1, 1, 1, '2026-01-01 00:00:00', '2026-03-02 01:40:02');
INSERT INTO t_ds_task_group_queue (id, task_id, task_name, group_id, process_id, priority, status, force_start, in_queue, create_time, update_time) VALUES
  (501, 1003, 'render invoices', 1, 101, 0, 1, 0, 0, '2026-03-02 01:40:02', '2026-03-02 01:40:02'),
  (502, 1021, 'load', 1, 103, 0, -1, 0, 0, '2026-03-02 01:45:02', '2026-03-02 01:45:02');
INSERT INTO t_ds_command (id, command_type, process_definition_code, process_definition_version, process_instance_id, executor_id, command_param) VALUES
  (2001, 4, 8002, 1, 105, 1, '{"ProcessInstanceId":105}'),
  (2003, 6, 8001, 1, 0, 1, NULL);
