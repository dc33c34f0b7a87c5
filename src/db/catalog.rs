//! Reads the catalog: tables, columns, keys, triggers and foreign keys as the server holds them.

use std::collections::BTreeMap;

use super::{Database, Row};
use crate::Result;
use crate::catalog::{Catalog, LiveColumn, LiveForeignKey, LiveIndex, LiveTable, TableKind};
use crate::dialect::TypeClass;
use crate::manifest::Engine;

impl Database {
    /// Reads the catalog of the scheduler's schema.
    ///
    /// # Errors
    /// What the server said.
    pub async fn catalog(&mut self) -> Result<Catalog> {
        let mut catalog = Catalog::default();
        match self.dialect.engine {
            Engine::MySql => self.mysql_catalog(&mut catalog).await?,
            Engine::PostgreSql => self.postgres_catalog(&mut catalog).await?,
            Engine::Sqlite => self.sqlite_catalog(&mut catalog).await?,
        }
        Ok(catalog)
    }

    async fn mysql_catalog(&mut self, catalog: &mut Catalog) -> Result<()> {
        let tables = "SELECT TABLE_NAME, TABLE_TYPE, ENGINE, CREATE_OPTIONS FROM information_schema.TABLES \
                      WHERE TABLE_SCHEMA = DATABASE() ORDER BY TABLE_NAME";
        for row in self.rows(tables).await? {
            let kind = match (text(&row, 1).as_str(), text(&row, 3).contains("partitioned")) {
                ("BASE TABLE", false) => TableKind::Base,
                ("BASE TABLE", true) => TableKind::Partitioned,
                _ => TableKind::Other,
            };
            catalog.add_table(text(&row, 0), kind, row[2].clone());
        }
        let columns = "SELECT TABLE_NAME, COLUMN_NAME, COLUMN_TYPE, IS_NULLABLE, EXTRA, CHARACTER_SET_NAME, COLLATION_NAME \
                       FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() ORDER BY TABLE_NAME, ORDINAL_POSITION";
        for row in self.rows(columns).await? {
            let mut type_sql = text(&row, 2);
            let class = TypeClass::of(&type_sql);
            if let (Some(charset), Some(collation)) = (&row[5], &row[6]) {
                type_sql = format!("{type_sql} CHARACTER SET {charset} COLLATE {collation}");
            }
            let extra = text(&row, 4).to_lowercase();
            let column = LiveColumn {
                name: text(&row, 1),
                type_sql,
                class,
                generated: extra.contains(" generated") || extra == "persistent" || extra == "virtual",
                on_update: extra.contains("on update"),
                nullable: text(&row, 3) == "YES",
            };
            if let Some(table) = catalog.table_mut(&text(&row, 0)) {
                table.columns.push(column);
            }
        }
        let keys = "SELECT TABLE_NAME, COLUMN_NAME FROM information_schema.KEY_COLUMN_USAGE \
                    WHERE TABLE_SCHEMA = DATABASE() AND CONSTRAINT_NAME = 'PRIMARY' ORDER BY TABLE_NAME, ORDINAL_POSITION";
        self.add_pairs(catalog, keys, |t, name| t.key.push(name)).await?;
        let indexes = "SELECT TABLE_NAME, INDEX_NAME, 1 - NON_UNIQUE, COLUMN_NAME FROM information_schema.STATISTICS \
                       WHERE TABLE_SCHEMA = DATABASE() ORDER BY TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX";
        self.add_indexes(catalog, indexes).await?;
        let triggers = "SELECT EVENT_OBJECT_TABLE, TRIGGER_NAME FROM information_schema.TRIGGERS \
                        WHERE TRIGGER_SCHEMA = DATABASE() ORDER BY 1, 2";
        self.add_pairs(catalog, triggers, |t, name| t.triggers.push(name)).await?;
        let foreign = "SELECT IF(k.CONSTRAINT_SCHEMA = DATABASE(), k.TABLE_NAME, CONCAT(k.CONSTRAINT_SCHEMA, '.', k.TABLE_NAME)), \
                       k.REFERENCED_TABLE_NAME, k.DELETE_RULE, k.CONSTRAINT_NAME, u.COLUMN_NAME, u.REFERENCED_COLUMN_NAME \
                       FROM information_schema.REFERENTIAL_CONSTRAINTS k JOIN information_schema.KEY_COLUMN_USAGE u \
                       ON u.CONSTRAINT_SCHEMA = k.CONSTRAINT_SCHEMA AND u.CONSTRAINT_NAME = k.CONSTRAINT_NAME AND u.TABLE_NAME = k.TABLE_NAME \
                       WHERE DATABASE() IN (k.CONSTRAINT_SCHEMA, k.UNIQUE_CONSTRAINT_SCHEMA) ORDER BY 1, 2, 4, u.ORDINAL_POSITION";
        self.add_foreign_keys(catalog, foreign).await
    }

