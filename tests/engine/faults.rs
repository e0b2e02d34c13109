//! Faults from outside: a disk that is full, an end in the middle, a switch of the model before a restart.
//!
//! Faults from inside, such as a provider that breaks down, are unit tests of the engine.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use cairn_engine::{Authority, ExtraProvider};
use cairn_protocol::{
    ApprovalAnswer, EventMsg, FeedItem, KeySource, Mode, ModelEntry, ModelRef, ProviderEntry,
    TurnStatus, WireApi,
};
use cairn_tests::model_server::{ModelServer, Reply};

use crate::place::{Place, Turn, answer, outputs, stored};

const WRITES: &str = r#"{"tool": {"name": "write_file", "arguments": {"file_path": "new.txt", "content": "one\n"}}, "end": true}
{"say": "Done.", "end": true}
{"say": "Again.", "end": true}"#;
/// Set in the process that a limit holds for.
const INSIDE: &str = "CAIRN_TEST_FULL_DISK";

/// Sets the longest file that this process can write; `None` takes the limit away.
fn limit_files(bytes: Option<u64>) {
    let limit = bytes.map_or("unlimited".to_owned(), |bytes| bytes.to_string());
    let own = std::process::id().to_string();
    let told = Command::new("prlimit").args(["--pid", &own, &format!("--fsize={limit}:")]).status();
    assert!(told.is_ok_and(|status| status.success()), "prlimit of util-linux is installed");
}

/// P21, Z-12: when nothing can be written, nothing is done, the window is told, and the turn ends; when it can be again,
/// what was held is written and the trace is whole.
#[test]
fn p21_a_full_disk_runs_nothing_and_ends_the_turn() {
    if std::env::var_os(INSIDE).is_none() {
        // The limit is the whole process's, and its signal would end it: a process of its own that ignores it.
        let this = std::env::current_exe().expect("a test knows its own path");
        let name = "faults::p21_a_full_disk_runs_nothing_and_ends_the_turn";
        let done = Command::new("sh")
            .args(["-c", "trap '' XFSZ; exec \"$@\"", "sh"])
            .arg(this)
            .args(["--exact", name, "--nocapture"])
            .env(INSIDE, "1")
            .output()
            .expect("sh is there");
        let said = String::from_utf8_lossy(&done.stdout).into_owned();
        assert!(done.status.success(), "{said}{}", String::from_utf8_lossy(&done.stderr));
        assert!(said.contains("1 passed"), "{said}");
        return;
    }
    let runtime = tokio::runtime::Runtime::new().expect("a runtime starts");
    runtime.block_on(full_disk());
}

async fn full_disk() {
    let place = Place::new(WRITES);
    let (engine, session) = place.session(Mode::Interactive).await;
    let feed = session.subscribe(None).await.expect("it is open");
    let mut turn = Turn::start(&session, "go").await;
    let request = turn.asked().await;
    limit_files(Some(1));
    answer(&session, &request, ApprovalAnswer::AllowOnce, Authority::Window)
        .await
        .expect("it is allowed");
    // What can't be stored is shown all the same.
    let (mut ended, mut told) = (false, false);
    while !ended {
        for item in feed.next_batch().await.expect("it is open") {
            let (FeedItem::Partial { message } | FeedItem::Stored { message, .. }) = item else {
                continue;
            };
            match message.as_event() {
                Some(EventMsg::TurnEnd { .. }) => ended = true,
                Some(EventMsg::Notice { info, .. }) => {
                    told |= info.message.contains("not being saved")
                }
                _ => {}
            }
        }
    }
    assert!(told, "the window is told");
    assert!(!place.workspace.join("new.txt").exists(), "nothing ran");
    let summary = session.view().await.expect("it is open").summary;
    assert!(
        matches!(summary.activity, cairn_protocol::SessionActivity::Failed { .. }),
        "{summary:?}"
    );
    assert!(
        session.start_turn("still full").await.is_err(),
        "a text that can't be kept is not taken"
    );

    limit_files(None);
    assert_eq!(Turn::start(&session, "again").await.end().await, TurnStatus::Completed);
    engine.close().await;
    let messages = stored(&engine, session.id()).await;
    let mut open = 0_i32;
    for message in &messages {
        match message.message.as_event() {
            Some(EventMsg::TurnBegin { .. }) => open += 1,
            Some(EventMsg::TurnEnd { .. }) => open -= 1,
            _ => {}
        }
        assert!((0..=1).contains(&open), "turns follow one another: {messages:?}");
    }
    assert_eq!(open, 0);
    let outputs = outputs(messages.iter().map(|it| &it.message));
    assert!(outputs.iter().any(|it| it.contains("could not be recorded")), "{outputs:?}");
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder is made");
    for entry in fs::read_dir(from).expect("it is a folder").flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("a file is copied");
        }
    }
}

