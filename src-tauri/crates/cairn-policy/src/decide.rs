//! The one decision function: what is to happen to a call, and which step of the fixed order said so.
//!
//! The order is Z-45's, with the gates of the security plan (3.1) in front of everything that can allow. The first step
//! that matches decides. A mode or an allow rule can only change the steps after the gates.

use cairn_protocol::{
    AskClass, CallEffects, Decision, Mode, PolicyStep, Rule, RuleEffect, RuleMatcher,
    SandboxPolicy, SandboxState, ShellPolicy, ToolClass, Verdict,
};

use crate::command::loose::candidates;
use crate::command::{ParsedCommand, parse_command};
use crate::paths::{affects_later_sessions, is_protected, is_secret, is_within};
use crate::rule::{allows, command_rule, names_tool, rule_text, touches};
use crate::veto::command_veto;

#[cfg(test)]
mod tests;

/// What a decision is made from.
#[derive(Debug, Clone, Copy)]
pub struct PolicyInput<'a> {
    /// The session's mode, now.
    pub mode: Mode,
    /// How shell commands are treated.
    pub shell_policy: ShellPolicy,
    /// What really confines commands on this machine.
    pub sandbox: &'a SandboxState,
    /// The tool's name.
    pub tool: &'a str,
    /// What the call will do, made by the tool.
    pub effects: &'a CallEffects,
    /// The folders that matter.
    pub roots: &'a Roots,
    /// The rules that hold for this session, in any order.
    pub rules: &'a [Rule],
}

/// The folders that a decision knows, all absolute and canonical.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Roots {
    /// The workspace.
    pub workspace: String,
    /// Further folders that the user granted for writing.
    pub granted: Vec<String>,
    /// The user's home folder.
    pub home: Option<String>,
    /// The app's own folder.
    pub data_root: String,
}

/// What a step says when it decides.
struct Ruling {
    verdict: Verdict,
    step: PolicyStep,
    reason: String,
    rule: Option<String>,
    always: Option<RuleMatcher>,
}

impl Ruling {
    fn new(verdict: Verdict, step: PolicyStep, reason: impl Into<String>) -> Self {
        Self { verdict, step, reason: reason.into(), rule: None, always: None }
    }

    fn by_rule(verdict: Verdict, step: PolicyStep, reason: &str, rule: &Rule) -> Self {
        let text = rule_text(&rule.matcher);
        Self { rule: Some(text.clone()), ..Self::new(verdict, step, format!("{reason}: {text}")) }
    }
}

/// The steps, in order. The last always decides.
const STEPS: &[fn(&Call<'_>) -> Option<Ruling>] = &[
    hard_deny,
    veto,
    deny_rule,
    read_only_mode,
    outside_workspace,
    class_gate,
    ask_rule,
    read_allowed,
    auto_mode,
    shell_policy,
    command_rule_allows,
    tool_rule_allows,
];

/// Decides what is to happen to a call (Z-45, security plan 3.1).
pub fn decide(input: &PolicyInput<'_>) -> Decision {
    let call = Call {
        input,
        command: input.effects.command.as_ref().map(|command| parse_command(&command.command)),
    };
    let ruling = STEPS.iter().find_map(|step| step(&call)).unwrap_or_else(|| default(&call));
    Decision {
        verdict: ruling.verdict,
        step: ruling.step,
        reason: ruling.reason,
        rule: ruling.rule,
        always: ruling.always,
        sandbox: call.sandbox(),
    }
}

/// A call with what was read off it once.
struct Call<'a> {
    input: &'a PolicyInput<'a>,
    command: Option<ParsedCommand>,
}

