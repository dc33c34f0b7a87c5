-- flowmend: scheduler=dolphinscheduler release=2.0.9 dialect=mysql
/* Runs that were being stopped when the last master died.
   Tasks first, then their runs. */
CREATE TABLE fix_runs AS
SELECT * FROM `t_ds_process_instance` WHERE `id` IN (77, 78, 91);
CREATE TABLE fix_tasks AS
SELECT * FROM `t_ds_task_instance` WHERE `process_instance_id` IN (77, 78, 91);

SET @closed_at = '2026-01-31 10:00:00';
START TRANSACTION;
UPDATE `t_ds_task_instance`
   SET `state` = 9, `end_time` = @closed_at
 WHERE `process_instance_id` IN (77, 78, 91) AND `flag` = 1 AND `state` IN (0, 1, 11, 12);
UPDATE `t_ds_process_instance`
   SET `state` = 5, `end_time` = COALESCE(`end_time`, @closed_at)
 WHERE `id` IN (77, 78, 91) AND `state` = 4;
COMMIT;
