//! The front door: data root, workspaces, sessions, settings, models, terminals.
//!
//! One engine a process. It owns what sessions share; what belongs to one session is in
//! `session/actor.rs`.

mod checks;
mod connecting;
mod reading;
mod settings;
mod terminals;
mod workspaces;

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use cairn_config::Config;
use cairn_exec::{Commands, Terminals};
use cairn_protocol::{
    AppEvent, AppState, ErrorCode, ErrorInfo, Mode, ModelRef, Rule, SandboxBackend, SandboxState,
    SessionActivity, SessionId, SessionSummary, SnapshotMode, Timestamp, TitleSource, TokenUsage,
    WorkspaceId,
};
use cairn_provider::Provider;
use cairn_snapshot::Snapshots;
use cairn_store::{SessionRecord, Store};
use cairn_tools::{PathLocks, ReadLedger, Registry, ToolContext};
use tokio::sync::broadcast;

use crate::error::{Result, chain, internal, not_found};
pub use crate::models::ExtraProvider;
use crate::models::script_entry;
use crate::session::{Authority, Live, OpenSession, Session};
use crate::tour::TOUR_PROVIDER;
pub use checks::{PolicyCheck, PolicyQuestion};
pub use connecting::{ConnectionConsent, KeyUse};

/// App events that a slow window may fall behind before it must read the state again.
const APP_EVENTS: usize = 256;
/// Sessions in the state of the app.
const MAX_SESSIONS: usize = 500;

/// How an engine is opened. Nothing here is read from the process itself.
#[derive(Clone)]
pub struct EngineOptions {
    /// The data root (D-8).
    pub root: PathBuf,
    /// The user's home folder.
    pub home: Option<PathBuf>,
    /// The environment that commands and terminals inherit from, and keys may be read from.
    pub env: Vec<(OsString, OsString)>,
    /// The clock.
    pub now: fn() -> Timestamp,
    /// Providers of this run only.
    pub extra: Vec<ExtraProvider>,
    /// Rules of this run only.
    pub rules: Vec<Rule>,
    /// Where turns are captured, instead of what the settings say.
    pub snapshots: Option<SnapshotMode>,
}

/// The engine of this process. Cheap to clone.
#[derive(Clone)]
pub struct Engine {
    inner: Arc<Inner>,
}

/// What sessions share.
pub(crate) struct Inner {
    options: EngineOptions,
    store: Arc<Store>,
    config: Mutex<Config>,
    problems: Mutex<Vec<String>>,
    tools: Registry,
    terminals: Arc<Terminals>,
    events: broadcast::Sender<AppEvent>,
    sandbox: tokio::sync::OnceCell<SandboxState>,
    known_sandbox: OnceLock<SandboxState>,
    sessions: tokio::sync::Mutex<HashMap<SessionId, OpenSession>>,
    activities: Mutex<HashMap<SessionId, SessionActivity>>,
    snapshots: tokio::sync::Mutex<HashMap<WorkspaceId, Arc<Snapshots>>>,
    providers: Mutex<HashMap<ModelRef, Arc<dyn Provider>>>,
    /// Connections that the user agreed to in this run and that are not saved yet.
    agreed: Mutex<Vec<ConnectionConsent>>,
    /// Whether the user agreed to terminals in this run.
    terminals_agreed: AtomicBool,
}

