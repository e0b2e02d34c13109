//! Where a provider's key is kept (D-9): the keychain of the OS, else for this run, else a file of mode 0600.
//!
//! Each key is stored with the one origin that it was entered for and is given out for no other, so that a changed
//! address in `providers.toml` can't send it elsewhere. Keys never reach the settings, an error or a `Debug` text.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use cairn_protocol::{KeyFallback, KeySource, KeychainState, Secret};
use serde::{Deserialize, Serialize};

use crate::keychain::Keychain;
use crate::{Error, files};

const VERSION: u32 = 1;

/// A key and where it may be sent.
#[derive(Clone, Deserialize)]
struct StoredKey {
    key: Secret,
    origin: String,
}

/// All keys of one place, by provider.
#[derive(Deserialize)]
struct Keys {
    v: u32,
    keys: BTreeMap<String, StoredKey>,
}

impl Default for Keys {
    fn default() -> Self {
        Self { v: VERSION, keys: BTreeMap::new() }
    }
}

impl Keys {
    fn parse(text: &Secret) -> Result<Self, String> {
        // The error of the parser may quote a key.
        let keys: Self = serde_json::from_str(text.expose())
            .map_err(|_| "the stored keys can't be understood".to_owned())?;
        match keys.v {
            VERSION => Ok(keys),
            _ => Err("a newer version of Cairn stored the keys".to_owned()),
        }
    }

    fn text(&self) -> Secret {
        #[derive(Serialize)]
        struct Exposed<'a> {
            key: &'a str,
            origin: &'a str,
        }
        #[derive(Serialize)]
        struct File<'a> {
            v: u32,
            keys: BTreeMap<&'a str, Exposed<'a>>,
        }
        let mut keys = BTreeMap::new();
        for (name, stored) in &self.keys {
            let exposed = Exposed { key: stored.key.expose(), origin: &stored.origin };
            keys.insert(name.as_str(), exposed);
        }
        let file = File { v: self.v, keys };
        Secret::new(serde_json::to_string(&file).expect("texts are JSON"))
    }
}

/// The keys of a data root.
pub(crate) struct Secrets {
    file: PathBuf,
    lock: PathBuf,
    keychain: Box<dyn Keychain>,
    memory: Mutex<BTreeMap<String, StoredKey>>,
}

impl Secrets {
    pub(crate) fn new(root: &Path, keychain: Box<dyn Keychain>) -> Self {
        let (file, lock) = (root.join("secrets.json"), root.join("secrets.lock"));
        Self { file, lock, keychain, memory: Mutex::default() }
    }

    /// Returns the file of the keys that no keychain takes.
    pub(crate) fn file(&self) -> &Path {
        &self.file
    }

    /// Says whether the keychain can be used.
    pub(crate) fn state(&self) -> KeychainState {
        match self.keychain.probe() {
            Ok(()) => KeychainState::Available,
            Err(reason) => KeychainState::Unavailable { reason },
        }
    }

    /// Keeps a key in the best place there is, and says where that is.
    pub(crate) fn store(
        &self,
        provider: &str,
        key: Secret,
        origin: &str,
        fallback: KeyFallback,
    ) -> Result<KeySource, Error> {
        let stored = StoredKey { key, origin: origin.to_owned() };
        let _lock = files::lock(&self.lock)?;
        let kept = self.change_keychain(|keys| keys.insert(provider.to_owned(), stored.clone()));
        match (kept, fallback) {
            (Ok(()), _) => Ok(KeySource::Keychain),
            (Err(_), KeyFallback::File) => {
                self.change_file(|keys| keys.insert(provider.to_owned(), stored))?;
                Ok(KeySource::File)
            }
            (Err(_), KeyFallback::Memory) => {
                self.memory().insert(provider.to_owned(), stored);
                Ok(KeySource::Memory)
            }
        }
    }

    /// Returns a key for the origin that it was entered for.
    pub(crate) fn read(
        &self,
        provider: &str,
        source: &KeySource,
        origin: &str,
    ) -> Result<Secret, Error> {
        let missing = |reason: &str| Error::KeyMissing {
            provider: provider.to_owned(),
            reason: reason.to_owned(),
        };
        let (stored, where_not) = match source {
            KeySource::Keychain => {
                let keys = self.keychain_keys().map_err(|reason| Error::Keychain { reason })?;
                (keys.keys.get(provider).cloned(), "the keychain has none; enter it again")
            }
            KeySource::File => {
                let keys = self.file_keys()?;
                (keys.keys.get(provider).cloned(), "the key file has none; enter it again")
            }
            KeySource::Memory => (
                self.memory().get(provider).cloned(),
                "it was kept for one run of the app only; enter it again",
            ),
            KeySource::None | KeySource::Env { .. } => (None, "it is not kept by Cairn"),
        };
        let stored = stored.ok_or_else(|| missing(where_not))?;
        if stored.origin != origin {
            return Err(missing(&format!(
                "it was entered for {}, and the address is now {origin}; enter the key for it",
                stored.origin
            )));
        }
        Ok(stored.key)
    }

    /// Removes a key from where it is kept.
    pub(crate) fn remove(&self, provider: &str, source: &KeySource) -> Result<(), Error> {
        match source {
            KeySource::None | KeySource::Env { .. } => Ok(()),
            KeySource::Memory => {
                self.memory().remove(provider);
                Ok(())
            }
            KeySource::File => {
                let _lock = files::lock(&self.lock)?;
                self.change_file(|keys| keys.remove(provider))
            }
            KeySource::Keychain => {
                let _lock = files::lock(&self.lock)?;
                self.change_keychain(|keys| keys.remove(provider))
                    .map_err(|reason| Error::Keychain { reason })
            }
        }
    }

    fn keychain_keys(&self) -> Result<Keys, String> {
        self.keychain.get()?.map_or_else(|| Ok(Keys::default()), |text| Keys::parse(&text))
    }

    fn change_keychain<T>(
        &self,
        change: impl FnOnce(&mut BTreeMap<String, StoredKey>) -> T,
    ) -> Result<(), String> {
        // Fails at once where there is no keychain, instead of waiting for one.
        self.keychain.probe()?;
        let mut keys = self.keychain_keys()?;
        change(&mut keys.keys);
        if keys.keys.is_empty() { self.keychain.clear() } else { self.keychain.set(keys.text()) }
    }

    fn file_keys(&self) -> Result<Keys, Error> {
        let Some(text) = files::read(&self.file)?.map(Secret::new) else {
            return Ok(Keys::default());
        };
        Keys::parse(&text).map_err(|reason| Error::Damaged { path: self.file.clone(), reason })
    }

    fn change_file<T>(
        &self,
        change: impl FnOnce(&mut BTreeMap<String, StoredKey>) -> T,
    ) -> Result<(), Error> {
        let mut keys = self.file_keys()?;
        change(&mut keys.keys);
        // A new file has mode 0600 from its first byte on; replacing also ends a looser mode.
        files::write(&self.file, keys.text().expose())
    }

    fn memory(&self) -> MutexGuard<'_, BTreeMap<String, StoredKey>> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
