-- flowmend: scheduler=airflow release=1.10.15 dialect=postgresql
-- Jobs of a scheduler that is gone; the others beat.
CREATE TABLE IF NOT EXISTS job_backup AS SELECT * FROM job WHERE id IN (901, 902);
BEGIN;
UPDATE job
   SET state = 'failed', end_date = '2026-01-31 09:00:00+00'
 WHERE id IN (901, 902) AND job_type = 'SchedulerJob' AND state = 'running' AND latest_heartbeat < '2026-01-31 08:00:00+00';
COMMIT;
