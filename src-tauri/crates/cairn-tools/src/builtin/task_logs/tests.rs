use cairn_protocol::TaskId;

use super::{Part, TEXT_LIMIT_BYTES, TaskLogs};

#[test]
fn z_34_what_was_read_is_not_given_twice_unless_asked_for() {
    let logs = TaskLogs::default();
    let task = TaskId::new("proc-1");
    logs.append(&task, b"one\n");
    let part = |text: &str, next, missing| Part { text: text.to_owned(), next, missing };
    assert_eq!(logs.read(&task, None), part("one\n", 4, 0));
    assert_eq!(logs.read(&task, None), part("", 4, 0));
    logs.append(&task, b"two\n");
    assert_eq!(logs.read(&task, Some(0)), part("one\ntwo\n", 8, 0));
    assert_eq!(logs.read(&task, Some(2)), part("e\ntwo\n", 8, 0));
    assert_eq!(logs.read(&task, Some(100)), part("", 8, 0));
}

#[test]
fn p_84_the_tail_is_kept_and_the_rest_counted() {
    let logs = TaskLogs::default();
    let task = TaskId::new("proc-1");
    for _ in 0..3 {
        logs.append(&task, &vec![b'x'; TEXT_LIMIT_BYTES]);
    }
    let part = logs.read(&task, Some(0));
    assert_eq!((part.text.len(), part.next), (TEXT_LIMIT_BYTES, 3 * TEXT_LIMIT_BYTES));
    assert_eq!(part.missing, 2 * TEXT_LIMIT_BYTES);
}

#[test]
fn p_85_the_oldest_logs_go() {
    let logs = TaskLogs::default();
    for number in 0..100 {
        logs.append(&TaskId::new(format!("proc-{number}")), b"x");
    }
    assert_eq!(logs.logs.lock().unwrap().len(), super::TASK_LIMIT);
}
