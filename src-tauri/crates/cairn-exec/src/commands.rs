//! The commands of one session: at most 64, each found by its id, all ended together (P-85).

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use cairn_protocol::{SandboxPolicy, TaskId};
use cairn_sandbox::{Launch, LaunchRequest};
use tokio::task::{JoinHandle, JoinSet};

use crate::process::{self, ExitStatus, MARKER};
use crate::running::{Output, Running};
use crate::spawner::Spawner;
use crate::{Error, shell};

/// Commands that a session keeps, running or ended.
const LIMIT: usize = 64;
/// An entry that nobody asked about for so long is dropped (P-85).
const EXPIRY: Duration = Duration::from_secs(10 * 24 * 60 * 60);

/// A command to start.
#[derive(Debug, Clone)]
pub struct CommandSpec {
    /// The text, for the shell.
    pub command: String,
    /// The workspace; absolute and canonical, never taken from the model.
    pub workspace: PathBuf,
    /// Where it starts.
    pub cwd: PathBuf,
    /// Its whole environment, as `cairn_sandbox::child_environment` made it.
    pub env: Vec<(OsString, OsString)>,
    /// What it may reach.
    pub sandbox: SandboxPolicy,
    /// Further folders that it may write when confined.
    pub writable: Vec<PathBuf>,
}

/// A command, as a list shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskInfo {
    /// Its name.
    pub id: TaskId,
    /// The text that was run.
    pub command: String,
    /// Whether the OS confines it.
    pub confined: bool,
    /// How it ended, once it has.
    pub status: Option<ExitStatus>,
    /// How long ago it was started.
    pub age: Duration,
    /// The last address on this machine that it printed.
    pub local_url: Option<String>,
}

/// The commands of one session. Dropping it ends every tree.
#[derive(Debug)]
pub struct Commands {
    spawner: Spawner,
    entries: Mutex<HashMap<TaskId, Entry>>,
}

#[derive(Debug)]
struct Entry {
    running: Arc<Running>,
    driver: JoinHandle<()>,
}

impl Drop for Entry {
    /// An entry owns its driver: a command that nobody lists is read by nobody. Its process then ends
    /// with its last reference.
    fn drop(&mut self) {
        self.driver.abort();
    }
}

impl Commands {
    /// Returns an empty set. It starts the thread from which commands are spawned.
    pub fn new() -> Arc<Self> {
        Arc::new(Self {
            spawner: Spawner::new("command-spawner"),
            entries: Mutex::new(HashMap::new()),
        })
    }

    /// Starts a command; its standard input is empty. Needs the runtime.
    ///
    /// When 64 are kept, the one that ended longest ago makes room, else the one that nobody has
    /// asked about for longest, which is killed.
    ///
    /// # Errors
    /// [`Error::Sandbox`] when it can't be confined as asked; it then did not run.
    /// [`Error::TooMany`] when someone waits for each of the 64.
    pub async fn spawn(&self, spec: CommandSpec) -> Result<Arc<Running>, Error> {
        self.make_room().await?;
        let id = TaskId(format!("proc-{}", random_hex()));
        let marker = (!spec.sandbox.is_confined()).then(random_hex);
        let command = spec.command.clone();
        let mark = marker.clone();
        let prepared = tokio::task::spawn_blocking(move || prepare(&spec, mark.as_deref()));
        let mut launch = prepared.await.map_err(|_| Error::Closed)??;
        let failed = |source| Error::Start { program: command_name(&launch), source };
        let (reader, writer) = std::io::pipe().map_err(failed)?;
        let output = Output::new(reader).map_err(failed)?;
        let errors = writer.try_clone().map_err(failed)?;
        launch.command.stdin(Stdio::null()).stdout(writer).stderr(errors);
        let (confined, tree, program) = (launch.confined, launch.tree, command_name(&launch));
        #[cfg(unix)]
        let _keep = launch.keep;
        let process = process::spawn(&self.spawner, launch.command, tree, marker)
            .await?
            .map_err(|source| Error::Start { program, source })?;
        let running = Running::new(id.clone(), command, confined, process);
        let driver = tokio::spawn(Arc::clone(&running).drive(output));
        self.lock().insert(id, Entry { running: Arc::clone(&running), driver });
        Ok(running)
    }

    /// Returns a command that was not dropped since.
    pub fn get(&self, id: &TaskId) -> Option<Arc<Running>> {
        self.lock().get(id).map(|entry| Arc::clone(&entry.running))
    }

