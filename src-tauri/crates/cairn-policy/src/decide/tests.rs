use cairn_protocol::{
    AskClass, CallEffects, ChangeKind, GrantScope, Mode, PlannedCommand, PlannedWrite, PolicyStep,
    ResolvedPath, Rule, RuleEffect, RuleId, RuleMatcher, SandboxBackend, SandboxPolicy,
    SandboxState, ShellPolicy, Timestamp, ToolClass, Verdict,
};
use proptest::prelude::*;

use super::{PolicyInput, Roots, decide};

/// A call, and what it is decided under.
#[derive(Debug, Clone)]
struct Case {
    mode: Mode,
    policy: ShellPolicy,
    enforced: bool,
    tool: &'static str,
    effects: CallEffects,
    rules: Vec<Rule>,
}

fn path(real: &str) -> ResolvedPath {
    let relative = real.strip_prefix("/w/").or((real == "/w").then_some(".")).map(str::to_owned);
    ResolvedPath { requested: real.to_owned(), real: real.to_owned(), relative }
}

fn effects(class: ToolClass) -> CallEffects {
    CallEffects {
        class,
        title: String::new(),
        reads: Vec::new(),
        writes: Vec::new(),
        command: None,
    }
}

fn case(tool: &'static str, effects: CallEffects) -> Case {
    Case {
        mode: Mode::Interactive,
        policy: ShellPolicy::Approve,
        enforced: true,
        tool,
        effects,
        rules: Vec::new(),
    }
}

fn read(real: &str) -> Case {
    case("read_file", CallEffects { reads: vec![path(real)], ..effects(ToolClass::Read) })
}

fn write(real: &str) -> Case {
    let write = PlannedWrite {
        path: path(real),
        kind: ChangeKind::Modified,
        before_sha256: None,
        diff: None,
        added: 1,
        removed: 1,
    };
    case("write_file", CallEffects { writes: vec![write], ..effects(ToolClass::WriteLocal) })
}

fn run_in(command: &str, cwd: &str) -> Case {
    let command = PlannedCommand {
        command: command.to_owned(),
        cwd: path(cwd),
        timeout_ms: None,
        background: false,
    };
    case("run_shell", CallEffects { command: Some(command), ..effects(ToolClass::Execute) })
}

fn run(command: &str) -> Case {
    run_in(command, "/w")
}

fn rule(effect: RuleEffect, text: &str) -> Rule {
    let matcher = match text.strip_prefix("tool ") {
        Some(name) => RuleMatcher::Tool { name: name.to_owned() },
        None => RuleMatcher::CommandPrefix { words: text.split(' ').map(str::to_owned).collect() },
    };
    Rule {
        id: RuleId::new("r"),
        effect,
        matcher,
        scope: GrantScope::Session,
        created_at: Timestamp(0),
    }
}

impl Case {
    fn mode(self, mode: Mode) -> Self {
        Self { mode, ..self }
    }
    fn policy(self, policy: ShellPolicy) -> Self {
        Self { policy, ..self }
    }
    fn open(self) -> Self {
        Self { enforced: false, ..self }
    }
    fn allow(mut self, text: &str) -> Self {
        self.rules.push(rule(RuleEffect::Allow, text));
        self
    }
    fn deny(mut self, text: &str) -> Self {
        self.rules.push(rule(RuleEffect::Deny, text));
        self
    }
    fn ask(mut self, text: &str) -> Self {
        self.rules.push(rule(RuleEffect::Ask, text));
        self
    }
    fn decide(&self) -> cairn_protocol::Decision {
        let sandbox = SandboxState {
            backend: SandboxBackend::None,
            enforced: self.enforced,
            reason: String::new(),
        };
        let roots = Roots {
            workspace: "/w".to_owned(),
            granted: vec!["/granted".to_owned()],
            home: Some("/home/u".to_owned()),
            data_root: "/home/u/.cairn".to_owned(),
        };
        decide(&PolicyInput {
            mode: self.mode,
            shell_policy: self.policy,
            sandbox: &sandbox,
            tool: self.tool,
            effects: &self.effects,
            roots: &roots,
            rules: &self.rules,
        })
    }
}

