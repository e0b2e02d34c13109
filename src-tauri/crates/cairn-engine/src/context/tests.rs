use cairn_protocol::{ContextWindow, SessionMeta, Thinking, ToolCallId, TurnId, TurnStatus};
use proptest::prelude::*;

use super::*;

const NOW: Timestamp = Timestamp(1_000);

fn model(message: impl Into<ModelMsg>) -> Message {
    Message::model(NOW, message)
}

fn call(id: &str, stop_reason: Option<StopReason>) -> Message {
    model(ToolCall {
        role: Role::Assistant,
        name: "read_file".to_owned(),
        arguments: "{}".to_owned(),
        tool_call_id: ToolCallId::new(id),
        fidelity: None,
        stop_reason,
    })
}

fn output(id: &str, text: &str, status: StopReason) -> Message {
    model(ToolCallOutput::text(&ToolCallId::new(id), text, status))
}

fn said(text: &str) -> Message {
    model(Text::assistant(text, StopReason::Completed))
}

fn begin() -> Message {
    Message::event(NOW, EventMsg::RequestBegin {})
}

fn end(status: StopReason) -> Message {
    let event =
        EventMsg::RequestEnd { status, error_message: None, attempt: None, retry_in_ms: None };
    Message::event(NOW, event)
}

fn turn_end() -> Message {
    let event = EventMsg::TurnEnd {
        turn_id: TurnId::new("t1"),
        status: TurnStatus::Completed,
        iterations: 1,
        produced_files: Vec::new(),
        usage: cairn_protocol::TokenUsage::default(),
        duration_ms: 0,
        error: None,
    };
    Message::event(NOW, event)
}

fn meta() -> Message {
    let meta = SessionMeta {
        session_id: cairn_protocol::SessionId::new("s1"),
        provider: "p".to_owned(),
        model_id: "m".to_owned(),
        model_context_window: ContextWindow::from(None),
        system_prompt: String::new(),
        agent_state: "/agent".to_owned(),
        workspace: "/work".to_owned(),
        source: None,
    };
    Message::meta(NOW, meta)
}

fn fold(messages: impl IntoIterator<Item = Message>) -> Context {
    let mut context = Context::default();
    for message in messages {
        context.observe(&Arc::new(message));
    }
    context
}