    async fn postgres_catalog(&mut self, catalog: &mut Catalog) -> Result<()> {
        let schema = self.dialect.text_literal(self.schema.as_deref().unwrap_or("public"));
        let from = format!(
            "FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
             WHERE n.nspname = {schema} AND c.relkind IN ('r', 'p', 'v', 'm', 'f')"
        );
        let tables = format!("SELECT c.relname, c.relkind {from} ORDER BY c.relname");
        for row in self.rows(&tables).await? {
            let kind = match text(&row, 1).as_str() {
                "r" => TableKind::Base,
                "p" => TableKind::Partitioned,
                _ => TableKind::Other,
            };
            catalog.add_table(text(&row, 0), kind, None);
        }
        let columns = format!(
            "SELECT c.relname, a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attgenerated \
             FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid \
             JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
             WHERE n.nspname = {schema} AND a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r', 'p', 'v', 'm', 'f') \
             ORDER BY c.relname, a.attnum"
        );
        for row in self.rows(&columns).await? {
            let type_sql = text(&row, 2);
            let column = LiveColumn {
                name: text(&row, 1),
                class: TypeClass::of(&type_sql),
                type_sql,
                generated: !text(&row, 4).is_empty(),
                on_update: false,
                nullable: text(&row, 3) == "f",
            };
            if let Some(table) = catalog.table_mut(&text(&row, 0)) {
                table.columns.push(column);
            }
        }
        let keys = format!(
            "SELECT c.relname, a.attname FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indrelid \
             JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
             JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = ANY (i.indkey) \
             WHERE n.nspname = {schema} AND i.indisprimary ORDER BY c.relname, array_position(i.indkey::int[], a.attnum::int)"
        );
        self.add_pairs(catalog, &keys, |t, name| t.key.push(name)).await?;
        let indexes = format!(
            "SELECT c.relname, x.relname, CASE WHEN i.indisunique THEN 1 ELSE 0 END, a.attname \
             FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indrelid \
             JOIN pg_catalog.pg_class x ON x.oid = i.indexrelid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
             CROSS JOIN LATERAL generate_series(0, i.indnkeyatts - 1) AS k(place) \
             JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = i.indkey[k.place] \
             WHERE n.nspname = {schema} AND i.indexprs IS NULL AND i.indpred IS NULL ORDER BY c.relname, x.relname, k.place"
        );
        self.add_indexes(catalog, &indexes).await?;
        // A rule rewrites statements as a trigger does.
        let triggers = format!(
            "SELECT c.relname, t.tgname FROM pg_catalog.pg_trigger t JOIN pg_catalog.pg_class c ON c.oid = t.tgrelid \
             JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = {schema} AND NOT t.tgisinternal \
             UNION SELECT c.relname, r.rulename FROM pg_catalog.pg_rewrite r JOIN pg_catalog.pg_class c ON c.oid = r.ev_class \
             JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
             WHERE n.nspname = {schema} AND c.relkind IN ('r', 'p') ORDER BY 1, 2"
        );
        self.add_pairs(catalog, &triggers, |t, name| t.triggers.push(name)).await?;
        let foreign = format!(
            "SELECT CASE WHEN cn.nspname = pn.nspname THEN child.relname ELSE cn.nspname || '.' || child.relname END, parent.relname, CASE k.confdeltype WHEN 'c' THEN 'CASCADE' WHEN 'n' THEN 'SET NULL' \
             WHEN 'd' THEN 'SET DEFAULT' WHEN 'r' THEN 'RESTRICT' ELSE 'NO ACTION' END, k.conname, ca.attname, pa.attname \
             FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_class child ON child.oid = k.conrelid \
             JOIN pg_catalog.pg_class parent ON parent.oid = k.confrelid \
             JOIN pg_catalog.pg_namespace cn ON cn.oid = child.relnamespace \
             JOIN pg_catalog.pg_namespace pn ON pn.oid = parent.relnamespace \
             CROSS JOIN LATERAL unnest(k.conkey, k.confkey) WITH ORDINALITY AS u (own, other, place) \
             JOIN pg_catalog.pg_attribute ca ON ca.attrelid = k.conrelid AND ca.attnum = u.own \
             JOIN pg_catalog.pg_attribute pa ON pa.attrelid = k.confrelid AND pa.attnum = u.other \
             WHERE {schema} IN (cn.nspname, pn.nspname) AND k.contype = 'f' ORDER BY 1, 2, 4, u.place"
        );
        self.add_foreign_keys(catalog, &foreign).await
    }

