//! What a native dialog says about a call that waits: a short form of the same record as the card, with
//! its digest. Whether one is due is decided in `commands/approval.rs`.

use cairn_engine::rule_text;
use cairn_protocol::{
    ApprovalRequest, ChangeKind, GrantScope, NetworkAccess, SandboxPolicy, WorkspaceAccess,
};

use super::Question;

/// Files that are listed; the card lists all.
const MAX_FILES: usize = 6;

/// Asks whether this one call may run.
pub(crate) fn once(request: &ApprovalRequest) -> Question {
    let question = Question::new("Allow this call once?", ["Deny", "Allow once", "Stop"]);
    let question = facts(question, request);
    question.say("Deny refuses this call. Stop, or closing this dialog, ends the turn.")
}

/// Asks whether this call and those that a rule matches may run; `None` when no rule is offered.
pub(crate) fn always(request: &ApprovalRequest, scope: GrantScope) -> Option<Question> {
    let rule = rule_text(request.always.as_ref()?);
    let holds = match scope {
        GrantScope::Once => return None,
        GrantScope::Session => "until this session ends",
        GrantScope::Workspace => "in this folder, until you take it back",
    };
    let question = Question::new("Always allow this?", ["Cancel", "Always allow", "Deny"]);
    let question = question.fact("Rule that is stored", &rule).fact("It holds", holds);
    let question = facts(question, request);
    Some(question.say(
        "Calls that match the rule then run without a question. Cancel leaves the question open. \
         Deny, or closing this dialog, refuses this call.",
    ))
}

fn facts(question: Question, request: &ApprovalRequest) -> Question {
    let effects = &request.effects;
    let mut question = question.fact("What", &effects.title);
    if let Some(command) = &effects.command {
        question = question.quote("Command", &command.command).fact("In", &command.cwd.real);
    }
    if !effects.writes.is_empty() {
        question = question.quote("Files", &files(request));
    }
    question = question.fact("Confined", confinement(&request.sandbox));
    question = question.fact("Why it asks", &request.reason);
    question.fact("Record", request.digest.get(..16).unwrap_or(&request.digest))
}

fn files(request: &ApprovalRequest) -> String {
    let writes = &request.effects.writes;
    let mut lines: Vec<String> = writes
        .iter()
        .take(MAX_FILES)
        .map(|write| {
            let (real, counts) = (&write.path.real, (write.added, write.removed));
            // A line break in a name must not make a second line.
            let real = cairn_engine::visible(real);
            format!("{} {real} (+{} -{})", verb(write.kind), counts.0, counts.1)
        })
        .collect();
    if writes.len() > MAX_FILES {
        lines.push(format!("and {} more", writes.len() - MAX_FILES));
    }
    lines.join("\n")
}

fn verb(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::Created => "creates",
        ChangeKind::Modified => "changes",
        ChangeKind::Deleted => "deletes",
        ChangeKind::ModeChanged => "changes the mode of",
        ChangeKind::KindChanged => "replaces",
    }
}

fn confinement(policy: &SandboxPolicy) -> &'static str {
    match policy {
        SandboxPolicy::Unconfined => "NO. It can do all that you can do",
        SandboxPolicy::Workspace {
            access: WorkspaceAccess::Read,
            network: NetworkAccess::None,
        } => "reads the workspace only, no network",
        SandboxPolicy::Workspace {
            access: WorkspaceAccess::Write,
            network: NetworkAccess::None,
        } => "to the workspace, no network",
        SandboxPolicy::Workspace { network: NetworkAccess::Full, .. } => {
            "to the workspace, with the whole network"
        }
    }
}

#[cfg(test)]
mod tests;
