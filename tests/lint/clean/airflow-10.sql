-- flowmend: scheduler=airflow release=3.1.8 dialect=mysql
CREATE TABLE IF NOT EXISTS job_0131 AS SELECT * FROM job WHERE ID = 42;
BEGIN;
UPDATE job SET STATE = 'failed', END_DATE = '2026-01-31 09:00:00' WHERE ID = 42 AND JOB_TYPE = 'TriggererJob' AND STATE = 'running';
COMMIT;
