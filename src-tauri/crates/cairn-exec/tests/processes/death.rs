use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use cairn_exec::{Commands, Terminals};
use cairn_protocol::{TerminalSize, WorkspaceId};

use super::*;

const HELPER: &str = "CAIRN_TEST_HELPER";

/// Not a test by itself: started by the one below, it plays the app that is killed.
#[test]
fn app() {
    let Ok(word) = std::env::var(HELPER) else { return };
    let scene = Scene { word, ..Scene::new() };
    let (commands, terminals) = (Commands::new(), Terminals::new());
    let runtime = tokio::runtime::Runtime::new().unwrap();
    for policy in BOTH {
        let script = "setsid bash -c 'trap \"\" TERM HUP; sleep $W; sleep $W' & (sleep $W &); sleep $W; sleep $W";
        runtime.block_on(commands.spawn(scene.spec(&policy, script))).unwrap();
    }
    let size = TerminalSize { cols: 80, rows: 24 };
    let terminal =
        terminals.open(&WorkspaceId::new("w"), &scene.workspace(), size, &environment()).unwrap();
    let typed = format!("nohup setsid sleep {0} & sleep {0}\n", scene.word);
    terminals.write(&terminal.id, typed.as_bytes()).unwrap();
    until("all of them", || scene.processes() >= 8);
    println!("\nready");
    loop {
        std::thread::park();
    }
}

#[test]
fn nothing_survives_when_the_app_is_killed_proc005() {
    let scene = Scene::new();
    let mut app = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "death::app", "--nocapture"])
        .env(HELPER, &scene.word)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(app.stdout.take().unwrap()).lines();
    assert!(lines.map_while(Result::ok).any(|line| line == "ready"));
    assert!(scene.processes() >= 8);
    app.kill().unwrap();
    let begin = Instant::now();
    app.wait().unwrap();
    scene.wait_for_processes(0);
    assert!(begin.elapsed() < Duration::from_secs(2), "{:?}", begin.elapsed());
}
