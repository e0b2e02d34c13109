//! What a running turn reads anew at every decision, so that a change holds from the next call on (P-92).

use std::sync::Arc;

use cairn_protocol::{Mode, Rule, ShellPolicy};

/// The parts of a session and of the settings that can change while a turn runs.
#[derive(Debug, Clone)]
pub(crate) struct Live {
    pub(crate) mode: Mode,
    pub(crate) shell_policy: ShellPolicy,
    pub(crate) rules: Arc<Vec<Rule>>,
    pub(crate) granted: Vec<String>,
}