    async fn sqlite_catalog(&mut self, catalog: &mut Catalog) -> Result<()> {
        let tables = "SELECT name, type FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name";
        for row in self.rows(tables).await? {
            let kind = if text(&row, 1) == "table" { TableKind::Base } else { TableKind::Other };
            catalog.add_table(text(&row, 0), kind, None);
        }
        let columns = "SELECT m.name, p.name, p.type, CAST(p.\"notnull\" AS TEXT), CAST(p.pk AS TEXT), CAST(p.hidden AS TEXT) \
                       FROM sqlite_master m JOIN pragma_table_xinfo(m.name) p WHERE m.type IN ('table', 'view') ORDER BY m.name, p.cid";
        let mut keys: BTreeMap<String, BTreeMap<u32, String>> = BTreeMap::new();
        for row in self.rows(columns).await? {
            let (table, type_sql) = (text(&row, 0), text(&row, 2));
            if let Ok(position @ 1..) = text(&row, 4).parse::<u32>() {
                keys.entry(table.clone()).or_default().insert(position, text(&row, 1));
            }
            let column = LiveColumn {
                name: text(&row, 1),
                class: TypeClass::of(&type_sql),
                type_sql,
                generated: matches!(text(&row, 5).as_str(), "2" | "3"),
                on_update: false,
                nullable: text(&row, 3) == "0",
            };
            if let Some(table) = catalog.table_mut(&table) {
                table.columns.push(column);
            }
        }
        for (table, key) in keys {
            if let Some(table) = catalog.table_mut(&table) {
                table.key = key.into_values().collect();
            }
        }
        // The primary key is there already; a partial index holds for some rows only.
        let indexes = "SELECT m.name, l.name, CAST(l.\"unique\" AS TEXT), i.name FROM sqlite_master m JOIN pragma_index_list(m.name) l \
                       JOIN pragma_index_info(l.name) i WHERE m.type = 'table' AND l.origin <> 'pk' AND NOT l.partial ORDER BY 1, 2, i.seqno";
        self.add_indexes(catalog, indexes).await?;
        let triggers = "SELECT tbl_name, name FROM sqlite_master WHERE type = 'trigger' ORDER BY 1, 2";
        self.add_pairs(catalog, triggers, |t, name| t.triggers.push(name)).await?;
        // A key that names no columns refers to the primary key.
        let foreign = "SELECT m.name, f.\"table\", f.on_delete, CAST(f.id AS TEXT), f.\"from\", \
                       COALESCE(f.\"to\", (SELECT p.name FROM pragma_table_info(f.\"table\") p WHERE p.pk = f.seq + 1)) \
                       FROM sqlite_master m JOIN pragma_foreign_key_list(m.name) f WHERE m.type = 'table' ORDER BY 1, f.id, f.seq";
        self.add_foreign_keys(catalog, foreign).await
    }

    async fn add_pairs(
        &mut self,
        catalog: &mut Catalog,
        sql: &str,
        add: impl Fn(&mut LiveTable, String),
    ) -> Result<()> {
        for row in self.rows(sql).await? {
            if let Some(table) = catalog.table_mut(&text(&row, 0)) {
                add(table, text(&row, 1));
            }
        }
        Ok(())
    }

    /// Rows of table, index, 1 where it is unique, and column, in the order of the columns.
    async fn add_indexes(&mut self, catalog: &mut Catalog, sql: &str) -> Result<()> {
        for row in self.rows(sql).await? {
            let (name, column) = (text(&row, 1), text(&row, 3));
            let Some(table) = catalog.table_mut(&text(&row, 0)) else { continue };
            match table.indexes.iter_mut().find(|i| i.name == name) {
                Some(index) => index.columns.push(column),
                None => table.indexes.push(LiveIndex { name, unique: text(&row, 2) == "1", columns: vec![column] }),
            }
        }
        Ok(())
    }

    /// Rows of child, parent, rule, the key's name and a pair of columns, in the key's order.
    async fn add_foreign_keys(&mut self, catalog: &mut Catalog, sql: &str) -> Result<()> {
        let mut keys: Vec<(String, LiveForeignKey)> = Vec::new();
        for row in self.rows(sql).await? {
            let (child, name, columns) = (text(&row, 0), text(&row, 3), (text(&row, 4), text(&row, 5)));
            match keys.last_mut().filter(|(last, key)| *last == name && key.child == child) {
                Some((_, key)) => key.columns.push(columns),
                None => {
                    let (parent, on_delete) = (text(&row, 1), text(&row, 2));
                    keys.push((name, LiveForeignKey { child, parent, on_delete, columns: vec![columns] }));
                }
            }
        }
        keys.iter().for_each(|(_, key)| catalog.add_foreign_key(key));
        Ok(())
    }
}

fn text(row: &Row, index: usize) -> String {
    row.get(index).cloned().flatten().unwrap_or_default()
}