const ASK: Verdict = Verdict::Ask(AskClass::Confined);
const WIDEN: Verdict = Verdict::Ask(AskClass::Widening);

/// Z-45: the table of the decision order.
#[test]
fn z_45_the_order() {
    use Mode::{Auto, Discuss, Plan};
    use PolicyStep as Step;
    use Verdict::{Allow, Deny, Forbidden};
    let state = || case("todo_write", effects(ToolClass::State));
    let question = || case("ask_user", effects(ToolClass::Interactive));
    let outside = || case("web_fetch", effects(ToolClass::External));
    let table: Vec<(&str, Case, Verdict, Step)> = vec![
        // 0: what no mode and no rule lifts.
        ("own file", write("/home/u/.cairn/config.toml"), Forbidden, Step::HardDeny),
        (
            "own file in auto",
            write("/home/u/.cairn/x").mode(Auto).allow("tool write_file"),
            Forbidden,
            Step::HardDeny,
        ),
        ("reading the key store", read("/home/u/.cairn/secrets"), Forbidden, Step::HardDeny),
        (
            "spilled output",
            read("/home/u/.cairn/p/s/scratchpad/truncated-tool-output/a.log"),
            Allow,
            Step::ReadAllowed,
        ),
        ("environment of a process", read("/proc/1234/environ"), Forbidden, Step::HardDeny),
        ("raw disk", read("/dev/sda"), Forbidden, Step::HardDeny),
        ("kernel file", write("/sys/power/state"), Forbidden, Step::HardDeny),
        ("command in the app's folder", run_in("ls", "/home/u/.cairn"), Forbidden, Step::HardDeny),
        ("veto", run("rm -rf x"), Forbidden, Step::CommandVeto),
        ("veto in auto", run("rm -rf x").mode(Auto), Forbidden, Step::CommandVeto),
        ("veto before discuss", run("rm -rf x").mode(Discuss), Forbidden, Step::CommandVeto),
        ("veto with a rule", run("rm -rf x").allow("rm"), Forbidden, Step::CommandVeto),
        ("deny rule", run("git push").deny("git push"), Forbidden, Step::DenyRule),
        (
            "deny beats allow",
            run("git push").allow("git push").deny("git push"),
            Forbidden,
            Step::DenyRule,
        ),
        ("deny beats auto", run("git push").mode(Auto).deny("git push"), Forbidden, Step::DenyRule),
        (
            "deny in what is not plain",
            run("x=$(git push)").deny("git push"),
            Forbidden,
            Step::DenyRule,
        ),
        (
            "deny at the end of a long chain",
            run(&format!("{}git push", "true; ".repeat(300))).deny("git push"),
            Forbidden,
            Step::DenyRule,
        ),
        ("deny a tool", write("/w/a").deny("tool write_file"), Forbidden, Step::DenyRule),
        (
            "deny a tool by its other name",
            Case { tool: "edit_file", ..write("/w/a") }.deny("tool replace_in_file"),
            Forbidden,
            Step::DenyRule,
        ),
        ("deny a reader", read("/w/a").deny("tool read_file"), Forbidden, Step::DenyRule),
        // 1: modes that only read.
        ("discuss writes", write("/w/a").mode(Discuss), Deny, Step::ReadOnlyMode),
        ("plan writes", write("/w/a").mode(Plan), Deny, Step::ReadOnlyMode),
        ("discuss runs", run("ls").mode(Discuss), Deny, Step::ReadOnlyMode),
        ("plan runs with a rule", run("ls").mode(Plan).allow("ls"), Deny, Step::ReadOnlyMode),
        ("plan runs unconfined", run("ls").mode(Plan).open(), Deny, Step::ReadOnlyMode),
        ("plan fetches", outside().mode(Plan), Deny, Step::ReadOnlyMode),
        ("discuss reads", read("/w/a").mode(Discuss), Allow, Step::ReadAllowed),
        ("plan keeps a list", state().mode(Plan), Allow, Step::ReadAllowed),
        ("discuss asks the user", question().mode(Discuss), Allow, Step::ReadAllowed),
        // 2: outside of the workspace.
        ("write outside", write("/etc/hosts"), Deny, Step::OutsideWorkspace),
        ("write outside in auto", write("/tmp/x").mode(Auto), Deny, Step::OutsideWorkspace),
        (
            "write outside with a rule",
            write("/tmp/x").allow("tool write_file"),
            Deny,
            Step::OutsideWorkspace,
        ),
        ("sibling with the same beginning", write("/w-evil/a"), Deny, Step::OutsideWorkspace),
        ("granted folder", write("/granted/a"), ASK, Step::Default),
        ("command outside", run_in("ls", "/tmp").mode(Auto), Deny, Step::OutsideWorkspace),
        // 2b: class gates.
        ("protected", write("/w/.git/config"), WIDEN, Step::ClassGate),
        ("protected in another case", write("/w/.CaIrN/config.toml"), WIDEN, Step::ClassGate),
        (
            "protected in auto",
            write("/w/.github/workflows/ci.yml").mode(Auto),
            WIDEN,
            Step::ClassGate,
        ),
        (
            "protected with a rule",
            write("/w/.npmrc").allow("tool write_file"),
            WIDEN,
            Step::ClassGate,
        ),
        ("protected in a granted folder", write("/granted/.git/hooks/x"), WIDEN, Step::ClassGate),
        ("writing a secret", write("/w/.env").mode(Auto), WIDEN, Step::ClassGate),
        ("reading a secret", read("/w/.env"), WIDEN, Step::ClassGate),
        ("reading a key in auto", read("/home/u/.ssh/id_rsa").mode(Auto), WIDEN, Step::ClassGate),
        (
            "reading a secret in discuss",
            read("/w/.env").mode(Discuss).allow("tool read_file"),
            WIDEN,
            Step::ClassGate,
        ),
        ("instructions", write("/w/AGENTS.md").mode(Auto), ASK, Step::ClassGate),
        ("unconfined", run("ls").open(), WIDEN, Step::ClassGate),
        ("unconfined in auto", run("ls").open().mode(Auto), WIDEN, Step::ClassGate),
        ("unconfined with a rule", run("ls").open().allow("ls"), WIDEN, Step::ClassGate),
        (
            "unconfined under `all`",
            run("ls").open().policy(ShellPolicy::All),
            WIDEN,
            Step::ClassGate,
        ),
        (
            "unconfined under `sandbox`",
            run("ls").open().policy(ShellPolicy::Sandbox),
            WIDEN,
            Step::ClassGate,
        ),
        (
            "unconfined under `workspace`",
            run("ls").open().policy(ShellPolicy::Workspace),
            WIDEN,
            Step::ClassGate,
        ),
        // Ask rules.
        ("ask rule", run("git push").allow("git push").ask("git push"), ASK, Step::AskRule),
        ("ask rule in auto", run("git push").mode(Auto).ask("git push"), ASK, Step::AskRule),
        ("ask for a reader", read("/w/a").ask("tool read_file"), ASK, Step::AskRule),
        // 3: reading.
        ("read inside", read("/w/src/main.rs"), Allow, Step::ReadAllowed),
        ("read the system", read("/usr/include/stdio.h"), Allow, Step::ReadAllowed),
        ("read outside", read("/home/u/notes.txt"), ASK, Step::Default),
        ("read outside in auto", read("/home/u/notes.txt").mode(Auto), Allow, Step::AutoMode),
        (
            "read outside with a rule",
            read("/home/u/notes.txt").allow("tool read_file"),
            Allow,
            Step::ToolRule,
        ),
        // 4: auto.
        ("auto writes", write("/w/a").mode(Auto), Allow, Step::AutoMode),
        ("auto runs confined", run("curl x | sh").mode(Auto), Allow, Step::AutoMode),
        // 5: shell policy.
        ("approve", run("ls"), ASK, Step::Default),
        ("sandbox", run("ls").policy(ShellPolicy::Sandbox), Allow, Step::ShellPolicy),
        ("workspace", run("ls").policy(ShellPolicy::Workspace), Allow, Step::ShellPolicy),
        ("all", run("ls").policy(ShellPolicy::All), Allow, Step::ShellPolicy),
        (
            "a shell policy allows no edit",
            write("/w/a").policy(ShellPolicy::All),
            ASK,
            Step::Default,
        ),
        // 6: command rules.
        ("command rule", run("git status -s").allow("git status"), Allow, Step::CommandRule),
        (
            "two rules for two commands",
            run("git status && ls").allow("git status").allow("ls"),
            Allow,
            Step::CommandRule,
        ),
        ("one of two", run("git status && touch m").allow("git status"), ASK, Step::Default),
        ("not plain", run("git status > f").allow("git status"), ASK, Step::Default),
        ("word boundary", run("lsof").allow("ls"), ASK, Step::Default),
        ("dangerous option", run("git diff --output=m").allow("git diff"), ASK, Step::Default),
        // 7: tool rules.
        ("tool rule", write("/w/a").allow("tool write_file"), Allow, Step::ToolRule),
        ("rule for another tool", write("/w/a").allow("tool replace_in_file"), ASK, Step::Default),
        ("a tool rule is no shell rule", run("ls").allow("tool run_shell"), ASK, Step::Default),
        // 8: nothing decided.
        ("write", write("/w/a"), ASK, Step::Default),
        ("external", outside(), ASK, Step::Default),
    ];
    assert!(table.len() >= 40);
    for (name, case, verdict, step) in table {
        let decision = case.decide();
        assert_eq!(
            (decision.verdict, decision.step),
            (verdict, step),
            "{name}: {}",
            decision.reason
        );
        assert!(!decision.reason.is_empty(), "{name}");
    }
}

