-- flowmend: scheduler=airflow release=3.0.6 dialect=postgresql
CREATE TABLE IF NOT EXISTS ti_backup AS
SELECT * FROM task_instance WHERE id IN ('01951111-0000-7000-8000-000000000001'::uuid, '01951111-0000-7000-8000-000000000002'::uuid);
BEGIN;
UPDATE task_instance
   SET state = CASE WHEN try_number <= max_tries THEN 'up_for_retry' ELSE 'failed' END,
       end_date = timestamptz '2026-01-31 09:00:00+00',
       duration = EXTRACT(EPOCH FROM (timestamptz '2026-01-31 09:00:00+00' - start_date)),
       updated_at = timestamptz '2026-01-31 09:00:00+00'
 WHERE id = ANY (ARRAY['01951111-0000-7000-8000-000000000001', '01951111-0000-7000-8000-000000000002']::uuid[])
   AND state = 'running'
   AND last_heartbeat_at < timestamptz '2026-01-31 08:30:00+00';
COMMIT;