/// One line a message, as the model gets them.
fn shown(context: &Context) -> String {
    let lines = context.request(NOW).into_iter().map(|message| match message.as_model() {
        Some(ModelMsg::Text(it)) if it.role == Role::User => format!("user: {}", it.text),
        Some(ModelMsg::Text(it)) => format!("model: {}", it.text),
        Some(ModelMsg::Thinking(it)) => format!("thinking: {}", it.thinking),
        Some(ModelMsg::ToolCall(it)) => format!("call {}", it.tool_call_id),
        Some(ModelMsg::ToolCallOutput(it)) => format!("output {}: {}", it.tool_call_id, it.output),
        Some(ModelMsg::ImageUrl(_)) => "image".to_owned(),
        other => panic!("nothing else is sent: {other:?}"),
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[track_caller]
fn check(messages: impl IntoIterator<Item = Message>, expected: &str) {
    let context = fold(messages);
    assert_eq!(shown(&context), expected);
    assert_eq!(wire_problem(&context.request(NOW)), None);
}

#[test]
fn p33_outputs_go_back_in_call_order() {
    check(
        [
            model(Text::user("go")),
            begin(),
            call("a", None),
            call("b", None),
            output("b", "second", StopReason::Completed),
            end(StopReason::Completed),
            output("a", "first", StopReason::Completed),
            begin(),
        ],
        "user: go\ncall a\ncall b\noutput a: first\noutput b: second",
    );
}

#[test]
fn p39_a_stop_after_the_answer_keeps_outputs_and_stands_in_for_the_missing() {
    check(
        [
            model(Text::user("go")),
            begin(),
            said("I look."),
            call("a", None),
            call("b", None),
            end(StopReason::Completed),
            output("b", "found", StopReason::Completed),
            turn_end(),
            model(Text::user("again")),
        ],
        "user: go\nmodel: I look.\ncall a\ncall b\noutput a: [interrupted: tool aborted by user]\n\
         output b: found\nuser: again",
    );
}

#[test]
fn p40_a_stop_in_the_answer_makes_one_block_and_images_come_after_it() {
    let image = ModelMsg::ImageUrl(cairn_protocol::ImageUrl {
        role: Role::User,
        image_url: "file:///a.png".to_owned(),
    });
    check(
        [
            model(image),
            model(Text::user("go")),
            begin(),
            said("I lo"),
            call("a", None),
            output("a", "found", StopReason::Aborted),
            end(StopReason::Aborted),
            turn_end(),
            model(Text::user("again")),
        ],
        "user: [turn_aborted]\n  [user_input]go[/user_input]\n  [text]I lo[/text]\n  \
         [tool_call name=\"read_file\" id=\"a\"]{}[/tool_call]\n  \
         [tool_call_output id=\"a\" status=\"aborted\"]found[/tool_call_output]\n[/turn_aborted]\n\
         image\nuser: again",
    );
}

#[test]
fn p40_blocks_do_not_nest() {
    let stopped = || [begin(), said("Hm"), end(StopReason::Aborted), turn_end()];
    let mut messages = vec![model(Text::user("one"))];
    messages.extend(stopped());
    messages.push(model(Text::user("two")));
    messages.extend(stopped());
    check(
        messages,
        "user: [turn_aborted]\n  [user_input]one[/user_input]\n  [text]Hm[/text]\n  \
         [user_input]two[/user_input]\n  [text]Hm[/text]\n[/turn_aborted]",
    );
}

#[test]
fn p40_outputs_of_committed_calls_stay_structured() {
    check(
        [
            model(Text::user("go")),
            begin(),
            call("a", None),
            end(StopReason::Completed),
            output("a", "found", StopReason::Completed),
            begin(),
            said("So"),
            end(StopReason::Aborted),
            turn_end(),
        ],
        "user: go\ncall a\noutput a: found\nuser: [turn_aborted]\n  [text]So[/text]\n[/turn_aborted]",
    );
}

#[test]
fn p41_a_stop_before_the_request_leaves_the_input_as_it_was() {
    check([model(Text::user("go")), turn_end(), model(Text::user("now"))], "user: go\nuser: now");
}

#[test]
fn p42_a_request_that_is_given_up_is_held_as_the_next_attempt_would_have_been() {
    check(
        [
            model(Text::user("go")),
            begin(),
            said("I l"),
            end(StopReason::Timeout),
            begin(),
            end(StopReason::Failed),
            turn_end(),
            model(Text::user("again")),
        ],
        "user: go\nuser: [turn_retried]\n  [text]I l[/text]\n[/turn_retried]\nuser: again",
    );
}

#[test]
fn p43_the_next_attempt_hears_of_all_failed_ones_and_an_answer_ends_that() {
    let failed = [
        model(Text::user("go")),
        begin(),
        said("one"),
        end(StopReason::Failed),
        begin(),
        said("two"),
        end(StopReason::Malformed),
        begin(),
    ];
    check(
        failed.clone(),
        "user: go\nuser: [turn_retried]\n  [text]one[/text]\n  [text]two[/text]\n[/turn_retried]",
    );
    check(
        failed.into_iter().chain([said("three"), end(StopReason::Completed), turn_end()]),
        "user: go\nmodel: three",
    );
}

/// What the engine says in the model's place, and a switch of the model, are not for the model.
#[test]
fn p38_d1_words_of_the_engine_are_not_the_models_and_a_switch_keeps_the_conversation() {
    check(
        [
            meta(),
            model(Text::user("go")),
            begin(),
            said("Yes."),
            end(StopReason::Completed),
            model(Text::assistant("Stopped after 1 request.", StopReason::Failed)),
            turn_end(),
            meta(),
            model(Text::user("on")),
        ],
        "user: go\nmodel: Yes.\nuser: on",
    );
}

#[test]
fn p254_a_call_that_did_not_arrive_whole_and_an_empty_text_are_not_sent() {
    check(
        [
            model(Text::user("go")),
            begin(),
            said(""),
            call("a", Some(StopReason::Malformed)),
            end(StopReason::Completed),
            turn_end(),
        ],
        "user: go",
    );
}

/// Returns what is wrong with a request on any wire (P-254).
fn wire_problem(request: &[Arc<Message>]) -> Option<String> {
    let mut open: std::collections::VecDeque<ToolCallId> = std::collections::VecDeque::new();
    let mut answering = false;
    for message in request {
        match message.as_model()? {
            ModelMsg::ToolCallOutput(it) => {
                answering = true;
                if open.pop_front().as_ref() != Some(&it.tool_call_id) {
                    return Some(format!("{} is not answered in its place", it.tool_call_id));
                }
            }
            other => {
                if answering && !open.is_empty() || other.role() == Role::User && !open.is_empty() {
                    return Some(format!("{open:?} have no output before {other:?}"));
                }
                answering = false;
                match other {
                    ModelMsg::ToolCall(it) if !runnable(it) => {
                        return Some(format!("{} is broken", it.tool_call_id));
                    }
                    ModelMsg::ToolCall(it) => open.push_back(it.tool_call_id.clone()),
                    ModelMsg::Text(it) => {
                        let blocks = it.text.matches("[turn_aborted]").count()
                            + it.text.matches("[turn_retried]").count();
                        if it.text.is_empty() || blocks > 1 {
                            return Some(format!("an empty or nested text: {:?}", it.text));
                        }
                    }
                    _ => {}
                }
            }
        }
    }
    (!open.is_empty()).then(|| format!("{open:?} have no output at the end"))
}

/// Random bytes that say what happens next; at their end everything goes well.
struct Tape<'a>(std::slice::Iter<'a, u8>);

impl Tape<'_> {
    fn below(&mut self, limit: u8) -> u8 {
        self.0.next().map_or(0, |byte| byte % limit)
    }

    fn chance(&mut self, of: u8) -> bool {
        self.below(of) == of - 1
    }
}

/// Plays a session as the engine does: what is stored, and what the turn itself takes in.
struct Player<'a> {
    tape: Tape<'a>,
    trace: Vec<Message>,
    live: Context,
    calls: u32,
    requests: Vec<(usize, Vec<Arc<Message>>)>,
}

