use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};

use cairn_exec::{Error, TerminalOutput, Terminals};
use cairn_protocol::{TerminalId, TerminalSize, TerminalState, TerminalSummary, WorkspaceId};

use super::*;

const SIZE: TerminalSize = TerminalSize { cols: 80, rows: 24 };

fn open(terminals: &Terminals, scene: &Scene) -> TerminalSummary {
    terminals
        .open(&WorkspaceId::new("w"), &scene.workspace(), SIZE, &environment())
        .expect("it opens")
}

/// A viewer that draws, and so acknowledges, all at once.
struct Screen {
    text: Arc<Mutex<String>>,
    exit: Receiver<Option<i32>>,
}

fn watch(terminals: &Arc<Terminals>, id: &TerminalId) -> Screen {
    let text = Arc::new(Mutex::new(String::new()));
    let (sender, exit) = channel();
    let (shown, weak, own) = (Arc::clone(&text), Arc::downgrade(terminals), id.clone());
    let sink = move |output| {
        match output {
            TerminalOutput::Bytes(bytes) => {
                shown.lock().unwrap().push_str(&String::from_utf8_lossy(&bytes));
                if let Some(terminals) = weak.upgrade() {
                    terminals.ack(&own, bytes.len() as u64);
                }
            }
            TerminalOutput::Exited { code } => drop(sender.send(code)),
        }
        true
    };
    terminals.attach(id, Box::new(sink)).unwrap();
    Screen { text, exit }
}

impl Screen {
    #[track_caller]
    fn shows(&self, part: &str) {
        let shown = std::panic::AssertUnwindSafe(|| until(part, || self.text().contains(part)));
        if let Err(cause) = std::panic::catch_unwind(shown) {
            eprintln!("the screen shows {:?}", self.text());
            std::panic::resume_unwind(cause);
        }
    }

    #[track_caller]
    fn exits(&self, code: i32) {
        let exit = self.exit.recv_timeout(Duration::from_secs(10));
        assert_eq!(exit, Ok(Some(code)), "the screen shows {:?}", self.text());
    }

    fn text(&self) -> String {
        self.text.lock().unwrap().clone()
    }
}

#[test]
fn a_login_shell_runs_on_a_real_terminal_p233() {
    let (scene, terminals) = (Scene::new(), Terminals::new());
    let terminal = open(&terminals, &scene);
    assert_eq!((terminal.title.as_str(), &terminal.state), ("bash", &TerminalState::Running));
    let screen = watch(&terminals, &terminal.id);
    let type_in = |text: &str| terminals.write(&terminal.id, text.as_bytes()).unwrap();
    type_in(
        "echo \"$TERM|$COLORTERM|$0|$(stty size)|$(pwd)\"; shopt -q login_shell && echo lo''gin\n",
    );
    screen.shows(&format!("xterm-256color|truecolor|-bash|24 80|{}", scene.workspace().display()));
    screen.shows("login");
    terminals.resize(&terminal.id, TerminalSize { cols: 133, rows: 0 }).unwrap();
    type_in("stty size; sleep 77 & jobs; fg\n");
    screen.shows("1 133");
    screen.shows("Running");
    type_in("\u{3}");
    type_in("exit 6\n");
    screen.exits(6);
    assert_eq!(terminals.list()[0].state, TerminalState::Exited { code: Some(6) });
    let again = watch(&terminals, &terminal.id);
    again.shows("1 133");
    again.exits(6);
    terminals.close(&terminal.id);
    assert!(terminals.list().is_empty());
    assert!(matches!(terminals.write(&terminal.id, b"x"), Err(Error::Unknown(_))));
}

#[test]
fn closing_ends_the_whole_tree() {
    let (scene, terminals) = (Scene::new(), Terminals::new());
    let terminal = open(&terminals, &scene);
    let screen = watch(&terminals, &terminal.id);
    let script =
        "nohup setsid bash -c 'trap \"\" HUP TERM; sleep $W; sleep $W' & (sleep $W &); sleep $W\n";
    terminals.write(&terminal.id, script.replace("$W", &scene.word).as_bytes()).unwrap();
    until("the tree", || scene.processes() >= 3);
    drop(screen);
    let begin = Instant::now();
    terminals.close(&terminal.id);
    assert!(begin.elapsed() < Duration::from_millis(200), "closing waits for nothing");
    scene.wait_for_processes(0);
    assert!(begin.elapsed() < Duration::from_secs(2), "{:?}", begin.elapsed());
}

