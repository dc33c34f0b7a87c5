-- flowmend: scheduler=quartz release=2.3.2 dialect=postgresql
-- A dead node: its triggers first, then its fired rows, then its own row.
create table bak_fired as select * from qrtz_fired_triggers where sched_name = 'prod' and instance_name = 'node-2';
create table bak_triggers as select t.* from qrtz_triggers t join qrtz_fired_triggers f using (sched_name, trigger_name, trigger_group) where f.instance_name = 'node-2';
create table bak_state as select * from qrtz_scheduler_state where sched_name = 'prod' and instance_name = 'node-2';
begin;
update qrtz_triggers t
   set trigger_state = 'WAITING'
  from qrtz_fired_triggers f
 where f.sched_name = t.sched_name and f.trigger_name = t.trigger_name and f.trigger_group = t.trigger_group
   and f.sched_name = 'prod' and f.instance_name = 'node-2' and f.state = 'ACQUIRED' and t.trigger_state = 'ACQUIRED';
delete from qrtz_fired_triggers where sched_name = 'prod' and instance_name = 'node-2' and requests_recovery = false;
delete from qrtz_scheduler_state where sched_name = 'prod' and instance_name = 'node-2';
commit;
