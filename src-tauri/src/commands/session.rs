//! `session`: conversations. What can't be taken back or widens is asked for natively.

use cairn_engine::{Authority, Session};
use cairn_protocol::{
    ErrorCode, ErrorInfo, FeedItem, HistoryPage, Mode, SessionAnswerParams, SessionCreateParams,
    SessionHistoryParams, SessionParams, SessionRenameParams, SessionSetModeParams,
    SessionSetModelParams, SessionStartTurnParams, SessionStopCommandParams, SessionUnqueueParams,
    SessionView, SubscriptionParams,
};
use tauri::ipc::Channel;
use tauri::plugin::{Builder, TauriPlugin};
use tauri::{AppHandle, State, Wry};

use crate::dialogs::{Choice, Question};
use crate::shell::{Result, Shell, contain};

/// Makes the resource.
pub(super) fn plugin() -> TauriPlugin<Wry> {
    Builder::new("session")
        .invoke_handler(tauri::generate_handler![
            create,
            open,
            history,
            subscribe,
            unsubscribe,
            start_turn,
            unqueue,
            interrupt,
            stop_command,
            retry_now,
            set_mode,
            set_model,
            rename,
            delete,
            answer_question
        ])
        .build()
}

#[tauri::command]
async fn create(
    app: AppHandle,
    shell: State<'_, Shell>,
    params: SessionCreateParams,
) -> Result<SessionView> {
    let shell = shell.inner().clone();
    contain(async move {
        let engine = shell.engine().await?;
        let mut authority = Authority::Window;
        if params.mode == Some(Mode::Auto) {
            if mode_auto("A new session").ask(&app, &shell).await != Choice::Second {
                return Err(ErrorInfo::new(ErrorCode::Declined, "No session was made."));
            }
            authority = Authority::NativeDialog;
        }
        let (workspace, model, mode) = (params.workspace_id, params.model, params.mode);
        engine.create_session(&workspace, model, mode, authority).await?.view().await
    })
    .await
}

#[tauri::command]
async fn open(shell: State<'_, Shell>, params: SessionParams) -> Result<SessionView> {
    let shell = shell.inner().clone();
    contain(async move { shell.session(&params.session_id).await?.view().await }).await
}

#[tauri::command]
async fn history(shell: State<'_, Shell>, params: SessionHistoryParams) -> Result<HistoryPage> {
    let shell = shell.inner().clone();
    contain(async move {
        let session = shell.session(&params.session_id).await?;
        session.history(params.before, params.limit).await
    })
    .await
}

#[tauri::command]
async fn subscribe(
    shell: State<'_, Shell>,
    params: SessionParams,
    channel: Channel<Vec<FeedItem>>,
) -> Result<u32> {
    let shell = shell.inner().clone();
    contain(async move {
        let session = shell.session(&params.session_id).await?;
        // The page reads the whole session next; what happens meanwhile waits in the stream.
        let subscription = session.subscribe(None).await?;
        shell.streams().session(subscription, channel)
    })
    .await
}

#[tauri::command]
async fn unsubscribe(shell: State<'_, Shell>, params: SubscriptionParams) -> Result<()> {
    shell.streams().end(params.id);
    Ok(())
}

#[tauri::command]
async fn start_turn(shell: State<'_, Shell>, params: SessionStartTurnParams) -> Result<()> {
    let shell = shell.inner().clone();
    contain(async move {
        // Whether it started or waits is told by the feed.
        shell.session(&params.session_id).await?.start_turn(params.text).await.map(drop)
    })
    .await
}

#[tauri::command]
async fn unqueue(shell: State<'_, Shell>, params: SessionUnqueueParams) -> Result<String> {
    let shell = shell.inner().clone();
    contain(async move { shell.session(&params.session_id).await?.unqueue(params.queued_id).await })
        .await
}

#[tauri::command]
async fn interrupt(shell: State<'_, Shell>, params: SessionParams) -> Result<()> {
    let shell = shell.inner().clone();
    contain(async move { shell.session(&params.session_id).await?.interrupt().await }).await
}

#[tauri::command]
async fn stop_command(shell: State<'_, Shell>, params: SessionStopCommandParams) -> Result<()> {
    let shell = shell.inner().clone();
    contain(async move {
        shell.session(&params.session_id).await?.stop_command(params.tool_call_id).await
    })
    .await
}

#[tauri::command]
async fn retry_now(shell: State<'_, Shell>, params: SessionParams) -> Result<()> {
    let shell = shell.inner().clone();
    contain(async move { shell.session(&params.session_id).await?.retry_now().await }).await
}

#[tauri::command]
async fn set_mode(
    app: AppHandle,
    shell: State<'_, Shell>,
    params: SessionSetModeParams,
) -> Result<Mode> {
    let shell = shell.inner().clone();
    contain(async move {
        let session = shell.session(&params.session_id).await?;
        let mut authority = Authority::Window;
        if params.mode == Mode::Auto {
            let now = session.view().await?.summary;
            if now.mode == Mode::Auto {
                return Ok(now.mode);
            }
            if mode_auto(&now.title).ask(&app, &shell).await != Choice::Second {
                return mode_now(&session).await;
            }
            authority = Authority::NativeDialog;
        }
        session.set_mode(params.mode, authority).await
    })
    .await
}

async fn mode_now(session: &Session) -> Result<Mode> {
    Ok(session.view().await?.summary.mode)
}

fn mode_auto(session: &str) -> Question {
    Question::confirm("Let the agent act without asking?", "Switch to auto")
        .fact("Session", session)
        .say(
            "In mode auto its edits inside the folder and its confined commands run without a \
             question. What reaches further still asks here.",
        )
        .say("Every turn is captured and can be rolled back.")
}

#[tauri::command]
async fn set_model(shell: State<'_, Shell>, params: SessionSetModelParams) -> Result<()> {
    let shell = shell.inner().clone();
    contain(async move { shell.session(&params.session_id).await?.set_model(params.model).await })
        .await
}

#[tauri::command]
async fn rename(shell: State<'_, Shell>, params: SessionRenameParams) -> Result<()> {
    let shell = shell.inner().clone();
    contain(async move { shell.session(&params.session_id).await?.rename(params.title).await })
        .await
}

#[tauri::command]
async fn delete(app: AppHandle, shell: State<'_, Shell>, params: SessionParams) -> Result<()> {
    let shell = shell.inner().clone();
    contain(async move {
        let engine = shell.engine().await?;
        // Read without opening it: a session that can't be opened must still be deletable.
        let summary = engine.summary(&params.session_id).await?;
        let question = Question::confirm("Delete this session?", "Delete")
            .fact("Session", &summary.title)
            .fact("Turns", &summary.turns.to_string())
            .say(
                "Its conversation and its captures are deleted for good: its turns can't be rolled \
                 back any more. The files in your folder stay as they are.",
            );
        if question.ask(&app, &shell).await != Choice::Second {
            return Err(ErrorInfo::new(ErrorCode::Declined, "The session was not deleted."));
        }
        engine.delete_session(&params.session_id, Authority::NativeDialog).await
    })
    .await
}

#[tauri::command]
async fn answer_question(shell: State<'_, Shell>, params: SessionAnswerParams) -> Result<()> {
    let shell = shell.inner().clone();
    contain(async move {
        let session = shell.session(&params.session_id).await?;
        session.answer_question(params.question_id, params.answers).await
    })
    .await
}