    /// Returns all commands, the oldest first.
    pub fn list(&self) -> Vec<TaskInfo> {
        let mut running: Vec<_> =
            self.lock().values().map(|entry| Arc::clone(&entry.running)).collect();
        running.sort_by_key(|command| std::cmp::Reverse(command.age()));
        let info = |command: Arc<Running>| TaskInfo {
            id: command.id().clone(),
            command: command.command().to_owned(),
            confined: command.confined(),
            status: command.status(),
            age: command.age(),
            local_url: command.local_url(),
        };
        running.into_iter().map(info).collect()
    }

    /// Forgets a command that is over (P-83). Returns false when it is not, or is not there.
    pub fn forget(&self, id: &TaskId) -> bool {
        let mut entries = self.lock();
        let over = entries.get(id).is_some_and(|entry| entry.running.status().is_some());
        if over {
            entries.remove(id);
        }
        over
    }

    /// Ends every tree, all at once, and forgets all. Returns when they are over.
    pub async fn kill_all(&self) {
        let entries: Vec<Entry> = self.lock().drain().map(|(_, entry)| entry).collect();
        let mut ends = JoinSet::new();
        for entry in entries {
            ends.spawn(async move {
                entry.running.kill().await;
                end(entry).await;
            });
        }
        let mut broken = None;
        while let Some(ended) = ends.join_next().await {
            broken = broken.or(ended.err());
        }
        // A defect here is the caller's to tell, as if it had happened in its own code.
        if let Some(panic) = broken.and_then(|error| error.try_into_panic().ok()) {
            std::panic::resume_unwind(panic);
        }
    }

    async fn make_room(&self) -> Result<(), Error> {
        let evicted = {
            let mut entries = self.lock();
            let expired = |entry: &Entry| {
                let idle = entry.running.idle_since();
                entry.running.status().is_some() && idle.is_some_and(|at| at.elapsed() > EXPIRY)
            };
            entries.retain(|_, entry| !expired(entry));
            if entries.len() < LIMIT {
                return Ok(());
            }
            let victim = entries
                .values()
                .filter_map(|entry| {
                    let idle: Instant = entry.running.idle_since()?;
                    Some((entry.running.status().is_none(), idle, entry.running.id().clone()))
                })
                .min_by_key(|(runs, idle, _)| (*runs, *idle));
            let (_, _, id) = victim.ok_or(Error::TooMany { limit: LIMIT })?;
            entries.remove(&id)
        };
        if let Some(entry) = evicted {
            entry.running.kill().await;
            end(entry).await;
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<TaskId, Entry>> {
        self.entries.lock().expect("no panic while held")
    }
}

impl Drop for Commands {
    fn drop(&mut self) {
        // No awaiting here. Each driver is aborted with its entry and holds the last but one reference;
        // the process ends its tree when both are gone, and the spawner's end signals whatever is left.
        for (_, entry) in self.lock().drain() {
            entry.running.kill_without_waiting();
        }
    }
}

/// Joins the driver of a command that was killed; gives up on one that can't end.
async fn end(mut entry: Entry) {
    if entry.running.status().is_none() {
        entry.driver.abort();
    }
    if let Err(error) = (&mut entry.driver).await
        && let Ok(panic) = error.try_into_panic()
    {
        std::panic::resume_unwind(panic);
    }
}

fn prepare(spec: &CommandSpec, marker: Option<&str>) -> Result<Launch, Error> {
    let argv = shell::arguments(&spec.command, spec.sandbox.is_confined());
    let mut env = spec.env.clone();
    if let Some(marker) = marker {
        env.push((MARKER.into(), marker.into()));
    }
    // Looked up here, because this crate reads no environment: the home folder to hide is that of
    // the environment that the caller made.
    let home = env.iter().find(|(name, _)| name == "HOME").map(|(_, value)| PathBuf::from(value));
    let request = LaunchRequest {
        workspace: &spec.workspace,
        cwd: &spec.cwd,
        argv: &argv,
        env: &env,
        writable: &spec.writable,
        home: home.as_deref(),
    };
    Ok(cairn_sandbox::prepare(&spec.sandbox, &request)?)
}

fn command_name(launch: &Launch) -> String {
    launch.command.get_program().to_string_lossy().into_owned()
}

/// Eight random hex digits.
pub(crate) fn random_hex() -> String {
    uuid::Uuid::new_v4().simple().to_string()[..8].to_owned()
}
