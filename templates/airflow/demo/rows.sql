INSERT INTO alembic_version (version_num) VALUES ('5f2621c13b39');
INSERT INTO slot_pool (id, pool, slots, description, include_deferred) VALUES (1, 'default_pool', 128, 'Default pool', FALSE);
INSERT INTO log_template (id, filename, elasticsearch_id, created_at) VALUES (1, 'attempt.log', '{dag_id}-{task_id}', '2026-01-05 08:00:00.000000');
-- The file of inventory-import was removed, so its DAG is no longer active.
INSERT INTO dag (dag_id, is_paused, is_subdag, is_active, last_parsed_time, fileloc, owners, max_active_tasks, max_active_runs, max_consecutive_failed_dag_runs, has_task_concurrency_limits) VALUES
  ('billing', FALSE, FALSE, TRUE, '2026-03-02 02:09:40.000000', '/opt/airflow/dags/billing.py', 'airflow', 16, 16, 0, FALSE),
  ('orders', FALSE, FALSE, TRUE, '2026-03-02 02:09:40.000000', '/opt/airflow/dags/orders.py', 'airflow', 16, 16, 0, FALSE),
  ('stock', FALSE, FALSE, TRUE, '2026-03-02 02:09:40.000000', '/opt/airflow/dags/stock.py', 'airflow', 16, 16, 0, FALSE),
  ('delivery', FALSE, FALSE, TRUE, '2026-03-02 02:09:40.000000', '/opt/airflow/dags/delivery.py', 'airflow', 16, 16, 0, FALSE),
  ('ledger', FALSE, FALSE, TRUE, '2026-03-02 02:09:40.000000', '/opt/airflow/dags/ledger.py', 'airflow', 16, 16, 0, FALSE),
  ('inventory-import', FALSE, FALSE, FALSE, '2026-03-01 18:00:00.000000', '/opt/airflow/dags/inventory.py', 'airflow', 16, 16, 0, FALSE);
-- Only the LocalTaskJob on etl-2 still beats.
INSERT INTO job (id, dag_id, state, job_type, start_date, latest_heartbeat, executor_class, hostname, unixname) VALUES
  (1, NULL, 'running', 'SchedulerJob', '2026-03-01 08:00:00.000000', '2026-03-02 02:09:58.000000', 'CeleryExecutor', 'etl-1', 'airflow'),
  (2, NULL, 'running', 'TriggererJob', '2026-03-01 08:00:00.000000', '2026-03-02 02:09:56.000000', NULL, 'etl-1', 'airflow'),
  (31, 'billing', 'running', 'LocalTaskJob', '2026-03-02 01:20:03.000000', '2026-03-02 02:09:57.000000', NULL, 'etl-1', 'airflow'),
  (32, 'stock', 'running', 'LocalTaskJob', '2026-03-02 01:30:03.000000', '2026-03-02 03:59:55.000000', NULL, 'etl-2', 'airflow'),
  (33, 'inventory-import', 'running', 'LocalTaskJob', '2026-03-02 01:40:03.000000', '2026-03-02 02:09:54.000000', NULL, 'etl-1', 'airflow'),
  (34, 'orders', 'running', 'LocalTaskJob', '2026-03-01 23:00:03.000000', '2026-03-02 02:09:51.000000', NULL, 'etl-1', 'airflow');
-- Run 2 of orders was marked failed in the UI after the crash; all tasks of ledger are finished.
INSERT INTO dag_run (id, dag_id, queued_at, execution_date, start_date, end_date, state, run_id, creating_job_id, external_trigger, run_type, data_interval_start, data_interval_end, last_scheduling_decision, log_template_id, updated_at) VALUES
  (1, 'billing', '2026-03-02 01:00:00.000000', '2026-03-01 01:00:00.000000', '2026-03-02 01:00:00.000000', NULL, 'running', 'scheduled__2026-03-01T01:00:00+00:00', 1, FALSE, 'scheduled', '2026-03-01 01:00:00.000000', '2026-03-02 01:00:00.000000', '2026-03-02 02:09:57.000000', 1, '2026-03-02 02:09:57.000000'),
  (2, 'orders', '2026-03-01 23:00:00.000000', '2026-02-28 23:00:00.000000', '2026-03-01 23:00:00.000000', '2026-03-02 02:40:00.000000', 'failed', 'scheduled__2026-02-28T23:00:00+00:00', 1, FALSE, 'scheduled', '2026-02-28 23:00:00.000000', '2026-03-01 23:00:00.000000', '2026-03-02 02:09:57.000000', 1, '2026-03-02 02:40:00.000000'),
  (3, 'orders', '2026-03-02 02:00:00.000000', '2026-03-01 02:00:00.000000', '2026-03-02 02:00:00.000000', NULL, 'running', 'manual__2026-03-02T02:00:00+00:00', NULL, TRUE, 'manual', '2026-03-01 02:00:00.000000', '2026-03-02 02:00:00.000000', '2026-03-02 02:09:57.000000', 1, '2026-03-02 02:09:57.000000'),
  (4, 'stock', '2026-03-02 01:30:00.000000', '2026-03-01 01:30:00.000000', '2026-03-02 01:30:00.000000', NULL, 'running', 'scheduled__2026-03-01T01:30:00+00:00', 1, FALSE, 'scheduled', '2026-03-01 01:30:00.000000', '2026-03-02 01:30:00.000000', '2026-03-02 02:09:57.000000', 1, '2026-03-02 02:09:57.000000'),
  (5, 'delivery', '2026-03-02 01:45:00.000000', '2026-03-01 01:45:00.000000', '2026-03-02 01:45:00.000000', NULL, 'running', 'scheduled__2026-03-01T01:45:00+00:00', 1, FALSE, 'scheduled', '2026-03-01 01:45:00.000000', '2026-03-02 01:45:00.000000', '2026-03-02 02:09:57.000000', 1, '2026-03-02 02:09:57.000000'),
  (6, 'inventory-import', '2026-03-02 01:40:00.000000', '2026-03-02 01:40:00.000000', '2026-03-02 01:40:00.000000', NULL, 'running', 'manual__2026-03-02T01:40:00+00:00', NULL, TRUE, 'manual', '2026-03-02 01:40:00.000000', '2026-03-02 01:40:00.000000', '2026-03-02 02:09:57.000000', 1, '2026-03-02 02:09:57.000000'),
  (7, 'ledger', '2026-03-02 02:05:00.000000', '2026-03-01 02:05:00.000000', '2026-03-02 02:05:00.000000', NULL, 'running', 'scheduled__2026-03-01T02:05:00+00:00', 1, FALSE, 'scheduled', '2026-03-01 02:05:00.000000', '2026-03-02 02:05:00.000000', '2026-03-02 02:09:57.000000', 1, '2026-03-02 02:09:57.000000');
