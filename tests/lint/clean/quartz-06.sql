-- flowmend: scheduler=quartz release=2.5.1 dialect=postgresql
-- A group is resumed: mark and triggers together, one group by name.
CREATE TABLE IF NOT EXISTS bak_t AS TABLE qrtz_triggers;
BEGIN;
DELETE FROM qrtz_paused_trigger_grps WHERE sched_name = 'prod' AND trigger_group = 'etl';
UPDATE qrtz_triggers SET trigger_state = 'WAITING'
 WHERE sched_name = 'prod' AND trigger_group = 'etl' AND trigger_state = 'PAUSED';
UPDATE qrtz_triggers SET trigger_state = 'BLOCKED'
 WHERE sched_name = 'prod' AND trigger_group = 'etl' AND trigger_state = 'PAUSED_BLOCKED';
COMMIT;
