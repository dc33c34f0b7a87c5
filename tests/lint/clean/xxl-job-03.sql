-- flowmend: scheduler=xxl-job release=2.4.1 dialect=mysql
-- Runs of one executor that is gone. No alarm and no retry: alarm_status 1 is "nothing to tell".
CREATE TABLE IF NOT EXISTS xxl_log_backup_0131 AS
SELECT * FROM xxl_job_log WHERE id IN (70011, 70012, 70015);
START TRANSACTION;
UPDATE xxl_job_log l
   SET l.handle_code = 500,
       l.handle_time = '2026-01-31 10:00:00',
       l.handle_msg = CONCAT(COALESCE(l.handle_msg, ''), ' closed by hand'),
       l.alarm_status = 1
 WHERE l.id IN (70011, 70012, 70015)
   AND l.trigger_code = 200 AND l.handle_code = 0 AND l.alarm_status = 0
   AND NOT EXISTS (SELECT 1 FROM xxl_job_registry r WHERE r.registry_group = 'EXECUTOR' AND r.registry_value = l.executor_address);
COMMIT;
