-- flowmend: scheduler=xxl-job release=2.0.2 dialect=mysql
-- Runs of one job that were sent to a machine that has been switched off.
CREATE TEMPORARY TABLE gone AS
SELECT l.id FROM XXL_JOB_QRTZ_TRIGGER_LOG l
 WHERE l.job_id = 12 AND l.executor_address LIKE '10.0.0.9:%' AND l.trigger_code = 200 AND l.handle_code = 0;
INSERT INTO ops.xxl_log_copy SELECT l.* FROM XXL_JOB_QRTZ_TRIGGER_LOG l JOIN gone g ON g.id = l.id;
START TRANSACTION;
UPDATE XXL_JOB_QRTZ_TRIGGER_LOG l JOIN gone g ON g.id = l.id
   SET l.handle_code = 500, l.handle_time = '2026-01-31 10:00:00', l.alarm_status = 1
 WHERE l.trigger_code = 200 AND l.handle_code = 0 AND l.alarm_status = 0;
COMMIT;