impl Call<'_> {
    fn command_text(&self) -> Option<&str> {
        self.input.effects.command.as_ref().map(|command| command.command.as_str())
    }

    fn sandbox(&self) -> SandboxPolicy {
        if self.command.is_some() && !self.input.sandbox.enforced {
            return SandboxPolicy::Unconfined;
        }
        SandboxPolicy::CONFINED
    }

    fn has_side_effect(&self) -> bool {
        let effects = self.input.effects;
        matches!(effects.class, ToolClass::WriteLocal | ToolClass::Execute | ToolClass::External)
            || !effects.writes.is_empty()
            || effects.command.is_some()
    }

    /// Returns whether a path is in the workspace or a granted folder.
    fn is_inside(&self, real: &str) -> bool {
        let roots = self.input.roots;
        is_within(real, &roots.workspace)
            || roots.granted.iter().any(|folder| is_within(real, folder))
    }

    /// Returns whether a path is the app's own, and not a workspace or grant that lies in the app's folder.
    fn is_own(&self, real: &str) -> bool {
        let roots = self.input.roots;
        if roots.data_root.is_empty() || !is_within(real, &roots.data_root) {
            return false;
        }
        let inner = |folder: &str| {
            is_within(folder, &roots.data_root)
                && folder != roots.data_root
                && is_within(real, folder)
        };
        !inner(&roots.workspace) && !roots.granted.iter().any(|folder| inner(folder))
    }

    /// Returns whether a path is the spilled output of a tool, which the model is told to read.
    fn is_scratch(&self, real: &str) -> bool {
        real[self.input.roots.data_root.len().min(real.len())..]
            .split('/')
            .any(|part| part == "scratchpad")
    }
}

fn hard_deny(call: &Call<'_>) -> Option<Ruling> {
    let effects = call.input.effects;
    let deny = |reason: String| Some(Ruling::new(Verdict::Forbidden, PolicyStep::HardDeny, reason));
    for write in &effects.writes {
        let real = write.path.real.as_str();
        if call.is_own(real) {
            return deny(format!("{real} belongs to Cairn itself"));
        }
        if is_kernel_path(real) {
            return deny(format!("{real} is a device or kernel file"));
        }
    }
    for read in &effects.reads {
        let real = read.real.as_str();
        if call.is_own(real) && !call.is_scratch(real) {
            return deny(format!("{real} belongs to Cairn itself"));
        }
        if is_process_path(real) {
            return deny(format!("{real} shows the memory or environment of a process"));
        }
    }
    let cwd = effects.command.as_ref().map(|command| command.cwd.real.as_str());
    match cwd {
        Some(cwd) if call.is_own(cwd) => deny(format!("{cwd} belongs to Cairn itself")),
        _ => None,
    }
}

/// Returns whether a path is a raw disk, a device or a kernel file.
fn is_kernel_path(real: &str) -> bool {
    ["/dev", "/proc", "/sys"].iter().any(|folder| is_within(real, folder))
}

/// Returns whether a path shows a process or a device. Plain kernel facts such as `/proc/cpuinfo` are not meant.
fn is_process_path(real: &str) -> bool {
    if is_within(real, "/dev") {
        return true;
    }
    let Some(rest) = real.strip_prefix("/proc/") else { return false };
    let first = rest.split('/').next().unwrap_or_default();
    first.chars().all(|digit| digit.is_ascii_digit())
        || matches!(
            first,
            "self" | "thread-self" | "kcore" | "kmem" | "kallsyms" | "sysrq-trigger" | "keys"
        )
}

fn veto(call: &Call<'_>) -> Option<Ruling> {
    let name = command_veto(call.command_text()?)?;
    let reason = format!("the command policy forbids it: {name}");
    Some(Ruling {
        rule: Some(name.to_owned()),
        ..Ruling::new(Verdict::Forbidden, PolicyStep::CommandVeto, reason)
    })
}

fn deny_rule(call: &Call<'_>) -> Option<Ruling> {
    let rule = covering(call, RuleEffect::Deny)?;
    Some(Ruling::by_rule(Verdict::Forbidden, PolicyStep::DenyRule, "a rule denies it", rule))
}

