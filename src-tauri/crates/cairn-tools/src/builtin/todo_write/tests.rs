use cairn_protocol::{TodoItem, TodoStatus};
use serde_json::json;

use crate::testing::Bench;

#[tokio::test]
async fn z_42_the_list_is_replaced() {
    let bench = Bench::new();
    let items = json!([
        { "text": "read", "status": "done" },
        { "id": "x", "text": " write ", "status": "in_progress" },
    ]);
    let output = bench.call("todo_write", json!({ "items": items })).await;
    assert_eq!(output.output, "The task list has 2 tasks, 1 done.");
    let item = |id: &str, text: &str, status| TodoItem {
        id: id.to_owned(),
        text: text.to_owned(),
        status,
    };
    let expected =
        [item("1", "read", TodoStatus::Done), item("x", "write", TodoStatus::InProgress)];
    assert_eq!(*bench.port.todos.lock().unwrap(), expected);
    bench.call("todo_write", json!({ "todos": [] })).await;
    assert!(bench.port.todos.lock().unwrap().is_empty());
}

#[test]
fn z_42_limits() {
    let bench = Bench::new();
    let refused = |items: serde_json::Value| bench.refused("todo_write", json!({ "items": items }));
    let one = |status: &str| json!({ "text": "a", "status": status });
    assert_eq!(
        refused(json!(vec![one("pending"); 51])),
        "`items` has 51 tasks; at most 50 are allowed."
    );
    assert_eq!(
        refused(json!([one("in_progress"), one("in_progress")])),
        "2 tasks are in_progress; at most one may be."
    );
    assert_eq!(refused(json!([{ "text": " ", "status": "done" }])), "`items[0].text` is empty.");
    let twice = json!([{ "id": "a", "text": "x", "status": "done" }, { "id": "a", "text": "y", "status": "done" }]);
    assert_eq!(refused(twice), "`items[1].id` is used twice: a.");
    assert!(refused(json!([one("started")])).starts_with("`items[0].status` must be one of"));
}
