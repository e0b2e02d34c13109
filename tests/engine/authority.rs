//! What the window alone can't have done, whatever the shell does (D-6, security plan 1.4 P12): the check is
//! the engine's. Approvals are in `approvals.rs`; the dialogs themselves in `tests/desktop/safety.rs`.

use std::collections::BTreeMap;
use std::fs;

use cairn_engine::{Authority, ConnectionConsent, Engine, KeyUse};
use cairn_protocol::{
    CheckOutcome, ErrorCode, ErrorInfo, KeyFallback, KeySource, KeychainState, Mode, ProviderDraft,
    Secret, Settings, ShellPolicy, SnapshotMode, TerminalSize, WireApi,
};
use cairn_tests::model_server::{ModelServer, Reply};

use crate::place::Place;

const SIZE: TerminalSize = TerminalSize { cols: 80, rows: 24 };

fn draft(base_url: &str) -> ProviderDraft {
    ProviderDraft {
        name: "mine".to_owned(),
        api: WireApi::Chat,
        base_url: base_url.to_owned(),
        model_id: "fake-model".to_owned(),
        context_window: None,
        headers: BTreeMap::new(),
        key: None,
        fallback: KeyFallback::Memory,
    }
}

#[track_caller]
fn declined<T>(result: Result<T, ErrorInfo>, what: &str) {
    match result {
        Ok(_) => panic!("the window alone: {what}"),
        Err(error) => assert_eq!(error.code, ErrorCode::Declined, "{what}: {}", error.message),
    }
}

async fn consent(engine: &Engine, draft: &ProviderDraft) -> Option<ConnectionConsent> {
    engine.connection_consent(draft).await.expect("the draft makes sense")
}

