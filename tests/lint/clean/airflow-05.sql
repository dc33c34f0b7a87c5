-- flowmend: scheduler=airflow release=2.10.5 dialect=postgresql
CREATE TABLE ops.ti_20260131 AS
SELECT ti.* FROM task_instance ti
  JOIN dag_run dr ON dr.dag_id = ti.dag_id AND dr.run_id = ti.run_id
 WHERE dr.state IN ('success', 'failed') AND ti.state IN ('running', 'queued', 'scheduled', 'deferred', 'up_for_retry', 'up_for_reschedule', 'restarting');
BEGIN;
UPDATE task_instance ti
   SET state = 'failed', end_date = b.now_at, trigger_id = NULL, trigger_timeout = NULL, next_method = NULL, next_kwargs = NULL, updated_at = b.now_at
  FROM (SELECT x.dag_id, x.task_id, x.run_id, x.map_index, x.state, TIMESTAMPTZ '2026-01-31 09:00:00+00' AS now_at FROM ops.ti_20260131 x) b
 WHERE (ti.dag_id, ti.task_id, ti.run_id, ti.map_index) = (b.dag_id, b.task_id, b.run_id, b.map_index)
   AND ti.state = b.state;
COMMIT;
