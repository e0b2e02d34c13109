//! Faults from inside: a provider, a tool, a task that breaks, stops at every moment. Whatever happens, the
//! turn has exactly one `turn_end`, it is last, and the session goes on (Z-12, P-42 … P-45).
//!
//! A disk that is full is in `tests/engine/faults.rs`, since a limit holds for a whole process.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering as Atomic};

use async_trait::async_trait;
use cairn_protocol::{
    CallEffects, EventMsg, FeedItem, Message, ModelMsg, Role, StopReason, StoredMessage, Text,
    ToolCall, ToolCallId, ToolClass, TurnStatus,
};
use cairn_provider::{ModelRequest, ModelTarget, Outcome};
use cairn_tools::{Action, Cut, Done, Ordering, Plan, Run, Spec, Tool};
use tokio::sync::{Notify, mpsc};
use tokio_util::sync::CancellationToken;

use super::*;
use crate::feed::Subscription;
use crate::session::Sent;

const NAME: &str = "faulty";

/// What the model does with one request.
#[derive(Clone)]
enum Step {
    Say(&'static str),
    Call(&'static str),
    Fail(Outcome),
    /// Says something, then waits for the stop.
    Hang,
    /// Says something, then breaks down.
    Panic,
    /// Takes the stop for an answer.
    Deaf,
}

struct Faulty {
    target: ModelTarget,
    steps: Mutex<VecDeque<Step>>,
    ids: AtomicUsize,
}

#[async_trait]
impl Provider for Faulty {
    fn target(&self) -> &ModelTarget {
        &self.target
    }

    async fn stream(
        &self,
        _request: ModelRequest,
        sink: mpsc::Sender<Message>,
        cancel: CancellationToken,
    ) -> Outcome {
        let step = lock(&self.steps).pop_front().unwrap_or(Step::Say("Done."));
        let say = |text: &str| {
            let text = Text::assistant(text, StopReason::Completed);
            Message::model(Timestamp(1), text)
        };
        let send = |message| async { sink.send(message).await.expect("the engine listens") };
        match step {
            Step::Say(text) => send(say(text)).await,
            Step::Call(name) => {
                let id = format!("c{}", self.ids.fetch_add(1, Atomic::Relaxed));
                let call = ToolCall {
                    role: Role::Assistant,
                    name: name.to_owned(),
                    arguments: "{}".to_owned(),
                    tool_call_id: ToolCallId::new(id),
                    fidelity: None,
                    stop_reason: None,
                };
                send(Message::model(Timestamp(1), call)).await;
            }
            Step::Fail(outcome) => {
                send(say("Half")).await;
                return outcome;
            }
            Step::Hang => {
                send(say("Half")).await;
                cancel.cancelled().await;
                return Outcome::new(StopReason::Aborted, None);
            }
            Step::Panic => {
                send(say("Half")).await;
                panic!("injected");
            }
            Step::Deaf => {
                cancel.cancelled().await;
                send(say("Whole")).await;
            }
        }
        Outcome::completed()
    }
}

/// A tool that goes wrong in the way that its name says.
struct Wrong {
    spec: Spec,
    how: How,
    /// Told when the call runs.
    runs: Arc<Notify>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    PanicInPrepare,
    Panic,
    TimeOut,
    Hang,
    /// Asks whether it may run.
    Ask,
}

#[async_trait]
impl Tool for Wrong {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn prepare(&self, _arguments: &str, _ctx: &ToolContext) -> std::result::Result<Plan, String> {
        assert!(self.how != How::PanicInPrepare, "injected");
        let class = if self.how == How::Ask { ToolClass::External } else { ToolClass::State };
        Ok(Plan {
            effects: CallEffects {
                class,
                title: "Goes wrong".to_owned(),
                reads: Vec::new(),
                writes: Vec::new(),
                command: None,
            },
            ordering: Ordering::Serial,
            timeout: (self.how == How::TimeOut).then(|| std::time::Duration::from_millis(20)),
            action: Box::new(Act { how: self.how, runs: Arc::clone(&self.runs) }),
        })
    }
}

struct Act {
    how: How,
    runs: Arc<Notify>,
}

#[async_trait]
impl Action for Act {
    async fn run(self: Box<Self>, run: &Run<'_>) -> Done {
        self.runs.notify_one();
        match self.how {
            How::Panic => panic!("injected"),
            How::Hang | How::TimeOut => {
                run.stop.cancelled().await;
                Done::failed("stopped")
            }
            How::PanicInPrepare | How::Ask => Done::completed("ran", "ran"),
        }
    }
}

struct Scene {
    _folder: tempfile::TempDir,
    engine: Engine,
    session: Session,
    provider: Arc<Faulty>,
    /// Told when one of the wrong tools runs.
    runs: Arc<Notify>,
}

const TOOLS: [(&str, How); 5] = [
    ("panic_in_prepare", How::PanicInPrepare),
    ("panic", How::Panic),
    ("time_out", How::TimeOut),
    ("hang", How::Hang),
    ("ask", How::Ask),
];

impl Scene {
    async fn new(steps: impl IntoIterator<Item = Step>) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let workspace = folder.path().join("work");
        std::fs::create_dir(&workspace).expect("a folder is made");
        let options = EngineOptions {
            root: folder.path().join("data"),
            home: Some(folder.path().to_owned()),
            env: Vec::new(),
            now: || Timestamp(1),
            extra: vec![ExtraProvider {
                entry: script_entry(NAME, "m", "m"),
                key: None,
                script: None,
            }],
            rules: Vec::new(),
            snapshots: None,
        };
        let mut engine = Engine::open(options).await.expect("it opens");
        let model = ModelRef { provider: NAME.to_owned(), model_id: "m".to_owned() };
        let target = engine.inner.model_target(&model).expect("it is in the table");
        let runs = Arc::new(Notify::new());
        let inner = Arc::get_mut(&mut engine.inner).expect("nobody else has it yet");
        for (name, how) in TOOLS {
            let spec = Spec {
                name,
                aliases: &[],
                description: "Goes wrong.",
                class: ToolClass::External,
                parameters: serde_json::json!({"type": "object"}),
                timeout: None,
                max_output_chars: 100,
                cut: Cut::Head,
            };
            inner.tools.add(Box::new(Wrong { spec, how, runs: Arc::clone(&runs) }));
        }
        let steps = Mutex::new(steps.into_iter().collect());
        let provider = Arc::new(Faulty { target, steps, ids: AtomicUsize::new(0) });
        lock(&inner.providers).insert(model.clone(), Arc::<Faulty>::clone(&provider) as _);
        let workspace = engine.add_workspace(&workspace).await.expect("it is added");
        let mode = Some(Mode::Interactive);
        let session = engine
            .create_session(&workspace.id, Some(model), mode, Authority::Headless)
            .await
            .expect("a session is made");
        Self { _folder: folder, engine, session, provider, runs }
    }

    async fn stored(&self) -> Vec<StoredMessage> {
        self.engine.history(self.session.id()).await.expect("the trace reads")
    }

    /// Checks Z-12 for the turn that ended last, and that the session can start another one.
    async fn check(&self, name: &str, expected: TurnStatus) {
        let messages = self.stored().await;
        let ends: Vec<&EventMsg> = messages
            .iter()
            .filter_map(|it| it.message.as_event())
            .filter(|event| matches!(event, EventMsg::TurnEnd { .. }))
            .collect();
        assert_eq!(ends.len(), 1, "{name}: one turn_end");
        let EventMsg::TurnEnd { status, error, .. } = ends[0] else { panic!("{name}") };
        assert_eq!(*status, expected, "{name}: {error:?}");
        assert_eq!(error.is_some(), expected == TurnStatus::Error, "{name}: {error:?}");
        let last = messages.last().expect("it has messages").message.as_event();
        assert!(matches!(last, Some(EventMsg::TurnEnd { .. })), "{name}: it is last: {last:?}");
        let count = |wanted: fn(&ModelMsg) -> bool| {
            messages.iter().filter_map(|it| it.message.as_model()).filter(|it| wanted(it)).count()
        };
        let calls = count(|it| matches!(it, ModelMsg::ToolCall(_)));
        let outputs = count(|it| matches!(it, ModelMsg::ToolCallOutput(_)));
        assert_eq!(calls, outputs, "{name}: every call has one output in the trace");

        // What was stopped before it was asked would still wait.
        lock(&self.provider.steps).clear();
        let mut turn = Following::start(&self.session).await;
        assert_eq!(turn.end("t2").await, TurnStatus::Completed, "{name}: the next turn");
        self.engine.close().await;
        assert_eq!(self.engine.inner.problems(), Vec::<String>::new(), "{name}");
    }
}

/// The feed of a turn.
struct Following {
    feed: Subscription,
    waiting: VecDeque<FeedItem>,
}

impl Following {
    async fn start(session: &Session) -> Self {
        let feed = session.subscribe(None).await.expect("it is open");
        let sent = session.start_turn("go").await.expect("it starts");
        assert!(matches!(sent, Sent::Started(_)), "{sent:?}");
        Self { feed, waiting: VecDeque::new() }
    }