impl Player<'_> {
    fn both(&mut self, message: Message) {
        self.live.observe(&Arc::new(message.clone()));
        self.trace.push(message);
    }

    fn session(&mut self) {
        self.both(meta());
        for turn in 0..=self.tape.below(5) {
            self.both(model(Text::user(format!("text {turn}"))));
            self.turn();
            self.both(turn_end());
            if self.tape.chance(4) {
                // A rollback tells the model with its next input.
                self.both(model(Text::harness("The user rolled back turn 1.")));
            }
            if self.tape.chance(5) {
                self.both(meta());
            }
            if self.tape.chance(4) {
                // The app was started again: the context is what the trace says.
                self.live = fold(self.trace.clone());
            }
        }
    }

    fn turn(&mut self) {
        for _ in 0..4 {
            if self.tape.chance(8) {
                return;
            }
            let mut attempts = 0;
            let (status, calls) = loop {
                let answer = self.attempt();
                attempts += 1;
                let retried = !matches!(answer.0, StopReason::Completed | StopReason::Aborted);
                if !retried || attempts == 3 || self.tape.chance(4) {
                    break answer;
                }
            };
            if status != StopReason::Completed || calls == 0 {
                return;
            }
        }
        // Too many requests: the engine says so in the model's place, and only the trace has it.
        self.trace.push(model(Text::assistant("Stopped.", StopReason::Failed)));
    }

    fn attempt(&mut self) -> (StopReason, usize) {
        self.both(begin());
        self.requests.push((self.trace.len(), self.live.request(NOW)));
        let mut calls = Vec::new();
        for _ in 0..self.tape.below(5) {
            match self.tape.below(4) {
                0 => self.both(said("said")),
                1 => {
                    let thinking = if self.tape.chance(3) { "" } else { "thought" }.to_owned();
                    self.both(model(Thinking {
                        role: Role::Assistant,
                        thinking,
                        fidelity: None,
                        stop_reason: Some(StopReason::Completed),
                    }));
                }
                _ => {
                    self.calls += 1;
                    let id = format!("c{}", self.calls);
                    let broken = self.tape.chance(6).then_some(StopReason::Malformed);
                    self.both(call(&id, broken));
                    if broken.is_none() {
                        calls.push(id);
                    }
                }
            }
        }
        let status = match self.tape.below(8) {
            5 => StopReason::Aborted,
            6 => StopReason::Failed,
            7 => StopReason::Timeout,
            _ => StopReason::Completed,
        };
        let count = calls.len();
        let (mut early, mut late) = (Vec::new(), Vec::new());
        for id in calls {
            let answer = match self.tape.below(6) {
                // Its task broke down and left nothing.
                5 => continue,
                4 => output(&id, "Tool call denied by user.", StopReason::Aborted),
                3 => output(&id, "no such file", StopReason::Failed),
                _ => output(&id, "found", StopReason::Completed),
            };
            let goes_early = status != StopReason::Completed || self.tape.chance(2);
            if goes_early { early.push(answer) } else { late.push(answer) }
        }
        self.finish(early, late, status);
        (status, count)
    }

    /// Outputs are stored as they end; the turn takes them in together, in call order: after the end of a
    /// request that was answered, before that of one that failed.
    fn finish(&mut self, early: Vec<Message>, late: Vec<Message>, status: StopReason) {
        let mut stored = early.clone();
        if self.tape.chance(2) {
            stored.reverse();
        }
        self.trace.extend(stored);
        let mut taken: Vec<Message> = early.into_iter().chain(late.iter().cloned()).collect();
        taken.sort_by_key(|message| match message.as_model() {
            Some(ModelMsg::ToolCallOutput(it)) => {
                it.tool_call_id.as_str()[1..].parse().unwrap_or(0)
            }
            _ => 0_u32,
        });
        let take = |context: &mut Context| {
            for message in &taken {
                context.observe(&Arc::new(message.clone()));
            }
        };
        if status == StopReason::Completed {
            self.both(end(status));
            take(&mut self.live);
            self.trace.extend(late);
        } else {
            take(&mut self.live);
            self.both(end(status));
        }
    }
}

