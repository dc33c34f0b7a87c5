-- flowmend: scheduler=dolphinscheduler release=3.1.9 dialect=mysql
# Only reading: what is active, and for how long.
SELECT p.id, p.name, p.state, p.host, COUNT(t.id) AS open_tasks, MIN(t.start_time) AS oldest
  FROM t_ds_process_instance AS p
  LEFT JOIN t_ds_task_instance AS t ON t.process_instance_id = p.id AND t.flag = 1 AND t.state IN (0, 1, 12, 17)
 WHERE p.state IN (0, 1, 2, 4, 12, 14)
 GROUP BY p.id, p.name, p.state, p.host
HAVING COUNT(t.id) = 0
 ORDER BY p.id
 LIMIT 100;
SHOW VARIABLES LIKE 'binlog_format';
EXPLAIN SELECT id FROM t_ds_task_instance WHERE process_instance_id = 5;
