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
