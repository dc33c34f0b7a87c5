//! The change of one row, and its text form.

use crate::recipe::Op;

/// One row's change. NULL is written as `null = true` in the text form, so
/// values are optional texts.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct RowChange {
    /// Key values.
    pub key: Vec<Option<String>>,
    /// Old values of the pinned columns.
    pub old: Vec<Option<String>>,
    /// New values of the written columns (for `now`: NULL; for `recount`: the value expected).
    pub new: Vec<Option<String>>,
    /// Values of the related row's pinned columns.
    pub related: Vec<Option<String>>,
    /// The run the row belongs to, if it belongs to one.
    pub instance: Option<String>,
    /// A name for people.
    pub label: String,
}

impl RowChange {
    /// The key as people read it.
    #[must_use]
    pub fn key_text(&self) -> String {
        self.key.iter().map(|k| k.as_deref().unwrap_or("NULL")).collect::<Vec<_>>().join("/")
    }

    /// What names the row: its key. A row to come has none yet; the run it is for names it.
    #[must_use]
    pub fn name(&self, op: Op) -> String {
        match op {
            Op::Insert => self.instance.clone().unwrap_or_default(),
            Op::Update | Op::Delete => self.key_text(),
        }
    }

    /// The key values as texts.
    #[must_use]
    pub fn key_texts(&self) -> Vec<String> {
        self.key.iter().map(|k| k.clone().unwrap_or_default()).collect()
    }
}

/// A row in its text form: an array of five arrays and two texts would be hard
/// to read, so a row is one array of texts: key, old, new, related, instance,
/// label. NULL is the empty array.
mod text {
    use serde::de::Error as _;
    use serde::ser::SerializeSeq as _;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::RowChange;

    struct Cell<'a>(Option<&'a str>);

    impl Serialize for Cell<'_> {
        fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
            match self.0 {
                Some(text) => s.serialize_str(text),
                None => s.serialize_seq(Some(0))?.end(),
            }
        }
    }

    impl Serialize for RowChange {
        fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
            let groups = [&self.key, &self.old, &self.new, &self.related];
            let cells: Vec<Vec<Cell<'_>>> = groups.map(|g| g.iter().map(|v| Cell(v.as_deref())).collect()).into();
            let mut row = s.serialize_seq(Some(6))?;
            for group in &cells {
                row.serialize_element(group)?;
            }
            row.serialize_element(&Cell(self.instance.as_deref()))?;
            row.serialize_element(&self.label)?;
            row.end()
        }
    }

    impl<'de> Deserialize<'de> for RowChange {
        fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
            let row = toml::Value::deserialize(d)?;
            let parts =
                row.as_array().filter(|a| a.len() == 6).ok_or_else(|| D::Error::custom("a row is an array of six"))?;
            let group = |i: usize| -> Result<Vec<Option<String>>, D::Error> {
                let cells = parts[i].as_array().ok_or_else(|| D::Error::custom("values are arrays"))?;
                cells.iter().map(cell::<D>).collect()
            };
            let label = parts[5].as_str().ok_or_else(|| D::Error::custom("a label is a text"))?.to_owned();
            Ok(Self {
                key: group(0)?,
                old: group(1)?,
                new: group(2)?,
                related: group(3)?,
                instance: cell::<D>(&parts[4])?,
                label,
            })
        }
    }

    fn cell<'de, D: Deserializer<'de>>(value: &toml::Value) -> Result<Option<String>, D::Error> {
        match value {
            toml::Value::String(text) => Ok(Some(text.clone())),
            toml::Value::Array(empty) if empty.is_empty() => Ok(None),
            _ => Err(D::Error::custom("a value is a text, or [] for NULL")),
        }
    }
}
