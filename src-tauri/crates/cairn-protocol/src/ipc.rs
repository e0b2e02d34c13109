//! Parameters and results of the window's commands: one plugin a resource, one function a verb (D-15).
//!
//! Ids are all that the window can name: a new folder comes from a native dialog, never from here.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{
    ApprovalAnswer, ApprovalId, Mode, ModelRef, ProviderEntry, QuestionId, RelativePath, RestoreId,
    RestoreRequest, RestoreTarget, SandboxState, SessionId, SessionSummary, Settings, TerminalId,
    TerminalSize, TurnId, WorkspaceId, WorkspaceSummary,
};

/// `app.state`: all that the window needs at its start.
#[derive(Debug, Clone, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct AppState {
    /// Cairn's version.
    pub version: String,
    /// `linux`, `macos` or `windows`.
    pub platform: String,
    /// The user's settings.
    pub settings: Settings,
    /// Providers and models.
    pub providers: Vec<ProviderEntry>,
    /// Known workspaces, last used first.
    pub workspaces: Vec<WorkspaceSummary>,
    /// Sessions of all workspaces, last active first, at most 500.
    pub sessions: Vec<SessionSummary>,
    /// What confines commands here; absent until it was tested.
    pub sandbox: Option<SandboxState>,
    /// Whether keys can be kept in the OS keychain; else why not.
    pub keychain: KeychainState,
    /// What is wrong with the data on this machine and must be said at once.
    pub problems: Vec<String>,
}

/// Whether the OS keychain works.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum KeychainState {
    /// It does.
    Available,
    /// It does not.
    Unavailable {
        /// Why, and what to do.
        reason: String,
    },
}

/// What changed outside a session: sent to every window.
#[derive(Debug, Clone, Serialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum AppEvent {
    /// A session is new or its summary changed.
    Session {
        /// The whole of it.
        summary: Box<SessionSummary>,
    },
    /// A session was deleted.
    SessionGone {
        /// Which.
        session_id: SessionId,
    },
    /// The list of workspaces changed.
    Workspaces {
        /// The whole of it.
        workspaces: Vec<WorkspaceSummary>,
    },
    /// Settings changed.
    Settings {
        /// The whole of them.
        settings: Box<Settings>,
    },
    /// Providers changed.
    Providers {
        /// The whole of them.
        providers: Vec<ProviderEntry>,
    },
    /// What confines commands became known or changed.
    Sandbox {
        /// The state.
        sandbox: SandboxState,
    },
}