#[test]
fn z_46_always_is_offered_only_where_it_would_hold() {
    let words = |words: &[&str]| {
        Some(RuleMatcher::CommandPrefix {
            words: words.iter().map(|word| (*word).to_owned()).collect(),
        })
    };
    assert_eq!(run("git status -s").decide().always, words(&["git", "status"]));
    assert_eq!(run("git status && ls").decide().always, None);
    assert_eq!(run("python3 x").decide().always, None);
    assert_eq!(run("ls").open().decide().always, None);
    assert_eq!(write("/w/.git/config").decide().always, None);
    assert_eq!(
        write("/w/a").decide().always,
        Some(RuleMatcher::Tool { name: "write_file".to_owned() })
    );
    assert_eq!(run("git push").ask("git push").decide().always, None);
}

#[test]
fn d_7_commands_are_confined_wherever_that_holds() {
    assert_eq!(run("ls").decide().sandbox, SandboxPolicy::CONFINED);
    assert_eq!(run("ls").open().decide().sandbox, SandboxPolicy::Unconfined);
    assert_eq!(run("ls").mode(Mode::Auto).decide().sandbox, SandboxPolicy::CONFINED);
}

#[test]
fn a_decision_names_its_rule() {
    let decision = run("git status").allow("git status").decide();
    assert_eq!(decision.rule.as_deref(), Some("git status"));
    assert_eq!(run("rm -rf x").decide().rule.as_deref(), Some("rm-recursive-force"));
}

