-- flowmend bundle d812c68044cf190f: session settings
-- The session is set here, so that it does not hang on the client's defaults.
SET NAMES utf8mb4;
-- Strict, so that a guard cannot be bent to fit; backslash escapes stay on.
SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION,NO_AUTO_VALUE_ON_ZERO';
-- A TIMESTAMP is an instant; in a zone with summer time its text would not be.
SET SESSION time_zone = '+00:00';
SET SESSION completion_type = 0;
SET SESSION sql_big_selects = 1;
SET SESSION foreign_key_checks = 1;
SET SESSION unique_checks = 1;
-- flowmend: allow safe-updates-off every write below joins by primary key; safe updates would refuse joins all the same
SET SESSION sql_safe_updates = 0;
SET SESSION innodb_lock_wait_timeout = 10;
SET SESSION lock_wait_timeout = 10;
SET SESSION check_constraint_checks = 1;
SET SESSION max_statement_time = 120;
