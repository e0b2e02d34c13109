//! *Would this be asked?* The same preparation and the same decision as in a turn, without a turn.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cairn_policy::{PolicyInput, Roots};
use cairn_protocol::{
    CallEffects, Decision, Mode, Role, SandboxState, SessionId, ToolCall, ToolCallId, WorkspaceId,
};

use super::{Engine, blocking};
use crate::error::{Result, invalid};

/// A call to be judged.
#[derive(Debug, Clone)]
pub struct PolicyQuestion {
    /// The folder.
    pub workspace: PathBuf,
    /// The mode.
    pub mode: Mode,
    /// The tool.
    pub tool: String,
    /// Its arguments as JSON text.
    pub arguments: String,
}

/// What would become of a call.
#[derive(Debug, Clone, serde::Serialize)]
pub struct PolicyCheck {
    /// The tool.
    pub tool: String,
    /// The mode.
    pub mode: Mode,
    /// What the call would do.
    pub effects: CallEffects,
    /// What the policy says, and why.
    pub decision: Decision,
    /// What confines commands here.
    pub sandbox: SandboxState,
}

impl Engine {
    /// Judges a call as a turn would, and runs nothing.
    pub async fn check_policy(&self, question: PolicyQuestion) -> Result<PolicyCheck> {
        let workspace = std::fs::canonicalize(&question.workspace).map_err(|error| {
            invalid(format!("The folder {} can't be read: {error}.", question.workspace.display()))
        })?;
        let call = ToolCall {
            role: Role::Assistant,
            name: question.tool.clone(),
            arguments: question.arguments,
            tool_call_id: ToolCallId::new("check"),
            fidelity: None,
            stop_reason: None,
        };
        let context = self.inner.tool_context(&SessionId::new("check"), workspace.clone());
        let inner = Arc::clone(&self.inner);
        let prepared =
            blocking(move || inner.tools().prepare(&call, &context).map_err(invalid)).await?;
        let sandbox = self.inner.sandbox().await;
        let mut rules = self.inner.options.rules.clone();
        if let Some(id) = self.workspace_id(&workspace).await? {
            let known = self.inner.workspace_rules(&id);
            rules.extend(
                known.ok_or_else(|| invalid("The rules of this workspace can't be read."))?,
            );
        }
        let roots = Roots {
            workspace: workspace.display().to_string(),
            granted: Vec::new(),
            home: self.inner.home(),
            data_root: self.inner.root().display().to_string(),
        };
        let decision = cairn_policy::decide(&PolicyInput {
            mode: question.mode,
            shell_policy: self.inner.settings().shell_policy,
            sandbox: &sandbox,
            tool: &question.tool,
            effects: &prepared.effects,
            roots: &roots,
            rules: &rules,
        });
        let effects = prepared.effects.clone();
        Ok(PolicyCheck { tool: question.tool, mode: question.mode, effects, decision, sandbox })
    }

    async fn workspace_id(&self, path: &Path) -> Result<Option<WorkspaceId>> {
        let path = path.display().to_string();
        let known = self.inner.workspaces().await?;
        Ok(known.into_iter().find(|workspace| workspace.path == path).map(|workspace| workspace.id))
    }
}
