use cairn_protocol::{
    CallEffects, SandboxPolicy, SessionId, Timestamp, ToolCallId, ToolClass, TurnId,
};
use tokio::sync::oneshot::error::TryRecvError;

use super::*;

const DIGEST: &str = "d1";
const AUTHORITIES: [Authority; 3] =
    [Authority::Window, Authority::NativeDialog, Authority::Headless];

fn request(id: &str, class: AskClass, always: Option<RuleMatcher>) -> ApprovalRequest {
    ApprovalRequest {
        approval_id: ApprovalId::new(id),
        session_id: SessionId::new("s1"),
        turn_id: TurnId::new("t1"),
        tool_call_id: ToolCallId::new("c1"),
        tool: "write_file".to_owned(),
        arguments: "{}".to_owned(),
        effects: CallEffects {
            class: ToolClass::WriteLocal,
            title: "Write a".to_owned(),
            reads: Vec::new(),
            writes: Vec::new(),
            command: None,
        },
        reason: "it writes".to_owned(),
        class,
        sandbox: SandboxPolicy::Unconfined,
        always,
        digest: DIGEST.to_owned(),
        created_at: Timestamp(1),
    }
}

fn rule() -> RuleMatcher {
    RuleMatcher::Tool { name: "write_file".to_owned() }
}

/// Puts a question that offers a rule, and returns where its answer comes out.
fn asked(approvals: &mut Approvals, class: AskClass) -> oneshot::Receiver<ApprovalReply> {
    let (reply, answer) = oneshot::channel();
    approvals.add(request("a1", class, Some(rule())), reply);
    answer
}

fn deny() -> ApprovalAnswer {
    ApprovalAnswer::Deny { reason: "no".to_owned() }
}

fn always(scope: GrantScope) -> ApprovalAnswer {
    ApprovalAnswer::Always { scope }
}

fn answer(
    approvals: &mut Approvals,
    answer: ApprovalAnswer,
    authority: Authority,
) -> Result<Answered> {
    approvals.answer(&ApprovalId::new("a1"), DIGEST, answer, authority, false)
}

/// D-6: each answer to each class of question with each authority, with and without the setting that makes
/// every approval native. What is refused stays open and has not run.
#[test]
fn d6_who_may_say_what() {
    let answers = [
        (deny(), [true; 4]),
        (ApprovalAnswer::Stop, [true; 4]),
        // Confined, widening; then the same with every approval native.
        (ApprovalAnswer::AllowOnce, [true, false, false, false]),
        (always(GrantScope::Session), [false; 4]),
        (always(GrantScope::Workspace), [false; 4]),
    ];
    let cases = [
        (AskClass::Confined, false),
        (AskClass::Widening, false),
        (AskClass::Confined, true),
        (AskClass::Widening, true),
    ];
    for (wanted, by_window) in &answers {
        for ((class, native_only), window_may) in cases.into_iter().zip(by_window) {
            for authority in AUTHORITIES {
                let name = format!("{wanted:?} of {class:?} by {authority:?}, {native_only}");
                let mut approvals = Approvals::default();
                let mut reply = asked(&mut approvals, class);
                let id = ApprovalId::new("a1");
                let result = approvals.answer(&id, DIGEST, wanted.clone(), authority, native_only);
                if authority != Authority::Window || *window_may {
                    assert!(result.is_ok(), "{name}");
                    assert_eq!(approvals.count(), 0, "{name}");
                    let reply = reply.try_recv().expect("it is answered");
                    let yes = !matches!(wanted, ApprovalAnswer::Deny { .. } | ApprovalAnswer::Stop);
                    assert_eq!(reply.outcome == ApprovalOutcome::Allow, yes, "{name}");
                } else {
                    let error = result.err().expect("the window alone can't");
                    assert_eq!(error.code, ErrorCode::Declined, "{name}");
                    assert_eq!(approvals.count(), 1, "{name}: it still waits");
                    assert!(matches!(reply.try_recv(), Err(TryRecvError::Empty)), "{name}");
                }
            }
        }
    }
}

/// The decision in the trace says who gave it.
#[test]
fn d6_the_source_of_a_decision_is_its_authority() {
    let sources = [DecisionSource::User, DecisionSource::NativeDialog, DecisionSource::Headless];
    for (authority, source) in AUTHORITIES.into_iter().zip(sources) {
        let mut approvals = Approvals::default();
        let mut reply = asked(&mut approvals, AskClass::Confined);
        answer(&mut approvals, ApprovalAnswer::AllowOnce, authority).expect("it is allowed");
        assert_eq!(reply.try_recv().expect("it is answered").source, source);
    }
}