INSERT INTO "trigger" (id, classpath, kwargs, created_date, triggerer_id) VALUES
  (1, 'airflow.triggers.temporal.DateTimeTrigger', '{}', '2026-03-02 01:45:06.000000', 2);
INSERT INTO task_instance (dag_id, run_id, task_id, state, start_date, end_date, duration, try_number, max_tries, hostname, unixname, job_id, pool, pool_slots, queue, priority_weight, operator, queued_dttm, queued_by_job_id, pid, updated_at, trigger_id, next_method) VALUES
  ('billing', 'scheduled__2026-03-01T01:00:00+00:00', 'extract', 'success', '2026-03-02 01:00:05.000000', '2026-03-02 01:19:58.000000', 1193.0, 1, 2, 'etl-1', 'airflow', 30, 'default_pool', 1, 'default', 3, 'PythonOperator', '2026-03-02 01:00:01.000000', 1, 4101, '2026-03-02 01:19:58.000000', NULL, NULL),
  ('billing', 'scheduled__2026-03-01T01:00:00+00:00', 'send_invoices', 'running', '2026-03-02 01:20:05.000000', NULL, NULL, 1, 0, 'etl-1', 'airflow', 31, 'default_pool', 1, 'default', 2, 'PythonOperator', '2026-03-02 01:20:00.000000', 1, 4188, '2026-03-02 01:20:05.000000', NULL, NULL),
  ('billing', 'scheduled__2026-03-01T01:00:00+00:00', 'report', NULL, NULL, NULL, NULL, 0, 2, '', 'airflow', NULL, 'default_pool', 1, 'default', 1, 'PythonOperator', NULL, NULL, NULL, '2026-03-02 01:00:00.000000', NULL, NULL),
  ('orders', 'scheduled__2026-02-28T23:00:00+00:00', 'load', 'running', '2026-03-01 23:00:05.000000', NULL, NULL, 1, 2, 'etl-1', 'airflow', 34, 'default_pool', 1, 'default', 1, 'PythonOperator', '2026-03-01 23:00:01.000000', 1, 3900, '2026-03-01 23:00:05.000000', NULL, NULL),
  ('orders', 'manual__2026-03-02T02:00:00+00:00', 'load', 'queued', NULL, NULL, NULL, 1, 2, '', 'airflow', NULL, 'default_pool', 1, 'default', 1, 'PythonOperator', '2026-03-02 02:09:55.000000', 1, NULL, '2026-03-02 02:09:55.000000', NULL, NULL),
  ('stock', 'scheduled__2026-03-01T01:30:00+00:00', 'count', 'running', '2026-03-02 01:30:05.000000', NULL, NULL, 1, 2, 'etl-2', 'airflow', 32, 'default_pool', 1, 'default', 1, 'PythonOperator', '2026-03-02 01:30:01.000000', 1, 811, '2026-03-02 01:30:05.000000', NULL, NULL),
  ('delivery', 'scheduled__2026-03-01T01:45:00+00:00', 'wait', 'deferred', '2026-03-02 01:45:05.000000', NULL, NULL, 1, 0, 'etl-1', 'airflow', 29, 'default_pool', 1, 'default', 1, 'DateTimeSensorAsync', '2026-03-02 01:45:01.000000', 1, 4233, '2026-03-02 01:45:06.000000', 1, 'execute_complete'),
  ('inventory-import', 'manual__2026-03-02T01:40:00+00:00', 'copy', 'running', '2026-03-02 01:40:05.000000', NULL, NULL, 1, 0, 'etl-1', 'airflow', 33, 'default_pool', 1, 'default', 1, 'PythonOperator', '2026-03-02 01:40:01.000000', 1, 4207, '2026-03-02 01:40:05.000000', NULL, NULL),
  ('ledger', 'scheduled__2026-03-01T02:05:00+00:00', 'post', 'success', '2026-03-02 02:05:05.000000', '2026-03-02 02:09:56.000000', 291.0, 1, 1, 'etl-1', 'airflow', 28, 'default_pool', 1, 'default', 1, 'PythonOperator', '2026-03-02 02:05:01.000000', 1, 4290, '2026-03-02 02:09:56.000000', NULL, NULL);