/// D-6: every setting that widens or can't be taken back, one at a time, with each authority.
#[tokio::test(flavor = "multi_thread")]
async fn d6_settings_that_widen_need_more_than_the_window() {
    let start = Settings { native_approvals: true, ..Settings::default() };
    type Case = (&'static str, fn(&mut Settings), bool);
    let cases: [Case; 8] = [
        ("commands run", |it| it.shell_policy = ShellPolicy::All, true),
        ("commands that stay run", |it| it.shell_policy = ShellPolicy::Workspace, true),
        ("confined commands run", |it| it.shell_policy = ShellPolicy::Sandbox, true),
        ("approvals in the window", |it| it.native_approvals = false, true),
        ("turns not captured", |it| it.snapshots = SnapshotMode::Off, true),
        ("a longer turn", |it| it.max_iterations = 900, false),
        ("larger text", |it| it.text_scale = 1.5, false),
        ("another mode", |it| it.default_mode = Mode::Plan, false),
    ];
    for (name, change, widens) in cases {
        for authority in [Authority::Window, Authority::NativeDialog, Authority::Headless] {
            let place = Place::new("");
            let engine = place.engine().await;
            engine.save_settings(start.clone(), Authority::Window).await.expect("it narrows");
            let mut wanted = start.clone();
            change(&mut wanted);
            let result = engine.save_settings(wanted.clone(), authority).await;
            if widens && authority == Authority::Window {
                declined(result, name);
                assert_eq!(engine.settings(), start, "{name}");
            } else {
                assert_eq!(result.expect("it is saved"), wanted, "{name}");
                // The way back narrows, and the window may always narrow.
                engine.save_settings(start.clone(), Authority::Window).await.expect(name);
            }
        }
    }
}

/// D-6: nothing is sent to, and nothing stored for, an address that the user has not agreed to.
#[tokio::test(flavor = "multi_thread")]
async fn d6_an_address_is_agreed_to_before_anything_is_sent_there() {
    let place = Place::new("");
    let engine = place.engine().await;
    let server = ModelServer::builder().otherwise(Reply::text(["ok"])).start();
    let draft = draft(&server.base_url());
    declined(engine.test_provider(&draft).await, "a test");
    declined(engine.save_provider(draft.clone()).await, "a save");
    let shown = consent(&engine, &draft).await.expect("it is new");
    declined(engine.agree_to_connection(shown.clone(), Authority::Window), "an agreement");
    declined(engine.test_provider(&draft).await, "a test after that");
    assert!(server.requests().is_empty(), "a request went out");
    assert!(!engine.providers().iter().any(|entry| entry.name == "mine"));

    assert_eq!((shown.base_url.as_str(), shown.key), (draft.base_url.as_str(), KeyUse::None));
    engine.agree_to_connection(shown, Authority::NativeDialog).expect("the dialog can");
    // One agreement is enough to test and to save; but only for what was shown.
    let elsewhere =
        ProviderDraft { base_url: format!("{}/tenant", draft.base_url), ..draft.clone() };
    declined(engine.test_provider(&elsewhere).await, "another path");
    let forwarded = BTreeMap::from([("x-forward-to".to_owned(), "https://b.example".to_owned())]);
    let forwarded = ProviderDraft { headers: forwarded, ..draft.clone() };
    declined(engine.save_provider(forwarded.clone()).await, "another header");
    let tested = engine.test_provider(&draft).await.expect("it is agreed");
    assert!(tested.checks.iter().all(|check| check.outcome != CheckOutcome::Failed), "{tested:?}");
    engine.save_provider(draft.clone()).await.expect("it is agreed");

    // A stored address needs no second word, for another model neither; with other headers it does.
    let another = ProviderDraft { model_id: "second-model".to_owned(), ..draft };
    engine.save_provider(another).await.expect("the address is known");
    declined(engine.save_provider(forwarded).await, "another header under a stored provider");

    declined(engine.delete_provider("mine", Authority::Window).await, "a removal");
    engine.delete_provider("mine", Authority::NativeDialog).await.expect("the dialog can");
}

/// D-9, security plan 3.13: a key is written to a file, or lost for another one, by the user's word only, and
/// never follows its provider to another address.
#[tokio::test(flavor = "multi_thread")]
async fn d6_a_stored_key_stays_with_its_address() {
    let place = Place::new("");
    let table = "[[provider]]\nname = \"mine\"\napi = \"chat\"\nbaseUrl = \"https://a.example/v1\"\n\
                 models = [{ modelId = \"fake-model\" }]\nkey = { kind = \"env\", variable = \"MINE\" }\n";
    fs::create_dir_all(&place.root).expect("a folder is made");
    fs::write(place.root.join("providers.toml"), table).expect("a file is written");
    let engine = place.engine().await;
    let known = engine.providers().into_iter().find(|entry| entry.name == "mine");
    let known = known.expect("the table is read");
    assert_eq!(known.key, KeySource::Env { variable: "MINE".to_owned() });

    assert_eq!(consent(&engine, &draft("https://a.example/v1/")).await, None, "as it is stored");
    for elsewhere in ["https://b.example/v1", "https://a.example/v2", "http://a.example/v1"] {
        let error = engine.connection_consent(&draft(elsewhere)).await.expect_err(elsewhere);
        assert_eq!(error.code, ErrorCode::Invalid, "{elsewhere}");
        assert!(engine.save_provider(draft(elsewhere)).await.is_err(), "{elsewhere}");
    }
    assert!(engine.providers().contains(&known), "nothing was changed");

    let typed = |base_url, fallback| ProviderDraft {
        key: Some(Secret::new("sk-other")),
        fallback,
        ..draft(base_url)
    };
    let replaced = typed("https://a.example/v1", KeyFallback::Memory);
    let shown = consent(&engine, &replaced).await.expect("the stored key would be lost");
    assert_eq!((shown.new_address, shown.key), (false, KeyUse::Replaced));
    declined(engine.save_provider(replaced).await, "another key");
    let to_file = ProviderDraft {
        name: "new".to_owned(),
        ..typed("https://a.example/v1", KeyFallback::File)
    };
    let shown = consent(&engine, &to_file).await;
    match engine.state().await.expect("it has a state").keychain {
        KeychainState::Available => assert_eq!(shown, None, "the keychain takes it"),
        KeychainState::Unavailable { .. } => {
            let shown = shown.expect("a file is asked for");
            assert_eq!(shown.key_file, Some(place.root.join("secrets.json")));
            declined(engine.save_provider(to_file).await, "a key in a file");
            assert!(!place.root.join("secrets.json").exists());
        }
    }
}

/// D-6: what runs without confinement, and what can't be had back.
#[tokio::test(flavor = "multi_thread")]
async fn d6_terminals_and_deletions_need_more_than_the_window() {
    let place = Place::new("");
    let (engine, session) = place.session(Mode::Interactive).await;
    let workspace = session.view().await.expect("it is open").summary.workspace_id;
    declined(engine.open_terminal(&workspace, SIZE).await, "a terminal");
    declined(engine.agree_to_terminals(Authority::Window), "terminals");
    assert!(engine.terminals().list().is_empty());
    engine.agree_to_terminals(Authority::NativeDialog).expect("the dialog can");
    engine.open_terminal(&workspace, SIZE).await.expect("it opens");

    declined(engine.delete_session(session.id(), Authority::Window).await, "a deletion");
    assert_eq!(engine.sessions().await.expect("they are listed").len(), 1);
    let auto = engine.create_session(&workspace, None, Some(Mode::Auto), Authority::Window).await;
    declined(auto, "a session in mode auto");
    engine.close().await;
}