#[test]
fn twelve_may_be_open_and_all_close_together() {
    let (scene, terminals) = (Scene::new(), Terminals::new());
    let opened: Vec<_> = (0..12).map(|_| open(&terminals, &scene).id).collect();
    let refused = terminals.open(&WorkspaceId::new("w"), &scene.workspace(), SIZE, &environment());
    assert!(matches!(refused, Err(Error::TooMany { limit: 12 })));
    let listed: Vec<_> = terminals.list().into_iter().map(|terminal| terminal.id).collect();
    assert_eq!(listed, opened, "in the order of their opening");
    terminals.close_all();
    assert!(terminals.list().is_empty());
}

#[test]
fn a_hundred_megabytes_flow_with_a_bounded_window_d15() {
    let (scene, terminals) = (Scene::new(), Terminals::new());
    let terminal = open(&terminals, &scene);
    let file = scene.workspace().join("large");
    fs::write(
        &file,
        "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde\n".repeat(1_600_000),
    )
    .unwrap();
    let (sender, done) = channel();
    let (weak, id) = (Arc::downgrade(&terminals), terminal.id.clone());
    let (mut total, mut messages, mut largest, mut last) = (0_usize, 0_usize, 0, Vec::new());
    let sink = move |output| {
        if let TerminalOutput::Bytes(bytes) = output {
            (total, messages, largest) =
                (total + bytes.len(), messages + 1, largest.max(bytes.len()));
            last = [&last[last.len() - last.len().min(64)..], &bytes].concat();
            if let Some(terminals) = weak.upgrade() {
                terminals.ack(&id, bytes.len() as u64);
            }
            if last.windows(8).any(|part| part == b"all-read") {
                _ = sender.send((total, messages, largest));
            }
        }
        true
    };
    terminals.attach(&terminal.id, Box::new(sink)).unwrap();
    let begin = Instant::now();
    terminals.write(&terminal.id, b"cat large; echo all-'read'\n").unwrap();
    let (total, messages, largest) = done.recv_timeout(Duration::from_secs(120)).expect("it ends");
    println!("100 MB in {:?}, {messages} messages, peak {} KiB", begin.elapsed(), peak_kib());
    assert!(total > 100_000_000 && largest <= 64 * 1024, "{total} {largest}");
    assert!(messages < total / 4096, "{messages} messages");
}

fn peak_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn without_acknowledgement_the_reading_stops_and_then_goes_on_d15() {
    let (scene, terminals) = (Scene::new(), Terminals::new());
    let terminal = open(&terminals, &scene);
    let received = Arc::new(Mutex::new(Vec::<u8>::new()));
    let kept = Arc::clone(&received);
    let sink = move |output| {
        if let TerminalOutput::Bytes(bytes) = output {
            kept.lock().unwrap().extend(bytes);
        }
        true
    };
    terminals.attach(&terminal.id, Box::new(sink)).unwrap();
    terminals.write(&terminal.id, b"seq 300000; touch over; echo e''nd\n").unwrap();
    until("a full window", || received.lock().unwrap().len() == 256 * 1024);
    assert!(!scene.workspace().join("over").exists(), "the kernel holds the program up");
    terminals.write(&terminal.id, &vec![b'x'; 1 << 20]).unwrap();
    until("the end", || {
        terminals.ack(&terminal.id, 64 * 1024);
        scene.workspace().join("over").exists()
    });
    let text = String::from_utf8_lossy(&received.lock().unwrap()).replace('\r', "");
    assert!(text.contains("\n1000\n1001\n1002\n"), "nothing is lost in between");
}

#[test]
fn input_that_is_not_read_is_bounded_and_never_blocks() {
    let (scene, terminals) = (Scene::new(), Terminals::new());
    let terminal = open(&terminals, &scene);
    terminals.write(&terminal.id, b"stty raw -echo; touch ready; exec sleep 1000\n").unwrap();
    until("the program", || scene.workspace().join("ready").exists());
    let begin = Instant::now();
    let piece = vec![b'x'; 1 << 20];
    let results: Vec<bool> =
        (0..8).map(|_| terminals.write(&terminal.id, &piece).is_ok()).collect();
    assert!(results[0] && !results[7], "{results:?}");
    assert!(matches!(terminals.write(&terminal.id, &piece), Err(Error::Busy)));
    assert!(begin.elapsed() < Duration::from_secs(1));
    terminals.close_all();
}