impl Engine {
    /// Opens the data root, making it when it is not there. Blocking work is done off the async threads.
    pub async fn open(mut options: EngineOptions) -> Result<Self> {
        let tour =
            script_entry(TOUR_PROVIDER, "guided-tour", "Guided tour (a script, not a model)");
        let script = options.root.join("tour").join("script.jsonl");
        options.extra.push(ExtraProvider { entry: tour, key: None, script: Some(script) });
        let (root, now) = (options.root.clone(), (options.now)());
        let opened = tokio::task::spawn_blocking(move || {
            let (store, mut problems) = Store::open(&root, now).map_err(|error| storage(&error))?;
            let (config, more) = Config::open(&root).map_err(|error| {
                ErrorInfo::new(
                    ErrorCode::Io,
                    format!("The settings can't be read: {}.", chain(&error)),
                )
            })?;
            problems.extend(more);
            Ok::<_, ErrorInfo>((store, config, problems))
        });
        let (store, config, problems) =
            opened.await.map_err(|error| internal(format!("opening failed: {error}")))??;
        // The policy compares real paths, so the folders that it protects must be real paths too.
        options.root = real(options.root);
        options.home = options.home.map(real);
        let (events, _) = broadcast::channel(APP_EVENTS);
        let inner = Inner {
            options,
            store,
            config: Mutex::new(config),
            problems: Mutex::new(problems),
            tools: Registry::builtin(),
            terminals: Terminals::new(),
            events,
            sandbox: tokio::sync::OnceCell::new(),
            known_sandbox: OnceLock::new(),
            sessions: tokio::sync::Mutex::default(),
            activities: Mutex::default(),
            snapshots: tokio::sync::Mutex::default(),
            providers: Mutex::default(),
            agreed: Mutex::default(),
            terminals_agreed: AtomicBool::new(false),
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Returns all that a window needs at its start.
    pub async fn state(&self) -> Result<AppState> {
        let store = self.inner.store();
        let (workspaces, records) =
            blocking(move || Ok((store.workspaces(), store.sessions()))).await?;
        let sessions =
            records.iter().take(MAX_SESSIONS).map(|record| self.inner.summary_of(record)).collect();
        let keychain = {
            let inner = Arc::clone(&self.inner);
            blocking(move || Ok(inner.config().keychain())).await?
        };
        Ok(AppState {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            platform: std::env::consts::OS.to_owned(),
            settings: self.inner.settings(),
            providers: self.inner.providers(),
            workspaces,
            sessions,
            sandbox: self.inner.known_sandbox.get().cloned(),
            keychain,
            problems: self.inner.problems(),
        })
    }

    /// Subscribes to what happens outside sessions. A receiver that lags reads the state again.
    pub fn subscribe(&self) -> broadcast::Receiver<AppEvent> {
        self.inner.events.subscribe()
    }

    /// Tests what confines commands here, once; later calls return the same.
    pub async fn sandbox(&self) -> SandboxState {
        self.inner.sandbox().await
    }

    /// Makes a session. To start it in mode `auto` the window's word is not enough (D-6).
    pub async fn create_session(
        &self,
        workspace_id: &WorkspaceId,
        model: Option<ModelRef>,
        mode: Option<Mode>,
        authority: Authority,
    ) -> Result<Session> {
        let settings = self.inner.settings();
        let mode = mode.unwrap_or(settings.default_mode);
        if mode == Mode::Auto {
            authority.must_be_more_than_the_window("Mode auto")?;
        }
        let workspace = self.inner.workspace(workspace_id).await?;
        self.inner.check_workspace(&workspace).await?;
        let model = model.or(settings.default_model);
        if let Some(model) = &model {
            self.inner.model_target(model)?;
        }
        let now = (self.inner.options.now)();
        let record = SessionRecord {
            id: SessionId::new(new_id("s")),
            workspace_id: workspace.id.clone(),
            title: "New session".to_owned(),
            title_source: TitleSource::Auto,
            model,
            mode,
            created_at: now,
            last_active_at: now,
            turns: 0,
            usage: TokenUsage::default(),
            rules: Vec::new(),
            granted_dirs: Vec::new(),
            queue: Vec::new(),
            last_error: None,
        };
        let (store, made) = (self.inner.store(), record.clone());
        blocking(move || store.create_session(made).map_err(|error| storage(&error))).await?;
        let id = record.id.clone();
        self.inner.session_changed(summary(&record, SessionActivity::Idle));
        self.session(&id).await
    }

    /// Opens a session, or returns it when it is open in this process already.
    pub async fn session(&self, id: &SessionId) -> Result<Session> {
        let mut sessions = self.inner.sessions.lock().await;
        if let Some(open) = sessions.get(id)
            && !open.session.is_closed()
        {
            return Ok(open.session.clone());
        }
        // Its task has ended; what it held is let go of before the session is opened again.
        let broken = match sessions.remove(id) {
            Some(ended) => ended.close().await.err(),
            None => None,
        };
        let (store, wanted) = (self.inner.store(), id.clone());
        let record = blocking(move || Ok(store.session(&wanted))).await?;
        let mut record = record.ok_or_else(|| not_found("session", id.as_str()))?;
        record.last_error = broken.map(|error| error.message).or(record.last_error);
        let workspace = self.inner.workspace(&record.workspace_id).await?;
        let opened = crate::session::open(Arc::clone(&self.inner), record, workspace).await?;
        let session = opened.session.clone();
        sessions.insert(id.clone(), opened);
        Ok(session)
    }

    /// Returns the summaries of all sessions, last active first.
    pub async fn sessions(&self) -> Result<Vec<SessionSummary>> {
        let store = self.inner.store();
        let records = blocking(move || Ok(store.sessions())).await?;
        Ok(records.iter().map(|record| self.inner.summary_of(record)).collect())
    }

    /// Deletes a session: its trace, its scratch files and its captures, which can't be had back, so that
    /// the window's word is not enough. Files of the workspace stay.
    pub async fn delete_session(&self, id: &SessionId, authority: Authority) -> Result<()> {
        authority.must_be_more_than_the_window("Deleting a session")?;
        let open = self.inner.sessions.lock().await.remove(id);
        if let Some(open) = open {
            // What could not be kept of it is about to be deleted.
            let _not_kept = open.close().await;
        }
        let (store, wanted) = (self.inner.store(), id.clone());
        let record = blocking(move || Ok(store.session(&wanted))).await?;
        let record = record.ok_or_else(|| not_found("session", id.as_str()))?;
        if let Ok(workspace) = self.inner.workspace(&record.workspace_id).await
            && let (Some(snapshots), _) = self.inner.snapshots(&workspace).await
        {
            let wanted = id.clone();
            crate::capture::blocking(Some(snapshots), move |it| it.forget_session(&wanted)).await?;
        }
        let (store, wanted) = (self.inner.store(), id.clone());
        blocking(move || store.delete_session(&wanted).map_err(|error| storage(&error))).await?;
        lock(&self.inner.activities).remove(id);
        // Nobody listens when no window is open.
        let _nobody = self.inner.events.send(AppEvent::SessionGone { session_id: id.clone() });
        Ok(())
    }

    /// Ends every turn, command and terminal, and syncs every trace.
    pub async fn close(&self) {
        let open: Vec<OpenSession> =
            self.inner.sessions.lock().await.drain().map(|(_, it)| it).collect();
        for session in open {
            if let Err(error) = session.close().await {
                self.inner.add_problem(error.message);
            }
        }
        let terminals = self.terminals();
        let closed = blocking(move || {
            terminals.close_all();
            Ok(())
        });
        if let Err(error) = closed.await {
            self.inner.add_problem(error.message);
        }
    }

    pub(crate) fn inner(&self) -> &Arc<Inner> {
        &self.inner
    }
}

impl Inner {
    pub(crate) fn store(&self) -> Arc<Store> {
        Arc::clone(&self.store)
    }

    pub(crate) fn config(&self) -> MutexGuard<'_, Config> {
        lock(&self.config)
    }

    pub(crate) fn extra_providers(&self) -> &[ExtraProvider] {
        &self.options.extra
    }

    pub(crate) fn root(&self) -> &Path {
        &self.options.root
    }

    /// What is wrong with the data and was found so far.
    fn problems(&self) -> Vec<String> {
        let mut problems = lock(&self.problems);
        problems.extend(self.store.take_problems());
        problems.clone()
    }

    /// Adds something that the user must be told.
    pub(crate) fn add_problem(&self, problem: String) {
        let mut problems = lock(&self.problems);
        if !problems.contains(&problem) {
            problems.push(problem);
        }
    }

    pub(crate) fn home(&self) -> Option<String> {
        self.options.home.as_ref().map(|home| home.display().to_string())
    }

    pub(crate) fn clock(&self) -> fn() -> Timestamp {
        self.options.now
    }

    /// The environment that terminals inherit.
    pub(crate) fn environment(&self) -> Vec<(OsString, OsString)> {
        self.options.env.clone()
    }

    pub(crate) fn tools(&self) -> &Registry {
        &self.tools
    }

    pub(crate) fn env(&self, name: &str) -> Option<String> {
        let found = self.options.env.iter().find(|(key, _)| key == name)?;
        found.1.to_str().map(str::to_owned)
    }

    pub(crate) fn tool_context(&self, session: &SessionId, workspace: PathBuf) -> Arc<ToolContext> {
        Arc::new(ToolContext {
            workspace,
            scratch: self.store.session_dir(session).join("scratchpad"),
            home: self.options.home.clone(),
            data_root: self.options.root.clone(),
            commands: Commands::new(),
            ledger: Arc::new(ReadLedger::default()),
            locks: Arc::new(PathLocks::default()),
            env: cairn_sandbox::child_environment(self.options.env.iter().cloned(), &[]),
        })
    }

    /// Returns what confines commands, tested before the first command.
    pub(crate) async fn sandbox(&self) -> SandboxState {
        let state = self.sandbox.get_or_init(|| async {
            let tested = tokio::task::spawn_blocking(cairn_sandbox::detect).await;
            let state = tested.unwrap_or_else(|error| SandboxState {
                backend: SandboxBackend::None,
                enforced: false,
                reason: format!("The test of the sandbox broke down: {error}."),
            });
            let _first = self.known_sandbox.set(state.clone());
            let _nobody = self.events.send(AppEvent::Sandbox { sandbox: state.clone() });
            state
        });
        state.await.clone()
    }

    /// Returns what is known of the sandbox without testing it.
    pub(crate) fn known_sandbox(&self) -> SandboxState {
        self.known_sandbox.get().cloned().unwrap_or_else(|| SandboxState {
            backend: SandboxBackend::None,
            enforced: false,
            reason: "Not tested yet: it is tested before the first command.".to_owned(),
        })
    }

    /// Returns a connection to a model; kept, so that what was serialised once is not again.
    pub(crate) async fn provider(&self, model: &ModelRef) -> Result<Arc<dyn Provider>> {
        if let Some(provider) = lock(&self.providers).get(model) {
            return Ok(Arc::clone(provider));
        }
        let target = self.model_target(model)?;
        let provider = cairn_provider::connect(target, self.options.now).map_err(|error| {
            ErrorInfo::new(
                ErrorCode::NoModel,
                format!("The model can't be reached: {}.", chain(&error)),
            )
        })?;
        lock(&self.providers).insert(model.clone(), Arc::clone(&provider));
        Ok(provider)
    }

    pub(crate) fn forget_connections(&self) {
        lock(&self.providers).clear();
    }

    pub(crate) async fn save_session(&self, record: SessionRecord) -> Result<()> {
        let store = self.store();
        blocking(move || store.save_session(&record).map_err(|error| storage(&error))).await
    }

    pub(crate) fn session_changed(&self, summary: SessionSummary) {
        lock(&self.activities).insert(summary.id.clone(), summary.activity.clone());
        let _nobody = self.events.send(AppEvent::Session { summary: Box::new(summary) });
    }

    pub(crate) fn live(&self, record: &SessionRecord) -> Live {
        let mut rules = record.rules.clone();
        rules.extend(self.options.rules.iter().cloned());
        let workspace_rules = self.workspace_rules(&record.workspace_id);
        // Denials that can't be read might forbid anything: the session only reads until they can.
        let mode = if workspace_rules.is_some() { record.mode } else { Mode::Plan };
        rules.extend(workspace_rules.unwrap_or_default());
        Live {
            mode,
            shell_policy: self.settings().shell_policy,
            rules: Arc::new(rules),
            granted: record.granted_dirs.clone(),
        }
    }

    fn summary_of(&self, record: &SessionRecord) -> SessionSummary {
        let activity = lock(&self.activities).get(&record.id).cloned();
        let idle = match &record.last_error {
            Some(message) => SessionActivity::Failed { message: message.clone() },
            None => SessionActivity::Idle,
        };
        summary(record, activity.unwrap_or(idle))
    }
}

/// Returns what a list shows of a session.
pub(crate) fn summary(record: &SessionRecord, activity: SessionActivity) -> SessionSummary {
    SessionSummary {
        id: record.id.clone(),
        workspace_id: record.workspace_id.clone(),
        title: record.title.clone(),
        model: record.model.clone(),
        mode: record.mode,
        activity,
        created_at: record.created_at,
        last_active_at: record.last_active_at,
        turns: record.turns,
        usage: record.usage,
    }
}

/// Returns a new id under a prefix: time-ordered, 20 lower-case hex digits.
pub(crate) fn new_id(prefix: &str) -> String {
    let id = uuid::Uuid::now_v7().simple().to_string();
    format!("{prefix}-{}{}", &id[..12], &id[24..32])
}

pub(crate) fn storage(error: &cairn_store::Error) -> ErrorInfo {
    let code = match error {
        cairn_store::Error::Locked { .. } => ErrorCode::Locked,
        cairn_store::Error::NotFound { .. } => ErrorCode::NotFound,
        _ => ErrorCode::Io,
    };
    ErrorInfo::new(code, format!("{}.", chain(error)))
}

/// Returns a path with its links followed, or as it is when it can't be followed.
fn real(path: PathBuf) -> PathBuf {
    std::fs::canonicalize(&path).unwrap_or(path)
}

/// Runs blocking work off the async threads.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|error| internal(format!("a task failed: {error}")))?
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
