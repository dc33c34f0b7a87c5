-- 1772417400000 is 02:10 UTC on 2 March 2026, when NODE_A died; 1772424000000 is 04:00, the moment of the demo.
INSERT INTO QRTZ_LOCKS (SCHED_NAME, LOCK_NAME) VALUES
  ('BillingScheduler', 'TRIGGER_ACCESS'), ('BillingScheduler', 'STATE_ACCESS'),
  ('ReportScheduler', 'TRIGGER_ACCESS'), ('ReportScheduler', 'STATE_ACCESS');
INSERT INTO QRTZ_SCHEDULER_STATE (SCHED_NAME, INSTANCE_NAME, LAST_CHECKIN_TIME, CHECKIN_INTERVAL) VALUES
  ('BillingScheduler', 'NODE_B', 1772423997120, 7500),
  ('ReportScheduler', 'REPORT_1', 1772423995480, 7500);
INSERT INTO QRTZ_JOB_DETAILS (SCHED_NAME, JOB_NAME, JOB_GROUP, JOB_CLASS_NAME, IS_DURABLE, IS_NONCONCURRENT, IS_UPDATE_DATA, REQUESTS_RECOVERY) VALUES
  ('BillingScheduler', 'invoices', 'batch', 'org.example.InvoiceJob', '1', '1', '0', '1'),
  ('BillingScheduler', 'mailbox', 'poll', 'org.example.MailboxJob', '1', '0', '0', '0'),
  ('BillingScheduler', 'move-archive', 'once', 'org.example.MoveArchiveJob', '0', '1', '0', '0'),
  ('BillingScheduler', 'stock', 'batch', 'org.example.StockJob', '1', '1', '0', '0'),
  ('ReportScheduler', 'daily', 'reports', 'org.example.ReportJob', '1', '1', '0', '0');
-- The invoices have two triggers; that of the month's end is paused.
INSERT INTO QRTZ_TRIGGERS (SCHED_NAME, TRIGGER_NAME, TRIGGER_GROUP, JOB_NAME, JOB_GROUP, NEXT_FIRE_TIME, PREV_FIRE_TIME, PRIORITY, TRIGGER_STATE, TRIGGER_TYPE, START_TIME, END_TIME, MISFIRE_INSTR) VALUES
  ('BillingScheduler', 'nightly', 'batch', 'invoices', 'batch', 1772503200000, 1772416800000, 5, 'BLOCKED', 'CRON', 1767225600000, 0, 0),
  ('BillingScheduler', 'month-end', 'batch', 'invoices', 'batch', 1774915200000, 1772236800000, 5, 'PAUSED_BLOCKED', 'CRON', 1767225600000, 0, 0),
  ('BillingScheduler', 'each-minute', 'poll', 'mailbox', 'poll', 1772417400000, 1772417340000, 5, 'ACQUIRED', 'SIMPLE', 1767225600000, 0, -1),
  ('BillingScheduler', 'move-archive', 'once', 'move-archive', 'once', -1, 1772416500000, 5, 'COMPLETE', 'SIMPLE', 1772416500000, 0, 0),
  ('BillingScheduler', 'hourly', 'batch', 'stock', 'batch', 1772424000000, 1772420400000, 5, 'BLOCKED', 'CRON', 1767225600000, 0, 0),
  ('ReportScheduler', 'daily', 'reports', 'daily', 'reports', 1772506800000, 1772420400000, 5, 'BLOCKED', 'CRON', 1767225600000, 0, 0);
INSERT INTO QRTZ_CRON_TRIGGERS (SCHED_NAME, TRIGGER_NAME, TRIGGER_GROUP, CRON_EXPRESSION, TIME_ZONE_ID) VALUES
  ('BillingScheduler', 'nightly', 'batch', '0 0 2 * * ?', 'Etc/UTC'),
  ('BillingScheduler', 'month-end', 'batch', '0 0 0 L * ?', 'Etc/UTC'),
  ('BillingScheduler', 'hourly', 'batch', '0 0 * * * ?', 'Etc/UTC'),
  ('ReportScheduler', 'daily', 'reports', '0 0 3 * * ?', 'Etc/UTC');
INSERT INTO QRTZ_SIMPLE_TRIGGERS (SCHED_NAME, TRIGGER_NAME, TRIGGER_GROUP, REPEAT_COUNT, REPEAT_INTERVAL, TIMES_TRIGGERED) VALUES
  ('BillingScheduler', 'each-minute', 'poll', -1, 60000, 86530),
  ('BillingScheduler', 'move-archive', 'once', 0, 0, 1);
-- An acquired trigger names no job yet.
INSERT INTO QRTZ_FIRED_TRIGGERS (SCHED_NAME, ENTRY_ID, TRIGGER_NAME, TRIGGER_GROUP, INSTANCE_NAME, FIRED_TIME, SCHED_TIME, PRIORITY, STATE, JOB_NAME, JOB_GROUP, IS_NONCONCURRENT, REQUESTS_RECOVERY) VALUES
  ('BillingScheduler', 'NODE_A1772352000120', 'nightly', 'batch', 'NODE_A', 1772416800041, 1772416800000, 5, 'EXECUTING', 'invoices', 'batch', '1', '1'),
  ('BillingScheduler', 'NODE_A1772352000119', 'move-archive', 'once', 'NODE_A', 1772416500038, 1772416500000, 5, 'EXECUTING', 'move-archive', 'once', '1', '0'),
  ('BillingScheduler', 'NODE_A1772352000131', 'each-minute', 'poll', 'NODE_A', 1772417380012, 1772417400000, 5, 'ACQUIRED', NULL, NULL, '0', '0'),
  ('BillingScheduler', 'NODE_B1772352004077', 'hourly', 'batch', 'NODE_B', 1772420400052, 1772420400000, 5, 'EXECUTING', 'stock', 'batch', '1', '0'),
  ('ReportScheduler', 'REPORT_11772352009015', 'daily', 'reports', 'REPORT_1', 1772420400066, 1772420400000, 5, 'EXECUTING', 'daily', 'reports', '1', '0');
