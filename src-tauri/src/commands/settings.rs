//! `settings`: what the user can set. What widens is asked for natively; which that is, the engine says.

use cairn_engine::Authority;
use cairn_protocol::{ErrorCode, Settings, SettingsSaveParams, ShellPolicy, SnapshotMode};
use tauri::plugin::{Builder, TauriPlugin};
use tauri::{AppHandle, State, Wry};

use crate::dialogs::{Choice, Question};
use crate::shell::{Result, Shell, contain};

/// Makes the resource.
pub(super) fn plugin() -> TauriPlugin<Wry> {
    Builder::new("settings").invoke_handler(tauri::generate_handler![save]).build()
}

#[tauri::command]
async fn save(
    app: AppHandle,
    shell: State<'_, Shell>,
    params: SettingsSaveParams,
) -> Result<Settings> {
    let shell = shell.inner().clone();
    contain(async move {
        let engine = shell.engine().await?;
        let wanted = params.settings;
        match engine.save_settings(wanted.clone(), Authority::Window).await {
            Err(refused) if refused.code == ErrorCode::Declined => {}
            saved => return saved,
        }
        let question = question(&engine.settings(), &wanted);
        if question.ask(&app, &shell).await != Choice::Second {
            return Ok(engine.settings());
        }
        engine.save_settings(wanted, Authority::NativeDialog).await
    })
    .await
}

/// Says what would run without a question that asks now, and what could not be taken back any more.
fn question(now: &Settings, wanted: &Settings) -> Question {
    let off = now.snapshots != SnapshotMode::Off && wanted.snapshots == SnapshotMode::Off;
    let title = if off { "Stop capturing turns?" } else { "Let more run without asking?" };
    let mut question = Question::confirm(title, "Change");
    if off {
        question = question.say(
            "Turns are then not captured: what the agent changes or deletes from now on can't be rolled \
             back.",
        );
    }
    if now.shell_policy != wanted.shell_policy {
        question = question
            .fact("Commands now", policy(now.shell_policy))
            .fact("Commands then", policy(wanted.shell_policy));
    }
    if now.native_approvals && !wanted.native_approvals {
        question = question.say(
            "Confined calls can then be allowed in Cairn's own window; now each is asked for in a \
             dialog like this.",
        );
    }
    if !off {
        question = question.say("Every turn is captured and can be rolled back.");
    }
    question.say("You can change this back any time.")
}

fn policy(policy: ShellPolicy) -> &'static str {
    match policy {
        ShellPolicy::Approve => "each one asks, unless a rule allows it",
        ShellPolicy::Sandbox => "those that are really confined run, others ask",
        ShellPolicy::Workspace => "those that are confined, or seem to stay in the folder, run",
        ShellPolicy::All => "all run; none asks",
    }
}
