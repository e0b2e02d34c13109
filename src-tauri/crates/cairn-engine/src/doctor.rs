//! What works on this machine, for `cairn doctor`: real probes, and a report without names or keys.

use std::path::Path;
use std::time::Duration;

use cairn_exec::{TerminalOutput, TerminalSink};
use cairn_protocol::{
    CheckOutcome, KeychainState, RestoreRequest, RestoreTarget, SessionId, TerminalSize, Timestamp,
    TurnId, WorkspaceId,
};
use serde::Serialize;

use crate::engine::{Engine, blocking};

/// How long a shell may take to end; login files of some users are slow.
const PTY_PATIENCE: Duration = Duration::from_secs(10);

/// One thing that was probed.
#[derive(Debug, Clone, Serialize)]
pub struct DoctorCheck {
    /// What was probed.
    pub name: &'static str,
    /// How it went.
    pub outcome: CheckOutcome,
    /// What was seen, and what to do where it failed.
    pub detail: String,
}

/// All that was probed.
#[derive(Debug, Clone, Serialize)]
pub struct DoctorReport {
    /// Cairn's version.
    pub version: &'static str,
    /// `linux`, `macos` or `windows`, and the architecture.
    pub platform: String,
    /// One per thing, in a fixed order.
    pub checks: Vec<DoctorCheck>,
}

impl DoctorReport {
    /// Whether nothing failed.
    pub fn is_well(&self) -> bool {
        self.checks.iter().all(|check| check.outcome != CheckOutcome::Failed)
    }
}

impl Engine {
    /// Probes the sandbox, the keychain, a PTY, the snapshot store, the data folder and the webview's
    /// library. Paths below the home folder are shown with `~`.
    pub async fn doctor(&self) -> DoctorReport {
        let mut checks = Vec::new();
        let sandbox = self.sandbox().await;
        checks.push(DoctorCheck {
            name: "sandbox",
            outcome: if sandbox.enforced { CheckOutcome::Ok } else { CheckOutcome::Warning },
            detail: sandbox.reason,
        });
        let engine = self.clone();
        let rest = blocking(move || {
            Ok(vec![
                engine.keychain_check(),
                engine.data_check(),
                engine.capture_check(),
                webview_check(),
            ])
        });
        checks.extend(rest.await.unwrap_or_default());
        checks.push(self.pty_check().await);
        for check in &mut checks {
            check.detail = self.redact(&check.detail);
        }
        DoctorReport {
            version: env!("CARGO_PKG_VERSION"),
            platform: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            checks,
        }
    }

    fn keychain_check(&self) -> DoctorCheck {
        let (outcome, detail) = match self.inner().config().keychain() {
            KeychainState::Available => {
                (CheckOutcome::Ok, "Keys can be kept in the OS keychain.".to_owned())
            }
            KeychainState::Unavailable { reason } => (CheckOutcome::Warning, reason),
        };
        DoctorCheck { name: "keychain", outcome, detail }
    }

    fn data_check(&self) -> DoctorCheck {
        let root = self.inner().root();
        let probe = tempfile_in(root);
        let (outcome, detail) = match probe {
            Ok(()) => (CheckOutcome::Ok, format!("{} can be written.", root.display())),
            Err(error) => (
                CheckOutcome::Failed,
                format!(
                    "{} can't be written: {error}. Free some space or mend its rights.",
                    root.display()
                ),
            ),
        };
        DoctorCheck { name: "data folder", outcome, detail }
    }

    fn capture_check(&self) -> DoctorCheck {
        let (outcome, detail) = match capture_probe(self.inner().root(), (self.inner().clock())()) {
            Ok(()) => (
                CheckOutcome::Ok,
                "A turn was captured and rolled back in a test folder.".to_owned(),
            ),
            Err(error) => (CheckOutcome::Failed, format!("Turns can't be captured: {error}.")),
        };
        DoctorCheck { name: "snapshots", outcome, detail }
    }

    async fn pty_check(&self) -> DoctorCheck {
        let (outcome, detail) = match self.pty_probe().await {
            Ok(()) => {
                (CheckOutcome::Ok, "A terminal was opened and ended when told to.".to_owned())
            }
            Err(error) => (CheckOutcome::Failed, format!("A terminal can't be used: {error}.")),
        };
        DoctorCheck { name: "terminal", outcome, detail }
    }

