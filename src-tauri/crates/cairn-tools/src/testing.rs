//! A workspace in a temporary folder with the real tools, for tests. Only the session is played.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use cairn_exec::Commands;
use cairn_protocol::{
    CallGrant, Role, SandboxPolicy, TodoItem, ToolCall, ToolCallId, ToolCallOutput,
};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::{AskUser, PathLocks, PreparedCall, ReadLedger, Registry, SessionPort, ToolContext};

/// Runs a test as an ordinary user: root runs this program again as one, for that test alone.
pub(crate) fn as_ordinary_user(test: &str, body: impl FnOnce()) {
    use std::os::unix::process::CommandExt;
    if !nix::unistd::geteuid().is_root() {
        return body();
    }
    // The user may not be able to reach the program where it was built.
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("test");
    std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    for path in [folder.path(), &program] {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(path, mode).unwrap();
    }
    let mut command = std::process::Command::new(&program);
    command.args([test, "--exact"]).current_dir("/").uid(1000).gid(1000);
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

/// A session that answers what it was told to, and remembers.
#[derive(Default)]
pub(crate) struct Played {
    pub(crate) answer: Mutex<Option<Vec<String>>>,
    pub(crate) questions: Mutex<Vec<AskUser>>,
    pub(crate) todos: Mutex<Vec<TodoItem>>,
    pub(crate) edits: Mutex<Vec<String>>,
    pub(crate) refuse_edits: Mutex<Option<String>>,
}

#[async_trait]
impl SessionPort for Played {
    async fn ask(&self, _: &ToolCallId, question: AskUser) -> Option<Vec<String>> {
        self.questions.lock().unwrap().push(question);
        self.answer.lock().unwrap().clone()
    }

    async fn set_todos(&self, items: Vec<TodoItem>) {
        *self.todos.lock().unwrap() = items;
    }

    async fn before_edit(&self, path: &Path) -> Result<(), String> {
        self.edits.lock().unwrap().push(format!("before {}", path.display()));
        self.refuse_edits.lock().unwrap().clone().map_or(Ok(()), Err)
    }

    async fn after_edit(&self, path: &Path) {
        self.edits.lock().unwrap().push(format!("after {}", path.display()));
    }
}

/// A workspace with its session.
pub(crate) struct Bench {
    _folder: tempfile::TempDir,
    pub(crate) outside: PathBuf,
    pub(crate) ctx: ToolContext,
    pub(crate) registry: Registry,
    pub(crate) port: Arc<Played>,
    pub(crate) cancel: CancellationToken,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let workspace = root.join("work space");
        let outside = root.join("outside");
        for path in [&workspace, &outside, &root.join("home")] {
            std::fs::create_dir(path).unwrap();
        }
        let ctx = ToolContext {
            workspace,
            scratch: root.join("data/session/scratchpad"),
            home: Some(root.join("home")),
            data_root: root.join("data"),
            commands: Commands::new(),
            ledger: Arc::new(ReadLedger::new()),
            locks: Arc::new(PathLocks::new()),
            env: vec![
                ("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into()),
                ("HOME".into(), root.join("home").into()),
            ],
        };
        Self {
            _folder: folder,
            outside,
            ctx,
            registry: Registry::builtin(),
            port: Arc::default(),
            cancel: CancellationToken::new(),
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.ctx.workspace.join(name)
    }

    pub(crate) fn put(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    pub(crate) fn get(&self, name: &str) -> String {
        String::from_utf8(std::fs::read(self.path(name)).unwrap()).unwrap()
    }

    pub(crate) fn prepare(&self, tool: &str, arguments: Value) -> Result<PreparedCall, String> {
        let call = ToolCall {
            role: Role::Assistant,
            name: tool.to_owned(),
            arguments: arguments.to_string(),
            tool_call_id: ToolCallId::new("call"),
            fidelity: None,
            stop_reason: None,
        };
        self.registry.prepare(&call, &self.ctx)
    }

    #[track_caller]
    pub(crate) fn refused(&self, tool: &str, arguments: Value) -> String {
        self.prepare(tool, arguments).expect_err("it is refused")
    }

    pub(crate) async fn run(&self, prepared: PreparedCall) -> ToolCallOutput {
        let (sink, mut live) = mpsc::channel(64);
        let drained = tokio::spawn(async move { while live.recv().await.is_some() {} });
        let output = self.run_with(prepared, sink).await;
        drained.await.unwrap();
        output
    }

    pub(crate) async fn run_with(
        &self,
        prepared: PreparedCall,
        sink: crate::OutputSink,
    ) -> ToolCallOutput {
        let grant = CallGrant { sandbox: SandboxPolicy::Unconfined };
        prepared.run(grant, &self.ctx, self.port.clone(), sink, self.cancel.clone()).await
    }

    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> ToolCallOutput {
        match self.prepare(tool, arguments) {
            Ok(prepared) => self.run(prepared).await,
            Err(text) => crate::refusal(&ToolCallId::new("call"), text),
        }
    }

    pub(crate) async fn text(&self, tool: &str, arguments: Value) -> String {
        self.call(tool, arguments).await.output
    }
}
