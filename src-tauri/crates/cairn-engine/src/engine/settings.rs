//! Settings and rules of the user: read, checked, written, and told to whom it concerns.

use std::sync::Arc;

use cairn_protocol::{
    AppEvent, ErrorCode, ErrorInfo, Mode, ProviderEntry, Rule, Settings, ShellPolicy, SnapshotMode,
    WorkspaceId,
};

use super::{Engine, Inner, blocking};
use crate::error::{Result, chain, invalid};
use crate::session::Authority;

impl Engine {
    /// Returns the settings.
    pub fn settings(&self) -> Settings {
        self.inner.settings()
    }

    /// Checks and stores settings. What widens or can't be taken back (commands that run without a question,
    /// approvals no longer native, turns no longer captured) needs more than the window's word (D-6).
    pub async fn save_settings(
        &self,
        settings: Settings,
        authority: Authority,
    ) -> Result<Settings> {
        let now = self.inner.settings();
        check(&settings)?;
        let widens = (settings.shell_policy != now.shell_policy
            && settings.shell_policy != ShellPolicy::Approve)
            || (now.native_approvals && !settings.native_approvals)
            || (now.snapshots != SnapshotMode::Off && settings.snapshots == SnapshotMode::Off);
        if widens {
            authority.must_be_more_than_the_window("This setting")?;
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

    pub(super) fn announce_providers(&self) {
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

pub(super) fn config(error: &cairn_config::Error) -> ErrorInfo {
    ErrorInfo::new(ErrorCode::Io, format!("The settings could not be saved: {}.", chain(error)))
}
