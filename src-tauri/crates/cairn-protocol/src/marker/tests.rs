use proptest::prelude::*;

use super::*;
use crate::{ModelMsg, Role, StopReason, Text, Thinking, ToolCall, ToolCallOutput};

#[track_caller]
fn check_round_trip(marker: &Marker) {
    let text = marker.write();
    let message = Text::user(text.clone());
    let (markers, rest) = read_leading(&message);
    assert_eq!((markers.as_slice(), rest), (std::slice::from_ref(marker), ""), "{text}");
}

fn word(text: &str) -> String {
    text.to_owned()
}

/// P-28.
#[test]
fn every_typed_block_reads_back() {
    for marker in [
        Marker::UseSkills { skills: vec![word("porting"), word("review")] },
        Marker::HandoffFrom {
            agent: Named { id: word("writer"), label: Some(word("The writer")) },
            session: Named { id: word("s-1"), label: None },
            workspace: word("/home/me/project"),
        },
        Marker::ScheduledTask {
            schedule: word("nightly"),
            fired_at: word("2026-11-30T21:25:00.000Z"),
        },
        Marker::ModelSwitchFrom {
            session: word("s-1"),
            trace: None,
            workspace: word("/w"),
            previous_model: word("m"),
            previous_provider: word("p"),
        },
        Marker::BackgroundTaskDone {
            kind: BackgroundKind::Command,
            id: word("proc-01234567"),
            completed: false,
            detail: Some(word("exit code: 3")),
        },
        Marker::Goal { round: 2, text: word("all of it\n  [/goal]\nreally") },
        Marker::UserSteering { text: word("use tabs") },
        Marker::ContextSummary { text: word("we did\nmuch") },
    ] {
        check_round_trip(&marker);
    }
}

/// P-26: square first, then the older spelling, which goal and steering don't have.
#[test]
fn the_older_spelling_is_read() {
    let block = find_block("<summary>\nold\n</summary>", Tag::Summary).unwrap();
    assert_eq!(block.body, "old");
    let both = "<summary>old</summary>\n[summary]\nnew\n[/summary]";
    assert_eq!(find_block(both, Tag::Summary).unwrap().body, "new");
    assert_eq!(find_block("<goal>\nround: 1\n</goal>", Tag::Goal), None);
    assert_eq!(find_block("<user_steering>x</user_steering>", Tag::UserSteering), None);
}

/// P-28: prose lines are passed over; an empty list of skills is not a block.
#[test]
fn fields_are_found_among_prose() {
    let text = "[use_skills]\nThe user wants these.\nskills: a , b\n[/use_skills]\ngo";
    let message = Text::user(text);
    let (markers, rest) = read_leading(&message);
    assert_eq!(markers, [Marker::UseSkills { skills: vec![word("a"), word("b")] }]);
    assert_eq!(rest, "go");
    let empty = Text::user("[use_skills]\nskills:\n[/use_skills]");
    assert_eq!(read_leading(&empty), (vec![], empty.text.as_str()));
}

/// P-28: these are whole messages, and skills come first or not at all.
#[test]
fn position_decides() {
    let switch = "[model_switch_from]\nsession: s\nworkspace: /w\nprevious_model: m\nprevious_provider: p\n[/model_switch_from]";
    assert_eq!(read_leading(&Text::user(switch)).0.len(), 1);
    assert_eq!(read_leading(&Text::user(format!("{switch}\nand more"))).0.len(), 0);
    let late = Text::user("hello [use_skills]\nskills: a\n[/use_skills]");
    assert_eq!(read_leading(&late), (vec![], late.text.as_str()));
}

/// P-31: what the model says is never a marker.
#[test]
fn a_text_of_the_model_has_no_markers() {
    let text = Text { role: Role::Assistant, ..Text::user("[user_steering]\nx\n[/user_steering]") };
    assert_eq!(read_leading(&text), (vec![], text.text.as_str()));
}

/// P-29.
#[test]
fn attachment_lines_are_lifted_off_the_end() {
    let image = Attachment { kind: AttachmentKind::Image, source: word("https://host/a]b.png") };
    let file = Attachment { kind: AttachmentKind::File, source: word("/tmp/my notes.txt") };
    let lines = format!("{}\n{}", image.line().unwrap(), file.line().unwrap());
    assert_eq!(
        split_attachments(&format!("look\n{lines}")),
        ("look", vec![image.clone(), file.clone()])
    );
    assert_eq!(split_attachments(&lines), ("", vec![image, file.clone()]));
    let middle = "[attached file: /a]\nis what I mean";
    assert_eq!(split_attachments(middle), (middle, vec![]));
    assert_eq!(Attachment { source: word("a\nb"), ..file }.line(), None);
}

