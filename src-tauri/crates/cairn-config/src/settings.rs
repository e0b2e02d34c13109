//! `settings.toml`: one line a setting, only those that differ from their default.
//!
//! A value that makes no sense counts as its default, and the user is told; the others hold. A value that would
//! weaken a protection by accident can't come from here: `auto` is no default mode.

use std::path::Path;

use cairn_protocol::{Mode, Settings};
use toml_edit::{DocumentMut, Item, Table};

use crate::{Error, edit, files};

const HEADER: &str = "# Cairn's settings. A line that is missing has its default.\n\n";

/// Settings that may be absent; a missing one in new values takes the line away.
const OPTIONAL: [&str; 1] = ["defaultModel"];

/// Text sizes that the window can draw.
const TEXT_SCALE: std::ops::RangeInclusive<f32> = 0.9..=2.0;

/// Reads the settings, and what is wrong with the file.
pub(crate) fn load(path: &Path) -> (Settings, Vec<String>) {
    match files::read(path) {
        Ok(None) => (Settings::default(), Vec::new()),
        Ok(Some(text)) => match edit::parse(&text) {
            Ok(document) => understand(path, &document),
            Err(reason) => (Settings::default(), vec![unreadable(path, &reason)]),
        },
        Err(error) => (Settings::default(), vec![unreadable(path, &error.full_text())]),
    }
}

fn unreadable(path: &Path, reason: &str) -> String {
    format!("`{}` cannot be read, so defaults hold; the file is kept: {reason}", path.display())
}

fn understand(path: &Path, document: &DocumentMut) -> (Settings, Vec<String>) {
    let mut problems = Vec::new();
    let mut sound = Table::new();
    for (name, item) in document.iter() {
        let mut alone = Table::new();
        alone.insert(name, item.clone());
        match edit::from_table::<Settings>(&alone) {
            Ok(_) => {
                sound.insert(name, item.clone());
            }
            Err(reason) => problems.push(format!(
                "`{name}` in `{}` makes no sense, so its default holds: {reason}",
                path.display()
            )),
        }
    }
    let settings = edit::from_table::<Settings>(&sound).unwrap_or_else(|reason| {
        problems.push(unreadable(path, &reason));
        Settings::default()
    });
    let (settings, complaints) = within_limits(settings);
    let name = path.display();
    problems.extend(complaints.into_iter().map(|text| format!("{text} (in `{name}`)")));
    (settings, problems)
}

/// Puts defaults in the place of values that are out of range, and says which.
pub(crate) fn within_limits(mut settings: Settings) -> (Settings, Vec<String>) {
    let defaults = Settings::default();
    let mut complaints = Vec::new();
    if !TEXT_SCALE.contains(&settings.text_scale) {
        complaints.push("`textScale` must be between 0.9 and 2.0".to_owned());
        settings.text_scale = defaults.text_scale;
    }
    if settings.default_mode == Mode::Auto {
        complaints.push("`defaultMode` cannot be `auto`".to_owned());
        settings.default_mode = defaults.default_mode;
    }
    if settings.max_iterations == 0 {
        complaints.push("`maxIterations` must be at least 1".to_owned());
        settings.max_iterations = defaults.max_iterations;
    }
    let half = |model: &cairn_protocol::ModelRef| {
        model.provider.trim().is_empty() || model.model_id.trim().is_empty()
    };
    if settings.default_model.as_ref().is_some_and(half) {
        complaints.push("`defaultModel` needs both `provider` and `model_id`".to_owned());
        settings.default_model = None;
    }
    (settings, complaints)
}

/// Writes the settings into the file as it is. A file that can't be parsed is kept aside.
pub(crate) fn save(path: &Path, settings: &Settings) -> Result<(), Error> {
    let (checked, complaints) = within_limits(settings.clone());
    if let Some(complaint) = complaints.into_iter().next() {
        return Err(Error::Invalid(complaint));
    }
    let old = match files::read(path) {
        Ok(text) => text.map(|text| edit::parse(&text)),
        Err(Error::Damaged { reason, .. }) => Some(Err(reason)),
        Err(error) => return Err(error),
    };
    let (header, mut document) = match old {
        Some(Ok(document)) => ("", document),
        None => (HEADER, DocumentMut::new()),
        Some(Err(_)) => {
            files::put_aside(path)?;
            (HEADER, DocumentMut::new())
        }
    };
    let fresh = edit::to_table(&checked).map_err(Error::Invalid)?;
    let defaults = edit::to_table(&Settings::default()).map_err(Error::Invalid)?;
    for (name, item) in fresh.iter() {
        let is_default = defaults.get(name).map(edit::plain) == Some(edit::plain(item));
        if !is_default || document.contains_key(name) {
            edit::set(&mut document, name, item.clone());
        }
    }
    for name in OPTIONAL {
        if fresh.get(name).is_none_or(Item::is_none) {
            document.remove(name);
        }
    }
    files::write(path, &format!("{header}{document}"))
}
