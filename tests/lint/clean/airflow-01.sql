-- flowmend: scheduler=airflow release=1.10.15 dialect=mysql
CREATE TABLE ti_backup AS SELECT * FROM task_instance WHERE dag_id = 'nightly_load' AND execution_date = '2026-01-30 00:00:00.000000';
CREATE TABLE dr_backup AS SELECT * FROM dag_run WHERE dag_id = 'nightly_load' AND execution_date = '2026-01-30 00:00:00.000000';
START TRANSACTION;
UPDATE task_instance
   SET state = 'failed', end_date = '2026-01-31 09:00:00'
 WHERE dag_id = 'nightly_load' AND execution_date = '2026-01-30 00:00:00.000000' AND task_id = 'load' AND state = 'running';
UPDATE dag_run
   SET state = 'failed', end_date = '2026-01-31 09:00:00'
 WHERE dag_id = 'nightly_load' AND execution_date = '2026-01-30 00:00:00.000000' AND state = 'running';
COMMIT;
