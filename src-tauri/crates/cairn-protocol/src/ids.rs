//! The newtypes that name things, so that one id can't be passed for another.
//!
//! It does not make ids: randomness comes from the caller. All are strings on the wire.

use std::fmt;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, TS)]
        #[serde(transparent)]
        pub struct $name(pub String);

        impl $name {
            /// Wraps the text of an id.
            pub fn new(text: impl Into<String>) -> Self {
                Self(text.into())
            }

            /// Returns the id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.to_owned())
            }
        }
    };
}

id! {
    /// Names a conversation. Lower-case letters, digits and dashes, so that it can be a file name.
    SessionId
}
id! {
    /// Names one turn: one user input and all that it caused. Unique within its session.
    TurnId
}
id! {
    /// Names one tool call; unique within its session (P-54).
    ToolCallId
}
id! {
    /// Names one question to the user that waits for an answer.
    ApprovalId
}
id! {
    /// Names one `ask_user` question.
    QuestionId
}
id! {
    /// Names a folder that the user picked.
    WorkspaceId
}
id! {
    /// Names a terminal of the window.
    TerminalId
}
id! {
    /// Names a command that goes on in the background: `proc-` and 8 hex digits (P-81).
    TaskId
}
id! {
    /// Names a captured state of the workspace: the hex object id of its tree.
    SnapshotId
}
id! {
    /// Names one rollback, or the taking back of one.
    RestoreId
}
id! {
    /// Names a rule of the policy, so that it can be shown and revoked.
    RuleId
}
