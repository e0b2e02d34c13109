use cairn_protocol::{
    ApprovalId, AskClass, CallEffects, PlannedCommand, ResolvedPath, RuleMatcher, SessionId,
    Timestamp, ToolCallId, ToolClass, TurnId,
};

use super::*;

fn request(command: &str) -> ApprovalRequest {
    let cwd = ResolvedPath {
        requested: ".".to_owned(),
        real: "/home/user/shop".to_owned(),
        relative: Some(".".to_owned()),
    };
    ApprovalRequest {
        approval_id: ApprovalId::new("a-1"),
        session_id: SessionId::new("s-1"),
        turn_id: TurnId::new("t-1"),
        tool_call_id: ToolCallId::new("c-1"),
        tool: "run_shell".to_owned(),
        arguments: "{}".to_owned(),
        effects: CallEffects {
            class: ToolClass::Execute,
            title: "Run a command".to_owned(),
            reads: Vec::new(),
            writes: Vec::new(),
            command: Some(PlannedCommand {
                command: command.to_owned(),
                cwd,
                timeout_ms: None,
                background: false,
            }),
        },
        reason: "Commands ask.".to_owned(),
        class: AskClass::Confined,
        sandbox: SandboxPolicy::CONFINED,
        always: Some(RuleMatcher::CommandPrefix { words: vec!["ls".to_owned()] }),
        digest: "0123456789abcdef0123456789abcdef".to_owned(),
        created_at: Timestamp(0),
    }
}

#[test]
fn d6_the_dialog_shows_the_command_its_confinement_and_the_record() {
    let question = once(&request("ls %s"));
    assert_eq!(question.labels, ["Deny", "Allow once", "Stop"]);
    let expected = "What: Run a command
Command:
  \u{2502} ls %s
In: /home/user/shop
Confined: to the workspace, no network
Why it asks: Commands ask.
Record: 0123456789abcdef

Deny refuses this call. Stop, or closing this dialog, ends the turn.";
    assert_eq!(question.message, expected);
}

#[test]
fn d6_always_shows_the_rule_literally_and_for_how_long() {
    let question = always(&request("ls"), GrantScope::Workspace).expect("a rule is offered");
    assert_eq!(question.labels, ["Cancel", "Always allow", "Deny"]);
    let rule = rule_text(&RuleMatcher::CommandPrefix { words: vec!["ls".to_owned()] });
    assert!(question.message.starts_with(&format!("Rule that is stored: {rule}\n")));
    assert!(question.message.contains("It holds: in this folder"));
}

#[test]
fn d6_no_rule_and_no_scope_is_no_question() {
    assert!(always(&request("ls"), GrantScope::Once).is_none());
    let mut without = request("ls");
    without.always = None;
    assert!(always(&without, GrantScope::Session).is_none());
}
