//! Connecting a model: where content and keys go is agreed to outside of the page (D-6).
//!
//! The engine says what a connection would let happen, a native dialog shows exactly that, and the
//! agreement holds for exactly that. How a provider is reached is in `models.rs`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use cairn_protocol::{
    ConnectionTest, ErrorCode, ErrorInfo, KeyFallback, KeySource, KeychainState, ModelRef,
    ProviderDraft, ProviderEntry, WireApi,
};

use super::settings::config;
use super::{Engine, blocking, lock};
use crate::error::{Result, invalid};
use crate::models::draft_entry;
use crate::session::Authority;
use crate::tour::TOUR_PROVIDER;

/// What a connection would let happen that the user has not agreed to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectionConsent {
    /// The provider's name.
    pub name: String,
    /// How it is spoken to.
    pub api: WireApi,
    /// The whole address that content, and the key, would be sent to.
    pub base_url: String,
    /// Further headers of every request; some gateways are told by them where to forward to.
    pub headers: BTreeMap<String, String>,
    /// Whether this address with these headers is one that the user has not agreed to before.
    pub new_address: bool,
    /// Which key goes there.
    pub key: KeyUse,
    /// The file that the key would be written to, where it is not a keychain.
    pub key_file: Option<PathBuf>,
}

/// Which key a connection uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyUse {
    /// None is typed and none is stored; a vendor's own variable of the environment may stand in.
    None,
    /// The one that was typed now.
    Typed,
    /// The one that was typed now, in the place of a stored one, which is then gone.
    Replaced,
    /// The one that was stored for this address.
    Stored,
}

impl Engine {
    /// Returns what the user must agree to before this connection is tried or stored; `None` when that
    /// is nothing new. Fails when the draft makes no sense, and when a stored key would follow its
    /// provider to another address.
    pub async fn connection_consent(
        &self,
        draft: &ProviderDraft,
    ) -> Result<Option<ConnectionConsent>> {
        check_draft(draft)?;
        let entry = draft_entry(draft, KeySource::None);
        let (inner, typed) = (Arc::clone(&self.inner), has_key(draft));
        let wants_file = typed && draft.fallback == KeyFallback::File;
        let consent = blocking(move || {
            let guard = inner.config();
            let known = guard.providers();
            let stored = known.iter().find(|it| it.name == entry.name);
            let has_key = stored.is_some_and(|it| it.key != KeySource::None);
            let moved = stored.is_some_and(|it| !same_address(it, &entry));
            let key = match (typed, has_key) {
                (true, true) => KeyUse::Replaced,
                (true, false) => KeyUse::Typed,
                (false, true) => KeyUse::Stored,
                (false, false) => KeyUse::None,
            };
            if moved && key == KeyUse::Stored {
                return Err(invalid(
                    "The key of this provider was entered for its present address. Type the key for the \
                     new address too.",
                ));
            }
            let no_keychain = || matches!(guard.keychain(), KeychainState::Unavailable { .. });
            let key_file = (wants_file && no_keychain()).then(|| guard.key_file());
            Ok(ConnectionConsent {
                new_address: !known.iter().any(|it| same_address(it, &entry)),
                name: entry.name,
                api: entry.api,
                base_url: entry.base_url,
                headers: entry.headers,
                key,
                key_file,
            })
        })
        .await?;
        let new =
            consent.new_address || consent.key == KeyUse::Replaced || consent.key_file.is_some();
        let agreed = lock(&self.inner.agreed).contains(&consent);
        Ok((new && !agreed).then_some(consent))
    }

    /// Takes the user's agreement to exactly this; it holds until it is saved, at most for this run. The
    /// window's word is not enough.
    pub fn agree_to_connection(
        &self,
        consent: ConnectionConsent,
        authority: Authority,
    ) -> Result<()> {
        authority.must_be_more_than_the_window("Where your content and keys go")?;
        lock(&self.inner.agreed).push(consent);
        Ok(())
    }

    /// Tries a connection that is being set up; stores nothing. Fails with `declined` and sends nothing
    /// when the user has not agreed to the address.
    pub async fn test_provider(&self, draft: &ProviderDraft) -> Result<ConnectionTest> {
        self.must_be_agreed(draft).await?;
        let target = self.inner.draft_target(draft)?;
        Ok(cairn_provider::test_connection(target).await)
    }

