-- flowmend: scheduler=dolphinscheduler release=2.0.9 dialect=mysql
DELIMITER $$
CREATE PROCEDURE close_run(IN run_id INT, IN at_time DATETIME)
BEGIN
  DECLARE EXIT HANDLER FOR SQLEXCEPTION
  BEGIN
    ROLLBACK;
    RESIGNAL;
  END;
  START TRANSACTION;
  INSERT INTO ops.run_backup SELECT * FROM t_ds_process_instance WHERE id = run_id;
  UPDATE t_ds_task_instance SET state = 6, end_time = at_time
   WHERE process_instance_id = run_id AND flag = 1 AND state IN (0, 1, 11, 12);
  UPDATE t_ds_process_instance SET state = 6, end_time = at_time
   WHERE id = run_id AND state IN (0, 1, 2, 4, 11, 12, 14);
  COMMIT;
END$$
DELIMITER ;
CALL close_run(4711, '2026-01-31 10:00:00');
DROP PROCEDURE close_run;
