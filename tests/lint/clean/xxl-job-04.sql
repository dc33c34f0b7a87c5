-- flowmend: scheduler=xxl-job release=2.4.1 dialect=mysql
DELIMITER //
CREATE PROCEDURE purge_log(IN p_before DATETIME, IN p_batch INT)
BEGIN
  DECLARE v_rows INT DEFAULT 1;
  WHILE v_rows > 0 DO
    START TRANSACTION;
    INSERT INTO ops.xxl_job_log_archive SELECT * FROM xxl_job_log WHERE trigger_time < p_before AND handle_code > 0 ORDER BY id LIMIT 1000;
    DELETE FROM xxl_job_log WHERE trigger_time < p_before AND handle_code > 0 ORDER BY id LIMIT 1000;
    SET v_rows = ROW_COUNT();
    COMMIT;
  END WHILE;
END //
DELIMITER ;
CALL purge_log('2025-01-01 00:00:00', 1000);
DROP PROCEDURE purge_log;
