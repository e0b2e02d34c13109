//! From a model's name to a connection: the table of `cairn-config`, the built-in tour, and what a
//! command line added for one run.

use std::path::PathBuf;

use cairn_protocol::{
    ErrorCode, ErrorInfo, KeySource, ModelEntry, ModelRef, ProviderDraft, ProviderEntry, Secret,
    WireApi,
};
use cairn_provider::ModelTarget;

use crate::engine::Inner;
use crate::error::{Result, chain};

/// A provider that is not in the table and lasts for this run only.
#[derive(Clone)]
pub struct ExtraProvider {
    /// Its entry; hides one of the table with the same name.
    pub entry: ProviderEntry,
    /// Its key, where the entry's `key` does not say where to find it.
    pub key: Option<Secret>,
    /// The script, for `WireApi::Script`.
    pub script: Option<PathBuf>,
}

impl Inner {
    /// Returns all providers: those of this run, then the table, then the tour.
    pub(crate) fn providers(&self) -> Vec<ProviderEntry> {
        let mut entries: Vec<ProviderEntry> =
            self.extra_providers().iter().map(|extra| extra.entry.clone()).collect();
        for entry in self.config().providers() {
            if !entries.iter().any(|known| known.name == entry.name) {
                entries.push(entry);
            }
        }
        entries
    }

    /// Returns where and how a model is reached. Fails when the pair is not in the table, or its key
    /// can't be had.
    pub(crate) fn model_target(&self, model: &ModelRef) -> Result<ModelTarget> {
        let extra = self.extra_providers().iter().find(|extra| extra.entry.name == model.provider);
        if let Some(extra) = extra {
            let entry = model_entry(&extra.entry, model)?;
            let key = match &extra.key {
                Some(key) => Some(key.clone()),
                None => self.key(&extra.entry)?,
            };
            return Ok(target(&extra.entry, &entry, key, extra.script.clone()));
        }
        let providers = self.config().providers();
        let entry =
            providers.iter().find(|entry| entry.name == model.provider).ok_or_else(|| {
                let text = format!(
                    "There is no provider {}. Connect a model in Settings.",
                    model.provider
                );
                ErrorInfo::new(ErrorCode::NoModel, text)
            })?;
        let model_entry = model_entry(entry, model)?;
        Ok(target(entry, &model_entry, self.key(entry)?, None))
    }

    /// Returns the target of a connection that is being set up, with its typed or stored key.
    pub(crate) fn draft_target(&self, draft: &ProviderDraft) -> Result<ModelTarget> {
        let entry = draft_entry(draft, KeySource::None);
        let stored = self.config().providers().into_iter().find(|it| it.name == draft.name);
        let key = match (&draft.key, stored) {
            (Some(key), _) if !key.is_blank() => Some(key.clone()),
            (_, Some(stored)) if stored.base_url == entry.base_url => self.key(&stored)?,
            _ => None,
        };
        Ok(target(&entry, &entry.models[0], key, None))
    }

    fn key(&self, entry: &ProviderEntry) -> Result<Option<Secret>> {
        self.config().key(entry, &|name| self.env(name)).map_err(|error| {
            let text = format!("The key of {} can't be read: {}.", entry.name, chain(&error));
            ErrorInfo::new(ErrorCode::Auth, text)
        })
    }
}

/// Returns the table entry that a draft stands for.
pub(crate) fn draft_entry(draft: &ProviderDraft, key: KeySource) -> ProviderEntry {
    ProviderEntry {
        name: draft.name.trim().to_owned(),
        api: draft.api,
        base_url: draft.base_url.trim().trim_end_matches('/').to_owned(),
        headers: draft.headers.clone(),
        models: vec![ModelEntry {
            model_id: draft.model_id.trim().to_owned(),
            display_name: None,
            context_window: draft.context_window,
            max_tokens: None,
            vision: false,
        }],
        key,
    }
}

fn model_entry(provider: &ProviderEntry, model: &ModelRef) -> Result<ModelEntry> {
    let found = provider.models.iter().find(|entry| entry.model_id == model.model_id);
    found.cloned().ok_or_else(|| {
        let text = format!("{} has no model {} in your table.", model.provider, model.model_id);
        ErrorInfo::new(ErrorCode::NoModel, text)
    })
}

fn target(
    provider: &ProviderEntry,
    model: &ModelEntry,
    key: Option<Secret>,
    script: Option<PathBuf>,
) -> ModelTarget {
    ModelTarget {
        model: ModelRef { provider: provider.name.clone(), model_id: model.model_id.clone() },
        api: provider.api,
        base_url: provider.base_url.clone(),
        headers: provider.headers.clone(),
        key,
        context_window: model.context_window,
        max_tokens: model.max_tokens,
        vision: model.vision,
        script,
    }
}

/// Returns the entry of a built-in script under a name.
pub(crate) fn script_entry(name: &str, model_id: &str, display_name: &str) -> ProviderEntry {
    ProviderEntry {
        name: name.to_owned(),
        api: WireApi::Script,
        base_url: String::new(),
        headers: std::collections::BTreeMap::new(),
        models: vec![ModelEntry {
            model_id: model_id.to_owned(),
            display_name: Some(display_name.to_owned()),
            context_window: None,
            max_tokens: None,
            vision: false,
        }],
        key: KeySource::None,
    }
}
