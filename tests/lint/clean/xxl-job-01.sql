-- flowmend: scheduler=xxl-job release=2.0.2 dialect=mysql
CREATE TABLE IF NOT EXISTS log_backup AS SELECT * FROM XXL_JOB_QRTZ_TRIGGER_LOG WHERE id IN (1001, 1002);
START TRANSACTION;
UPDATE XXL_JOB_QRTZ_TRIGGER_LOG
   SET handle_code = 500, handle_time = '2026-01-31 10:00:00', handle_msg = 'closed by hand: executor gone', alarm_status = 1
 WHERE id IN (1001, 1002) AND trigger_code = 200 AND handle_code = 0 AND executor_address = '10.0.0.7:9999';
COMMIT;
