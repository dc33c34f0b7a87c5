-- flowmend: scheduler=airflow release=2.7.3 dialect=mysql
CREATE TABLE ti_bak AS SELECT * FROM `task_instance` WHERE `dag_id` = 'etl' AND `run_id` = 'manual__1';
CREATE TABLE dr_bak AS SELECT * FROM `dag_run` WHERE `dag_id` = 'etl' AND `run_id` = 'manual__1';
START TRANSACTION;
UPDATE `task_instance` AS ti
  LEFT JOIN `job` AS j ON j.`id` = ti.`job_id`
   SET ti.`state` = IF(ti.`try_number` <= ti.`max_tries`, 'up_for_retry', 'failed'),
       ti.`end_date` = '2026-01-31 09:00:00',
       ti.`updated_at` = '2026-01-31 09:00:00'
 WHERE ti.`dag_id` = 'etl' AND ti.`run_id` = 'manual__1' AND ti.`state` = 'running'
   AND (j.`id` IS NULL OR j.`latest_heartbeat` < '2026-01-31 08:50:00');
COMMIT;