    /// Opens a terminal, tells its shell to exit, and waits until it has.
    async fn pty_probe(&self) -> Result<(), String> {
        let terminals = self.terminals();
        let folder = self.inner().root().to_path_buf();
        let size = TerminalSize { cols: 80, rows: 24 };
        let env = self.inner().environment();
        let opened = terminals
            .open(&WorkspaceId::new("doctor"), &folder, size, &env)
            .map_err(|error| error.to_string())?;
        let (ended, end) = tokio::sync::oneshot::channel();
        let mut ended = Some(ended);
        let sink: TerminalSink = Box::new(move |output| {
            if matches!(output, TerminalOutput::Exited { .. })
                && let Some(ended) = ended.take()
            {
                // The probe may have given up already.
                let _late = ended.send(());
            }
            true
        });
        let told = terminals
            .attach(&opened.id, sink)
            .and_then(|()| terminals.write(&opened.id, b"exit\r"))
            .map_err(|error| error.to_string());
        let answer = match told {
            Ok(()) => tokio::time::timeout(PTY_PATIENCE, end)
                .await
                .map_err(|_| "its shell did not end within 10 s".to_owned())
                .map(|_| ()),
            Err(error) => Err(error),
        };
        terminals.close(&opened.id);
        answer
    }

    fn redact(&self, text: &str) -> String {
        match self.inner().home() {
            Some(home) if home.len() > 1 => text.replace(&home, "~"),
            _ => text.to_owned(),
        }
    }
}

/// Captures a turn in a folder of its own below the data root and rolls it back.
fn capture_probe(root: &Path, now: Timestamp) -> Result<(), String> {
    let folder = root.join(format!(".probe-capture-{}", std::process::id()));
    let result = capture_in(&folder, now);
    std::fs::remove_dir_all(&folder).map_err(|error| error.to_string())?;
    result
}

fn capture_in(folder: &Path, now: Timestamp) -> Result<(), String> {
    let (store, workspace) = (folder.join("store"), folder.join("workspace"));
    let text = |error: &dyn std::error::Error| crate::error::chain(error);
    std::fs::create_dir_all(&workspace).map_err(|error| text(&error))?;
    let file = workspace.join("file");
    std::fs::write(&file, b"before").map_err(|error| text(&error))?;
    let options = cairn_snapshot::Options::default();
    let snapshots = cairn_snapshot::Snapshots::open(&store, &workspace, options)
        .map_err(|error| text(&error))?;
    let (session, turn) = (SessionId::new("doctor"), TurnId::new("t1"));
    snapshots.begin_turn(&session, &turn, 1, now);
    snapshots.before_edit(&session, &turn, &file).map_err(|error| text(&error))?;
    std::fs::write(&file, b"after").map_err(|error| text(&error))?;
    snapshots.after_edit(&session, &turn, &file).map_err(|error| text(&error))?;
    snapshots.end_turn(&session, &turn, now);
    let request = RestoreRequest {
        session_id: session,
        turn_id: turn,
        target: RestoreTarget::Before,
        paths: None,
        take_snapshot: Vec::new(),
    };
    let plan = snapshots.plan(&request).map_err(|error| text(&error))?;
    snapshots.restore(&request, &plan.token, now).map_err(|error| text(&error))?;
    let bytes = std::fs::read(&file).map_err(|error| text(&error))?;
    if bytes == b"before" { Ok(()) } else { Err("the rolled back file differs".to_owned()) }
}

fn tempfile_in(root: &Path) -> std::io::Result<()> {
    let path = root.join(format!(".probe-{}", std::process::id()));
    std::fs::write(&path, b"probe")?;
    std::fs::remove_file(&path)
}

fn webview_check() -> DoctorCheck {
    let name = "webview";
    if !cfg!(target_os = "linux") {
        let detail =
            "The system's own webview is used; it is probed when the window opens.".to_owned();
        return DoctorCheck { name, outcome: CheckOutcome::Skipped, detail };
    }
    let folders =
        ["/usr/lib", "/usr/lib64", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu"];
    let found =
        folders.iter().any(|folder| Path::new(folder).join("libwebkit2gtk-4.1.so.0").exists());
    let (outcome, detail) = if found {
        (CheckOutcome::Ok, "WebKitGTK 4.1 is installed.".to_owned())
    } else {
        let text =
            "WebKitGTK 4.1 was not found: the window can't open. Install libwebkit2gtk-4.1-0.";
        (CheckOutcome::Warning, text.to_owned())
    };
    DoctorCheck { name, outcome, detail }
}
