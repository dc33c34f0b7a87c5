{#-
  The statements of a bundle on PostgreSQL. Each macro takes one map `x`.
  A write and its guard are one statement; both take effect only where the
  ledger row of the guard before exists and its own does not.
-#}

{%- from "macros/common.sql" import gate, not_yet, after_the_last, load, drop_table, work_table, image_table -%}
{%- from "macros/common.sql" import after_image_statement, insert_statement, after_insert_statement, restore_delete_statement -%}

{%- macro session(x) -%}
-- The session is set here, so that it does not hang on the client's defaults.
-- SET LOCAL ends with the transaction, also behind a transaction pooler.
SET LOCAL standard_conforming_strings = on;
SET LOCAL client_encoding = 'UTF8';
SET LOCAL DateStyle = 'ISO, MDY';
-- A timestamp with time zone is an instant; the session's zone must not bend its text.
SET LOCAL TimeZone = 'UTC';
-- Built-in functions come first: one of the same name in the schema must not be called.
SET LOCAL search_path = pg_catalog, {{ x.schema_q }}, pg_temp;
SET LOCAL lock_timeout = '{{ x.lock_seconds }}s';
SET LOCAL statement_timeout = '{{ x.statement_seconds }}s';
SET LOCAL idle_in_transaction_session_timeout = '{{ x.statement_seconds }}s';
{%- endmacro -%}

{%- macro ledger_table(x) -%}
CREATE TABLE IF NOT EXISTS {{ x.ledger }} (
  bundle varchar(64) NOT NULL,
  step varchar(190) NOT NULL,
  expected bigint NOT NULL,
  actual bigint NOT NULL,
  held int NOT NULL,
  recorded_at timestamp with time zone NOT NULL DEFAULT now(),
  PRIMARY KEY (bundle, step),
  CONSTRAINT flowmend_expected_is_actual CHECK (expected = actual)
);
{%- endmacro -%}

{%- macro begin_transaction(x) -%}
BEGIN;
{%- endmacro -%}

{#- Whether the ledger can hold: what a guard hangs on is there, and nothing else acts. -#}
{%- macro ledger_sound(x) -%}
EXISTS (SELECT 1 FROM pg_catalog.pg_constraint k WHERE k.conrelid = {{ x.ledger_literal }}::regclass AND k.contype = 'c' AND k.conname = 'flowmend_expected_is_actual')
   AND EXISTS (SELECT 1 FROM pg_catalog.pg_constraint k WHERE k.conrelid = {{ x.ledger_literal }}::regclass AND k.contype = 'p')
   AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_trigger tg WHERE tg.tgrelid = {{ x.ledger_literal }}::regclass AND NOT tg.tgisinternal)
{%- endmacro -%}

{%- macro begin_row(x) -%}
-- Only into a ledger that can hold; else nothing below takes effect.
INSERT INTO {{ x.ledger }} (bundle, step, expected, actual, held)
SELECT '{{ x.id }}', '{{ x.own }}', 0, 0, 1
 WHERE {{ ledger_sound(x) }};
{%- endmacro -%}

{%- macro first_guard(x) -%}
INSERT INTO {{ x.ledger }} (bundle, step, expected, actual, held)
SELECT '{{ x.id }}', '{{ x.own }}', {{ x.expected }}, ({{ x.query }}), 1;
{%- endmacro -%}

{%- macro guard(x) -%}
INSERT INTO {{ x.ledger }} (bundle, step, expected, actual, held)
SELECT '{{ x.id }}', '{{ x.own }}', {{ x.expected }}, ({{ x.query }}), 1
{{ after_the_last(x) }}
{%- endmacro -%}

{%- macro counted(x, statement, lead="") -%}
WITH {{ lead }}written AS (
{{ statement }}
RETURNING 1
)
INSERT INTO {{ x.ledger }} (bundle, step, expected, actual, held)
SELECT '{{ x.id }}', '{{ x.own }}', {{ x.expected }}, (SELECT COUNT(*) FROM written), 1
{{ after_the_last(x) }}
{%- endmacro -%}

{%- macro backup(x) -%}
{%- set lead -%}
locked AS (
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
   FOR UPDATE OF t{{ " FOR SHARE OF r" if x.related }}
), {% endset -%}
{%- set statement -%}
INSERT INTO {{ x.before }} ({{ x.columns }})
SELECT {{ x.columns }} FROM locked
{%- endset -%}
{{ counted(x, statement, lead) }}
{%- endmacro -%}

{%- macro update(x) -%}
{%- set statement -%}
UPDATE {{ x.table }} t
   SET {{ x.set_list }}
  FROM {{ x.before }} b
  JOIN {{ x.work }} w ON {{ x.key_bw }}
  {{ gate(x) }}
 WHERE {{ x.key_tb }}
   AND {{ x.pins_tw }}
{%- if x.must_change %}
   AND {{ x.must_change }}
{%- endif %}
   AND {{ not_yet(x) }}
{%- endset -%}
{{ counted(x, statement) }}
{%- endmacro -%}

{%- macro delete(x) -%}
{%- set statement -%}
DELETE FROM {{ x.table }} t
 USING {{ x.before }} b
  JOIN {{ x.work }} w ON {{ x.key_bw }}
  {{ gate(x) }}
 WHERE {{ x.key_tb }}
   AND {{ x.pins_tw }}
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
DELETE FROM {{ x.table }} t
 USING {{ x.after }} a
  {{ gate(x) }}
 WHERE {{ x.key_ta }}
   AND {{ x.same_ta }}
   AND {{ not_yet(x) }}
{%- endset -%}
{{ counted(x, statement) }}
{%- endmacro -%}

{%- macro restore_update(x) -%}
{%- set statement -%}
UPDATE {{ x.table }} t
   SET {{ x.restore_list }}
  FROM {{ x.after }} a
  JOIN {{ x.before }} b ON {{ x.key_ab }}
  {{ gate(x) }}
 WHERE {{ x.key_ta }}
   AND {{ x.same_ta }}
   AND {{ not_yet(x) }}{{ x.only }}
{%- endset -%}
{{ counted(x, statement) }}
{%- endmacro -%}

{%- macro recount(x) -%}
UPDATE {{ x.table }} t
   SET {{ x.recount_list }}
  FROM {{ x.after }} a
  {{ gate(x) }}
 WHERE {{ x.key_ta }}
   AND {{ not_yet(x) }};
{%- endmacro -%}

{%- macro restore_delete(x) -%}
{{ counted(x, restore_delete_statement(x, " OVERRIDING SYSTEM VALUE")) }}
{%- endmacro -%}

{%- macro triggers_count(x) -%}
SELECT COUNT(*) FROM pg_catalog.pg_trigger tg JOIN pg_catalog.pg_class c ON c.oid = tg.tgrelid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = {{ x.schema_literal }} AND c.relname IN ({{ x.table_literals }}) AND NOT tg.tgisinternal
{%- endmacro -%}

{%- macro place_count(x) -%}
SELECT COUNT(*) FROM pg_catalog.pg_control_system() s WHERE s.system_identifier::text = {{ x.server_literal }} AND current_database() = {{ x.database_literal }}
{%- endmacro -%}

{%- macro tables_count(x) -%}
SELECT COUNT(*) FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = {{ x.schema_literal }} AND c.relname IN ({{ x.plain_literals }}) AND c.relkind IN ('r', 'p')
{%- endmacro -%}

{%- macro runner_head(x) -%}
\set ON_ERROR_STOP on
{%- endmacro -%}

{%- macro end_transaction(x) -%}
-- An error here, and so no commit, if the last guard is not in the ledger.
SELECT '{{ x.done }}' AS flowmend, {{ x.guard_count }} / (SELECT COUNT(*) FROM {{ x.ledger }} e WHERE e.bundle = '{{ x.id }}' AND e.step = '{{ x.last }}') AS guards_held;
COMMIT;
{%- endmacro -%}
