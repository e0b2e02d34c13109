//! What the page can't do by itself, and what the native side asks before it is done.

use std::fs;

use cairn_tests::desktop::{App, Desktop, Dialog, Page, wait_for};
use cairn_tests::model_server::ModelServer;
use serde_json::{Value, json};

/// Calls a command as code in the page could, and returns `{ok}` or `{error}`.
fn invoke(page: &Page<'_>, command: &str, arguments: Value) -> Value {
    page.run(
        "window.__told = null;
        window.__TAURI_INTERNALS__.invoke(arguments[0], arguments[1]).then(
            (ok) => { window.__told = { ok: ok ?? null }; },
            (error) => { window.__told = { error: error ?? null }; });",
        json!([command, arguments]),
    );
    told(page, command)
}

fn told(page: &Page<'_>, command: &str) -> Value {
    wait_for(command, || {
        Some(page.run("return window.__told", json!([]))).filter(|it| !it.is_null())
    })
}

#[test]
fn the_page_alone_can_not_widen_leave_or_load() {
    let desktop = Desktop::start("safety");
    let app = desktop.launch();
    let page = app.page();
    page.wait_for_text("See a turn undone before you trust it");

    // 3.12: what is not granted is not there for the page.
    for command in
        ["plugin:dialog|open", "plugin:window|close", "plugin:app|version", "plugin:shell|open"]
    {
        let answer = invoke(&page, command, json!({}));
        assert!(answer.get("error").is_some(), "{command}: {answer}");
    }
    // 3.12: no code, picture or connection from elsewhere; the page stays where it is.
    page.run(
        "window.__broken = [];
         document.addEventListener('securitypolicyviolation', (it) => window.__broken.push(it.effectiveDirective));
         new Image().src = 'http://127.0.0.1:9/a.png';
         fetch('http://127.0.0.1:9/').catch(() => undefined);
         // Trusted types say no to both at once.
         window.__refused = 0;
         const script = document.createElement('script');
         try { script.text = 'window.__ran = true'; document.body.append(script); } catch { window.__refused += 1; }
         try { document.body.insertAdjacentHTML('beforeend', '<b>x</b>'); } catch { window.__refused += 1; }",
        json!([]),
    );
    wait_for("the policy", || {
        let broken = page.run("return window.__broken.join(' ')", json!([]));
        let broken = broken.as_str().unwrap_or_default();
        let all = ["img-src", "connect-src"].iter().all(|it| broken.contains(it));
        all.then_some(())
    });
    assert_eq!(page.run("return window.__ran ?? false", json!([])), json!(false));
    assert_eq!(page.run("return window.__refused", json!([])), json!(2));
    page.run("location.href = 'https://example.com/'", json!([]));
    assert_eq!(page.run("return window.open", json!([])), Value::Null);
    let frozen =
        "try { Object.prototype.evil = 1; } catch { /* strict code */ } return ({}).evil ?? null";
    assert_eq!(page.run(frozen, json!([])), Value::Null);
    page.wait_for_text("See a turn undone before you trust it");

    settings_are_asked_for(&desktop, &app);
    links_are_asked_for(&desktop, &app);
    connections_are_asked_for(&desktop, &app);
    terminals_and_deletions_are_asked_for(&desktop, &app);
    app.close();
}

/// D-6: a setting that widens is decided natively; Enter and Escape change nothing.
fn settings_are_asked_for(desktop: &Desktop, app: &App<'_>) {
    let page = app.page();
    let state = invoke(&page, "plugin:cairn|state", json!({"params": {}}));
    let mut wanted = state["ok"]["settings"].clone();
    wanted["shellPolicy"] = json!("all");
    let save = "window.__told = null;
        window.__TAURI_INTERNALS__.invoke('plugin:settings|save', { params: { settings: arguments[0] } })
          .then((ok) => { window.__told = { ok }; }, (error) => { window.__told = { error }; });";
    page.run(save, json!([wanted]));
    desktop.dialog("Let more run without asking?").enter();
    assert_eq!(told(&page, "save")["ok"]["shellPolicy"], "approve");
    page.run(save, json!([wanted]));
    desktop.dialog("Let more run without asking?").escape();
    assert_eq!(told(&page, "save")["ok"]["shellPolicy"], "approve");
    page.run(save, json!([wanted]));
    desktop.dialog("Let more run without asking?").second();
    assert_eq!(told(&page, "save")["ok"]["shellPolicy"], "all");
}

/// D-14: an address full of signs that GTK would read as a format is shown, not obeyed.
fn links_are_asked_for(desktop: &Desktop, app: &App<'_>) {
    let page = app.page();
    let open = "window.__told = null;
        window.__TAURI_INTERNALS__.invoke('plugin:cairn|open_link', { params: { url: arguments[0] } })
          .then((ok) => { window.__told = { ok }; }, (error) => { window.__told = { error }; });";
    page.run(open, json!(["https://example.com/%s%n%s%x?q=_a_&b=<b>"]));
    let dialog = desktop.dialog("Open this address outside Cairn?");
    desktop.shot("link");
    dialog.escape();
    assert_eq!(told(&page, "open_link")["error"]["code"], "declined");
    page.run(open, json!(["file:///etc/passwd"]));
    assert_eq!(told(&page, "open_link")["error"]["code"], "invalid");
}

