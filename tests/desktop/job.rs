//! From the first start to a turn taken back, and everything still there after a restart.

use std::fs;

use cairn_tests::desktop::{App, Desktop, wait_for};
use cairn_tests::model_server::{Call, ModelServer, Reply};
use serde_json::json;

const KEY: &str = "sk-test-key-of-the-desktop";

#[test]
fn the_whole_job() {
    let desktop = Desktop::start("job");
    let shop = desktop.folder("shop", &[("price.py", "PRICE = 10\n"), ("notes.txt", "mine\n")]);
    let server = ModelServer::builder().key(KEY).start();
    let app = desktop.launch();
    app.page().wait_for_text("See a turn undone before you trust it");
    desktop.shot("first-run");

    connect_model(&desktop, &app, &server);
    open_folder(&desktop, &app, &shop);
    run_task(&desktop, &app, &server, &shop);
    read_and_roll_back(&desktop, &app, &shop);
    use_terminal(&desktop, &app, &shop);
    stop_command(&desktop, &app, &server);
    app.close();

    let again = desktop.launch();
    let page = again.page();
    page.wait_for_text("The price is 12 now.");
    page.find("button", "Review: Turn 1");
    desktop.shot("after-restart");
    again.close();
}

fn open_folder(desktop: &Desktop, app: &App<'_>, folder: &std::path::Path) {
    app.page().press("Open a folder…");
    desktop.dialog("Open a folder").choose(&folder.display().to_string());
    app.page().find("textarea", "Message");
    desktop.shot("folder-open");
}

fn connect_model(desktop: &Desktop, app: &App<'_>, server: &ModelServer) {
    let page = app.page();
    page.press("Connect a model");
    page.press("Any endpoint");
    page.fill("Address", &server.base_url());
    page.fill("Key", KEY);
    page.find(".field-box input", "Model").keys("fake-model");
    desktop.shot("connect");
    server.push(Reply::text(["ok"]));
    let before = server.requests().len();
    page.press_in("button[type=submit]", "Test");
    let dialog = desktop.dialog("Connect this model?");
    desktop.shot("native-connect");
    assert_eq!(server.requests().len(), before, "nothing is sent before the answer");
    dialog.second();
    page.wait_for_text("Works");
    desktop.shot("connection-tested");
    page.press_in("button[type=submit]", "Save");
    page.wait_without_text("What the test showed");
    let stored = fs::read_dir(desktop.data()).expect("the data root").flatten();
    for file in stored.filter(|entry| entry.path().is_file()) {
        let bytes = fs::read(file.path()).expect("a file");
        let found = bytes.windows(KEY.len()).any(|part| part == KEY.as_bytes());
        assert!(!found, "the key lies in {}", file.path().display());
    }
}

fn run_task(desktop: &Desktop, app: &App<'_>, server: &ModelServer, shop: &std::path::Path) {
    let page = app.page();
    let read = json!({"file_path": "price.py"});
    let edit =
        json!({"file_path": "price.py", "old_string": "PRICE = 10", "new_string": "PRICE = 12"});
    let before = server.requests().len();
    server.push(Reply::text_and_calls("I change the price.", [Call::json("read_file", read)]));
    server.push(Reply::calls([Call::json("replace_in_file", edit)]));
    let shell = json!({"command": "touch made.txt", "description": "Makes a file"});
    server.push(Reply::calls([Call::json("run_shell", shell)]));
    // The rule that is stored then covers this one, which is not asked for.
    let again = json!({"command": "touch made.txt more.txt", "description": "Makes another"});
    server.push(Reply::calls([Call::json("run_shell", again)]));
    let denied = json!({"command": "rm notes.txt", "description": "Removes the notes"});
    server.push(Reply::calls([Call::json("run_shell", denied)]));
    server.push(Reply::text(["The price is ", "12 now."]));

    let composer = page.find("textarea", "Message");
    composer.keys("Set the price to 12");
    page.press("Send");
    page.find("article.card", "Approval: Change price.py?");
    desktop.shot("approval-edit");
    page.press_in("article.card button", "Allow once");

    page.wait_for_text("touch made.txt");
    page.press_in("article.card button", "Always allow…");
    let dialog = desktop.dialog("Always allow this?");
    desktop.shot("native-always");
    dialog.second();

    page.wait_for_text("rm notes.txt");
    page.press_in("article.card button", "Deny…");
    page.fill("Reason for the agent", "Keep my notes.");
    desktop.shot("deny-with-reason");
    page.press_in(".reason button", "Deny");
    page.wait_for_text("The price is 12 now.");

    let requests = server.wait_for_requests(before + 6);
    let last = requests[before + 5].body.to_string();
    assert!(last.contains("Keep my notes."), "the reason reached the model: {last}");
    page.find("button", "Review: Turn 1");
    desktop.shot("stone");
    assert_eq!(fs::read_to_string(shop.join("price.py")).expect("a file"), "PRICE = 12\n");
    assert!(shop.join("made.txt").exists() && shop.join("more.txt").exists());
    assert_eq!(fs::read_to_string(shop.join("notes.txt")).expect("a file"), "mine\n");
}