/// Z-66: an end of the process while a question is open answers it with no; nothing of the call runs, the turn is
/// closed once, and the model is told.
#[tokio::test(flavor = "multi_thread")]
async fn an_end_while_a_question_is_open_answers_it_with_no() {
    let place = Place::new(WRITES);
    let (first, session) = place.session(Mode::Interactive).await;
    let mut turn = Turn::start(&session, "go").await;
    let asked = turn.asked().await;
    // What a power cut would leave: the question was shown, so that its call is stored.
    let mut after = Place::new(r#"{"say": "I see.", "end": true}"#);
    copy(&place.root, &after.root);
    after.workspace.clone_from(&place.workspace);

    let engine = after.engine().await;
    let session = engine.session(session.id()).await.expect("it opens");
    let view = session.view().await.expect("it is open");
    assert!(view.pending.is_empty(), "{:?}", view.pending);
    let late = answer(&session, &asked, ApprovalAnswer::AllowOnce, Authority::NativeDialog).await;
    assert_eq!(late.expect_err("it was answered").code, cairn_protocol::ErrorCode::NotPending);
    let messages = stored(&engine, session.id()).await;
    let ends = messages.iter().filter_map(|it| match it.message.as_event() {
        Some(EventMsg::TurnEnd { status, .. }) => Some(*status),
        _ => None,
    });
    assert_eq!(ends.collect::<Vec<_>>(), [TurnStatus::Interrupted]);
    let told = outputs(messages.iter().map(|it| &it.message));
    assert_eq!(told, ["[not run: Cairn ended before this call was allowed]"]);
    assert_eq!(Turn::start(&session, "on").await.end().await, TurnStatus::Completed);
    assert!(!place.workspace.join("new.txt").exists());
    engine.close().await;
    first.close().await;
}

/// D-1, P-254: a switch of the model keeps the conversation, also when the app is started again after it.
#[tokio::test(flavor = "multi_thread")]
async fn d1_a_switch_of_the_model_keeps_the_conversation_over_a_restart() {
    let server = ModelServer::builder().otherwise(Reply::text(["Understood."])).start();
    let extra = |name: &str| ExtraProvider {
        entry: ProviderEntry {
            name: name.to_owned(),
            api: WireApi::Chat,
            base_url: server.base_url(),
            headers: BTreeMap::new(),
            models: vec![ModelEntry {
                model_id: "m".to_owned(),
                display_name: None,
                context_window: None,
                max_tokens: None,
                vision: false,
            }],
            key: KeySource::None,
        },
        key: None,
        script: None,
    };
    let model = |name: &str| ModelRef { provider: name.to_owned(), model_id: "m".to_owned() };
    let mut place = Place::new("");
    place.extra = vec![extra("one"), extra("two")];
    let (engine, session) = place.session(Mode::Interactive).await;
    session.set_model(model("one")).await.expect("it is connected");
    Turn::start(&session, "The word is heron.").await.end().await;
    session.set_model(model("two")).await.expect("it is connected");
    Turn::start(&session, "Another text.").await.end().await;
    engine.close().await;

    let engine = place.engine().await;
    let session = engine.session(session.id()).await.expect("it opens");
    Turn::start(&session, "Which word?").await.end().await;
    let requests = server.requests();
    assert_eq!(requests.len(), 3);
    for (number, texts) in [(1, 2), (2, 3)] {
        let body = requests[number].body.to_string();
        assert!(body.contains("The word is heron."), "request {number}: {body}");
        let users = requests[number].messages().iter().filter(|it| it["role"] == "user").count();
        assert_eq!(users, texts, "request {number}: {body}");
    }
    engine.close().await;
}
