//! Modes, rules and decisions as data. The decision itself is made in `cairn-policy`.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{GrantScope, RuleId, SandboxPolicy, Timestamp};

/// What the agent may do without being asked (Z-44).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Talk; reading only.
    Discuss,
    /// Make a plan; reading only.
    Plan,
    /// Side effects ask.
    #[default]
    Interactive,
    /// Side effects run, inside the limits that no mode lifts.
    Auto,
}

/// How shell commands are treated (Z-49, D-7).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ShellPolicy {
    /// Every command asks, unless a rule allows it.
    #[default]
    Approve,
    /// A command that is really confined by the OS does not ask; else it asks.
    Sandbox,
    /// As `sandbox`; without confinement a path heuristic may allow.
    Workspace,
    /// No command asks. Needs a typed confirmation.
    All,
}

/// A rule of the ledger: one act that is allowed, asked or denied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Rule {
    /// Names the rule.
    pub id: RuleId,
    /// What it does to a match.
    pub effect: RuleEffect,
    /// What it matches.
    pub matcher: RuleMatcher,
    /// For how long it holds.
    pub scope: GrantScope,
    /// When it was made.
    pub created_at: Timestamp,
}

/// What a rule does to a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum RuleEffect {
    /// Never.
    Deny,
    /// Always ask.
    Ask,
    /// Without asking.
    Allow,
}

/// What a rule matches: words and tools, never strings (decision 7 of the security plan).
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum RuleMatcher {
    /// A command whose first words are exactly these; further words may follow.
    CommandPrefix {
        /// At least one word.
        words: Vec<String>,
    },
    /// Every call of this tool, inside the limits that no rule lifts.
    Tool {
        /// The tool's name.
        name: String,
    },
}

/// What the policy says about a call, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Decision {
    /// What is to happen.
    pub verdict: Verdict,
    /// The step of the fixed order that decided (Z-45).
    pub step: PolicyStep,
    /// Why, for a person.
    pub reason: String,
    /// The rule that decided, literally.
    pub rule: Option<String>,
    /// What "always" would store, where it may be offered.
    pub always: Option<RuleMatcher>,
    /// What will confine the call's commands, if it runs.
    pub sandbox: SandboxPolicy,
}

/// What is to happen to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It runs.
    Allow,
    /// The user is asked.
    Ask(AskClass),
    /// A mode says no; the model is told.
    Deny,
    /// The policy says no in every mode; the model is told which rule.
    Forbidden,
}

/// How strong an answer a question needs (D-6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum AskClass {
    /// A confined act: *Allow once* may come from the card.
    Confined,
    /// An act that widens: only the native dialog may say yes.
    Widening,
}

/// The steps of the decision order, first match decides (Z-45 with the class gates of the security plan).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum PolicyStep {
    /// Not configurable: the app's own files and trust.
    HardDeny,
    /// The command policy (P-97 … P-99).
    CommandVeto,
    /// A deny rule.
    DenyRule,
    /// `discuss` and `plan` have no side effects.
    ReadOnlyMode,
    /// A write outside the workspace and the granted folders.
    OutsideWorkspace,
    /// A protected path, a secret file, an unconfined run.
    ClassGate,
    /// An ask rule.
    AskRule,
    /// Reading is allowed.
    ReadAllowed,
    /// Mode `auto`.
    AutoMode,
    /// The shell policy with an enforced sandbox.
    ShellPolicy,
    /// An allow rule for a command.
    CommandRule,
    /// An allow rule for a tool.
    ToolRule,
    /// Nothing decided: ask.
    Default,
}
