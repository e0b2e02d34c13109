use cairn_protocol::{Role, StopReason, ToolCall, ToolCallId, ToolClass};
use serde_json::json;

use crate::testing::Bench;
use crate::{Ordering, Registry};

#[test]
fn z_26_the_built_in_tools() {
    let registry = Registry::builtin();
    assert_eq!(
        registry.names(),
        [
            "read_file",
            "list_files",
            "grep",
            "replace_in_file",
            "write_file",
            "run_shell",
            "shell_task_output",
            "shell_task_kill",
            "todo_write",
            "ask_user",
        ]
    );
    assert_eq!(registry.class("run_shell"), Some(ToolClass::Execute));
    assert_eq!(registry.class("exec_command"), Some(ToolClass::Execute));
    assert_eq!(registry.class("edit_file"), Some(ToolClass::WriteLocal));
    assert_eq!(registry.class("grep"), Some(ToolClass::Read));
    assert_eq!(registry.class("nothing"), None);
}

#[test]
fn p_69_an_unknown_tool_is_named() {
    let bench = Bench::new();
    let text = bench.refused("no_such", json!({}));
    assert!(
        text.starts_with("There is no tool named `no_such`. The tools are: read_file, "),
        "{text}"
    );
}

#[test]
fn p_9_a_call_that_did_not_arrive_whole_does_not_run() {
    let bench = Bench::new();
    let call = ToolCall {
        role: Role::Assistant,
        name: "list_files".to_owned(),
        arguments: "{}".to_owned(),
        tool_call_id: ToolCallId::new("c"),
        fidelity: None,
        stop_reason: Some(StopReason::Aborted),
    };
    assert!(bench.registry.prepare(&call, &bench.ctx).is_err());
}

#[test]
fn what_may_run_beside_what() {
    let bench = Bench::new();
    bench.put("a", "x");
    let ordering = |tool, arguments| bench.prepare(tool, arguments).unwrap().ordering();
    assert_eq!(ordering("read_file", json!({ "file_path": "a" })), Ordering::Parallel);
    let write = ordering("write_file", json!({ "file_path": "b", "content": "" }));
    assert_eq!(write, Ordering::Paths(vec![bench.path("b")]));
    assert_eq!(ordering("run_shell", json!({ "command": "ls" })), Ordering::Serial);
}
