use cairn_protocol::ErrorCode;
use tokio::sync::oneshot;

use super::*;

#[tokio::test]
async fn a_panic_is_an_error_that_says_what_broke_and_why() {
    let task: Task<()> = Task::spawn("the test", async { panic!("no reason") });
    let error = task.await.expect_err("it panicked");
    assert_eq!(error.code, ErrorCode::Internal);
    assert_eq!(error.message, "A defect of Cairn: the test broke down: no reason.");
}

#[tokio::test]
async fn dropping_the_owner_ends_the_task() {
    let (held, ended) = oneshot::channel::<()>();
    let task = Task::spawn("the test", async move {
        let _held = held;
        std::future::pending::<()>().await;
    });
    drop(task);
    assert!(ended.await.is_err(), "what the task held was let go of");
}
