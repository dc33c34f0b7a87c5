-- flowmend: scheduler=xxl-job release=3.1.0 dialect=mysql
SELECT l.job_id, i.job_desc, COUNT(*) AS open_runs, MIN(l.trigger_time) AS oldest
  FROM xxl_job_log AS l
  LEFT JOIN xxl_job_info AS i ON i.id = l.job_id
 WHERE l.trigger_code = 200 AND l.handle_code = 0
 GROUP BY l.job_id, i.job_desc
 ORDER BY open_runs DESC;
SELECT COUNT(*) FROM xxl_job_registry WHERE registry_group = 'EXECUTOR';
