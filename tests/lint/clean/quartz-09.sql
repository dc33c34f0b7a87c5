-- flowmend: scheduler=quartz release=2.3.2 dialect=postgresql
-- Everything in ERROR, but not what belongs to a paused group.
create table bak_err as select * from qrtz_triggers where sched_name = 'prod' and trigger_state = 'ERROR';
begin;
update qrtz_triggers t
   set trigger_state = 'WAITING'
 where t.sched_name = 'prod' and t.trigger_state = 'ERROR' and t.next_fire_time > 0
   and not exists (select 1 from qrtz_paused_trigger_grps g
                    where g.sched_name = t.sched_name and g.trigger_group in (t.trigger_group, '_$_ALL_GROUPS_PAUSED_$_'));
commit;
