use std::time::Duration;

use async_trait::async_trait;
use cairn_protocol::{CallEffects, StopReason, ToolClass, ToolDetails};
use serde_json::json;

use crate::testing::Bench;
use crate::{Action, Cut, Done, Ordering, Plan, Run, Spec, Tool, ToolContext};

/// A tool that does what its arguments say.
struct Odd(Spec);

struct Act(String);

#[async_trait]
impl Action for Act {
    async fn run(self: Box<Self>, run: &Run<'_>) -> Done {
        match self.0.as_str() {
            "panic" => panic!("a broken invariant"),
            "hang" => std::future::pending().await,
            "partial" => {
                run.output.push(b"so far\n");
                run.stop.cancelled().await;
                Done { failed: true, notes: vec!["own note".to_owned()], ..Done::default() }
            }
            "long" => {
                Done { notes: vec!["own note".to_owned()], ..Done::completed("x".repeat(50), "") }
            }
            "nothing" => Done::default(),
            _ => Done::failed("it failed"),
        }
    }
}

impl Tool for Odd {
    fn spec(&self) -> &Spec {
        &self.0
    }

    fn prepare(&self, arguments: &str, _: &ToolContext) -> Result<Plan, String> {
        let value: serde_json::Value = serde_json::from_str(arguments).unwrap();
        let effects = CallEffects {
            class: ToolClass::Read,
            title: String::new(),
            reads: Vec::new(),
            writes: Vec::new(),
            command: None,
        };
        let action = Box::new(Act(value["act"].as_str().unwrap().to_owned()));
        Ok(Plan { effects, ordering: Ordering::Parallel, timeout: self.0.timeout, action })
    }
}

fn bench() -> Bench {
    let mut bench = Bench::new();
    bench.registry.add(Box::new(Odd(Spec {
        name: "odd",
        aliases: &[],
        description: "",
        class: ToolClass::Read,
        parameters: json!({}),
        timeout: Some(Duration::from_secs(60)),
        max_output_chars: 20,
        cut: Cut::Head,
    })));
    bench
}

#[track_caller]
fn check(output: &cairn_protocol::ToolCallOutput, status: StopReason, text: &str) {
    assert_eq!((output.stop_reason, output.output.as_str()), (Some(status), text));
}

#[tokio::test(start_paused = true)]
async fn p_70_a_panic_is_an_output() {
    let output = bench().call("odd", json!({ "act": "panic" })).await;
    check(&output, StopReason::Failed, "[no output]\n[error: the tool broke: a broken invariant]");
}

#[tokio::test(start_paused = true)]
async fn p_71_a_timeout_is_an_output() {
    let output = bench().call("odd", json!({ "act": "partial" })).await;
    check(&output, StopReason::Timeout, "so far\n[own note]\n[timed out after 60000 ms]");
    let output = bench().call("odd", json!({ "act": "hang" })).await;
    let text = "[no output]\n[timed out after 60000 ms]\n[error: it did not stop in time and was left behind]";
    check(&output, StopReason::Timeout, text);
}

#[tokio::test(start_paused = true)]
async fn p_70_the_users_stop_comes_first() {
    let bench = bench();
    let prepared = bench.prepare("odd", json!({ "act": "partial" })).unwrap();
    let stop = async {
        tokio::task::yield_now().await;
        bench.cancel.cancel();
    };
    let (output, ()) = tokio::join!(bench.run(prepared), stop);
    check(&output, StopReason::Aborted, "so far\n[own note]\n[stopped by the user]");
    let output = bench.call("odd", json!({ "act": "panic" })).await;
    check(&output, StopReason::Aborted, "[no output]\n[stopped by the user]");
}

#[tokio::test]
async fn p_70_notes_are_outside_of_the_limit() {
    let bench = bench();
    let output = bench.call("odd", json!({ "act": "long" })).await;
    let archive = output.details.clone().unwrap().archive.unwrap();
    let text = format!(
        "{}\n[output truncated: exceeded 20 chars]\n[whole output saved; read it in parts: {archive}]\n[own note]",
        "x".repeat(20)
    );
    check(&output, StopReason::Completed, &text);
    assert_eq!(std::fs::read_to_string(&archive).unwrap(), "x".repeat(50));
    assert!(archive.starts_with(bench.ctx.scratch.to_str().unwrap()));
}

#[tokio::test]
async fn p_70_nothing_is_said_so() {
    let bench = bench();
    let output = bench.call("odd", json!({ "act": "nothing" })).await;
    check(&output, StopReason::Completed, "[no output]");
    check(&bench.call("odd", json!({ "act": "?" })).await, StopReason::Failed, "it failed");
    assert_eq!(output.details.unwrap().archive, ToolDetails::default().archive);
}
