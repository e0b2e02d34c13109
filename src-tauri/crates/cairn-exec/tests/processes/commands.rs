use std::sync::Arc;

use cairn_exec::{Commands, Error, ExitStatus, Running};

use super::*;

/// Six processes in three shapes that try to get away, and one that stays.
const ESCAPE: &str = "for i in 1 2; do setsid nohup bash -c 'trap \"\" TERM HUP INT; sleep $W & wait; sleep $W' & done
    (bash -c 'sleep $W & disown -a' &) ; trap '' TERM; sleep $W; sleep $W";

async fn output(running: &Running) -> String {
    let mut bytes = Vec::new();
    while let Some(more) = running.next_output().await {
        bytes.extend(more);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

async fn start(
    commands: &Commands,
    scene: &Scene,
    policy: &SandboxPolicy,
    script: &str,
) -> Arc<Running> {
    commands.spawn(scene.spec(policy, script)).await.expect("it starts")
}

fn exit(code: i32) -> ExitStatus {
    ExitStatus { code: Some(code), signal: None }
}

#[tokio::test]
async fn both_streams_come_merged_and_in_order_p81() {
    let (scene, commands) = (Scene::new(), Commands::new());
    for policy in BOTH {
        let script = "echo one; echo two >&2; echo three; read -r x || echo no input; pwd; exit 3";
        let running = start(&commands, &scene, &policy, script).await;
        assert_eq!(running.confined(), policy.is_confined());
        let expected = format!("one\ntwo\nthree\nno input\n{}\n", scene.workspace().display());
        assert_eq!(output(&running).await, expected);
        assert_eq!(running.wait().await, exit(3));
        assert_eq!(running.next_output().await, None);
        let id = running.id().as_str();
        assert!(id.starts_with("proc-") && id.len() == 13 && commands.get(running.id()).is_some());
    }
    assert_eq!(commands.list().len(), 2);
    let first = commands.list().remove(0);
    assert!(first.confined && commands.forget(&first.id) && commands.list().len() == 1);
}

#[tokio::test]
async fn a_signal_is_told_apart_from_a_code() {
    let (scene, commands) = (Scene::new(), Commands::new());
    let running = start(&commands, &scene, &SandboxPolicy::Unconfined, "kill -SEGV $$").await;
    assert_eq!(running.wait().await, ExitStatus { code: None, signal: Some(libc::SIGSEGV) });
    let running = start(&commands, &scene, &SandboxPolicy::CONFINED, "kill -SEGV $$").await;
    assert_eq!(
        running.wait().await,
        exit(128 + libc::SIGSEGV),
        "bubblewrap passes it on as a code"
    );
}

#[tokio::test]
async fn a_command_ends_with_its_process_not_with_its_pipe_proc003() {
    let (scene, commands) = (Scene::new(), Commands::new());
    for policy in BOTH {
        let begin = Instant::now();
        let script = "sleep $W & setsid sleep $W & echo done";
        let running = start(&commands, &scene, &policy, script).await;
        assert_eq!(output(&running).await, "done\n");
        assert!(begin.elapsed() < Duration::from_millis(2500), "{:?}", begin.elapsed());
        scene.wait_for_processes(0);
    }
}

#[tokio::test]
async fn killing_ends_the_whole_tree_proc001_proc002() {
    let (scene, commands) = (Scene::new(), Commands::new());
    for policy in BOTH {
        let running = start(&commands, &scene, &policy, ESCAPE).await;
        until("the tree", || scene.processes() >= 4);
        let begin = Instant::now();
        running.kill().await;
        assert!(running.status().is_some());
        assert!(begin.elapsed() < Duration::from_secs(2), "{policy:?}: {:?}", begin.elapsed());
        assert_eq!(scene.processes(), 0, "{policy:?}");
    }
}

#[tokio::test]
async fn programs_may_clean_up_first_proc010() {
    let (scene, commands) = (Scene::new(), Commands::new());
    for policy in BOTH {
        let script = "trap 'echo cleaned; exit 5' TERM; echo ready; sleep $W & wait";
        let running = start(&commands, &scene, &policy, script).await;
        assert_eq!(running.next_output().await.as_deref(), Some(b"ready\n".as_slice()));
        scene.wait_for_processes(1);
        let begin = Instant::now();
        running.kill().await;
        assert!(begin.elapsed() < Duration::from_millis(900));
        assert_eq!(running.status(), Some(exit(5)));
        assert_eq!(output(&running).await, "cleaned\n");
    }
}

#[tokio::test]
async fn an_interrupt_reaches_the_program_and_not_the_sandbox_p82() {
    let (scene, commands) = (Scene::new(), Commands::new());
    for policy in BOTH {
        let script = "trap 'echo interrupted; seen=1' INT; sleep $W & echo ready
            until [ \"$seen\" ]; do sleep 0.05; done; echo on";
        let running = start(&commands, &scene, &policy, script).await;
        assert_eq!(running.next_output().await.as_deref(), Some(b"ready\n".as_slice()));
        running.interrupt().await;
        assert_eq!(output(&running).await, "interrupted\non\n", "{policy:?}");
        assert_eq!(running.wait().await, exit(0));
        scene.wait_for_processes(0);
    }
}

#[tokio::test]
async fn what_is_left_is_found_when_the_guard_itself_was_killed() {
    let (scene, commands) = (Scene::new(), Commands::new());
    let script = "setsid sleep $W & setsid sleep $W & kill -9 $PPID; sleep $W";
    let running = start(&commands, &scene, &SandboxPolicy::Unconfined, script).await;
    assert_eq!(running.wait().await.signal, Some(libc::SIGKILL));
    scene.wait_for_processes(0);
}

#[tokio::test]
async fn ending_a_session_ends_all_p85() {
    let scene = Scene::new();
    for drop_only in [false, true] {
        let commands = Commands::new();
        for policy in BOTH {
            start(&commands, &scene, &policy, ESCAPE).await;
        }
        until("both trees", || scene.processes() >= 8);
        if !drop_only {
            commands.kill_all().await;
            assert_eq!(scene.processes(), 0);
            assert!(commands.list().is_empty());
        }
        drop(commands);
        scene.wait_for_processes(0);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_is_bounded_and_its_end_is_kept_p84() {
    let (scene, commands) = (Scene::new(), Commands::new());
    let script = "yes 0123456789abcde | head -c 50000000; echo; echo the end";
    let running = start(&commands, &scene, &SandboxPolicy::CONFINED, script).await;
    running.wait().await;
    let text = output(&running).await;
    assert!(
        text.starts_with('[') && text[..60].contains(" bytes of output dropped]\n"),
        "{}",
        &text[..60]
    );
    assert!(text.ends_with("\nthe end\n") && text.len() <= 1024 * 1024 + 60);
}

#[tokio::test]
async fn sixty_four_are_kept_and_the_ended_go_first_p85() {
    let (scene, commands) = (Scene::new(), Commands::new());
    let long = start(&commands, &scene, &SandboxPolicy::Unconfined, "exec sleep $W").await;
    for _ in 0..70 {
        start(&commands, &scene, &SandboxPolicy::Unconfined, "true").await.wait().await;
    }
    assert_eq!(commands.list().len(), 64);
    assert!(commands.get(long.id()).is_some(), "it is oldest, but it runs");
    commands.kill_all().await;
}

#[tokio::test]
async fn a_command_that_cannot_start_says_so_proc012_p08() {
    let (scene, commands) = (Scene::new(), Commands::new());
    let huge = format!(": {}", "x".repeat(4 << 20));
    let error =
        commands.spawn(scene.spec(&SandboxPolicy::CONFINED, &huge)).await.expect_err("too long");
    assert!(
        matches!(&error, Error::Start { source, .. } if source.raw_os_error() == Some(libc::E2BIG)),
        "{error:?}"
    );
    let mut spec = scene.spec(&SandboxPolicy::CONFINED, "echo ran");
    spec.workspace = "/".into();
    spec.cwd = "/".into();
    assert!(matches!(commands.spawn(spec).await, Err(Error::Sandbox(_))));
    assert!(commands.list().is_empty());
}

#[tokio::test]
async fn many_short_commands_leave_nothing_behind_proc008() {
    let (scene, commands) = (Scene::new(), Commands::new());
    let descriptors = || fs::read_dir("/proc/self/fd").unwrap().count();
    let mut before = 0;
    for round in 0..60 {
        let running = start(&commands, &scene, &BOTH[round % 2], "true").await;
        running.wait().await;
        commands.forget(running.id());
        if round == 10 {
            before = descriptors();
        }
    }
    // Other tests run beside this one and hold some.
    assert!(descriptors() < before + 40, "{before} then {}", descriptors());
    let me = std::process::id().to_string();
    until("no zombies", || {
        let zombie = |stat: &Vec<u8>| {
            let text = String::from_utf8_lossy(stat);
            let mut fields = text.rsplit(')').next().unwrap_or_default().split_whitespace();
            fields.next() == Some("Z") && fields.next() == Some(&me)
        };
        !process_files("stat").iter().any(zombie)
    });
}

/// A parent-death signal follows the thread that spawned: it must not be a worker.
#[test]
fn the_thread_that_asked_may_end_proc006() {
    let (scene, commands) = (Scene::new(), Commands::new());
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    for policy in BOTH {
        let spec = scene.spec(&policy, "echo ready; sleep 0.3; exit 4");
        let (commands, handle) = (Arc::clone(&commands), runtime.handle().clone());
        let thread = std::thread::spawn(move || handle.block_on(commands.spawn(spec)).unwrap());
        let running = thread.join().unwrap();
        assert_eq!(runtime.block_on(running.wait()), exit(4), "{policy:?}");
    }
}
