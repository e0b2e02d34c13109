//! Questions that wait for the user, and who may answer them (D-6, P-93, security plan 3.7).

use cairn_protocol::{
    ApprovalAnswer, ApprovalId, ApprovalOutcome, ApprovalRequest, AskClass, DecisionSource,
    ErrorCode, ErrorInfo, GrantScope, PendingQuestion, QuestionId, RuleMatcher, TodoItem,
};
use tokio::sync::oneshot;

use super::Authority;
use crate::error::Result;

/// What a running turn asks of its session.
pub(crate) enum Ask {
    /// May this call run?
    Approval { request: Box<ApprovalRequest>, reply: oneshot::Sender<ApprovalReply> },
    /// A question of the model.
    Question { question: PendingQuestion, reply: oneshot::Sender<Vec<String>> },
    /// The model's task list was replaced.
    Todos(Vec<TodoItem>),
}

/// How a call was decided by a person.
#[derive(Debug, Clone)]
pub(crate) struct ApprovalReply {
    pub(crate) outcome: ApprovalOutcome,
    pub(crate) source: DecisionSource,
    pub(crate) scope: Option<GrantScope>,
    pub(crate) rule: Option<String>,
    pub(crate) reason: Option<String>,
    pub(crate) stop: bool,
}

impl ApprovalReply {
    /// Nobody answered: silence is no.
    pub(crate) fn unanswered() -> Self {
        Self {
            outcome: ApprovalOutcome::Deny,
            source: DecisionSource::Timeout,
            scope: None,
            rule: None,
            reason: None,
            stop: false,
        }
    }
}

struct Waiting {
    request: ApprovalRequest,
    reply: oneshot::Sender<ApprovalReply>,
}

/// The questions of one session, in the order they were put.
#[derive(Default)]
pub(crate) struct Approvals {
    waiting: Vec<Waiting>,
    questions: Vec<(PendingQuestion, oneshot::Sender<Vec<String>>)>,
}

/// What an answer means for the session beside its call.
pub(crate) struct Answered {
    /// The rule to store, and for how long.
    pub(crate) grant: Option<(RuleMatcher, GrantScope)>,
    /// Whether the whole turn is to stop.
    pub(crate) stop: bool,
}

impl Approvals {
    pub(crate) fn add(&mut self, request: ApprovalRequest, reply: oneshot::Sender<ApprovalReply>) {
        self.waiting.push(Waiting { request, reply });
    }

    pub(crate) fn add_question(
        &mut self,
        question: PendingQuestion,
        reply: oneshot::Sender<Vec<String>>,
    ) {
        self.questions.push((question, reply));
    }

    pub(crate) fn pending(&self) -> Vec<ApprovalRequest> {
        self.waiting.iter().map(|waiting| waiting.request.clone()).collect()
    }

    pub(crate) fn questions(&self) -> Vec<PendingQuestion> {
        self.questions.iter().map(|(question, _)| question.clone()).collect()
    }

    pub(crate) fn count(&self) -> u32 {
        u32::try_from(self.waiting.len() + self.questions.len()).unwrap_or(u32::MAX)
    }

    pub(crate) fn get(&self, id: &ApprovalId) -> Result<ApprovalRequest> {
        let waiting = self.waiting.iter().find(|waiting| waiting.request.approval_id == *id);
        waiting.map(|waiting| waiting.request.clone()).ok_or_else(not_pending)
    }

    /// Answers one question after checking the digest and the authority.
    pub(crate) fn answer(
        &mut self,
        id: &ApprovalId,
        digest: &str,
        answer: ApprovalAnswer,
        authority: Authority,
        native_only: bool,
    ) -> Result<Answered> {
        let index = self
            .waiting
            .iter()
            .position(|waiting| waiting.request.approval_id == *id)
            .ok_or_else(not_pending)?;
        let request = &self.waiting[index].request;
        if request.digest != digest {
            let text = "What would run is not what was shown. Look at the request again.";
            return Err(ErrorInfo::new(ErrorCode::Stale, text));
        }
        check_authority(request, &answer, authority, native_only)?;
        let (reply, answered) = resolve(request, answer, authority)?;
        let waiting = self.waiting.remove(index);
        // The turn may have been stopped in the meantime; then nothing runs, which is what a stop means.
        let _stopped = waiting.reply.send(reply);
        Ok(answered)
    }

    pub(crate) fn answer_question(&mut self, id: &QuestionId, answers: Vec<String>) -> Result<()> {
        let index = self
            .questions
            .iter()
            .position(|(question, _)| question.question_id == *id)
            .ok_or_else(not_pending)?;
        let (_, reply) = self.questions.remove(index);
        let _stopped = reply.send(answers);
        Ok(())
    }

    /// Ends every question: approvals as denied, questions as declined (P-111).
    pub(crate) fn clear(&mut self) {
        for waiting in self.waiting.drain(..) {
            let _stopped = waiting.reply.send(ApprovalReply::unanswered());
        }
        self.questions.clear();
    }
}

fn not_pending() -> ErrorInfo {
    ErrorInfo::new(ErrorCode::NotPending, "This was answered already, or its turn has ended.")
}

fn check_authority(
    request: &ApprovalRequest,
    answer: &ApprovalAnswer,
    authority: Authority,
    native_only: bool,
) -> Result<()> {
    let widens = match answer {
        ApprovalAnswer::Deny { .. } | ApprovalAnswer::Stop => false,
        ApprovalAnswer::AllowOnce => native_only || request.class == AskClass::Widening,
        ApprovalAnswer::Always { .. } => true,
    };
    if widens { authority.must_be_more_than_the_window("This") } else { Ok(()) }
}

fn resolve(
    request: &ApprovalRequest,
    answer: ApprovalAnswer,
    authority: Authority,
) -> Result<(ApprovalReply, Answered)> {
    let source = match authority {
        Authority::Window => DecisionSource::User,
        Authority::NativeDialog => DecisionSource::NativeDialog,
        Authority::Headless => DecisionSource::Headless,
    };
    let mut reply = ApprovalReply { source, ..ApprovalReply::unanswered() };
    let mut answered = Answered { grant: None, stop: false };
    match answer {
        ApprovalAnswer::Deny { reason } => {
            reply.reason = Some(reason).filter(|reason| !reason.trim().is_empty());
        }
        ApprovalAnswer::Stop => {
            reply.stop = true;
            answered.stop = true;
        }
        ApprovalAnswer::AllowOnce => {
            reply.outcome = ApprovalOutcome::Allow;
            reply.scope = Some(GrantScope::Once);
        }
        ApprovalAnswer::Always { scope } => {
            let rule =
                request.always.clone().filter(|_| scope != GrantScope::Once).ok_or_else(|| {
                    crate::error::invalid(
                        "\"Always\" is not offered for this call. Allow it once, or deny it.",
                    )
                })?;
            reply.outcome = ApprovalOutcome::Allow;
            reply.scope = Some(scope);
            reply.rule = Some(cairn_policy::rule_text(&rule));
            answered.grant = Some((rule, scope));
        }
    }
    Ok((reply, answered))
}

#[cfg(test)]
mod tests;
