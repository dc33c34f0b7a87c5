-- flowmend: scheduler=xxl-job release=3.1.0 dialect=mysql
-- An alarm lock that a dead admin left.
INSERT INTO ops.log_backup (id, alarm_status) SELECT id, alarm_status FROM xxl_job_log WHERE id = 88 AND alarm_status = -1;
BEGIN;
UPDATE xxl_job_log SET alarm_status = 1 WHERE id = 88 AND alarm_status = -1;
COMMIT;