    /// Stores a connection and its key; returns where the key is now. The first model that is connected
    /// becomes the default. Fails with `declined` when the user has not agreed to it.
    pub async fn save_provider(&self, draft: ProviderDraft) -> Result<KeySource> {
        self.must_be_agreed(&draft).await?;
        let mut entry = draft_entry(&draft, KeySource::None);
        let known = self.inner.config().providers().into_iter().find(|it| it.name == entry.name);
        if let Some(known) = known {
            entry.key = known.key;
            let added = entry.models[0].model_id.clone();
            entry.models.extend(known.models.into_iter().filter(|it| it.model_id != added));
        }
        let model =
            ModelRef { provider: entry.name.clone(), model_id: draft.model_id.trim().to_owned() };
        // A keychain that fails only now was not in what the user agreed to.
        let to_file = |it: &ConnectionConsent| it.name == entry.name && it.key_file.is_some();
        let fallback = match lock(&self.inner.agreed).iter().any(to_file) {
            true => draft.fallback,
            false => KeyFallback::Memory,
        };
        let (inner, name) = (Arc::clone(&self.inner), entry.name.clone());
        let key = draft.key.clone().filter(|key| !key.is_blank());
        let source = blocking(move || {
            inner.config().save_provider(entry, key, fallback).map_err(|error| config(&error))
        })
        .await?;
        lock(&self.inner.agreed).retain(|it| it.name != name);
        self.inner.forget_connections();
        self.announce_providers();
        let mut settings = self.inner.settings();
        if settings.default_model.is_none() {
            settings.default_model = Some(model);
            self.save_settings(settings, Authority::Window).await?;
        }
        Ok(source)
    }

    /// Removes a provider and its key, which can't be had back: the window's word is not enough.
    pub async fn delete_provider(&self, name: &str, authority: Authority) -> Result<()> {
        authority.must_be_more_than_the_window("Removing a provider with its key")?;
        let (inner, wanted) = (Arc::clone(&self.inner), name.to_owned());
        blocking(move || inner.config().delete_provider(&wanted).map_err(|error| config(&error)))
            .await?;
        self.inner.forget_connections();
        self.announce_providers();
        let mut settings = self.inner.settings();
        if settings.default_model.as_ref().is_some_and(|model| model.provider == name) {
            settings.default_model = None;
            self.save_settings(settings, Authority::Window).await?;
        }
        Ok(())
    }

    async fn must_be_agreed(&self, draft: &ProviderDraft) -> Result<()> {
        match self.connection_consent(draft).await? {
            None => Ok(()),
            Some(_) => {
                let text = "This address has to be agreed to in the system's own dialog first.";
                Err(ErrorInfo::new(ErrorCode::Declined, text))
            }
        }
    }
}

fn has_key(draft: &ProviderDraft) -> bool {
    draft.key.as_ref().is_some_and(|key| !key.is_blank())
}

/// Whether requests of both go to the same place, whole address and headers.
fn same_address(one: &ProviderEntry, other: &ProviderEntry) -> bool {
    let plain = |url: &str| url.trim_end_matches('/').to_owned();
    plain(&one.base_url) == plain(&other.base_url) && one.headers == other.headers
}

fn check_draft(draft: &ProviderDraft) -> Result<()> {
    let name = draft.name.trim();
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if name.is_empty() || name.len() > 64 || !name.chars().all(fits) {
        return Err(invalid(
            "A provider's name has 1 to 64 letters, digits, dots, dashes or underscores.",
        ));
    }
    if name == TOUR_PROVIDER || draft.api == WireApi::Script {
        return Err(invalid("This name is taken by the guided tour. Choose another one."));
    }
    if draft.model_id.trim().is_empty() {
        return Err(invalid("Type the model's id, or pick one from the list after a test."));
    }
    let url = draft.base_url.trim();
    if !(url.starts_with("https://") || url.starts_with("http://")) {
        return Err(invalid(
            "The address begins with https:// (or http:// for a server of your own).",
        ));
    }
    Ok(())
}