#[test]
fn promise_3_another_digest_is_stale_for_every_answer_and_authority() {
    for wanted in [deny(), ApprovalAnswer::Stop, ApprovalAnswer::AllowOnce] {
        for authority in AUTHORITIES {
            let mut approvals = Approvals::default();
            let mut reply = asked(&mut approvals, AskClass::Confined);
            let id = ApprovalId::new("a1");
            let result = approvals.answer(&id, "d2", wanted.clone(), authority, false);
            assert_eq!(result.err().expect("it is stale").code, ErrorCode::Stale);
            assert!(matches!(reply.try_recv(), Err(TryRecvError::Empty)), "it still waits");
        }
    }
}

#[test]
fn an_answer_counts_once_and_an_unknown_question_has_none() {
    let mut approvals = Approvals::default();
    let unknown = answer(&mut approvals, ApprovalAnswer::AllowOnce, Authority::NativeDialog);
    assert_eq!(unknown.err().expect("nothing waits").code, ErrorCode::NotPending);
    assert_eq!(approvals.get(&ApprovalId::new("a1")).unwrap_err().code, ErrorCode::NotPending);

    let mut reply = asked(&mut approvals, AskClass::Confined);
    assert_eq!(approvals.get(&ApprovalId::new("a1")).expect("it waits").digest, DIGEST);
    answer(&mut approvals, deny(), Authority::Window).expect("it is denied");
    let again = answer(&mut approvals, ApprovalAnswer::AllowOnce, Authority::NativeDialog);
    assert_eq!(again.err().expect("it is answered").code, ErrorCode::NotPending);
    let reply = reply.try_recv().expect("the first answer counts");
    assert_eq!((reply.outcome, reply.reason.as_deref()), (ApprovalOutcome::Deny, Some("no")));
}

/// D-7, P-93: a rule is granted for the scope that was chosen, and only one that was offered.
#[test]
fn a_rule_is_granted_for_its_scope_and_only_when_it_was_offered() {
    for scope in [GrantScope::Session, GrantScope::Workspace] {
        let mut approvals = Approvals::default();
        let mut reply = asked(&mut approvals, AskClass::Confined);
        let answered = answer(&mut approvals, always(scope), Authority::NativeDialog);
        assert_eq!(answered.expect("it is granted").grant, Some((rule(), scope)));
        let reply = reply.try_recv().expect("it is answered");
        assert_eq!((reply.outcome, reply.scope), (ApprovalOutcome::Allow, Some(scope)));
        assert_eq!(reply.rule, Some(cairn_policy::rule_text(&rule())));
    }
    let mut approvals = Approvals::default();
    let mut reply = asked(&mut approvals, AskClass::Confined);
    let once = answer(&mut approvals, always(GrantScope::Once), Authority::NativeDialog);
    assert_eq!(once.err().expect("once is no rule").code, ErrorCode::Invalid);
    assert!(matches!(reply.try_recv(), Err(TryRecvError::Empty)), "it still waits");

    let mut approvals = Approvals::default();
    let (reply, mut unanswered) = oneshot::channel();
    approvals.add(request("a1", AskClass::Widening, None), reply);
    let none = answer(&mut approvals, always(GrantScope::Session), Authority::Headless);
    assert_eq!(none.err().expect("no rule was offered").code, ErrorCode::Invalid);
    assert!(matches!(unanswered.try_recv(), Err(TryRecvError::Empty)), "it still waits");
}

/// P-111, P03: the end of a turn answers what is open, and silence is no.
#[test]
fn p111_what_nobody_answered_is_a_no() {
    let mut approvals = Approvals::default();
    let mut reply = asked(&mut approvals, AskClass::Confined);
    let question = PendingQuestion {
        question_id: QuestionId::new("q1"),
        tool_call_id: ToolCallId::new("c2"),
        question: "Which?".to_owned(),
        options: Vec::new(),
        allow_text: true,
        multi: false,
    };
    let (answers, mut answered) = oneshot::channel();
    approvals.add_question(question, answers);
    assert_eq!(approvals.count(), 2);
    approvals.clear();
    assert_eq!(approvals.count(), 0);
    let reply = reply.try_recv().expect("it is answered");
    assert_eq!((reply.outcome, reply.source), (ApprovalOutcome::Deny, DecisionSource::Timeout));
    assert!(matches!(answered.try_recv(), Err(TryRecvError::Closed)), "declined");
    let late = approvals.answer_question(&QuestionId::new("q1"), vec!["a".to_owned()]);
    assert_eq!(late.unwrap_err().code, ErrorCode::NotPending);
}
