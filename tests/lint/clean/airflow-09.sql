-- flowmend: scheduler=airflow release=3.1.5 dialect=postgresql
-- A backfill that was cancelled while runs were waiting.
CREATE TABLE IF NOT EXISTS dr_backup AS SELECT * FROM dag_run WHERE backfill_id = 17;
CREATE TABLE IF NOT EXISTS ti_backup AS
SELECT ti.* FROM task_instance ti JOIN dag_run dr USING (dag_id, run_id) WHERE dr.backfill_id = 17;
BEGIN;
UPDATE task_instance ti
   SET state = 'skipped', end_date = '2026-01-31 09:00:00+00', updated_at = '2026-01-31 09:00:00+00'
  FROM dag_run dr
 WHERE dr.dag_id = ti.dag_id AND dr.run_id = ti.run_id AND dr.backfill_id = 17 AND dr.state = 'queued'
   AND ti.state IS NULL;
UPDATE dag_run
   SET state = 'failed', end_date = '2026-01-31 09:00:00+00', updated_at = '2026-01-31 09:00:00+00'
 WHERE backfill_id = 17 AND state = 'queued' AND logical_date >= '2026-01-01 00:00:00+00';
COMMIT;