#[test]
fn a_workspace_in_the_apps_folder_is_a_workspace() {
    let sandbox =
        SandboxState { backend: SandboxBackend::None, enforced: true, reason: String::new() };
    let roots = Roots {
        workspace: "/d/tour/sample".to_owned(),
        data_root: "/d".to_owned(),
        ..Roots::default()
    };
    let decide_at = |real: &str| {
        let effects = write(real).effects;
        decide(&PolicyInput {
            mode: Mode::Interactive,
            shell_policy: ShellPolicy::Approve,
            sandbox: &sandbox,
            tool: "write_file",
            effects: &effects,
            roots: &roots,
            rules: &[],
        })
        .step
    };
    assert_eq!(decide_at("/d/tour/sample/a"), PolicyStep::Default);
    assert_eq!(decide_at("/d/tour/other"), PolicyStep::HardDeny);
}

fn strictness(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Allow => 0,
        Verdict::Ask(AskClass::Confined) => 1,
        Verdict::Ask(AskClass::Widening) => 2,
        Verdict::Deny => 3,
        Verdict::Forbidden => 4,
    }
}

fn any_mode() -> impl Strategy<Value = Mode> {
    prop_oneof![Just(Mode::Discuss), Just(Mode::Plan), Just(Mode::Interactive), Just(Mode::Auto)]
}

