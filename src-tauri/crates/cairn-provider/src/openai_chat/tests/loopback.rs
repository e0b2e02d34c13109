//! The whole provider against a server on loopback: statuses, broken streams, silence, stops.

use std::sync::Arc;
use std::time::Duration;

use cairn_protocol::{CheckOutcome, Message, StopReason};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::openai_chat::{ChatProvider, Timers};
use crate::tests::model_server::{Call, Gate, ModelServer, Reply};
use crate::tests::{check, clock, deltas, request, run, target, user, whole};
use crate::{Fault, ModelRequest, ModelTarget, Outcome, Provider, connect, test_connection};

fn provider(server: &ModelServer) -> Arc<dyn Provider> {
    connect(target(&server.base_url()), clock).expect("a provider")
}

fn impatient(server: &ModelServer, timers: Timers) -> Arc<dyn Provider> {
    let target = target(&server.base_url());
    Arc::new(ChatProvider::with_timers(target, clock, timers).expect("a provider"))
}

async fn one(reply: Reply) -> (Vec<Message>, Outcome, ModelServer) {
    let server = ModelServer::builder().reply(reply).start();
    let (messages, outcome) = run(&provider(&server), request(vec![user("hi")])).await;
    (messages, outcome, server)
}

#[tokio::test]
async fn an_answer_streams_and_the_request_is_what_it_should_be() {
    let call = Call::new("f", r#"{"a":1}"#).with_id("c1");
    let (messages, outcome, server) = one(Reply::Answer {
        thinking: vec!["hm".to_owned()],
        text: vec!["Hel".to_owned(), "lo".to_owned()],
        calls: vec![call],
        finish: None,
    })
    .await;
    assert_eq!(outcome, Outcome::completed());
    assert_eq!(
        whole(&messages),
        "thinking Completed \"hm\"\ntext Completed \"Hello\"\ncall Completed c1 f {\"a\":1}\nusage 0 100 13 = 113\n"
    );
    assert_eq!(deltas(&messages), 4);
    let sent = &server.requests()[0];
    assert_eq!(sent.path, "/v1/chat/completions");
    assert_eq!(sent.header("authorization"), Some("Bearer sk-test-0123456789"));
    assert_eq!(sent.messages()[1]["content"], "hi");
    let elsewhere = sent
        .headers
        .iter()
        .filter(|(name, value)| name != "authorization" && value.contains("sk-test"));
    assert_eq!(elsewhere.count(), 0);
    assert!(!sent.body.to_string().contains("sk-test"));
}

#[tokio::test]
async fn no_key_sends_no_authorization() {
    let server = ModelServer::builder().start();
    let target = ModelTarget { key: None, ..target(&server.base_url()) };
    run(&connect(target, clock).expect("a provider"), request(vec![user("hi")])).await;
    assert_eq!(server.requests()[0].header("authorization"), None);
}

#[tokio::test]
async fn p54_ids_that_come_again_are_numbered_within_the_session() {
    let reply = || Reply::calls([Call::new("f", "{}").with_id("0")]);
    let server = ModelServer::builder().replies([reply(), reply(), reply()]).start();
    let provider = provider(&server);
    let mut seen = Vec::new();
    for session in ["s1", "s1", "s2"] {
        let request = ModelRequest { session: session.into(), ..request(vec![user("hi")]) };
        let (messages, _) = run(&provider, request).await;
        seen.push(whole(&messages).split_whitespace().nth(2).expect("an id").to_owned());
    }
    assert_eq!(seen, ["0", "0#2", "0"]);
}

#[tokio::test]
async fn p51_statuses_are_classified() {
    for (reply, status, permanent, fault) in [
        (Reply::error(401, "no"), StopReason::Auth, true, Fault::Auth),
        (Reply::error(403, "no"), StopReason::Failed, true, Fault::Forbidden),
        (Reply::error(400, "bad"), StopReason::Failed, true, Fault::BadRequest),
        (Reply::error(404, "no route"), StopReason::Failed, true, Fault::BadRequest),
        (Reply::error(413, "big"), StopReason::Failed, true, Fault::BadRequest),
        (Reply::error(422, "bad"), StopReason::Failed, true, Fault::BadRequest),
        (Reply::error(408, "slow"), StopReason::Timeout, false, Fault::Overloaded),
        (Reply::error(429, "wait"), StopReason::Timeout, false, Fault::RateLimit),
        (Reply::error(500, "oops"), StopReason::Timeout, false, Fault::Overloaded),
        (Reply::error(503, "busy"), StopReason::Timeout, false, Fault::Overloaded),
    ] {
        let (messages, outcome, _server) = one(reply.clone()).await;
        let seen = (outcome.status, outcome.permanent, outcome.fault);
        assert_eq!(seen, (status, permanent, Some(fault)), "{reply:?}");
        assert_eq!(whole(&messages), "", "nothing was used");
    }
}

#[tokio::test]
async fn a_wait_that_the_provider_names_is_told() {
    let reply = Reply::error_with_header(429, ("retry-after", "7"), "wait");
    let (_, outcome, _server) = one(reply).await;
    assert_eq!(outcome.retry_after, Some(Duration::from_secs(7)));
}

#[tokio::test]
async fn the_providers_own_words_are_kept_and_the_key_is_not() {
    let (_, outcome, _server) =
        one(Reply::error(401, "Wrong key: sk-test-0123456789, sorry")).await;
    assert_eq!(
        outcome.message.as_deref(),
        Some("The provider refused the key (HTTP 401): Wrong key: [key], sorry")
    );
}

#[tokio::test]
async fn a_web_page_is_named_by_its_title() {
    let page = "<!doctype html><html><head><title>502 Bad &amp; Gateway</title></head></html>";
    let html = |code| Reply::Status {
        code,
        headers: vec![("content-type".to_owned(), "text/html".to_owned())],
        body: page.to_owned(),
    };
    for (code, status, permanent) in
        [(502, StopReason::Timeout, false), (200, StopReason::Failed, true)]
    {
        let (_, outcome, _server) = one(html(code)).await;
        let message = outcome.message.expect("a message");
        assert!(message.contains("502 Bad & Gateway") && !message.contains("<html"), "{message}");
        assert_eq!((outcome.status, outcome.permanent), (status, permanent));
    }
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let elsewhere = ModelServer::builder().start();
    let place = format!("{}/chat/completions", elsewhere.base_url());
    let reply = Reply::Status {
        code: 307,
        headers: vec![("location".to_owned(), place.clone())],
        body: String::new(),
    };
    let (_, outcome, _server) = one(reply).await;
    assert_eq!((outcome.status, outcome.permanent), (StopReason::Failed, true));
    assert!(outcome.message.expect("a message").contains(&place));
    assert_eq!(elsewhere.requests().len(), 0);
}

#[tokio::test]
async fn an_answer_that_is_not_a_stream_is_taken() {
    let body = r#"{"choices":[{"index":0,"message":{"role":"assistant","content":"Hi","reasoning_content":"hm","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":3,"completion_tokens":2}}"#;
    for content_type in ["application/json", "text/event-stream", "text/plain"] {
        let (messages, outcome, _server) = one(Reply::Raw {
            content_type: content_type.to_owned(),
            parts: vec!["\n ".to_owned(), body[..40].to_owned(), body[40..].to_owned()],
        })
        .await;
        assert_eq!(outcome, Outcome::completed());
        assert_eq!(
            whole(&messages),
            "thinking Completed \"hm\"\ntext Completed \"Hi\"\ncall Completed c f {}\nusage 0 3 2 = 5\n"
        );
    }
    let (_, outcome, _server) = one(Reply::Raw {
        content_type: "application/json".to_owned(),
        parts: vec![
            r#"{"error":{"message":"Incorrect API key","code":"invalid_api_key"}}"#.to_owned(),
        ],
    })
    .await;
    assert_eq!(outcome.status, StopReason::Auth);
}

#[tokio::test]
async fn a_broken_stream_keeps_what_came() {
    let (messages, outcome, _server) = one(Reply::HalfStream(vec!["half".to_owned()])).await;
    assert_eq!((outcome.status, outcome.fault), (StopReason::Timeout, Some(Fault::Network)));
    assert_eq!(whole(&messages), "text Timeout \"half\"\nusage 0 5 1 = 6\n");
}

#[tokio::test]
async fn a_server_that_is_not_there_is_said_so() {
    let address = {
        let server = ModelServer::builder().start();
        server.base_url()
    };
    let provider = connect(target(&address), clock).expect("a provider");
    let (_, outcome) = run(&provider, request(vec![user("hi")])).await;
    assert_eq!((outcome.status, outcome.fault), (StopReason::Timeout, Some(Fault::Network)));
    let message = outcome.message.expect("a message");
    assert!(message.contains("Can't connect to 127.0.0.1:"), "{message}");
}

#[tokio::test]
async fn p50_silence_ends_the_request_before_and_in_the_answer() {
    let gate = Gate::closed();
    for reply in [Reply::text(["never"]).gated(&gate), Reply::Hang(vec!["a".to_owned()])] {
        let server = ModelServer::builder().reply(reply).start();
        let request =
            ModelRequest { idle_timeout: Duration::from_millis(50), ..request(vec![user("hi")]) };
        let (_, outcome) = run(&provider(&server), request).await;
        assert_eq!((outcome.status, outcome.fault), (StopReason::Timeout, Some(Fault::Silence)));
        assert!(!outcome.permanent);
    }
}

#[tokio::test]
async fn p27_comments_do_not_keep_a_stream_alive_for_ever() {
    let comments = std::iter::repeat_n(": ping\n\n", 500_000);
    let server = ModelServer::builder().reply(Reply::raw_events(comments)).start();
    let limit = Duration::from_millis(30);
    let timers = Timers { no_progress: limit, ..Timers::default() };
    let request = ModelRequest { idle_timeout: limit, ..request(vec![user("hi")]) };
    let (_, outcome) = run(&impatient(&server, timers), request).await;
    assert_eq!((outcome.status, outcome.fault), (StopReason::Timeout, Some(Fault::Silence)));
    let message = outcome.message.expect("a message");
    assert!(message.contains("sent nothing of the answer"), "{message}");
}

#[tokio::test]
async fn p52_after_the_finish_only_a_short_wait_is_left() {
    let finish = r#"{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}"#;
    let gate = Gate::closed();
    gate.open(1);
    let parts = [format!("data: {finish}\n\n"), "data: [DONE]\n\n".to_owned()];
    let server = ModelServer::builder().reply(Reply::raw_events(parts).gated(&gate)).start();
    let timers = Timers { after_finish: Duration::from_millis(30), ..Timers::default() };
    let (messages, outcome) = run(&impatient(&server, timers), request(vec![user("hi")])).await;
    assert_eq!(outcome, Outcome::completed());
    assert!(whole(&messages).starts_with("text Completed \"a\"\n"));
}

/// Runs a request and stops it as soon as `until` deltas have come.
async fn stop_after(reply: Reply, until: usize) -> (Vec<Message>, Outcome) {
    let server = ModelServer::builder().reply(reply).start();
    let provider = provider(&server);
    let (sink, mut received) = mpsc::channel(1);
    let cancel = CancellationToken::new();
    let stop = cancel.clone();
    let drain = async {
        let mut messages = Vec::new();
        if until == 0 {
            server.received(1).await;
            stop.cancel();
        }
        while let Some(message) = received.recv().await {
            messages.push(message);
            if deltas(&messages) == until {
                stop.cancel();
            }
        }
        messages
    };
    let streaming = provider.stream(request(vec![user("hi")]), sink, cancel);
    let (outcome, messages) = tokio::join!(streaming, drain);
    check(&messages);
    (messages, outcome)
}

#[tokio::test]
async fn p51_a_stop_ends_the_request_at_once_wherever_it_is() {
    let gate = Gate::closed();
    let (messages, outcome) = stop_after(Reply::text(["a"]).gated(&gate), 0).await;
    assert_eq!((outcome.status, whole(&messages).as_str()), (StopReason::Aborted, ""));
    let (messages, outcome) = stop_after(Reply::Hang(vec!["a".to_owned()]), 1).await;
    assert_eq!(outcome.status, StopReason::Aborted);
    assert!(whole(&messages).starts_with("text Aborted \"a\"\n"));
    let reply = Reply::Repeat { piece: "word ".to_owned(), times: 100_000 };
    let (messages, outcome) = stop_after(reply, 3).await;
    assert_eq!(outcome.status, StopReason::Aborted);
    assert!(deltas(&messages) < 100_000);
}

#[tokio::test]
async fn a_dropped_receiver_ends_the_request() {
    let server = ModelServer::builder().reply(Reply::Hang(vec!["a".to_owned()])).start();
    let provider = provider(&server);
    let (sink, mut received) = mpsc::channel(1);
    let leave = async {
        received.recv().await;
        drop(received);
    };
    let streaming = provider.stream(request(vec![user("hi")]), sink, CancellationToken::new());
    let (outcome, ()) = tokio::join!(streaming, leave);
    assert_eq!(outcome.status, StopReason::Aborted);
}

#[tokio::test]
async fn p50_a_slow_receiver_is_not_the_providers_silence() {
    let server =
        ModelServer::builder().reply(Reply::Repeat { piece: "w".to_owned(), times: 64 }).start();
    let provider = provider(&server);
    let (sink, mut received) = mpsc::channel(1);
    let request = request(vec![user("hi")]);
    let drain = async {
        let mut count = 0;
        received.recv().await;
        // The provider waits for room now. An hour passes before there is some.
        tokio::time::pause();
        tokio::time::advance(Duration::from_secs(3600)).await;
        tokio::time::resume();
        while received.recv().await.is_some() {
            count += 1;
        }
        count
    };
    let streaming = provider.stream(request, sink, CancellationToken::new());
    let (outcome, count) = tokio::join!(streaming, drain);
    assert_eq!((outcome.status, count), (StopReason::Completed, 64 + 3));
}

#[tokio::test]
async fn a_refused_parameter_is_left_out_the_next_time() {
    let refusal = Reply::error(400, "Unrecognized request argument supplied: stream_options");
    let server = ModelServer::builder().reply(refusal.clone()).reply(Reply::text(["a"])).start();
    let provider = provider(&server);
    let (_, outcome) = run(&provider, request(vec![user("hi")])).await;
    assert_eq!((outcome.permanent, outcome.fault), (false, Some(Fault::Parameter)));
    let (_, outcome) = run(&provider, request(vec![user("hi")])).await;
    assert_eq!(outcome, Outcome::completed());
    let sent = server.requests();
    assert!(sent[0].body.get("stream_options").is_some());
    assert!(sent[1].body.get("stream_options").is_none());
}

#[tokio::test]
async fn a_long_stream_comes_through_whole() {
    let reply = Reply::Repeat { piece: "word ".to_owned(), times: 10_000 };
    let (messages, outcome, _server) = one(reply).await;
    assert_eq!(outcome, Outcome::completed());
    assert_eq!(deltas(&messages), 10_000);
}

#[tokio::test]
async fn a_connection_test_passes_step_by_step() {
    let server = ModelServer::builder()
        .key("sk-test-0123456789")
        .reply(Reply::text(["ready"]))
        .reply(Reply::calls([Call::new("report_ready", r#"{"ready":true}"#)]))
        .start();
    let test = test_connection(target(&server.base_url())).await;
    let outcomes: Vec<_> = test.checks.iter().map(|check| check.outcome).collect();
    assert_eq!(outcomes, [CheckOutcome::Ok; 5], "{test:?}");
    assert_eq!(test.models, ["fake-model"]);
    assert!(test.latency_ms.is_some());
}

#[tokio::test]
async fn a_connection_test_stops_at_the_first_failure_and_says_what_to_do() {
    use CheckOutcome::{Failed, Ok, Skipped, Warning};
    let bad_key = ModelServer::builder().key("another").start();
    let missing = ModelServer::builder()
        .models(["fake-model-2", "other"])
        .reply(Reply::error(404, "The model `fake-model` does not exist"))
        .start();
    let mute = ModelServer::builder().start();
    let gone = {
        let server = ModelServer::builder().start();
        server.base_url()
    };
    for (url, expected, says) in [
        (bad_key.base_url(), [Ok, Failed, Skipped, Skipped, Skipped], "whole key"),
        (missing.base_url(), [Ok, Ok, Failed, Skipped, Skipped], "fake-model-2"),
        (mute.base_url(), [Ok, Ok, Ok, Ok, Warning], "tool calls"),
        (gone, [Failed, Skipped, Skipped, Skipped, Skipped], "Can't connect"),
    ] {
        let test = test_connection(target(&url)).await;
        let outcomes: Vec<_> = test.checks.iter().map(|check| check.outcome).collect();
        assert_eq!(outcomes, expected, "{test:?}");
        let text = test.checks.iter().map(|c| c.detail.as_str()).collect::<Vec<_>>().join("\n");
        assert!(text.contains(says), "{text}");
        assert!(!text.contains("sk-test"), "{text}");
    }
}

#[tokio::test]
async fn the_prefix_stays_the_same_from_request_to_request() {
    let server = ModelServer::builder().start();
    let provider = provider(&server);
    let mut history = vec![user("one")];
    let mut last = String::new();
    for text in ["two", "three", "four"] {
        run(&provider, request(history.clone())).await;
        let sent = server.requests().pop().expect("a request").body["messages"].to_string();
        let kept = last.trim_end_matches(']');
        assert!(sent.starts_with(kept), "{sent}\n{kept}");
        last = sent;
        let answer = cairn_protocol::Text {
            role: cairn_protocol::Role::Assistant,
            ..cairn_protocol::Text::user("Done.")
        };
        history.push(Arc::new(Message::model(clock(), answer)));
        history.push(user(text));
    }
}

/// The form in which the fake server's program reads its replies.
#[tokio::test]
async fn replies_can_be_written_as_json() {
    let replies: Vec<Reply> = serde_json::from_str(
        r#"[
            {"calls": [{"name": "read_file", "arguments": {"path": "a.txt"}}]},
            {"repeat": {"piece": "w ", "times": 3}},
            {"status": {"code": 500, "body": "down"}},
            {"answer": {"thinking": ["hm"], "text": ["cut"], "finish": "length"}}
        ]"#,
    )
    .expect("replies");
    let server = ModelServer::builder().replies(replies).start();
    let provider = provider(&server);
    let mut seen = Vec::new();
    for _ in 0..5 {
        let (messages, outcome) = run(&provider, request(vec![user("hi")])).await;
        let first = whole(&messages).lines().next().unwrap_or_default().to_owned();
        seen.push((outcome.status, outcome.cut_by_length, first));
    }
    let completed = |cut, first: &str| (StopReason::Completed, cut, first.to_owned());
    assert_eq!(
        seen,
        [
            completed(false, r#"call Completed call_1_0 read_file {"path":"a.txt"}"#),
            completed(false, r#"text Completed "w w w ""#),
            (StopReason::Timeout, false, String::new()),
            completed(true, r#"thinking Completed "hm""#),
            completed(false, r#"text Completed "Done.""#),
        ]
    );
}
