//! Changing a TOML file without touching what is not changed.
//!
//! Comments, order and unknown keys stay. It knows no key by name.

use toml_edit::{DocumentMut, Item, Table, Value};

/// Parses a file; the error says the line.
pub(crate) fn parse(text: &str) -> Result<DocumentMut, String> {
    text.parse::<DocumentMut>().map_err(|error| error.to_string().trim().replace('\n', " "))
}

/// Turns a value into a table of plain values, with nested tables in one line.
pub(crate) fn to_table<T: serde::Serialize>(value: &T) -> Result<Table, String> {
    let document = toml_edit::ser::to_document(value).map_err(|error| error.to_string())?;
    let mut table = Table::new();
    for (name, item) in document.into_table() {
        let item = match item {
            Item::ArrayOfTables(_) => item,
            other => match other.into_value() {
                Ok(value) => Item::Value(short_float(value)),
                Err(item) => item,
            },
        };
        table.insert(&name, item);
    }
    Ok(table)
}

/// A 32-bit number such as 1.1 has many digits as 64 bits; four are enough for every setting.
fn short_float(value: Value) -> Value {
    match value {
        Value::Float(float) => Value::from((float.value() * 1e4).round() / 1e4),
        other => other,
    }
}

/// Sets a key unless it has this value already; a comment on the line stays.
pub(crate) fn set(table: &mut Table, name: &str, item: Item) {
    let Some(old) = table.get_mut(name) else {
        table.insert(name, item);
        return;
    };
    if plain(old) == plain(&item) {
        return;
    }
    let decor = old.as_value().map(|value| value.decor().clone());
    let mut item = item;
    if let (Some(decor), Some(value)) = (decor, item.as_value_mut()) {
        *value.decor_mut() = decor;
    }
    *old = item;
}

/// Returns the text of an item without comments and space around it.
pub(crate) fn plain(item: &Item) -> String {
    let mut item = item.clone();
    if let Ok(value) = item.clone().into_value() {
        item = Item::Value(value);
    }
    if let Some(value) = item.as_value_mut() {
        value.decor_mut().clear();
        if let Some(inline) = value.as_inline_table_mut() {
            inline.fmt();
        }
    }
    item.to_string().trim().to_owned()
}

/// Reads a table as a value.
pub(crate) fn from_table<T: serde::de::DeserializeOwned>(table: &Table) -> Result<T, String> {
    toml_edit::de::from_document(DocumentMut::from(table.clone()))
        .map_err(|error| error.message().to_owned())
}
