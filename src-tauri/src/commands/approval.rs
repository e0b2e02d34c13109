//! `approval`: the user's answer to a call that waits (D-6).
//!
//! The page may say no, and yes to a confined call. Everything else is asked for again in a native
//! dialog that shows the engine's record, not what the page shows.

use cairn_engine::{Authority, Session};
use cairn_protocol::{
    ApprovalAnswer, ApprovalAnswerParams, ApprovalAnswerResult, ApprovalRequest, AskClass,
    ErrorCode, ErrorInfo,
};
use tauri::plugin::{Builder, TauriPlugin};
use tauri::{AppHandle, State, Wry};

use crate::dialogs::{self, Choice};
use crate::shell::{Result, Shell, contain};

/// Makes the resource.
pub(super) fn plugin() -> TauriPlugin<Wry> {
    Builder::new("approval").invoke_handler(tauri::generate_handler![answer]).build()
}

#[tauri::command]
async fn answer(
    app: AppHandle,
    shell: State<'_, Shell>,
    params: ApprovalAnswerParams,
) -> Result<ApprovalAnswerResult> {
    let shell = shell.inner().clone();
    contain(async move {
        let session = shell.session(&params.session_id).await?;
        let request = session.pending(params.approval_id.clone()).await?;
        if request.digest != params.digest {
            let text = "What waits is not what was shown. Look at it again.";
            return Err(ErrorInfo::new(ErrorCode::Stale, text));
        }
        let native = shell.engine().await?.settings().native_approvals;
        if !needs_dialog(&request, &params.answer, native) {
            return give(&session, &request, params.answer, Authority::Window).await;
        }
        match ask(&app, &shell, &request, &params.answer).await? {
            Some(answer) => give(&session, &request, answer, Authority::NativeDialog).await,
            None => Ok(ApprovalAnswerResult { applied: false }),
        }
    })
    .await
}

/// Returns whether the page's word is not enough.
fn needs_dialog(request: &ApprovalRequest, answer: &ApprovalAnswer, all_native: bool) -> bool {
    match answer {
        ApprovalAnswer::Deny { .. } | ApprovalAnswer::Stop => false,
        ApprovalAnswer::AllowOnce => all_native || request.class != AskClass::Confined,
        ApprovalAnswer::Always { .. } => true,
    }
}

async fn give(
    session: &Session,
    request: &ApprovalRequest,
    answer: ApprovalAnswer,
    authority: Authority,
) -> Result<ApprovalAnswerResult> {
    let (id, digest) = (request.approval_id.clone(), request.digest.as_str());
    session.answer(id, digest, answer, authority).await?;
    Ok(ApprovalAnswerResult { applied: true })
}

/// Asks natively. `None` leaves the question open.
async fn ask(
    app: &AppHandle,
    shell: &Shell,
    request: &ApprovalRequest,
    wanted: &ApprovalAnswer,
) -> Result<Option<ApprovalAnswer>> {
    let question = match wanted {
        ApprovalAnswer::Always { scope } => {
            dialogs::approval::always(request, *scope).ok_or_else(|| {
                let text = "No rule is offered for this call. Allow it once, or deny it.";
                ErrorInfo::new(ErrorCode::Invalid, text)
            })?
        }
        _ => dialogs::approval::once(request),
    };
    Ok(meaning(wanted, question.ask(app, shell).await))
}

/// What a button says: the labels are in `dialogs/approval.rs`.
fn meaning(wanted: &ApprovalAnswer, choice: Choice) -> Option<ApprovalAnswer> {
    let deny = || ApprovalAnswer::Deny { reason: String::new() };
    match (wanted, choice) {
        (_, Choice::Second) => Some(wanted.clone()),
        (ApprovalAnswer::Always { .. }, Choice::First) => None,
        (ApprovalAnswer::Always { .. }, Choice::Third) => Some(deny()),
        (_, Choice::First) => Some(deny()),
        (_, Choice::Third) => Some(ApprovalAnswer::Stop),
    }
}

#[cfg(test)]
mod tests {
    use cairn_protocol::GrantScope;

    use super::*;

    const ALWAYS: ApprovalAnswer = ApprovalAnswer::Always { scope: GrantScope::Session };

    #[test]
    fn d6_only_the_second_button_is_a_yes() {
        for wanted in [ApprovalAnswer::AllowOnce, ALWAYS] {
            assert_eq!(meaning(&wanted, Choice::Second), Some(wanted.clone()));
            for choice in [Choice::First, Choice::Third] {
                let answer = meaning(&wanted, choice);
                let is_no = matches!(
                    answer,
                    None | Some(ApprovalAnswer::Deny { .. } | ApprovalAnswer::Stop)
                );
                assert!(is_no, "{wanted:?} {choice:?}: {answer:?}");
            }
        }
    }

    #[test]
    fn d6_cancel_of_always_leaves_the_question_open() {
        assert_eq!(meaning(&ALWAYS, Choice::First), None);
    }
}
