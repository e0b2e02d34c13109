use cairn_protocol::{StopReason, ToolCallOutput};
use serde_json::json;
use tokio::sync::mpsc;

use crate::testing::Bench;

#[track_caller]
fn check(output: &ToolCallOutput, status: StopReason, text: &str) {
    assert_eq!((output.stop_reason, output.output.as_str()), (Some(status), text));
}

#[tokio::test]
async fn p_81_output_and_exit_code() {
    let bench = Bench::new();
    bench.put("sub/x", "");
    let output = bench.call("run_shell", json!({ "command": "echo out; echo err >&2; pwd" })).await;
    check(
        &output,
        StopReason::Completed,
        &format!("out\nerr\n{}\n", bench.ctx.workspace.display()),
    );
    let details = output.details.unwrap();
    assert_eq!((details.exit_code, details.summary.as_deref()), (Some(0), Some("3 lines")));
    assert_eq!(details.confined, Some(false));
    let output =
        bench.call("run_shell", json!({ "command": "echo a; exit 7", "cwd": "sub" })).await;
    check(&output, StopReason::Failed, "a\n[exit code: 7]");
    let output = bench.call("exec_command", json!({ "cmd": "kill -9 $$", "workdir": "." })).await;
    check(&output, StopReason::Failed, "[no output]\n[ended by signal 9 (SIGKILL)]");
    let output = bench.call("run_shell", json!({ "command": "true" })).await;
    check(&output, StopReason::Completed, "[no output]");
}

#[test]
fn the_command_is_shown_as_it_will_run() {
    let bench = Bench::new();
    let command = "echo 'a'\n  rm x\u{202e}";
    let prepared =
        bench.prepare("run_shell", json!({ "command": command, "timeout_ms": 5 })).unwrap();
    let planned = prepared.effects.command.clone().unwrap();
    assert_eq!(
        (planned.command.as_str(), planned.timeout_ms, planned.background),
        (command, Some(5), false)
    );
    assert_eq!(planned.cwd.relative.as_deref(), Some("."));
    assert_eq!(prepared.effects.title, "Run echo 'a' …");
    let refused = |arguments| bench.refused("run_shell", arguments);
    assert_eq!(refused(json!({ "command": " " })), "`command` is empty.");
    assert_eq!(refused(json!({ "command": "a\0b" })), "`command` contains a NUL character.");
    assert!(refused(json!({ "command": "x".repeat(200_000) })).contains("longer than 128 KiB"));
    assert!(
        refused(json!({ "command": "ls", "cwd": "none" })).starts_with("`none` does not exist.")
    );
}

#[tokio::test]
async fn escapes_are_not_for_the_model() {
    let bench = Bench::new();
    let command = r"printf '\033[31mred\033[0m\r\n10%%\r99%%\n\377'";
    let output = bench.call("run_shell", json!({ "command": command })).await;
    check(&output, StopReason::Completed, "red\n99%\n\u{fffd}");
}

#[tokio::test]
async fn p_71_a_timeout_ends_the_tree_and_keeps_the_output() {
    let bench = Bench::new();
    let command = "echo begun; sleep 1000 & sleep 1000";
    let output = bench.call("run_shell", json!({ "command": command, "timeout_ms": 400 })).await;
    check(&output, StopReason::Timeout, "begun\n[timed out after 400 ms]");
    assert!(bench.ctx.commands.list().is_empty());
}

#[tokio::test]
async fn p_70_a_stop_ends_the_command() {
    let bench = Bench::new();
    let prepared =
        bench.prepare("run_shell", json!({ "command": "echo begun; exec sleep 1000" })).unwrap();
    let (sink, mut live) = mpsc::channel(4);
    let stop = async {
        assert_eq!(live.recv().await.as_deref(), Some("begun\n"));
        bench.cancel.cancel();
    };
    let (output, ()) = tokio::join!(bench.run_with(prepared, sink), stop);
    check(&output, StopReason::Aborted, "begun\n[stopped by the user]");
}