/// A message as it is read back from the trace.
fn stored(message: &Message) -> Message {
    let text = serde_json::to_string(message).expect("a message is JSON");
    serde_json::from_str(&text).expect("what was written is read")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    /// P-254: the fold over what was stored gives what the live fold gives, at every request and at the end of
    /// every turn.
    #[test]
    fn p254_the_live_context_is_that_of_the_trace(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let mut player = Player {
            tape: Tape(bytes.iter()),
            trace: Vec::new(),
            live: Context::default(),
            calls: 0,
            requests: Vec::new(),
        };
        player.session();
        for (length, sent) in &player.requests {
            let again = fold(player.trace[..*length].iter().map(stored));
            prop_assert_eq!(&again.request(NOW), sent);
        }
        let again = fold(player.trace.iter().map(stored));
        prop_assert_eq!(again.request(NOW), player.live.request(NOW));
    }

    /// P-254: whatever part of a trace a crash left, what is sent after it is closed and resumed pairs.
    #[test]
    fn p254_every_call_is_answered_once_after_any_prefix(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let mut player = Player {
            tape: Tape(bytes.iter()),
            trace: Vec::new(),
            live: Context::default(),
            calls: 0,
            requests: Vec::new(),
        };
        player.session();
        for (_, sent) in &player.requests {
            prop_assert_eq!(wire_problem(sent), None);
        }
        let mut context = Context::default();
        for message in player.trace {
            context.observe(&Arc::new(message));
            let mut resumed = context.clone();
            resumed.observe(&Arc::new(turn_end()));
            resumed.observe(&Arc::new(model(Text::user("on"))));
            resumed.observe(&Arc::new(begin()));
            prop_assert_eq!(wire_problem(&resumed.request(NOW)), None);
        }
    }
}