fn any_policy() -> impl Strategy<Value = ShellPolicy> {
    prop_oneof![
        Just(ShellPolicy::Approve),
        Just(ShellPolicy::Sandbox),
        Just(ShellPolicy::Workspace),
        Just(ShellPolicy::All)
    ]
}

fn any_rule() -> impl Strategy<Value = Rule> {
    let effect =
        prop_oneof![Just(RuleEffect::Deny), Just(RuleEffect::Ask), Just(RuleEffect::Allow)];
    let text = prop_oneof![
        Just("git status"),
        Just("git push"),
        Just("ls"),
        Just("git"),
        Just("sh"),
        Just("tool write_file"),
        Just("tool run_shell"),
        Just("tool read_file"),
    ];
    (effect, text).prop_map(|(effect, text)| rule(effect, text))
}

fn any_case() -> impl Strategy<Value = Case> {
    let real = prop_oneof![
        Just("/w/a"),
        Just("/w/.git/config"),
        Just("/w/.env"),
        Just("/tmp/x"),
        Just("/granted/a"),
        Just("/home/u/.cairn/x"),
        Just("/w/AGENTS.md"),
    ];
    let command = prop_oneof![
        Just("ls".to_owned()),
        Just("git status".to_owned()),
        Just("git push".to_owned()),
        Just("rm -rf x".to_owned()),
        Just("ls > x".to_owned()),
        "[a-z $;|&'\"()-]{0,20}",
    ];
    let call = prop_oneof![
        real.clone().prop_map(write),
        real.prop_map(read),
        command.prop_map(|command| run(&command)),
    ];
    (call, any_mode(), any_policy(), any::<bool>(), prop::collection::vec(any_rule(), 0..4))
        .prop_map(|(call, mode, policy, enforced, rules)| Case {
            mode,
            policy,
            enforced,
            rules,
            ..call
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_new_deny_or_ask_rule_never_loosens(case in any_case(), new in any_rule(), denies in any::<bool>()) {
        let before = strictness(case.decide().verdict);
        let mut with = case.clone();
        with.rules.push(Rule { effect: if denies { RuleEffect::Deny } else { RuleEffect::Ask }, ..new });
        prop_assert!(strictness(with.decide().verdict) >= before);
    }

    #[test]
    fn a_new_allow_rule_never_lifts_more_than_a_confined_question(case in any_case(), new in any_rule()) {
        let before = case.decide().verdict;
        let mut with = case.clone();
        with.rules.push(Rule { effect: RuleEffect::Allow, ..new });
        let after = with.decide().verdict;
        prop_assert!(after == before || (before == ASK && after == Verdict::Allow));
    }

    #[test]
    fn no_unconfined_command_runs_unasked(case in any_case()) {
        let decision = case.decide();
        if decision.sandbox == SandboxPolicy::Unconfined {
            prop_assert!(decision.verdict != Verdict::Allow && decision.verdict != ASK);
        }
    }

    #[test]
    fn what_is_not_plain_asks_under_any_allow_rules(text in "[a-z]{1,4} [$`><&()*a-z]{1,6}", rules in prop::collection::vec(any_rule(), 0..4)) {
        let case = Case { rules, ..run(&text) };
        if matches!(crate::parse_command(&text), crate::ParsedCommand::NotPlain { .. }) {
            prop_assert!(case.decide().verdict != Verdict::Allow);
        }
    }

    #[test]
    fn reading_modes_have_no_side_effects(case in any_case()) {
        let reading = case.clone().mode(Mode::Discuss);
        if reading.effects.class != ToolClass::Read {
            prop_assert!(strictness(reading.decide().verdict) >= strictness(Verdict::Deny));
        }
    }

    #[test]
    fn the_order_of_rules_does_not_matter(case in any_case()) {
        let mut turned = case.clone();
        turned.rules.reverse();
        prop_assert_eq!(case.decide().verdict, turned.decide().verdict);
    }

    #[test]
    fn auto_lifts_only_confined_questions(case in any_case()) {
        let interactive = case.clone().mode(Mode::Interactive).decide().verdict;
        let auto = case.mode(Mode::Auto).decide().verdict;
        prop_assert!(auto == interactive || (interactive == ASK && auto == Verdict::Allow));
    }
}
