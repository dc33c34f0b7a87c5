-- A database of Nightshift 1.0, for SQLite: sqlite3 night.db < examples/in-house/night.sql
CREATE TABLE ns_run (
  id varchar(36) NOT NULL PRIMARY KEY,
  flow varchar(100),
  state varchar(16) NOT NULL DEFAULT 'QUEUED',
  worker varchar(64),
  started_at datetime,
  ended_at datetime,
  touched_at datetime,
  updated_at timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE TABLE ns_task (
  run_id varchar(36) NOT NULL,
  name varchar(100) NOT NULL,
  attempt int NOT NULL DEFAULT 1,
  state varchar(16) NOT NULL,
  started_at datetime,
  ended_at datetime,
  PRIMARY KEY (run_id, name, attempt)
);
CREATE TABLE ns_seat (
  pool varchar(50) NOT NULL,
  seat int NOT NULL,
  run_id varchar(36) NOT NULL,
  PRIMARY KEY (pool, seat)
);
CREATE TABLE ns_lock (name varchar(40) NOT NULL PRIMARY KEY);
CREATE TABLE ns_worker (address varchar(64) NOT NULL PRIMARY KEY, beat_ms bigint NOT NULL);
CREATE TABLE ns_meta (version varchar(20) NOT NULL PRIMARY KEY);

INSERT INTO ns_meta (version) VALUES ('1.0');
INSERT INTO ns_lock (name) VALUES ('dispatch');
-- Worker w1 died in the middle of a run; w2 lives and has one of its own.
INSERT INTO ns_run (id, flow, state, worker, started_at, ended_at, touched_at, updated_at) VALUES
  ('r-101', 'invoices', 'RUNNING', 'w1:80', '2026-03-01 23:00:00', NULL, '2026-03-01 23:10:00', '2026-03-01 23:10:00'),
  ('r-102', 'stock', 'RUNNING', 'w2:80', '2026-03-01 23:05:00', NULL, '2026-03-01 23:20:00', '2026-03-01 23:20:00'),
  ('r-090', 'stock', 'DONE', 'w1:80', '2026-02-28 23:00:00', '2026-02-28 23:30:00', '2026-02-28 23:30:00', '2026-02-28 23:30:00'),
  ('r-077', 'report', 'HALTED', 'w1:80', '2026-02-20 23:00:00', '2026-02-20 23:02:00', '2026-02-20 23:02:00', '2026-02-20 23:02:00');
INSERT INTO ns_task (run_id, name, attempt, state, started_at, ended_at) VALUES
  ('r-101', 'load', 1, 'DONE', '2026-03-01 23:00:00', '2026-03-01 23:05:00'),
  ('r-101', 'send', 1, 'RUNNING', '2026-03-01 23:05:00', NULL),
  ('r-101', 'mail', 1, 'WAITING', NULL, NULL),
  ('r-102', 'count', 1, 'RUNNING', '2026-03-01 23:05:00', NULL);
INSERT INTO ns_seat (pool, seat, run_id) VALUES ('small', 1, 'r-101'), ('small', 2, 'r-102');
