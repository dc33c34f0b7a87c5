{#-
  The statements of a bundle on SQLite. Each macro takes one map `x`.
  A guard that fails ends the transaction (INSERT OR ROLLBACK); what a client
  without .bail then runs finds no ledger row before it and changes nothing.
-#}

{%- from "macros/common.sql" import gate, not_yet, after_the_last, load, drop_table, work_table, image_table -%}
{%- from "macros/common.sql" import after_image_statement, insert_statement, after_insert_statement, restore_delete_statement -%}

{%- macro session(x) -%}
-- Nothing to set: what matters is decided per statement.
SELECT 'flowmend bundle {{ x.id }}' AS flowmend;
{%- endmacro -%}

{%- macro ledger_table(x) -%}
CREATE TABLE IF NOT EXISTS {{ x.ledger }} (
  bundle TEXT NOT NULL,
  step TEXT NOT NULL,
  expected INTEGER NOT NULL,
  actual INTEGER NOT NULL,
  held INTEGER NOT NULL,
  recorded_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (bundle, step),
  CONSTRAINT flowmend_expected_is_actual CHECK (expected = actual)
);
{%- endmacro -%}

{%- macro begin_transaction(x) -%}
BEGIN IMMEDIATE;
{%- endmacro -%}

{#- Whether the ledger can hold: what a guard hangs on is there, and nothing else acts. -#}
{%- macro ledger_sound(x) -%}
EXISTS (SELECT 1 FROM sqlite_master m WHERE m.type = 'table' AND m.name = 'flowmend_ledger' AND m.sql LIKE '%PRIMARY KEY (bundle, step)%CHECK (expected = actual)%')
   AND NOT EXISTS (SELECT 1 FROM sqlite_master m WHERE m.type = 'trigger' AND m.tbl_name = 'flowmend_ledger')
{%- endmacro -%}

{%- macro begin_row(x) -%}
-- Only into a ledger that can hold; else nothing below takes effect.
INSERT OR ROLLBACK INTO {{ x.ledger }} (bundle, step, expected, actual, held)
SELECT '{{ x.id }}', '{{ x.own }}', 0, 0, 1
 WHERE {{ ledger_sound(x) }};
{%- endmacro -%}

{%- macro first_guard(x) -%}
INSERT OR ROLLBACK INTO {{ x.ledger }} (bundle, step, expected, actual, held)
SELECT '{{ x.id }}', '{{ x.own }}', {{ x.expected }}, ({{ x.query }}), 1;
{%- endmacro -%}

{%- macro guard(x) -%}
INSERT OR ROLLBACK INTO {{ x.ledger }} (bundle, step, expected, actual, held)
SELECT '{{ x.id }}', '{{ x.own }}', {{ x.expected }}, ({{ x.query }}), 1
{{ after_the_last(x) }}
{%- endmacro -%}

{%- macro counted(x, statement) -%}
{{ statement }};
INSERT OR ROLLBACK INTO {{ x.ledger }} (bundle, step, expected, actual, held)
SELECT '{{ x.id }}', '{{ x.own }}', {{ x.expected }}, changes(), 1
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
{%- endset -%}
{{ counted(x, statement) }}
{%- endmacro -%}

{%- macro update(x) -%}
{%- set statement -%}
UPDATE {{ x.table }} AS t
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
DELETE FROM {{ x.table }} AS t
 WHERE EXISTS (SELECT 1 FROM {{ x.before }} b
  JOIN {{ x.work }} w ON {{ x.key_bw }}
  {{ gate(x) }}
 WHERE {{ x.key_tb }} AND {{ x.pins_tw }})
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
DELETE FROM {{ x.table }} AS t
 WHERE EXISTS (SELECT 1 FROM {{ x.after }} a
  {{ gate(x) }}
 WHERE {{ x.key_ta }} AND {{ x.same_ta }})
   AND {{ not_yet(x) }}
{%- endset -%}
{{ counted(x, statement) }}
{%- endmacro -%}

{%- macro restore_update(x) -%}
{%- set statement -%}
UPDATE {{ x.table }} AS t
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
UPDATE {{ x.table }} AS t
   SET {{ x.recount_list }}
  FROM {{ x.after }} a
  {{ gate(x) }}
 WHERE {{ x.key_ta }}
   AND {{ not_yet(x) }};
{%- endmacro -%}

{%- macro restore_delete(x) -%}
{{ counted(x, restore_delete_statement(x)) }}
{%- endmacro -%}

{%- macro triggers_count(x) -%}
SELECT COUNT(*) FROM sqlite_master WHERE type = 'trigger' AND tbl_name IN ({{ x.table_literals }})
{%- endmacro -%}

{#- A file has no name of its own in SQL. -#}
{%- macro place_count(x) -%}{%- endmacro -%}

{%- macro tables_count(x) -%}
SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name IN ({{ x.plain_literals }})
{%- endmacro -%}

{%- macro runner_head(x) -%}
.bail on
{%- endmacro -%}

{%- macro end_transaction(x) -%}
-- An error here if the last guard is not in the ledger: then nothing was changed.
SELECT CASE WHEN (SELECT COUNT(*) FROM {{ x.ledger }} e WHERE e.bundle = '{{ x.id }}' AND e.step = '{{ x.last }}') = 1 THEN '{{ x.done }}' ELSE abs(-9223372036854775807 - 1) END AS flowmend;
COMMIT;
{%- endmacro -%}
