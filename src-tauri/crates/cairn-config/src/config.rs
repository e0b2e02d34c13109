//! The one door to everything that the user can set.
//!
//! Each call reads its file anew, so that a second window, the command line and an editor are seen. It decides no
//! policy: it only keeps what was decided.

use std::path::{Path, PathBuf};

use cairn_protocol::{
    KeyFallback, KeySource, KeychainState, ProviderEntry, Rule, Secret, Settings, WorkspaceId,
};

use crate::keychain::{Keychain, OsKeychain};
use crate::origin::{origin, vendor_variable};
use crate::secrets::Secrets;
use crate::{Error, files, providers, rules, settings};

/// The configuration of a data root.
pub struct Config {
    root: PathBuf,
    secrets: Secrets,
}

impl Config {
    /// Opens the configuration; a missing file counts as an empty one. Returns what is wrong and must be said, too.
    pub fn open(root: &Path) -> Result<(Self, Vec<String>), Error> {
        Self::open_with(root, Box::new(OsKeychain::new(root)))
    }

    pub(crate) fn open_with(
        root: &Path,
        keychain: Box<dyn Keychain>,
    ) -> Result<(Self, Vec<String>), Error> {
        let config = Self { root: root.to_owned(), secrets: Secrets::new(root, keychain) };
        let mut problems = match files::create_dir(root) {
            // What is there can still be read.
            Err(error) if root.is_dir() => vec![error.full_text()],
            result => result.map(|()| Vec::new())?,
        };
        problems.extend(settings::load(&config.settings_file()).1);
        problems.extend(providers::load(&config.providers_file()).1);
        Ok((config, problems))
    }

    /// Returns the settings; what makes no sense counts as its default.
    pub fn settings(&self) -> Settings {
        settings::load(&self.settings_file()).0
    }

    /// Stores the settings. Comments and unknown lines of the file stay.
    pub fn save_settings(&self, settings: &Settings) -> Result<(), Error> {
        let _lock = self.lock()?;
        settings::save(&self.settings_file(), settings)
    }

    /// Returns the providers of the table, in its order.
    pub fn providers(&self) -> Vec<ProviderEntry> {
        providers::load(&self.providers_file()).0
    }

    /// Adds or replaces a provider and says where its key is kept.
    ///
    /// A key goes into the keychain, or where `fallback` says when that does not work. Without a key, the stored one
    /// stays, as long as the address keeps its origin; with an `Env` source in `entry` that variable counts.
    pub fn save_provider(
        &self,
        mut entry: ProviderEntry,
        key: Option<Secret>,
        fallback: KeyFallback,
    ) -> Result<KeySource, Error> {
        providers::check(&entry).map_err(Error::Invalid)?;
        let old = self.providers().into_iter().find(|old| old.name == entry.name);
        let source = match key.filter(|key| !key.is_blank()) {
            Some(key) => {
                let key = sendable(&key)?;
                let origin = origin(&entry.base_url).map_err(Error::Invalid)?;
                self.secrets.store(&entry.name, key, &origin, fallback)?
            }
            None if matches!(entry.key, KeySource::Env { .. }) => entry.key.clone(),
            None => kept_source(&entry, old.as_ref())?,
        };
        entry.key = source.clone();
        let lock = self.lock()?;
        providers::save(&self.providers_file(), &entry)?;
        drop(lock);
        if let Some(old) = old.filter(|old| old.key != source) {
            // The new key works; a copy that stays behind in a keychain that fails now is not worth failing for.
            let _ = self.secrets.remove(&old.name, &old.key);
        }
        Ok(source)
    }

    /// Removes a provider and its key.
    pub fn delete_provider(&self, name: &str) -> Result<(), Error> {
        let old = self.providers().into_iter().find(|old| old.name == name);
        let lock = self.lock()?;
        if !providers::delete(&self.providers_file(), name)? {
            return Err(Error::UnknownProvider(name.to_owned()));
        }
        drop(lock);
        old.map_or(Ok(()), |old| self.secrets.remove(&old.name, &old.key))
    }

    /// Returns a provider's key; `None` when it needs none. `env` looks up a variable of the environment.
    /// May wait up to 20 seconds for the user to unlock the keychain.
    pub fn key(
        &self,
        entry: &ProviderEntry,
        env: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Option<Secret>, Error> {
        let variable = |name: &str| env(name).map(Secret::new).filter(|key| !key.is_blank());
        match &entry.key {
            KeySource::None => {
                let origin = origin(&entry.base_url).ok();
                let key = origin.as_deref().and_then(vendor_variable).and_then(variable);
                key.map(|key| sendable(&key)).transpose()
            }
            KeySource::Env { variable: name } => {
                let key = variable(name).ok_or_else(|| Error::KeyMissing {
                    provider: entry.name.clone(),
                    reason: format!("the environment variable `{name}` is not set"),
                })?;
                sendable(&key).map(Some)
            }
            KeySource::Keychain | KeySource::Memory | KeySource::File => {
                let origin = origin(&entry.base_url).map_err(Error::Invalid)?;
                self.secrets.read(&entry.name, &entry.key, &origin).map(Some)
            }
        }
    }

    /// Returns the rules that hold in a workspace. An error means that denials may be unknown: act as if all is denied.
    pub fn workspace_rules(&self, workspace: &WorkspaceId) -> Result<Vec<Rule>, Error> {
        rules::load(&self.root, workspace)
    }

    /// Replaces the rules that hold in a workspace.
    pub fn save_workspace_rules(
        &self,
        workspace: &WorkspaceId,
        rules: &[Rule],
    ) -> Result<(), Error> {
        let _lock = self.lock()?;
        rules::save(&self.root, workspace, rules)
    }

    /// Returns the file that keys are written to when there is no keychain and the user chose so.
    pub fn key_file(&self) -> PathBuf {
        self.secrets.file().to_owned()
    }

    /// Says whether the keychain of the OS works. Takes at most two seconds and asks the user nothing.
    pub fn keychain(&self) -> KeychainState {
        self.secrets.state()
    }

    fn settings_file(&self) -> PathBuf {
        self.root.join("settings.toml")
    }

    fn providers_file(&self) -> PathBuf {
        self.root.join("providers.toml")
    }

    fn lock(&self) -> Result<std::fs::File, Error> {
        files::lock(&self.root.join("config.lock"))
    }
}

/// Returns a key as it can stand in a header: without the space around it that copying brings along.
fn sendable(key: &Secret) -> Result<Secret, Error> {
    let text = key.expose().trim();
    if text.bytes().all(|b| b.is_ascii_graphic()) {
        Ok(Secret::new(text))
    } else {
        Err(Error::Invalid("the key has a space or a character in it that no key has".to_owned()))
    }
}

/// Returns where the key stays when none was entered. A key is never moved to another server.
fn kept_source(entry: &ProviderEntry, old: Option<&ProviderEntry>) -> Result<KeySource, Error> {
    let Some(old) = old.filter(|old| old.key != KeySource::None) else {
        return Ok(KeySource::None);
    };
    if origin(&old.base_url) == origin(&entry.base_url) {
        return Ok(old.key.clone());
    }
    Err(Error::KeyMissing {
        provider: entry.name.clone(),
        reason: "the address names another server; enter the key for it".to_owned(),
    })
}