fn read_and_roll_back(desktop: &Desktop, app: &App<'_>, shop: &std::path::Path) {
    let page = app.page();
    page.press("Review: Turn 1");
    page.wait_for_text("PRICE = 12");
    page.wait_for_text("made.txt");
    desktop.shot("diff");
    page.press("Roll back this turn");
    page.wait_for_text("Delete. Created by this turn");
    desktop.shot("plan");
    assert_eq!(fs::read_to_string(shop.join("price.py")).expect("a file"), "PRICE = 12\n");
    page.press("Roll back 3 files");
    page.wait_for_text("Rolled back exactly.");
    desktop.shot("rolled-back");
    assert_eq!(fs::read_to_string(shop.join("price.py")).expect("a file"), "PRICE = 10\n");
    assert!(!shop.join("made.txt").exists() && !shop.join("more.txt").exists());
    assert_eq!(fs::read_to_string(shop.join("notes.txt")).expect("a file"), "mine\n");

    page.press_in("[role=dialog] button", "Bring back");
    wait_for("the files", || shop.join("made.txt").exists().then_some(()));
    wait_for("the price", || {
        let text = fs::read_to_string(shop.join("price.py")).expect("a file");
        (text == "PRICE = 12\n").then_some(())
    });
    page.press("Close changes");
    desktop.shot("brought-back");
}

fn use_terminal(desktop: &Desktop, app: &App<'_>, shop: &std::path::Path) {
    let page = app.page();
    page.press_in("[role=group] button", "Terminal");
    let dialog = desktop.dialog("Open terminals in this window?");
    desktop.shot("native-terminal");
    dialog.second();
    page.find("[role=tab]", "bash 1");
    page.find(".xterm", "").click();
    page.find(".xterm-helper-textarea", "")
        .keys("echo from-$((40+2)) > typed.txt; cat typed.txt\n");
    wait_for("what the terminal did", || {
        let text = fs::read_to_string(shop.join("typed.txt")).ok()?;
        (text == "from-42\n").then_some(())
    });
    desktop.shot("terminal");
    page.press("Hide the terminal");
}

fn stop_command(desktop: &Desktop, app: &App<'_>, server: &ModelServer) {
    let page = app.page();
    let sleep = json!({"command": "echo started; exec sleep 86399", "description": "Waits"});
    server.push(Reply::calls([Call::json("run_shell", sleep)]));
    server.push(Reply::text(["It was stopped."]));
    page.find("textarea", "Message").keys("Wait for long");
    page.press("Send");
    page.wait_for_text("exec sleep 86399");
    page.press_in("article.card button", "Allow once");
    wait_for("the command", || sleeper().then_some(()));
    desktop.shot("running-command");
    page.press("Stop command");
    wait_for("the end of the command", || (!sleeper()).then_some(()));
    page.wait_for_text("It was stopped.");
    desktop.shot("stopped-command");
}

/// Returns whether the command of [`stop_command`] runs.
fn sleeper() -> bool {
    let processes = fs::read_dir("/proc").expect("/proc is there").flatten();
    processes
        .filter_map(|entry| fs::read(entry.path().join("cmdline")).ok())
        .any(|line| line.split(|byte| *byte == 0).any(|word| word == b"86399"))
}
