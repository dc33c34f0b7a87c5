-- flowmend: scheduler=dolphinscheduler release=3.1.9 dialect=mysql
-- A killed run left its tasks: keyed by what was seen at 09:55.
CREATE TABLE IF NOT EXISTS `bak_task_0131` LIKE `t_ds_task_instance`;
INSERT INTO `bak_task_0131` SELECT * FROM `t_ds_task_instance` WHERE `id` IN (9001, 9002, 9003);
START TRANSACTION;
SELECT `id`, `state` FROM `t_ds_task_instance` WHERE `id` IN (9001, 9002, 9003) FOR UPDATE;
UPDATE `t_ds_task_instance` SET `state` = 9 /* KILL */, `end_time` = '2026-01-31 10:00:00' WHERE `id` = 9001 AND `state` = 1;
UPDATE `t_ds_task_instance` SET `state` = 9 /* KILL */, `end_time` = '2026-01-31 10:00:00' WHERE `id` = 9002 AND `state` = 17;
UPDATE `t_ds_task_instance` SET `state` = 9 /* KILL */, `end_time` = '2026-01-31 10:00:00' WHERE `id` = 9003 AND `state` = 0;
COMMIT;
