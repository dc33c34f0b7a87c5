-- flowmend: scheduler=dolphinscheduler release=3.2.2 dialect=mysql
create table fix_p as select * from dolphinscheduler.t_ds_process_instance where id = 12;
create table fix_t as select * from dolphinscheduler.t_ds_task_instance where process_instance_id = 12;
start transaction;
update dolphinscheduler.t_ds_task_instance
   set state = case when app_link is null then 6 else 9 end, end_time = '2026-01-31 10:00:00'
 where process_instance_id = 12 and flag = 1 and state = 1;
update dolphinscheduler.t_ds_process_instance set state = 6, end_time = '2026-01-31 10:00:00' where id = 12 and state = 1;
commit;
