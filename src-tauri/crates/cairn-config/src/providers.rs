//! `providers.toml`: the table of providers and their models. Never a key.
//!
//! A model is known by the pair of provider and model id (P-56). An entry that makes no sense is passed over and told;
//! it stays in the file.

use std::collections::BTreeSet;
use std::path::Path;

use cairn_protocol::{KeySource, ProviderEntry, WireApi};
use toml_edit::{ArrayOfTables, DocumentMut, Item, Table};

use crate::origin::origin;
use crate::{Error, edit, files};

const HEADER: &str = "# Providers and their models. Keys are not kept here.\n\n";
const TABLE: &str = "provider";

/// Fields of a model that may be absent.
const OPTIONAL_OF_MODEL: [&str; 3] = ["displayName", "contextWindow", "maxTokens"];

/// Headers that would carry a secret past the key store.
const SECRET_HEADERS: [&str; 5] =
    ["authorization", "proxy-authorization", "cookie", "x-api-key", "x-goog-api-key"];

/// Reads the table, and what is wrong with it.
pub(crate) fn load(path: &Path) -> (Vec<ProviderEntry>, Vec<String>) {
    let mut problems = Vec::new();
    let mut found: Vec<ProviderEntry> = Vec::new();
    match document(path) {
        Ok(document) => {
            for (number, table) in tables(&document).enumerate() {
                let entry = edit::from_table::<ProviderEntry>(table)
                    .and_then(|entry| check(&entry).map(|()| entry))
                    .and_then(|entry| match found.iter().any(|other| other.name == entry.name) {
                        true => Err(format!("the name `{}` is taken", entry.name)),
                        false => Ok(entry),
                    });
                match entry {
                    Ok(entry) => found.push(entry),
                    Err(reason) => problems.push(format!(
                        "Provider {} in `{}` is left out: {reason}",
                        number + 1,
                        path.display()
                    )),
                }
            }
        }
        Err(error) => problems
            .push(format!("The providers cannot be read; the file is kept: {}", error.full_text())),
    }
    (found, problems)
}

fn document(path: &Path) -> Result<DocumentMut, Error> {
    let text = files::read(path)?.unwrap_or_default();
    edit::parse(&text).map_err(|reason| Error::Damaged { path: path.to_owned(), reason })
}

fn tables(document: &DocumentMut) -> impl Iterator<Item = &Table> {
    document.get(TABLE).and_then(Item::as_array_of_tables).into_iter().flatten()
}

/// Returns what is wrong with an entry.
pub(crate) fn check(entry: &ProviderEntry) -> Result<(), String> {
    let good = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-');
    let name = &entry.name;
    if name.is_empty() || name.len() > 64 || !name.bytes().all(good) {
        return Err(format!(
            "`{}` is not a name: letters, digits, `.`, `_` and `-`, at most 64",
            name.escape_debug()
        ));
    }
    if entry.api == WireApi::Script {
        return Err("a script is built in, never a provider of the table".to_owned());
    }
    origin(&entry.base_url)?;
    for (header, value) in &entry.headers {
        let token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
        if header.is_empty() || !header.bytes().all(token) {
            return Err(format!("`{}` is not a header name", header.escape_debug()));
        }
        if value.chars().any(char::is_control) {
            return Err(format!("the header `{header}` has a control character in its value"));
        }
        if SECRET_HEADERS.contains(&header.to_ascii_lowercase().as_str()) {
            return Err(format!("the header `{header}` carries a secret: enter it as the key"));
        }
    }
    let mut ids = BTreeSet::new();
    for model in &entry.models {
        let id = &model.model_id;
        if id.trim().is_empty() || id.chars().count() > 200 || id.chars().any(char::is_control) {
            return Err(format!("`{}` is not a model id", id.escape_debug()));
        }
        if !ids.insert(id) {
            return Err(format!("the model `{id}` is listed twice"));
        }
    }
    Ok(())
}

/// Puts an entry into the table, in the place of the one with its name.
pub(crate) fn save(path: &Path, entry: &ProviderEntry) -> Result<(), Error> {
    check(entry).map_err(Error::Invalid)?;
    let (header, mut document) = editable(path)?;
    let fresh = edit::to_table(entry).map_err(Error::Invalid)?;
    let array = array(&mut document, path)?;
    let name = |table: &Table| table.get("name").and_then(Item::as_str) == Some(&entry.name);
    let position = array.iter().position(name);
    let position = position.unwrap_or_else(|| {
        array.push(Table::new());
        array.len() - 1
    });
    let table = array.get_mut(position).expect("the position was found or made above");
    for (name, item) in fresh.iter() {
        match (name, item) {
            ("models", item) => set_models(table, item),
            ("headers", _) if entry.headers.is_empty() => drop(table.remove(name)),
            ("key", _) if entry.key == KeySource::None => drop(table.remove(name)),
            _ => edit::set(table, name, item.clone()),
        }
    }
    files::write(path, &format!("{header}{document}"))
}

fn set_models(table: &mut Table, fresh: &Item) {
    let id = |model: &Table| model.get("modelId").and_then(Item::as_str).map(str::to_owned);
    let old = table.get("models").and_then(|item| item.clone().into_array_of_tables().ok());
    let old = old.unwrap_or_default();
    let fresh = fresh.clone().into_array_of_tables().unwrap_or_default();
    let mut models = ArrayOfTables::new();
    for new in &fresh {
        let mut model = old.iter().find(|old| id(old) == id(new)).cloned().unwrap_or_default();
        for (name, item) in new {
            edit::set(&mut model, name, item.clone());
        }
        for name in OPTIONAL_OF_MODEL.iter().filter(|name| !new.contains_key(name)) {
            model.remove(name);
        }
        models.push(model);
    }
    if models.is_empty() {
        table.remove("models");
    } else {
        table.insert("models", Item::ArrayOfTables(models));
    }
}

/// Takes an entry out of the table; returns whether it was there.
pub(crate) fn delete(path: &Path, name: &str) -> Result<bool, Error> {
    let (header, mut document) = editable(path)?;
    let array = array(&mut document, path)?;
    let before = array.len();
    array.retain(|table| table.get("name").and_then(Item::as_str) != Some(name));
    let found = array.len() < before;
    if found {
        files::write(path, &format!("{header}{document}"))?;
    }
    Ok(found)
}

/// Opens the table for a change, with what stands above it. A file that can't be parsed is kept aside, and a new one
/// begun.
fn editable(path: &Path) -> Result<(&'static str, DocumentMut), Error> {
    if !path.exists() {
        return Ok((HEADER, DocumentMut::new()));
    }
    match document(path) {
        Err(Error::Damaged { .. }) => {
            files::put_aside(path)?;
            Ok((HEADER, DocumentMut::new()))
        }
        result => result.map(|document| ("", document)),
    }
}

fn array<'a>(document: &'a mut DocumentMut, path: &Path) -> Result<&'a mut ArrayOfTables, Error> {
    let item = document.entry(TABLE).or_insert(Item::ArrayOfTables(ArrayOfTables::new()));
    if item.as_array_of_tables().is_none()
        && let Ok(array) = item.clone().into_array_of_tables()
    {
        *item = Item::ArrayOfTables(array);
    }
    item.as_array_of_tables_mut().ok_or_else(|| Error::Damaged {
        path: path.to_owned(),
        reason: format!("`{TABLE}` must be a list of tables"),
    })
}