/// Begins a command as code in the page could, and returns without waiting for it.
fn begin(page: &Page<'_>, command: &str, params: &Value) {
    page.run(
        "window.__told = null;
        window.__TAURI_INTERNALS__.invoke(arguments[0], { params: arguments[1] }).then(
            (ok) => { window.__told = { ok: ok ?? null }; }, (error) => { window.__told = { error }; });",
        json!([command, params]),
    );
}

/// Begins a command that must be asked for natively, and says no once by each safe key.
fn refused(desktop: &Desktop, app: &App<'_>, command: &str, params: &Value, title: &str) {
    let page = app.page();
    for key in [Dialog::enter, Dialog::escape] {
        begin(&page, command, params);
        key(desktop.dialog(title));
        assert_eq!(told(&page, command)["error"]["code"], "declined", "{command}");
    }
}

/// D-6: the page can't send anything to an address of its own, nor take a provider or its key away.
fn connections_are_asked_for(desktop: &Desktop, app: &App<'_>) {
    let page = app.page();
    let server = ModelServer::builder().start();
    let draft = json!({"draft": {
        "name": "evil", "api": "chat", "baseUrl": server.base_url(), "modelId": "m",
        "headers": {}, "key": "sk-of-the-page", "fallback": "file",
    }});
    refused(desktop, app, "plugin:provider|test", &draft, "Connect this model?");
    refused(desktop, app, "plugin:provider|save", &draft, "Connect this model?");
    assert!(server.requests().is_empty(), "a request went out");
    let state = invoke(&page, "plugin:cairn|state", json!({"params": {}}));
    assert!(!state.to_string().contains("evil"), "{state}");

    begin(&page, "plugin:provider|save", &draft);
    let dialog = desktop.dialog("Connect this model?");
    desktop.shot("connect-a-model");
    dialog.second();
    assert!(told(&page, "save").get("ok").is_some());
    let params = json!({"name": "evil"});
    refused(desktop, app, "plugin:provider|delete", &params, "Remove this provider?");

    let mut settings = invoke(&page, "plugin:cairn|state", json!({"params": {}}));
    let mut settings = settings["ok"]["settings"].take();
    settings["snapshots"] = json!("off");
    begin(&page, "plugin:settings|save", &json!({"settings": settings}));
    desktop.dialog("Stop capturing turns?").escape();
    assert_eq!(told(&page, "save")["ok"]["snapshots"], "shadow");
}

/// D-6: what is typed in a terminal runs unconfined, and a deleted session is gone.
fn terminals_and_deletions_are_asked_for(desktop: &Desktop, app: &App<'_>) {
    let page = app.page();
    let tour = invoke(&page, "plugin:workspace|start_tour", json!({}));
    let summary = &tour["ok"]["summary"];
    let terminal = json!({"workspaceId": summary["workspaceId"], "size": {"cols": 80, "rows": 24}});
    let title = "Open terminals in this window?";
    refused(desktop, app, "plugin:terminal|open", &terminal, title);
    let list = invoke(&page, "plugin:terminal|list", json!({}));
    assert_eq!(list["ok"], json!([]));
    let session = json!({"sessionId": summary["id"]});
    refused(desktop, app, "plugin:session|delete", &session, "Delete this session?");
}

/// The tour needs no model; a turn of it that waits is one that quitting must ask about (P-250).
#[test]
fn quitting_while_a_turn_runs_asks_and_nothing_is_lost() {
    let desktop = Desktop::start("quit");
    let app = desktop.launch();
    app.page().press("Try it: Start");
    app.page().find("textarea", "Message").keys("Show me");
    app.page().press("Send");
    app.page().find("article.card", "Approval");
    let process = app.process();
    app.ask_to_close();
    desktop.dialog("Stop what is running?").enter();
    app.page().find("article.card", "Approval");
    assert!(fs::exists(format!("/proc/{process}")).expect("/proc"), "Cancel keeps it running");

    // A second start hands over to the first one and ends by itself.
    let second = desktop.command(app.binary()).status().expect("the app starts");
    assert!(second.success());

    app.ask_to_close();
    let dialog = desktop.dialog("Stop what is running?");
    desktop.shot("quit");
    dialog.second();
    app.wait_for_end();

    let again = desktop.launch();
    again.page().wait_for_text("Show me");
    // Killed without warning: the next start has it all again.
    again.kill();
    let third = desktop.launch();
    third.page().wait_for_text("Show me");
    third.close();
}
