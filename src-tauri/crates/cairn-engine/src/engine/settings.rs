//! Settings, providers and rules of the user: read, checked, written, and told to whom it concerns.

use std::sync::Arc;

use cairn_protocol::{
    AppEvent, ConnectionTest, ErrorCode, ErrorInfo, KeySource, Mode, ModelRef, ProviderDraft,
    ProviderEntry, Rule, Settings, ShellPolicy, WireApi, WorkspaceId,
};

use super::{Engine, Inner, blocking};
use crate::error::{Result, chain, invalid};
use crate::models::draft_entry;
use crate::session::Authority;
use crate::tour::TOUR_PROVIDER;

impl Engine {
    /// Returns the settings.
    pub fn settings(&self) -> Settings {
        self.inner.settings()
    }

    /// Checks and stores settings. What widens (`shell_policy` all, approvals no longer native)
    /// needs more than the window's word (D-6).
    pub async fn save_settings(
        &self,
        settings: Settings,
        authority: Authority,
    ) -> Result<Settings> {
        let now = self.inner.settings();
        check(&settings)?;
        let widens = (settings.shell_policy != now.shell_policy
            && settings.shell_policy != ShellPolicy::Approve)
            || (now.native_approvals && !settings.native_approvals);
        if widens && authority == Authority::Window {
            let text = "This setting widens what runs without a question. It needs the system's own dialog.";
            return Err(ErrorInfo::new(ErrorCode::Declined, text));
        }
        let inner = Arc::clone(&self.inner);
        let saved = settings.clone();
        blocking(move || inner.config().save_settings(&saved).map_err(|error| config(&error)))
            .await?;
        for open in self.inner.sessions.lock().await.values() {
            open.session.settings_changed();
        }
        let _nobody =
            self.inner.events.send(AppEvent::Settings { settings: Box::new(settings.clone()) });
        Ok(settings)
    }

    /// Returns all providers.
    pub fn providers(&self) -> Vec<ProviderEntry> {
        self.inner.providers()
    }

    /// Tries a connection that is being set up; stores nothing.
    pub async fn test_provider(&self, draft: &ProviderDraft) -> Result<ConnectionTest> {
        check_draft(draft)?;
        let target = self.inner.draft_target(draft)?;
        Ok(cairn_provider::test_connection(target).await)
    }

    /// Stores a connection and its key; returns where the key is now. The first model that is connected
    /// becomes the default.
    pub async fn save_provider(&self, draft: ProviderDraft) -> Result<KeySource> {
        check_draft(&draft)?;
        let mut entry = draft_entry(&draft, KeySource::None);
        let known = self.inner.config().providers().into_iter().find(|it| it.name == entry.name);
        if let Some(known) = known {
            entry.key = known.key;
            let added = entry.models[0].model_id.clone();
            entry.models.extend(known.models.into_iter().filter(|it| it.model_id != added));
        }
        let model =
            ModelRef { provider: entry.name.clone(), model_id: draft.model_id.trim().to_owned() };
        let inner = Arc::clone(&self.inner);
        let key = draft.key.clone().filter(|key| !key.is_blank());
        let source = blocking(move || {
            inner.config().save_provider(entry, key, draft.fallback).map_err(|error| config(&error))
        })
        .await?;
        self.inner.forget_connections();
        self.announce_providers();
        let mut settings = self.inner.settings();
        if settings.default_model.is_none() {
            settings.default_model = Some(model);
            self.save_settings(settings, Authority::Window).await?;
        }
        Ok(source)
    }

    /// Removes a provider and its key.
    pub async fn delete_provider(&self, name: &str) -> Result<()> {
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

    fn announce_providers(&self) {
        let providers = self.inner.providers();
        let _nobody = self.inner.events.send(AppEvent::Providers { providers });
    }
}

impl Inner {
    pub(crate) fn settings(&self) -> Settings {
        self.config().settings()
    }

    /// Returns the rules of a workspace. `None` when the file can't be read: then a denial may be in it
    /// that nobody knows, and the user is told.
    pub(crate) fn workspace_rules(&self, id: &WorkspaceId) -> Option<Vec<Rule>> {
        let rules = self.config().workspace_rules(id);
        rules
            .map_err(|error| {
                self.add_problem(format!(
                    "The rules of a workspace can't be read, so its sessions only read: {}.",
                    chain(&error)
                ));
            })
            .ok()
    }

    pub(crate) async fn add_workspace_rule(
        self: &Arc<Self>,
        id: &WorkspaceId,
        rule: Rule,
    ) -> Result<()> {
        let (inner, id) = (Arc::clone(self), id.clone());
        blocking(move || {
            let config_guard = inner.config();
            let mut rules = config_guard.workspace_rules(&id).map_err(|error| config(&error))?;
            if !rules
                .iter()
                .any(|known| known.matcher == rule.matcher && known.effect == rule.effect)
            {
                rules.push(rule);
            }
            config_guard.save_workspace_rules(&id, &rules).map_err(|error| config(&error))
        })
        .await
    }
}

fn check(settings: &Settings) -> Result<()> {
    if settings.default_mode == Mode::Auto {
        return Err(invalid(
            "Mode auto is chosen for one session at a time; it can't be the default.",
        ));
    }
    if !(0.9..=2.0).contains(&settings.text_scale) {
        return Err(invalid("The text size is 0.9 to 2."));
    }
    if settings.max_iterations == 0 || settings.max_iterations > 10_000 {
        return Err(invalid("The most model requests in one turn is 1 to 10,000."));
    }
    Ok(())
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

fn config(error: &cairn_config::Error) -> ErrorInfo {
    ErrorInfo::new(ErrorCode::Io, format!("The settings could not be saved: {}.", chain(error)))
}