macro_rules! params {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident : $ty:ty),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Deserialize, TS)]
        #[serde(rename_all = "camelCase", deny_unknown_fields)]
        #[ts(optional_fields = nullable)]
        pub struct $name { $($(#[$field_doc])* pub $field: $ty),* }
    };
}

params! {
    /// `workspace.forget`: takes a workspace off the list. Files and sessions stay.
    WorkspaceParams {
        /// Which.
        workspace_id: WorkspaceId,
    }
}
params! {
    /// `session.create`.
    SessionCreateParams {
        /// Where it works.
        workspace_id: WorkspaceId,
        /// The model; absent takes the default.
        model: Option<ModelRef>,
        /// The mode; absent takes the default. `auto` is asked for natively.
        mode: Option<Mode>,
    }
}
params! {
    /// Any command that names only a session.
    SessionParams {
        /// Which.
        session_id: SessionId,
    }
}
params! {
    /// `session.history`: a page of messages before a place.
    SessionHistoryParams {
        /// Which session.
        session_id: SessionId,
        /// Messages with a smaller `seq` than this.
        before: u64,
        /// At most so many, 1 … 500.
        limit: u32,
    }
}
params! {
    /// `session.start_turn`: starts a turn, or queues the text while one runs.
    SessionStartTurnParams {
        /// Which session.
        session_id: SessionId,
        /// What the user typed.
        text: String,
    }
}
params! {
    /// `session.unqueue`: takes a waiting text back.
    SessionUnqueueParams {
        /// Which session.
        session_id: SessionId,
        /// The waiting text.
        queued_id: String,
    }
}
params! {
    /// `session.set_mode`. To `auto` a native dialog asks.
    SessionSetModeParams {
        /// Which session.
        session_id: SessionId,
        /// The mode.
        mode: Mode,
    }
}
params! {
    /// `session.set_model`: holds from the next turn on (D-1).
    SessionSetModelParams {
        /// Which session.
        session_id: SessionId,
        /// The model.
        model: ModelRef,
    }
}
params! {
    /// `session.rename`.
    SessionRenameParams {
        /// Which session.
        session_id: SessionId,
        /// The title, 1 … 200 characters.
        title: String,
    }
}
params! {
    /// `session.answer_question`: an empty list declines.
    SessionAnswerParams {
        /// Which session.
        session_id: SessionId,
        /// The question.
        question_id: QuestionId,
        /// What the user chose or typed.
        answers: Vec<String>,
    }
}
params! {
    /// `session.stop_command`: ends one running tool call.
    SessionStopCommandParams {
        /// Which session.
        session_id: SessionId,
        /// The call.
        tool_call_id: crate::ToolCallId,
    }
}
params! {
    /// `approval.answer`: what widens is asked for again in a native dialog.
    ApprovalAnswerParams {
        /// Which session.
        session_id: SessionId,
        /// The question.
        approval_id: ApprovalId,
        /// The digest of the record that was shown.
        digest: String,
        /// The answer.
        answer: ApprovalAnswer,
    }
}
params! {
    /// `changes.list`: what changed in a turn.
    ChangesListParams {
        /// Which session.
        session_id: SessionId,
        /// The turn.
        turn_id: TurnId,
    }
}
params! {
    /// `changes.diff`: the difference of one path in a turn.
    ChangesDiffParams {
        /// Which session.
        session_id: SessionId,
        /// The turn.
        turn_id: TurnId,
        /// The path.
        path: RelativePath,
        /// The first hunk wanted, from 0.
        from_hunk: u32,
    }
}
params! {
    /// `changes.plan`: what a rollback would do.
    ChangesPlanParams {
        /// What is asked for.
        request: RestoreRequest,
    }
}
params! {
    /// `changes.restore`: does what the plan with this token showed.
    ChangesRestoreParams {
        /// What is asked for; equal to the plan's.
        request: RestoreRequest,
        /// The plan's token.
        token: String,
    }
}
params! {
    /// `changes.bring_back`: takes a restore back.
    ChangesBringBackParams {
        /// Which session.
        session_id: SessionId,
        /// The restore; the last one that is not undone when absent.
        restore_id: Option<RestoreId>,
    }
}
params! {
    /// `terminal.open`.
    TerminalOpenParams {
        /// Where.
        workspace_id: WorkspaceId,
        /// How large.
        size: TerminalSize,
    }
}
params! {
    /// Any command that names only a terminal.
    TerminalParams {
        /// Which.
        terminal_id: TerminalId,
    }
}
params! {
    /// `terminal.write`: what the user typed or pasted.
    TerminalWriteParams {
        /// Which.
        terminal_id: TerminalId,
        /// UTF-8 text; control characters as they are.
        data: String,
    }
}
params! {
    /// `terminal.ack`: so many bytes were drawn.
    TerminalAckParams {
        /// Which.
        terminal_id: TerminalId,
        /// Bytes since the last acknowledgement.
        bytes: u64,
    }
}
params! {
    /// `terminal.resize`.
    TerminalResizeParams {
        /// Which.
        terminal_id: TerminalId,
        /// How large.
        size: TerminalSize,
    }
}
params! {
    /// `app.open_link`: asks natively, then opens an http, https or mailto address outside.
    OpenLinkParams {
        /// The address.
        url: String,
    }
}
params! {
    /// `session.unsubscribe`: ends a stream; one that is over already is fine.
    SubscriptionParams {
        /// What `session.subscribe` returned.
        id: u32,
    }
}
params! {
    /// `settings.save`.
    SettingsSaveParams {
        /// All settings as they are to be.
        settings: Settings,
    }
}

/// `approval.answer`: what came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalAnswerResult {
    /// False when the user said neither yes nor no in the native dialog, and the question still waits.
    pub applied: bool,
}

/// `provider.test` and `provider.save`. It holds a key and can't be printed.
#[derive(Clone, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ProviderDraftParams {
    /// The connection as it is typed.
    pub draft: crate::ProviderDraft,
}

params! {
    /// `provider.delete`.
    ProviderParams {
        /// Its name.
        name: String,
    }
}

/// What `cairn restore` and `changes.plan` take for a target, by name.
impl RestoreTarget {
    /// Reads `before`, `after` or `revert`.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "before" => Some(Self::Before),
            "after" => Some(Self::After),
            "revert" => Some(Self::Revert),
            _ => None,
        }
    }
}