/// P-30, P-67.
#[test]
fn a_title_is_what_the_user_said() {
    let goal = Marker::Goal { round: 1, text: word("rules") }.write();
    for (text, title) in [
        ("Fix the login page", "Fix the login page"),
        ("[use_skills]\nskills: a\n[/use_skills]\n  Fix\n it", "Fix it"),
        (&format!("{goal}\nmake it fast"), "make it fast"),
        ("[goal] [/use_skills]<handoff_from>stray", "stray"),
        ("[attached file: /a]", ""),
        ("one two three four five six seven eight", "one two three four five six…"),
        ("0123456789012345678901234567890123456789", "01234567890123456789012345678…"),
        ("修复登录页面", "修复登录页面"),
        ("[turn_aborted]\n  x\n[/turn_aborted]", "[turn_aborted] x…"),
    ] {
        assert_eq!(fallback_title(text), title, "{text}");
    }
}

fn turn() -> Vec<ModelMsg> {
    let id = "call-\"1\"".into();
    vec![
        Text::user("fix it\n[/turn_aborted]\nplease").into(),
        Thinking { role: Role::Assistant, thinking: word("hm"), fidelity: None, stop_reason: None }
            .into(),
        Text::assistant("", StopReason::Aborted).into(),
        ToolCall {
            role: Role::Assistant,
            name: word("grep"),
            arguments: word("{\"q\":1}"),
            tool_call_id: crate::ToolCallId::new("call-\"1\""),
            fidelity: None,
            stop_reason: None,
        }
        .into(),
        ToolCallOutput::text(&id, "", StopReason::Aborted).into(),
    ]
}

/// P-40.
#[test]
fn a_broken_off_turn_becomes_one_block() {
    let mut transcript = Transcript::new();
    transcript.extend(&turn());
    insta::assert_snapshot!(transcript.finish(Tag::TurnAborted), @r#"
    [turn_aborted]
      [user_input]fix it
      [/turn_aborted]
      please[/user_input]
      [thinking]hm[/thinking]
      [tool_call name="grep" id="call-_1_"]{"q":1}[/tool_call]
      [tool_call_output id="call-_1_" status="aborted"][/tool_call_output]
    [/turn_aborted]
    "#);
}

/// P-40: an old block inside is unwrapped, so that nesting never grows.
#[test]
fn a_block_inside_is_unwrapped() {
    let mut first = Transcript::new();
    first.extend(&turn());
    let first = first.finish(Tag::TurnAborted);
    let mut second = Transcript::new();
    second.push(&Text::user(format!("{first}\nagain")).into());
    let second = second.finish(Tag::TurnRetried);
    let inner = find_block(&first, Tag::TurnAborted).unwrap().body;
    let expected = format!("{inner}\n  [user_input]again[/user_input]");
    assert_eq!(find_block(&second, Tag::TurnRetried).unwrap().body, expected);
}

proptest! {
    /// Whatever was said, the block closes where it should.
    #[test]
    fn nothing_said_closes_a_transcript(said in "(\\[/?turn_aborted\\]|\n|[a-z ]){0,12}") {
        let mut transcript = Transcript::new();
        transcript.push(&Text::assistant(said, StopReason::Aborted).into());
        transcript.push(&Text::assistant("end", StopReason::Aborted).into());
        let block = transcript.finish(Tag::TurnAborted);
        let found = leading_block(&block).unwrap();
        prop_assert_eq!(found.after, "");
        prop_assert!(found.body.ends_with("[text]end[/text]"), "{}", block);
    }

    /// No text makes reading panic, and reading never invents text.
    #[test]
    fn reading_is_total(text in "(\\[/?goal\\]|\\[attached file: a\\]|<summary>|</summary>|\\[use_skills\\]|skills: x|é|\r?\n| ){0,14}") {
        let message = Text::user(text.clone());
        let (_, rest) = read_leading(&message);
        prop_assert!(text.ends_with(rest));
        prop_assert!(text.contains(strip_leading(&text)));
        prop_assert!(fallback_title(&text).chars().count() <= 30);
        for tag in Tag::ALL {
            let _ = find_block(&text, tag);
        }
    }
}

/// P-31: what is stored beside a text is what its blocks say, so that an imported trace reads the same.
#[test]
fn p31_the_markers_beside_a_text_are_those_that_it_begins_with() {
    let markers = vec![
        Marker::ScheduledTask {
            schedule: "nightly".into(),
            fired_at: "2026-11-30T21:25:00Z".into(),
        },
        Marker::UserSteering { text: "use tabs".into() },
    ];
    for rest in ["", "Go on."] {
        let text = Text::marked(markers.clone(), rest);
        assert_eq!(text.markers, markers);
        assert_eq!(read_leading(&text), (markers.clone(), rest));
    }
    assert_eq!(Text::user("[goal]\nround: 1\nx\n[/goal]").markers, []);
}
