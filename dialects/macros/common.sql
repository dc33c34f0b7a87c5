{#-
  Statements that are the same in several SQL families. A family imports what it
  shares and writes the rest itself.
-#}

{%- macro gate(x) -%}
JOIN {{ x.ledger }} g ON g.bundle = '{{ x.id }}' AND g.step = '{{ x.prev }}'
{%- endmacro -%}

{%- macro not_yet(x) -%}
NOT EXISTS (SELECT 1 FROM {{ x.ledger }} o WHERE o.bundle = '{{ x.id }}' AND o.step = '{{ x.own }}')
{%- endmacro -%}

{#- A guard's row comes only after that of the guard before, and once. -#}
{%- macro after_the_last(x) -%}
{{ "  " }}FROM {{ x.ledger }} p
 WHERE p.bundle = '{{ x.id }}' AND p.step = '{{ x.prev }}'
   AND {{ not_yet(x) }};
{%- endmacro -%}

{%- macro load(x) -%}
INSERT INTO {{ x.work }} ({{ x.work_names }}) VALUES
{{ x.rows | join(",\n") }};
{%- endmacro -%}

{%- macro drop_table(x) -%}
DROP TABLE IF EXISTS {{ x.name }};
{%- endmacro -%}

{%- macro work_table(x) -%}
CREATE TABLE IF NOT EXISTS {{ x.work }} (
{%- for column in x.work_columns %}
  {{ column.q }} {{ column.type }}{{ " NOT NULL" if column.key }},
{%- endfor %}
  PRIMARY KEY ({{ x.work_key }})
);
{%- endmacro -%}

{%- macro image_table(x) -%}
CREATE TABLE IF NOT EXISTS {{ x.image }} (
{%- for column in x.image_columns %}
  {{ column.q }} {{ column.type }},
{%- endfor %}
  PRIMARY KEY ({{ x.image_key }})
);
{%- endmacro -%}

{%- macro after_image_statement(x) -%}
INSERT INTO {{ x.after }} ({{ x.columns }})
SELECT {{ x.columns_t }}
  FROM {{ x.table }} t
  JOIN {{ x.before }} b ON {{ x.key_tb }}
  {{ gate(x) }}
 WHERE {{ not_yet(x) }}
{%- endmacro -%}

{%- macro insert_statement(x) -%}
INSERT INTO {{ x.table }} ({{ x.insert_columns }})
SELECT {{ x.insert_values }}
  FROM ({{ x.insert_rows }}) t
  {{ gate(x) }}
 WHERE {{ not_yet(x) }}
{%- for condition in x.conditions_start %}
   AND ({{ condition }})
{%- endfor %}
{%- endmacro -%}

{%- macro after_insert_statement(x) -%}
INSERT INTO {{ x.after }} ({{ x.columns }})
SELECT {{ x.columns_t }}
  FROM {{ x.table }} t
  JOIN {{ x.work }} w ON {{ x.insert_match }}
  {{ gate(x) }}
 WHERE {{ not_yet(x) }}
{%- endmacro -%}

{%- macro restore_delete_statement(x, overriding="") -%}
INSERT INTO {{ x.table }} ({{ x.columns }}){{ overriding }}
SELECT {{ x.columns_b }}
  FROM {{ x.before }} b
  {{ gate(x) }}
 WHERE {{ not_yet(x) }}{{ x.only_b }}
{%- endmacro -%}
