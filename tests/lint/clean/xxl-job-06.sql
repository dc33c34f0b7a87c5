-- flowmend: scheduler=xxl-job release=3.1.0 dialect=mysql
-- History older than a year, in pieces, only what is over.
CREATE TABLE IF NOT EXISTS ops.old_log AS
SELECT l.* FROM xxl_job_log l WHERE l.trigger_time < '2025-01-01 00:00:00' AND (l.handle_code <> 0 OR l.trigger_code NOT IN (0, 200));
START TRANSACTION;
DELETE FROM xxl_job_log
 WHERE trigger_time < '2025-01-01 00:00:00' AND (handle_code <> 0 OR trigger_code NOT IN (0, 200))
 ORDER BY id LIMIT 10000;
COMMIT;
