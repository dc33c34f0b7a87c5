-- flowmend: scheduler=airflow release=2.10.5 dialect=sqlite
.bail on
PRAGMA foreign_keys = ON;
CREATE TABLE IF NOT EXISTS ti_backup AS SELECT * FROM task_instance WHERE dag_id = 'demo' AND run_id = 'manual__7';
BEGIN IMMEDIATE;
UPDATE task_instance
   SET state = 'failed', end_date = '2026-01-31 09:00:00.000000', updated_at = '2026-01-31 09:00:00.000000'
 WHERE dag_id = 'demo' AND run_id = 'manual__7' AND task_id = 'wait' AND map_index = -1 AND state IS 'running';
COMMIT;
