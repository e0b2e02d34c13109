//! What servers send that the specification does not: one fact a test, from `spec/wire.md` 4.

use cairn_protocol::StopReason;

use super::{decode, decode_with, open_stream, plain, stream};
use crate::openai_chat::decode::Ended;
use crate::quirks::Quirks;
use crate::tests::whole;
use crate::{Fault, Outcome};

const STOP: &str = r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#;
const CALLS: &str = r#"{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}"#;

#[track_caller]
fn check(chunks: &[&str], expected: &str) -> Outcome {
    let bytes = stream(chunks);
    let decoded = decode([bytes.as_slice()]);
    assert_eq!(whole(&decoded.messages), expected);
    let again = decode(bytes.chunks(1));
    assert_eq!(whole(&again.messages), expected, "byte by byte");
    decoded.outcome
}

#[track_caller]
fn ok(chunks: &[&str], expected: &str) {
    assert_eq!(check(chunks, expected), Outcome::completed());
}

fn content(text: &str) -> String {
    serde_json::json!({"choices": [{"delta": {"content": text}}]}).to_string()
}

fn call(json: &str) -> String {
    format!(r#"{{"choices":[{{"delta":{{"tool_calls":[{json}]}}}}]}}"#)
}

#[test]
fn nulls_and_absent_fields_mean_nothing() {
    ok(
        &[
            r#"{"id":"","model":"","choices":[],"prompt_filter_results":[{"a":1}]}"#,
            r#"{"choices":[{"index":0,"delta":null}]}"#,
            r#"{"choices":[{"index":0}]}"#,
            r#"{"choices":null,"usage":null,"error":null}"#,
            r#"{"choices":[{"delta":{"role":null,"content":null,"tool_calls":null,"reasoning":null},"finish_reason":null}]}"#,
            r#"{"choices":[{"delta":{"content":"a","obfuscation":"xyz"},"logprobs":null}],"error":{}}"#,
            r#"{"choices":[{"index":1,"delta":{"content":"not asked for"}}]}"#,
            r#"{"choices":[{"delta":{"content":7}}]}"#,
            STOP,
        ],
        "text Completed \"a\"\n",
    );
}

#[test]
fn ids_and_names_are_set_once() {
    ok(
        &[
            &call(r#"{"index":0,"id":"0","function":{"name":"f"}}"#),
            &call(r#"{"index":0,"id":"0","function":{"name":"f","arguments":"{\"a\""}}"#),
            &call(r#"{"index":0,"id":"","function":{"name":"","arguments":":1"}}"#),
            &call(r#"{"index":0,"id":null,"function":{"name":null,"arguments":"}"}}"#),
            CALLS,
        ],
        "call Completed 0 f {\"a\":1}\n",
    );
}

#[test]
fn a_new_id_on_an_old_index_is_a_new_call() {
    ok(
        &[
            &call(r#"{"index":3,"id":"a","function":{"name":"f","arguments":"{}"}}"#),
            &call(r#"{"index":3,"id":"b","function":{"name":"g","arguments":"{\"x\":"}}"#),
            &call(r#"{"index":3,"function":{"arguments":"2}"}}"#),
            CALLS,
        ],
        "call Completed a f {}\ncall Completed b g {\"x\":2}\n",
    );
}

#[test]
fn calls_without_index_are_found_by_id_or_are_the_last() {
    ok(
        &[
            &call(r#"{"id":"a","function":{"name":"f","arguments":"{"}}"#),
            &call(r#"{"function":{"arguments":"}"}}"#),
            &call(r#"{"id":"b","function":{"name":"f","arguments":"{}"}}"#),
            STOP,
        ],
        "call Completed a f {}\ncall Completed b f {}\n",
    );
}

#[test]
fn p54_calls_without_ids_get_unique_ones() {
    ok(
        &[
            &call(r#"{"function":{"name":"f","arguments":"{\"a\":1}"}}"#),
            &call(r#"{"function":{"name":"g","arguments":{"b":2}}}"#),
            STOP,
        ],
        "call Completed call_1a3185c5000 f {\"a\":1}\ncall Completed call_1a3185c5000#2 g {\"b\":2}\n",
    );
}

#[test]
fn interleaved_calls_go_to_their_index() {
    ok(
        &[
            &call(
                r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{"}},{"index":1,"id":"b","function":{"name":"g","arguments":"{\"y\""}}"#,
            ),
            &call(r#"{"index":1,"function":{"arguments":":1}"}}"#),
            &call(r#"{"index":0,"function":{"arguments":"}"}}"#),
            CALLS,
        ],
        "call Completed a f {}\ncall Completed b g {\"y\":1}\n",
    );
}

#[test]
fn absent_arguments_mean_an_empty_object() {
    ok(
        &[&call(r#"{"index":0,"id":"a","function":{"name":"f","arguments":null}}"#), CALLS],
        "call Completed a f {}\n",
    );
}

#[test]
fn p13_text_after_calls_settles_before_them() {
    ok(
        &[
            &call(r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}"#),
            &content("late"),
            CALLS,
        ],
        "text Completed \"late\"\ncall Completed a f {}\n",
    );
}

#[test]
fn twins_of_reasoning_are_read_once() {
    ok(
        &[
            r#"{"choices":[{"delta":{"reasoning":"why","reasoning_details":[{"type":"reasoning.text","text":"why","index":0}]}}]}"#,
            r#"{"choices":[{"delta":{"reasoning_content":"not","reasoning":" so"}}]}"#,
            &content("because"),
            STOP,
        ],
        "thinking Completed \"why so\"\ntext Completed \"because\"\n",
    );
}

#[test]
fn content_can_be_a_list_of_parts() {
    ok(
        &[
            r#"{"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"why"}]}]}}]}"#,
            r#"{"choices":[{"delta":{"content":[{"type":"text","text":"be"},"cause"]}}]}"#,
            STOP,
        ],
        "thinking Completed \"why\"\ntext Completed \"because\"\n",
    );
}

#[test]
fn think_tags_at_the_start_are_reasoning() {
    ok(
        &[
            &content("<thi"),
            &content("nk>why</"),
            &content("think>\n\n"),
            &content("because"),
            STOP,
        ],
        "thinking Completed \"why\"\ntext Completed \"because\"\n",
    );
}

#[test]
fn opaque_details_after_the_text_are_kept() {
    let bytes = stream(&[
        &content("a"),
        r#"{"choices":[{"delta":{"reasoning_details":[{"type":"reasoning.encrypted","data":"xx","index":0}]}}]}"#,
        STOP,
    ]);
    let decoded = decode([bytes.as_slice()]);
    assert_eq!(whole(&decoded.messages), "thinking Completed \"\"\ntext Completed \"a\"\n");
    let json = serde_json::to_string(&decoded.messages).expect("JSON");
    assert!(
        json.contains(r#""details":[{"type":"reasoning.encrypted","data":"xx","index":0}]"#),
        "{json}"
    );
}

#[test]
fn the_last_usage_counts_and_is_found_in_every_place() {
    for (chunks, expected) in [
        (
            vec![
                r#"{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}"#,
                r#"{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":2}}"#,
            ],
            (5, 2),
        ),
        (
            vec![
                r#"{"choices":[{"delta":{"content":"a"},"finish_reason":"stop","usage":{"prompt_tokens":6,"completion_tokens":3}}]}"#,
            ],
            (6, 3),
        ),
        (
            vec![
                r#"{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}],"x_groq":{"id":"r","usage":{"prompt_tokens":7,"completion_tokens":4}}}"#,
            ],
            (7, 4),
        ),
    ] {
        let bytes = stream(&chunks);
        let usage = decode([bytes.as_slice()]).usage.expect("a usage");
        assert_eq!((usage.cache_write, usage.output), expected);
    }
}

#[test]
fn p52_length_fails_the_last_message_and_every_call_that_is_not_surely_whole() {
    let length = r#"{"choices":[{"delta":{},"finish_reason":"length"}]}"#;
    let outcome = check(&[&content("a"), length], "text Failed \"a\"\n");
    assert!(outcome.status == StopReason::Completed && outcome.cut_by_length);
    check(
        &[
            &content("t"),
            &call(r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}"#),
            &call(r#"{"index":1,"id":"b","function":{"name":"f"}}"#),
            &call(r#"{"index":2,"id":"c","function":{"name":"f","arguments":"{\"x\":"}}"#),
            length,
        ],
        "text Completed \"t\"\ncall Completed a f {}\ncall Failed b f \ncall Failed c f {\"x\":\n",
    );
    check(
        &[
            r#"{"choices":[{"delta":{"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"length"}]}"#,
        ],
        "call Failed a f {}\n",
    );
}

#[test]
fn p52_an_unknown_finish_fails_the_last_message() {
    let outcome = check(
        &[&content("a"), r#"{"choices":[{"delta":{},"finish_reason":"tired"}]}"#],
        "text Failed \"a\"\n",
    );
    assert_eq!(outcome.status, StopReason::Completed);
    assert!(outcome.message.expect("a message").contains("tired"));
}

#[test]
fn a_filter_is_said() {
    let finish = r#"{"choices":[{"delta":{},"finish_reason":"content_filter"}]}"#;
    let outcome = check(&[&content("a"), finish], "text Failed \"a\"\n");
    assert_eq!((outcome.status, outcome.fault), (StopReason::Completed, Some(Fault::Filter)));
    let outcome = check(&[finish], "");
    assert_eq!((outcome.status, outcome.permanent), (StopReason::Failed, true));
}

#[test]
fn a_refusal_is_text() {
    ok(&[r#"{"choices":[{"delta":{"refusal":"No."}}]}"#, STOP], "text Completed \"No.\"\n");
}

#[test]
fn p51_an_empty_answer_is_malformed() {
    for bytes in [stream(&[STOP]), stream(&[]), open_stream(&[]), b": ping\n\n".to_vec()] {
        assert_eq!(decode([bytes.as_slice()]).outcome.status, StopReason::Malformed);
    }
}

#[test]
fn p51_an_end_without_a_finish_marker_is_malformed_and_keeps_what_came() {
    let bytes = open_stream(&[
        &content("half"),
        &call(r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}"#),
    ]);
    let decoded = decode([bytes.as_slice()]);
    assert_eq!(whole(&decoded.messages), "text Malformed \"half\"\ncall Malformed a f {}\n");
    let Outcome { status, permanent, .. } = decoded.outcome;
    assert_eq!((status, permanent), (StopReason::Malformed, false));
}

#[test]
fn done_without_a_finish_reason_completes_whole_calls_only() {
    ok(
        &[&call(r#"{"index":0,"id":"a","function":{"name":"f","arguments":""}}"#)],
        "call Completed a f {}\n",
    );
    let outcome = check(
        &[&call(r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{\"a"}}"#)],
        "call Malformed a f {\"a\n",
    );
    assert_eq!(outcome.status, StopReason::Malformed);
}

#[test]
fn p51_what_is_not_json_ends_the_turn_and_keeps_what_came() {
    let outcome = check(&[&content("a"), "{\"choices\":[", STOP], "text Malformed \"a\"\n");
    assert_eq!(outcome.status, StopReason::Malformed);
}

#[test]
fn bytes_that_are_not_utf8_do_not_end_the_turn() {
    let mut bytes = b"data: {\"choices\":[{\"delta\":{\"content\":\"a\xFFb\"}}]}\n\n".to_vec();
    bytes.extend(stream(&[STOP]));
    assert_eq!(whole(&decode([bytes.as_slice()]).messages), "text Completed \"a\u{fffd}b\"\n");
}

#[test]
fn errors_in_the_stream_are_errors_in_every_form() {
    for (bytes, status, says) in [
        (open_stream(&[r#"{"error":{"message":"Overloaded","code":503},"choices":[{"delta":{"content":""}}]}"#]), StopReason::Timeout, "Overloaded"),
        (open_stream(&[r#"{"error":"plain text"}"#]), StopReason::Failed, "plain text"),
        (b"event: error\ndata: {\"error\":{\"message\":\"bad call\",\"code\":\"tool_use_failed\"}}\n\n".to_vec(), StopReason::Failed, "bad call"),
        (b"event: error\ndata: out of memory\n\n".to_vec(), StopReason::Failed, "out of memory"),
        (open_stream(&[r#"{"object":"error","message":"too long","code":400}"#]), StopReason::Failed, "too long"),
        (open_stream(&[r#"{"base_resp":{"status_code":1008,"status_msg":"insufficient balance"}}"#]), StopReason::Failed, "insufficient balance"),
        (open_stream(&[r#"{"detail":"gone"}"#]), StopReason::Failed, "gone"),
        (open_stream(&[r#"{"error":{"message":"bad key","code":"invalid_api_key"}}"#]), StopReason::Auth, "bad key"),
    ] {
        let decoded = decode([bytes.as_slice()]);
        let message = decoded.outcome.message.clone().unwrap_or_default();
        assert_eq!(decoded.outcome.status, status, "{message}");
        assert!(message.contains(says), "{message}");
    }
}

#[test]
fn p52_a_finished_answer_is_completed_even_when_it_is_stopped_or_breaks() {
    let bytes = open_stream(&[&content("a"), STOP]);
    for ended in [Ended::Cancelled, Ended::Broken(Outcome::new(StopReason::Timeout, None))] {
        let decoded = decode_with([bytes.as_slice()], plain(), ended);
        assert_eq!(decoded.outcome, Outcome::completed());
        assert_eq!(whole(&decoded.messages), "text Completed \"a\"\n");
    }
}

#[test]
fn a_growing_buffer_is_cut_to_its_news() {
    let quirks = Quirks { cumulative: true, ..plain() };
    let bytes = stream(&[&content("0123456789"), &content("0123456789abc"), &content("x"), STOP]);
    let decoded = decode_with([bytes.as_slice()], quirks, Ended::Eof);
    assert_eq!(whole(&decoded.messages), "text Completed \"0123456789abcx\"\n");
}

#[test]
fn a_large_argument_in_one_delta_comes_through() {
    let big = "x".repeat(40_000);
    let json = serde_json::json!({"choices": [{"delta": {"tool_calls": [{
        "index": 0, "id": "a",
        "function": {"name": "f", "arguments": serde_json::json!({"t": big}).to_string()},
    }]}}]});
    let bytes = stream(&[&json.to_string(), CALLS]);
    let text = whole(&decode(bytes.chunks(1000)).messages);
    assert_eq!(text, format!("call Completed a f {{\"t\":\"{big}\"}}\n"));
}