/// Finds a deny or ask rule that covers the call, in the forgiving reading.
fn covering<'a>(call: &Call<'a>, effect: RuleEffect) -> Option<&'a Rule> {
    let input = call.input;
    let mut rules = input.rules.iter().filter(|rule| rule.effect == effect).peekable();
    rules.peek()?;
    let found = call.command_text().map(candidates).unwrap_or_default();
    rules.find(|rule| {
        names_tool(&rule.matcher, input.tool)
            || found.iter().any(|candidate| touches(&rule.matcher, candidate))
    })
}

fn read_only_mode(call: &Call<'_>) -> Option<Ruling> {
    let mode = match call.input.mode {
        Mode::Discuss => "discuss",
        Mode::Plan => "plan",
        Mode::Interactive | Mode::Auto => return None,
    };
    call.has_side_effect().then(|| {
        Ruling::new(
            Verdict::Deny,
            PolicyStep::ReadOnlyMode,
            format!("mode `{mode}` only reads; nothing is changed or run"),
        )
    })
}

fn outside_workspace(call: &Call<'_>) -> Option<Ruling> {
    let deny =
        |reason: String| Some(Ruling::new(Verdict::Deny, PolicyStep::OutsideWorkspace, reason));
    let effects = call.input.effects;
    if let Some(write) = effects.writes.iter().find(|write| !call.is_inside(&write.path.real)) {
        return deny(format!(
            "{} is outside of the workspace and may not be written",
            write.path.real
        ));
    }
    match &effects.command {
        Some(command) if !call.is_inside(&command.cwd.real) => deny(format!(
            "{} is outside of the workspace; commands run inside it",
            command.cwd.real
        )),
        _ => None,
    }
}

fn class_gate(call: &Call<'_>) -> Option<Ruling> {
    let effects = call.input.effects;
    let home = call.input.roots.home.as_deref();
    let mut reasons = Vec::new();
    for write in &effects.writes {
        if protects(call, &write.path.real) {
            reasons.push(format!("{} is a protected path", write.path.real));
        } else if is_secret(&write.path.real, home) {
            reasons.push(format!("{} may hold secrets", write.path.real));
        }
    }
    for read in &effects.reads {
        if is_secret(&read.real, home) {
            reasons.push(format!("{} may hold secrets", read.real));
        }
    }
    if effects.command.is_some() && !call.input.sandbox.enforced {
        reasons.push(
            "nothing confines commands on this machine, so it would run with all your rights"
                .to_owned(),
        );
    }
    if !reasons.is_empty() {
        let verdict = Verdict::Ask(AskClass::Widening);
        return Some(Ruling::new(verdict, PolicyStep::ClassGate, reasons.join("; ")));
    }
    let instructions =
        effects.writes.iter().find(|write| affects_later_sessions(&write.path.real))?;
    let reason = format!("{} affects later sessions", instructions.path.real);
    Some(Ruling::new(Verdict::Ask(AskClass::Confined), PolicyStep::ClassGate, reason))
}

/// Returns whether a file that may be written lies on a protected path below the folder that allows it.
fn protects(call: &Call<'_>, real: &str) -> bool {
    let roots = call.input.roots;
    let mut folders = std::iter::once(&roots.workspace)
        .chain(&roots.granted)
        .filter(|folder| is_within(real, folder));
    folders.any(|folder| is_protected(&real[folder.len().min(real.len())..]))
}

fn ask_rule(call: &Call<'_>) -> Option<Ruling> {
    let rule = covering(call, RuleEffect::Ask)?;
    Some(Ruling::by_rule(
        Verdict::Ask(AskClass::Confined),
        PolicyStep::AskRule,
        "a rule asks",
        rule,
    ))
}

