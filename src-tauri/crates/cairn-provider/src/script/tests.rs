use std::sync::Arc;
use std::time::Duration;

use cairn_protocol::{StopReason, WireApi};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{Script, ScriptError, ScriptProvider};
use crate::tests::{check, clock, deltas, request, run, target, user, whole};
use crate::{Error, Fault, ModelRequest, ModelTarget, Outcome, Provider, connect};

fn provider(script: &str) -> Arc<dyn Provider> {
    let script = Script::parse(script).expect("the script parses");
    let target = ModelTarget { api: WireApi::Script, ..target("") };
    Arc::new(ScriptProvider::new(target, script, clock))
}

#[tokio::test]
async fn the_kth_request_of_a_session_gets_the_kth_response() {
    let provider = provider(
        r#"
        # the first response
        {"think": "abcdef", "chunk": 4}
        {"say": "積み石", "chunk": 1, "usage": {"cache_write": 9, "output": 2}}
        {"tool": {"name": "f", "arguments": {"a": [1, 2]}}, "end": true}
        {"say": "second", "repeat": 2, "end": true}
        "#,
    );
    let (messages, outcome) = run(&provider, request(vec![user("x")])).await;
    assert_eq!(outcome, Outcome::completed());
    assert_eq!(
        whole(&messages),
        "thinking Completed \"abcdef\"\ntext Completed \"積み石\"\ncall Completed call_script f {\"a\":[1,2]}\nusage 0 9 2 = 11\n"
    );
    assert_eq!(deltas(&messages), 2 + 3 + 1);
    let other = ModelRequest { session: "s2".into(), ..request(vec![user("x")]) };
    let (messages, _) = run(&provider, other).await;
    assert!(whole(&messages).starts_with("thinking"));
    let (messages, _) = run(&provider, request(vec![user("x")])).await;
    assert!(whole(&messages).starts_with("text Completed \"secondsecond\"\n"));
    let (messages, outcome) = run(&provider, request(vec![user("x")])).await;
    assert_eq!(outcome, Outcome::completed());
    assert!(whole(&messages).contains("The script is over"));
}

#[tokio::test]
async fn a_session_that_is_opened_again_goes_on_where_its_history_ends() {
    let script = "{\"say\": \"one\", \"end\": true}\n{\"say\": \"two\", \"end\": true}";
    let (messages, _) = run(&provider(script), request(vec![user("x")])).await;
    let answer = messages.into_iter().rev().nth(1).expect("the whole text");
    let history = vec![user("x"), Arc::new(answer), user("y")];
    let (messages, _) = run(&provider(script), request(history)).await;
    assert!(whole(&messages).starts_with("text Completed \"two\"\n"));
}

#[tokio::test]
async fn failures_cuts_and_silence_can_be_scripted() {
    let provider = provider(
        r#"
        {"say": "a"}
        {"error": {"status": "timeout", "message": "busy", "retry_after_ms": 5}}
        {"tool": {"name": "f", "arguments": "{\"half"}, "cut": true}
        {"say": "b", "hang": true, "end": true}
        "#,
    );
    let (messages, outcome) = run(&provider, request(vec![user("x")])).await;
    assert!(whole(&messages).starts_with("text Timeout \"a\"\n"));
    assert_eq!(outcome.retry_after, Some(Duration::from_millis(5)));
    let (messages, outcome) = run(&provider, request(vec![user("x")])).await;
    assert!(whole(&messages).starts_with("call Failed call_script f {\"half\n"));
    assert!(outcome.cut_by_length);
    let quick = ModelRequest { idle_timeout: Duration::from_millis(1), ..request(vec![user("x")]) };
    let (messages, outcome) = run(&provider, quick).await;
    assert!(whole(&messages).starts_with("text Timeout \"b\"\n"));
    assert_eq!(outcome.fault, Some(Fault::Silence));
}

#[tokio::test]
async fn a_stop_ends_a_script_in_a_silence_and_in_a_flood() {
    for script in ["{\"say\": \"a\", \"hang\": true}", "{\"say\": \"a\", \"repeat\": 1000000}"] {
        let provider = provider(script);
        let (sink, mut received) = mpsc::channel(4);
        let cancel = CancellationToken::new();
        let stop = cancel.clone();
        let drain = async {
            let mut messages = Vec::new();
            while let Some(message) = received.recv().await {
                messages.push(message);
                if messages.len() == 2 {
                    stop.cancel();
                }
            }
            messages
        };
        let streaming = provider.stream(request(vec![user("x")]), sink, cancel);
        let (outcome, messages) = tokio::join!(streaming, drain);
        check(&messages);
        assert_eq!(outcome.status, StopReason::Aborted);
        assert!(messages.len() < 1000);
    }
}

#[tokio::test]
async fn ten_thousand_deltas_stream_without_a_delay() {
    let provider = provider("{\"say\": \"word \", \"repeat\": 10000}");
    let (messages, _) = run(&provider, request(vec![user("x")])).await;
    assert_eq!(deltas(&messages), 10_000);
}

#[tokio::test(start_paused = true)]
async fn delays_are_kept() {
    let provider =
        provider("{\"delay_ms\": 500}\n{\"say\": \"abc\", \"chunk\": 1, \"delay_ms\": 100}");
    let began = tokio::time::Instant::now();
    run(&provider, request(vec![user("x")])).await;
    assert_eq!(began.elapsed(), Duration::from_millis(800));
}

#[test]
fn a_wrong_line_is_named() {
    for (script, line) in [
        ("{\"say\": \"a\"}\n{\"sya\": \"b\"}", 2),
        ("\n\nnot json", 3),
        ("{\"say\": \"a\", \"chunk\": 0}", 1),
        ("{\"error\": {\"status\": \"completed\"}}", 1),
        ("{\"tool\": {\"name\": \"\"}}", 1),
    ] {
        let error = Script::parse(script).expect_err(script);
        assert_eq!(error, ScriptError { line, reason: error.reason.clone() });
    }
}

#[test]
fn a_script_file_is_read_by_connect() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("tour.jsonl");
    let target = ModelTarget { api: WireApi::Script, script: Some(path.clone()), ..target("") };
    assert!(matches!(connect(target.clone(), clock), Err(Error::ScriptFile { .. })));
    std::fs::write(&path, "{\"say\": \"a\"}").expect("written");
    assert!(connect(target, clock).is_ok());
}
