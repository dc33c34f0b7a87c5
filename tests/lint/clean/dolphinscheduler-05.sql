-- flowmend: scheduler=dolphinscheduler release=2.0.9 dialect=postgresql
-- Commands of runs that are gone; new runs carry 0 here.
CREATE TABLE IF NOT EXISTS ops_command_backup AS
SELECT c.* FROM t_ds_command c
 WHERE c.process_instance_id <> 0
   AND NOT EXISTS (SELECT 1 FROM t_ds_process_instance p WHERE p.id = c.process_instance_id);
BEGIN;
DELETE FROM t_ds_command c
 USING ops_command_backup b
 WHERE b.id = c.id;
COMMIT;