fn read_allowed(call: &Call<'_>) -> Option<Ruling> {
    if call.has_side_effect() {
        return None;
    }
    let outside = call.input.effects.reads.iter().find(|read| {
        let real = read.real.as_str();
        let spilled = call.is_own(real) && call.is_scratch(real);
        !(call.is_inside(real) || is_system_path(real) || spilled)
    });
    let Some(outside) = outside else {
        return Some(Ruling::new(Verdict::Allow, PolicyStep::ReadAllowed, "it only reads"));
    };
    if call.input.mode == Mode::Auto || covers_tool(call).is_some() {
        return None;
    }
    let reason = format!("{} is outside of the workspace", outside.real);
    let always = Some(RuleMatcher::Tool { name: call.input.tool.to_owned() });
    Some(Ruling {
        always,
        ..Ruling::new(Verdict::Ask(AskClass::Confined), PolicyStep::Default, reason)
    })
}

/// Returns whether a path is part of the system that a confined command sees too.
fn is_system_path(real: &str) -> bool {
    ["/usr", "/bin", "/sbin", "/lib", "/lib64", "/opt", "/nix/store"]
        .iter()
        .any(|folder| is_within(real, folder))
}

fn auto_mode(call: &Call<'_>) -> Option<Ruling> {
    (call.input.mode == Mode::Auto)
        .then(|| Ruling::new(Verdict::Allow, PolicyStep::AutoMode, "mode `auto` allows it"))
}

/// Only confined commands come this far: an unconfined one was asked about at the gate.
fn shell_policy(call: &Call<'_>) -> Option<Ruling> {
    call.command.as_ref()?;
    let allow = |reason| Some(Ruling::new(Verdict::Allow, PolicyStep::ShellPolicy, reason));
    match call.input.shell_policy {
        ShellPolicy::Approve => None,
        ShellPolicy::Sandbox | ShellPolicy::Workspace => allow("the sandbox confines it"),
        ShellPolicy::All => allow("no command asks"),
    }
}

fn command_rule_allows(call: &Call<'_>) -> Option<Ruling> {
    let Some(ParsedCommand::Plain(commands)) = &call.command else { return None };
    let allowing: Vec<&Rule> =
        call.input.rules.iter().filter(|rule| rule.effect == RuleEffect::Allow).collect();
    let mut deciding = None;
    for words in commands {
        deciding = Some(allowing.iter().find(|rule| allows(&rule.matcher, words))?);
    }
    Some(Ruling::by_rule(Verdict::Allow, PolicyStep::CommandRule, "a rule allows it", deciding?))
}

/// A rule about a tool never covers a command: a rule for the shell would allow everything.
fn tool_rule_allows(call: &Call<'_>) -> Option<Ruling> {
    let rule = covers_tool(call)?;
    Some(Ruling::by_rule(Verdict::Allow, PolicyStep::ToolRule, "a rule allows it", rule))
}

fn covers_tool<'a>(call: &Call<'a>) -> Option<&'a Rule> {
    if call.command.is_some() || call.input.effects.class == ToolClass::Execute {
        return None;
    }
    let mut rules = call.input.rules.iter();
    rules
        .find(|rule| rule.effect == RuleEffect::Allow && names_tool(&rule.matcher, call.input.tool))
}

fn default(call: &Call<'_>) -> Ruling {
    let effects = call.input.effects;
    let (reason, always) = match (&effects.command, &call.command) {
        (Some(command), Some(ParsedCommand::Plain(_))) => {
            ("it runs a command".to_owned(), command_rule(&command.command).ok())
        }
        (_, Some(ParsedCommand::NotPlain { reason })) => {
            (format!("it runs a command that no rule can cover: {reason}"), None)
        }
        _ => {
            let reason = match effects.class {
                ToolClass::WriteLocal => "it changes files",
                ToolClass::External => "it talks to the outside",
                ToolClass::Execute
                | ToolClass::Read
                | ToolClass::Interactive
                | ToolClass::State => "it has a side effect",
            };
            let always = (effects.class != ToolClass::Execute)
                .then(|| RuleMatcher::Tool { name: call.input.tool.to_owned() });
            (reason.to_owned(), always)
        }
    };
    Ruling { always, ..Ruling::new(Verdict::Ask(AskClass::Confined), PolicyStep::Default, reason) }
}
