-- flowmend: scheduler=xxl-job release=2.4.1 dialect=mysql
-- A job that must not run tonight, stopped as the page does it.
CREATE TABLE IF NOT EXISTS info_backup AS SELECT * FROM xxl_job_info WHERE id = 9;
START TRANSACTION;
UPDATE xxl_job_info SET trigger_status = 0, trigger_last_time = 0, trigger_next_time = 0, update_time = '2026-01-31 10:00:00' WHERE id = 9 AND trigger_status = 1;
COMMIT;
