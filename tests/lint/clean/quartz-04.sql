-- flowmend: scheduler=quartz release=2.3.2 dialect=postgresql
\set ON_ERROR_STOP on
\set sched 'prod'
BEGIN;
INSERT INTO ops.triggers_copy SELECT * FROM public.qrtz_triggers WHERE sched_name = :'sched' AND trigger_group = 'etl';
-- Paused until Monday: both the triggers and the group's mark.
UPDATE public.qrtz_triggers SET trigger_state = 'PAUSED' WHERE sched_name = :'sched' AND trigger_group = 'etl' AND trigger_state IN ('WAITING', 'ACQUIRED');
UPDATE public.qrtz_triggers SET trigger_state = 'PAUSED_BLOCKED' WHERE sched_name = :'sched' AND trigger_group = 'etl' AND trigger_state = 'BLOCKED';
INSERT INTO public.qrtz_paused_trigger_grps (sched_name, trigger_group) VALUES (:'sched', 'etl') ON CONFLICT DO NOTHING;
COMMIT;
