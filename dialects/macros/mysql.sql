{#-
  The statements of a bundle on MySQL and MariaDB. Each macro takes one map `x`.
  A write, and each guard's insert, takes effect only where the ledger row of
  the guard before exists and its own does not: a client that goes on after an
  error changes nothing.
-#}

{%- from "macros/common.sql" import gate, not_yet, after_the_last, load, drop_table -%}
{%- from "macros/common.sql" import after_image_statement, insert_statement, after_insert_statement, restore_delete_statement -%}

{%- macro session(x) -%}
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
SET SESSION innodb_lock_wait_timeout = {{ x.lock_seconds }};
SET SESSION lock_wait_timeout = {{ x.lock_seconds }};
{%- if x.dialect == "mariadb" %}
SET SESSION check_constraint_checks = 1;
SET SESSION max_statement_time = {{ x.statement_seconds }};
{%- endif %}
{%- endmacro -%}

{%- macro ledger_table(x) -%}
CREATE TABLE IF NOT EXISTS {{ x.ledger }} (
  bundle varchar(64) NOT NULL,
  step varchar(190) NOT NULL,
  expected bigint NOT NULL,
  actual bigint NOT NULL,
  held int NOT NULL,
  recorded_at timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (bundle, step),
  CONSTRAINT flowmend_expected_is_actual CHECK (expected = actual)
) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
{%- endmacro -%}

{%- macro work_table(x) -%}
CREATE TABLE IF NOT EXISTS {{ x.work }} (
{%- for column in x.work_columns %}
  {{ column.q }} {{ column.type }} {{ "NOT NULL" if column.key else "NULL" }},
{%- endfor %}
  PRIMARY KEY ({{ x.work_key }})
) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4;
{%- endmacro -%}

{%- macro image_table(x) -%}
CREATE TABLE IF NOT EXISTS {{ x.image }} LIKE {{ x.table }};
{%- endmacro -%}

{%- macro begin_transaction(x) -%}
START TRANSACTION;
{%- endmacro -%}

{#- Whether the ledger can hold: what a guard hangs on is there, and nothing else acts. -#}
{%- macro ledger_sound(x) -%}
EXISTS (SELECT 1 FROM information_schema.TABLES m WHERE m.TABLE_SCHEMA = {{ x.work_schema_literal }} AND m.TABLE_NAME = 'flowmend_ledger' AND m.ENGINE = 'InnoDB')
   AND NOT EXISTS (SELECT 1 FROM information_schema.TRIGGERS tg WHERE tg.EVENT_OBJECT_SCHEMA = {{ x.work_schema_literal }} AND tg.EVENT_OBJECT_TABLE = 'flowmend_ledger')
{%- endmacro -%}

{%- macro begin_row(x) -%}
-- Only into a ledger that can hold; else nothing below takes effect.
INSERT INTO {{ x.ledger }} (bundle, step, expected, actual, held)
SELECT '{{ x.id }}', '{{ x.own }}', 0, 0, 1
  FROM DUAL
 WHERE {{ ledger_sound(x) }};
{%- endmacro -%}

{%- macro first_guard(x) -%}
INSERT INTO {{ x.ledger }} (bundle, step, expected, actual, held)
SELECT '{{ x.id }}', '{{ x.own }}', {{ x.expected }}, c.n, IF(c.n = {{ x.expected }}, 1, (SELECT 1 UNION ALL SELECT 2))
  FROM (SELECT ({{ x.query }}) AS n) c;
{%- endmacro -%}

{%- macro guard(x) -%}
INSERT INTO {{ x.ledger }} (bundle, step, expected, actual, held)
SELECT '{{ x.id }}', '{{ x.own }}', {{ x.expected }}, c.n, IF(c.n = {{ x.expected }}, 1, (SELECT 1 UNION ALL SELECT 2))
  FROM (SELECT ({{ x.query }}) AS n) c
  JOIN {{ x.ledger }} p ON p.bundle = '{{ x.id }}' AND p.step = '{{ x.prev }}'
 WHERE {{ not_yet(x) }};
{%- endmacro -%}

{%- macro counted(x, statement) -%}
{{ statement }};
SET @flowmend_rows = ROW_COUNT();
SELECT '{{ x.own }}' AS guard, {{ x.expected }} AS expected, @flowmend_rows AS found;
INSERT INTO {{ x.ledger }} (bundle, step, expected, actual, held)
SELECT '{{ x.id }}', '{{ x.own }}', {{ x.expected }}, @flowmend_rows, IF(@flowmend_rows = {{ x.expected }}, 1, (SELECT 1 UNION ALL SELECT 2))
{{ after_the_last(x) }}
{%- endmacro -%}

{%- macro backup(x) -%}
{%- set statement -%}
INSERT INTO {{ x.before }} ({{ x.columns }})
SELECT {{ x.columns_t }}
  FROM {{ x.work }} w
  {{ gate(x) }}
  JOIN {{ x.table }} t ON {{ x.key_tw }}
{%- if x.related %}
  JOIN {{ x.related }} r ON {{ x.related_on }}
{%- endif %}
 WHERE {{ x.pins_tw }}
{%- for condition in x.conditions_start %}
   AND ({{ condition }})
{%- endfor %}
   AND {{ not_yet(x) }}
   FOR UPDATE
{%- endset -%}
{{ counted(x, statement) }}
{%- endmacro -%}

{%- macro update(x) -%}
{%- set statement -%}
UPDATE {{ x.table }} t
  JOIN {{ x.before }} b ON {{ x.key_tb }}
  JOIN {{ x.work }} w ON {{ x.key_tw }}
  {{ gate(x) }}
   SET {{ x.set_list }}
 WHERE {{ x.pins_tw }}
{%- if x.must_change %}
   AND {{ x.must_change }}
{%- endif %}
   AND {{ not_yet(x) }}
{%- endset -%}
{{ counted(x, statement) }}
{%- endmacro -%}

{%- macro delete(x) -%}
{%- set statement -%}
DELETE t FROM {{ x.table }} t
  JOIN {{ x.before }} b ON {{ x.key_tb }}
  JOIN {{ x.work }} w ON {{ x.key_tw }}
  {{ gate(x) }}
 WHERE {{ x.pins_tw }}
   AND {{ not_yet(x) }}
{%- endset -%}
{{ counted(x, statement) }}
{%- endmacro -%}

{%- macro after_image(x) -%}
{{ counted(x, after_image_statement(x)) }}
{%- endmacro -%}

{%- macro insert(x) -%}
{{ counted(x, insert_statement(x)) }}
{%- endmacro -%}

{%- macro after_insert(x) -%}
{{ counted(x, after_insert_statement(x)) }}
{%- endmacro -%}

{%- macro restore_insert(x) -%}
{%- set statement -%}
DELETE t FROM {{ x.table }} t
  JOIN {{ x.after }} a ON {{ x.key_ta }}
  {{ gate(x) }}
 WHERE {{ x.same_ta }}
   AND {{ not_yet(x) }}
{%- endset -%}
{{ counted(x, statement) }}
{%- endmacro -%}

{%- macro restore_update(x) -%}
{%- set statement -%}
UPDATE {{ x.table }} t
  JOIN {{ x.after }} a ON {{ x.key_ta }}
  JOIN {{ x.before }} b ON {{ x.key_tb }}
  {{ gate(x) }}
   SET {{ x.restore_list }}
 WHERE {{ x.same_ta }}
   AND {{ not_yet(x) }}{{ x.only }}
{%- endset -%}
{{ counted(x, statement) }}
{%- endmacro -%}

{%- macro recount(x) -%}
UPDATE {{ x.table }} t
  JOIN {{ x.after }} a ON {{ x.key_ta }}
  {{ gate(x) }}
   SET {{ x.recount_list }}
 WHERE {{ not_yet(x) }};
{%- endmacro -%}

{%- macro restore_delete(x) -%}
{{ counted(x, restore_delete_statement(x)) }}
{%- endmacro -%}

{%- macro end_transaction(x) -%}
-- Commits only when every guard of this run is in the ledger, also after a client went on.
SET @flowmend_end = IF((SELECT COUNT(*) FROM {{ x.ledger }} WHERE bundle = '{{ x.id }}' AND step IN ({{ x.guards }})) = {{ x.guard_count }}, 'COMMIT', 'ROLLBACK');
PREPARE flowmend_end FROM @flowmend_end;
EXECUTE flowmend_end;
DEALLOCATE PREPARE flowmend_end;
SELECT IF(@flowmend_end = 'COMMIT', '{{ x.done }}', 'NOTHING WAS CHANGED: a guard failed') AS flowmend;
-- An error, so that the client's exit status says it, too.
SELECT IF(@flowmend_end = 'COMMIT', {{ x.guard_count }}, (SELECT 1 UNION ALL SELECT 2)) AS guards_held;
{%- endmacro -%}

{%- macro triggers_count(x) -%}
SELECT COUNT(*) FROM information_schema.TRIGGERS WHERE EVENT_OBJECT_SCHEMA = DATABASE() AND EVENT_OBJECT_TABLE IN ({{ x.table_literals }})
{%- endmacro -%}

{%- macro place_count(x) -%}
SELECT COUNT(*) FROM DUAL WHERE CAST(DATABASE() AS BINARY) = CAST({{ x.database_literal }} AS BINARY) AND CAST({% if x.dialect == "mariadb" %}CONCAT(@@hostname, ':', @@port, '/', @@server_id){% else %}@@server_uuid{% endif %} AS BINARY) = CAST({{ x.server_literal }} AS BINARY)
{%- endmacro -%}

{%- macro tables_count(x) -%}
SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME IN ({{ x.plain_literals }}) AND TABLE_TYPE = 'BASE TABLE' AND ENGINE = 'InnoDB'
{%- endmacro -%}

{%- macro runner_head(x) -%}
{%- endmacro -%}