    async fn event(&mut self, wanted: impl Fn(&EventMsg) -> bool) -> EventMsg {
        loop {
            while let Some(item) = self.waiting.pop_front() {
                if let FeedItem::Stored { message, .. } = item
                    && let Some(event) = message.as_event()
                    && wanted(event)
                {
                    return event.clone();
                }
            }
            self.waiting.extend(self.feed.next_batch().await.expect("it is open"));
        }
    }

    async fn end(&mut self, turn: &str) -> TurnStatus {
        let ended = |event: &EventMsg| matches!(event, EventMsg::TurnEnd { turn_id, .. } if turn_id.as_str() == turn);
        match self.event(ended).await {
            EventMsg::TurnEnd { status, .. } => status,
            other => panic!("{other:?}"),
        }
    }
}

fn failed(status: StopReason) -> Step {
    Step::Fail(Outcome::new(status, Some("injected".to_owned())))
}

fn permanent() -> Step {
    Step::Fail(Outcome { permanent: true, ..Outcome::new(StopReason::Failed, None) })
}

/// What goes wrong by itself. Waits before a further attempt are ended at once (P-44).
#[tokio::test(flavor = "multi_thread")]
async fn z12_one_turn_end_and_it_is_last_whatever_breaks() {
    use TurnStatus::{Completed, Error};
    let ladder = |status| vec![failed(status); 6];
    let cases: Vec<(&str, Vec<Step>, TurnStatus)> = vec![
        ("a bad key", vec![failed(StopReason::Auth)], Error),
        ("a refusal", vec![permanent()], Error),
        ("failures to the end of the ladder", ladder(StopReason::Failed), Error),
        ("silence to the end of the ladder", ladder(StopReason::Timeout), Error),
        ("nonsense to the end of the ladder", ladder(StopReason::Malformed), Error),
        ("five failures, then an answer", vec![failed(StopReason::Failed); 5], Completed),
        ("a provider that breaks down", vec![Step::Panic], Error),
        ("a tool that breaks while it prepares", vec![Step::Call("panic_in_prepare")], Completed),
        ("a tool that breaks while it runs", vec![Step::Call("panic")], Completed),
        ("a tool that takes too long", vec![Step::Call("time_out")], Completed),
        ("an unknown tool", vec![Step::Call("nothing")], Completed),
        ("a provider that breaks down after calls", vec![Step::Call("panic"), Step::Panic], Error),
    ];
    for (name, steps, expected) in cases {
        let scene = Scene::new(steps).await;
        let mut turn = Following::start(&scene.session).await;
        loop {
            let event = turn
                .event(|event| {
                    matches!(event, EventMsg::TurnEnd { .. } | EventMsg::RequestEnd { .. })
                })
                .await;
            match event {
                EventMsg::RequestEnd { retry_in_ms: Some(_), .. } => {
                    scene.session.retry_now().await.expect("it waits");
                }
                EventMsg::TurnEnd { .. } => break,
                _ => {}
            }
        }
        scene.check(name, expected).await;
    }
}

/// P-42: the waits are those of the ladder, an attempt has its number, and the last one has no wait.
#[tokio::test(flavor = "multi_thread")]
async fn p42_the_ladder_is_2_4_8_16_30_seconds_and_what_the_server_asks_for() {
    let asked = Outcome {
        retry_after: Some(std::time::Duration::from_secs(90)),
        ..Outcome::new(StopReason::Failed, None)
    };
    let mut steps = vec![failed(StopReason::Failed); 5];
    steps.push(Step::Fail(asked.clone()));
    for (name, steps, expected) in [
        (
            "the ladder",
            steps,
            vec![Some(2000), Some(4000), Some(8000), Some(16_000), Some(30_000), None],
        ),
        ("the server", vec![Step::Fail(asked)], vec![Some(60_000), None]),
    ] {
        let scene = Scene::new(steps).await;
        let mut turn = Following::start(&scene.session).await;
        let mut waits = Vec::new();
        while waits.last() != Some(&None) {
            let ended = |event: &EventMsg| matches!(event, EventMsg::RequestEnd { .. });
            let EventMsg::RequestEnd { retry_in_ms, attempt, .. } = turn.event(ended).await else {
                panic!("{name}");
            };
            waits.push(retry_in_ms);
            assert_eq!(attempt, Some(u32::try_from(waits.len()).expect("few")), "{name}");
            if retry_in_ms.is_some() {
                scene.session.retry_now().await.expect("it waits");
            }
        }
        assert_eq!(waits, expected, "{name}");
        turn.end("t1").await;
        scene.engine.close().await;
    }
}

/// P-45, P-111: a stop in every phase, by the user and by closing the session.
#[tokio::test(flavor = "multi_thread")]
async fn z12_one_turn_end_and_it_is_last_whenever_it_is_stopped() {
    /// Waits until the turn is where it is to be stopped.
    async fn reach(phase: &str, scene: &Scene, turn: &mut Following) {
        match phase {
            "at once" => {}
            "while the model speaks" | "while the model does not listen" => {
                drop(turn.event(|event| matches!(event, EventMsg::RequestBegin {})).await);
            }
            "while a question is open" => {
                drop(turn.event(|event| matches!(event, EventMsg::ApprovalRequest(_))).await);
            }
            "while a tool runs" => scene.runs.notified().await,
            "while it waits for the next attempt" => {
                let waits = |event: &EventMsg| {
                    matches!(event, EventMsg::RequestEnd { retry_in_ms: Some(_), .. })
                };
                drop(turn.event(waits).await);
            }
            other => panic!("{other}"),
        }
    }
    let phases = [
        ("at once", Step::Hang),
        ("while the model speaks", Step::Hang),
        ("while the model does not listen", Step::Deaf),
        ("while a question is open", Step::Call("ask")),
        ("while a tool runs", Step::Call("hang")),
        ("while it waits for the next attempt", failed(StopReason::Failed)),
    ];
    for (phase, step) in phases {
        let scene = Scene::new([step.clone()]).await;
        let mut turn = Following::start(&scene.session).await;
        reach(phase, &scene, &mut turn).await;
        scene.session.interrupt().await.expect("it is open");
        assert_eq!(turn.end("t1").await, TurnStatus::Interrupted, "{phase}");
        scene.check(phase, TurnStatus::Interrupted).await;

        let scene = Scene::new([step]).await;
        let mut turn = Following::start(&scene.session).await;
        reach(phase, &scene, &mut turn).await;
        scene.session.close().await.expect("it closes");
        let name = format!("{phase}, closed");
        let session = scene.engine.session(scene.session.id()).await.expect("it opens again");
        Scene { session, ..scene }.check(&name, TurnStatus::Interrupted).await;
    }
}

/// P-86: a turn is refused while it can't begin, and nothing of it is stored.
#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_can_not_begin_leaves_nothing() {
    let scene = Scene::new([]).await;
    std::fs::remove_dir_all(scene._folder.path().join("work")).expect("it was there");
    let before = scene.stored().await.len();
    let error = scene.session.start_turn("go").await.expect_err("its folder is gone");
    assert_eq!(error.code, ErrorCode::WorkspaceMissing);
    assert_eq!(scene.stored().await.len(), before);
    assert!(!scene.engine.is_working());
    scene.engine.close().await;
}

/// I8: a capture that fails is told and stops nothing.
#[tokio::test(flavor = "multi_thread")]
async fn z12_a_failed_capture_ends_no_turn() {
    let scene = Scene::new([Step::Say("Done.")]).await;
    let store = scene._folder.path().join("data").join("snapshots");
    std::fs::remove_dir_all(&store).expect("the store was made");
    std::fs::write(&store, "not a folder").expect("a file is written");
    let mut turn = Following::start(&scene.session).await;
    let before = turn.event(|event| matches!(event, EventMsg::Snapshot(_))).await;
    let EventMsg::Snapshot(before) = before else { panic!("{before:?}") };
    let cairn_protocol::Completeness::NotProtected { .. } = before.completeness else {
        panic!("{before:?}");
    };
    assert_eq!(turn.end("t1").await, TurnStatus::Completed);
    scene.engine.close().await;
}