#[tokio::test]
async fn g_26_a_long_log_shows_its_end_and_is_saved() {
    let bench = Bench::new();
    let output =
        bench.call("run_shell", json!({ "command": "seq 1 100000; echo the error; exit 1" })).await;
    assert_eq!(output.stop_reason, Some(StopReason::Failed));
    let text = output.output;
    assert!(text.starts_with("1\n2\n3\n"));
    assert!(text.contains("characters left out …]"));
    assert!(text.contains("\nthe error\n[output truncated: exceeded 16000 chars]\n[whole output saved; read it in parts: "), "{}", &text[text.len() - 400..]);
    assert!(text.ends_with("[exit code: 1]"));
    assert!(text.chars().count() < 16_500);
    let archive = output.details.unwrap().archive.unwrap();
    let whole = std::fs::read_to_string(&archive).unwrap();
    assert!(whole.starts_with("1\n2\n") && whole.ends_with("99999\n100000\nthe error\n"));
    // The model can read it.
    let part = bench.text("read_file", json!({ "file_path": archive, "offset": 100_001 })).await;
    assert_eq!(part, "100001\tthe error\n");
}

#[tokio::test]
async fn a_flood_with_a_stuck_window_ends() {
    let bench = Bench::new();
    let prepared = bench
        .prepare("run_shell", json!({ "command": "yes flood | head -c 30000000; echo; echo end" }))
        .unwrap();
    let (sink, live) = mpsc::channel(1);
    let output = bench.run_with(prepared, sink).await;
    assert_eq!(output.stop_reason, Some(StopReason::Completed), "{}", output.output);
    assert!(
        output.output.contains("\nend\n[output truncated"),
        "{}",
        &output.output[output.output.len() - 300..]
    );
    drop(live);
}

#[tokio::test]
async fn z_34_a_background_command_is_read_and_ended() {
    let bench = Bench::new();
    let command = "echo one; read line; echo never";
    let command = format!("mkfifo gate; {command} < gate");
    let output = bench.call("run_shell", json!({ "command": command, "background": true })).await;
    assert_eq!(output.stop_reason, Some(StopReason::Completed), "{}", output.output);
    let task = output.details.unwrap().task_id.expect("it goes on");
    let text = bench
        .text("shell_task_output", json!({ "task_id": task.as_str(), "since": 0, "wait_ms": 5000 }))
        .await;
    assert!(text.starts_with("one\n[still running]\n[next since: 4]"), "{text}");
    let text = bench.text("shell_task_output", json!({ "task_id": task.as_str() })).await;
    assert_eq!(text, "[no output]\n[still running]\n[next since: 4]");
    let text = bench.text("shell_task_kill", json!({ "task_id": task.as_str() })).await;
    assert_eq!(text, "[no output]\n[ended]");
    assert!(bench.ctx.commands.list().is_empty());
    let text = bench.refused("shell_task_output", json!({ "task_id": "proc-none" }));
    assert!(text.starts_with("There is no task `proc-none`. Tasks of this session: "), "{text}");
}

#[tokio::test]
async fn p_82_waiting_for_the_end_of_a_background_command() {
    let bench = Bench::new();
    let output = bench
        .call("run_shell", json!({ "command": "mkfifo g; cat g; exit 3", "background": true }))
        .await;
    let task = output.details.unwrap().task_id.unwrap();
    std::fs::write(bench.path("g"), "through the gate\n").unwrap();
    let mut text = String::new();
    while !text.contains("exit code: 3") {
        text += &bench
            .text("shell_task_output", json!({ "task_id": task.as_str(), "wait_ms": 5000 }))
            .await;
    }
    assert!(text.contains("through the gate\n"), "{text}");
}

#[tokio::test]
async fn a_command_that_can_not_start_is_said_so() {
    let mut bench = Bench::new();
    let prepared = bench.prepare("run_shell", json!({ "command": "ls", "cwd": "." })).unwrap();
    std::fs::remove_dir_all(&bench.ctx.workspace).unwrap();
    let output = bench.run(prepared).await;
    assert_eq!(output.stop_reason, Some(StopReason::Failed));
    assert!(output.output.starts_with("The command was not run: "), "{}", output.output);
    bench.ctx.env.clear();
}
