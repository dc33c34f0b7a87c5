-- flowmend: scheduler=quartz release=2.5.1 dialect=mysql
-- A trigger that has ended for good: the row of its kind first, then itself. The job is durable and stays.
CREATE TABLE bak_cron AS SELECT * FROM QRTZ_CRON_TRIGGERS WHERE SCHED_NAME = 'prod' AND TRIGGER_NAME = 'once' AND TRIGGER_GROUP = 'g';
CREATE TABLE bak_trig AS SELECT * FROM QRTZ_TRIGGERS WHERE SCHED_NAME = 'prod' AND TRIGGER_NAME = 'once' AND TRIGGER_GROUP = 'g';
START TRANSACTION;
DELETE FROM QRTZ_CRON_TRIGGERS WHERE SCHED_NAME = 'prod' AND TRIGGER_NAME = 'once' AND TRIGGER_GROUP = 'g';
DELETE FROM QRTZ_TRIGGERS WHERE SCHED_NAME = 'prod' AND TRIGGER_NAME = 'once' AND TRIGGER_GROUP = 'g' AND TRIGGER_STATE = 'COMPLETE';
COMMIT;
