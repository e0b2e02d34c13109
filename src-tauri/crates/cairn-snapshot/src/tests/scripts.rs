//! Random scripts of agents, commands and users.

use proptest::prelude::*;

use super::*;

const PATHS: [&str; 7] = ["a", "b", "d", "d/a", "d/e", "d/e/c", "f"];

#[derive(Debug, Clone)]
enum Act {
    Write(usize, u8),
    Append(usize, u8),
    Remove(usize),
    Mkdir(usize),
    Link(usize, u8),
    Mode(usize, u32),
}

#[derive(Debug, Clone)]
enum Event {
    Agent(Act),
    Shell(Vec<Act>),
    User(Act),
}

fn act() -> impl Strategy<Value = Act> {
    let path = 0..PATHS.len();
    prop_oneof![
        4 => (path.clone(), any::<u8>()).prop_map(|(path, byte)| Act::Write(path, byte)),
        3 => (path.clone(), any::<u8>()).prop_map(|(path, byte)| Act::Append(path, byte)),
        2 => path.clone().prop_map(Act::Remove),
        1 => path.clone().prop_map(Act::Mkdir),
        1 => (path.clone(), any::<u8>()).prop_map(|(path, byte)| Act::Link(path, byte)),
        1 => (path, prop_oneof![Just(0o600u32), Just(0o755), Just(0o444)]).prop_map(|(path, mode)| Act::Mode(path, mode)),
    ]
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        act().prop_map(Event::Agent),
        proptest::collection::vec(act(), 1..4).prop_map(Event::Shell),
        act().prop_map(Event::User),
    ]
}

/// Does one thing, as far as the files allow it.
fn run(rig: &Rig, act: &Act, who: &str, count: usize) {
    let place = |path: &usize| rig.at(PATHS[*path]);
    let line = |byte: &u8| format!("{who}-{count}-{byte}\n");
    let make_way =
        |path: &Path| path.parent().is_some_and(|parent| fs::create_dir_all(parent).is_ok());
    match act {
        Act::Write(path, byte) if make_way(&place(path)) => {
            let mut content: String = (0..8).map(|line| format!("line {line}\n")).collect();
            content.push_str(&line(byte));
            let _ = fs::write(place(path), content);
        }
        Act::Append(path, byte) if place(path).is_file() => {
            let mut content = fs::read(place(path)).unwrap_or_default();
            content.splice(0..0, line(byte).into_bytes());
            let _ = fs::write(place(path), content);
        }
        Act::Remove(path) => {
            let path = place(path);
            let _ = if path.is_dir() && !path.is_symlink() {
                fs::remove_dir_all(path)
            } else {
                fs::remove_file(path)
            };
        }
        Act::Mkdir(path) => drop(fs::create_dir_all(place(path))),
        Act::Link(path, byte) if make_way(&place(path)) => {
            let _ = std::os::unix::fs::symlink(format!("nowhere-{byte}"), place(path));
        }
        Act::Mode(path, mode) if place(path).is_file() && !place(path).is_symlink() => {
            set_mode(&place(path), *mode)
        }
        _ => {}
    }
}

/// The user's own lines that are in some file.
fn user_lines(rig: &Rig) -> std::collections::BTreeSet<String> {
    rig.picture()
        .values()
        .flat_map(|line| line.lines())
        .filter(|line| line.starts_with("user-"))
        .map(str::to_owned)
        .collect()
}

fn play(rig: &mut Rig, turns: &[Vec<Event>], between: &[Act]) -> Vec<TurnId> {
    let mut count = 0;
    let mut ids = Vec::new();
    for (index, events) in turns.iter().enumerate() {
        let turn = rig.begin();
        for event in events {
            count += 1;
            match event {
                Event::Agent(act) => {
                    let (Act::Write(path, _)
                    | Act::Append(path, _)
                    | Act::Remove(path)
                    | Act::Mkdir(path)
                    | Act::Link(path, _)
                    | Act::Mode(path, _)) = act;
                    // The file tools edit files; they neither make nor remove folders by themselves.
                    let place = rig.at(PATHS[*path]);
                    if matches!(act, Act::Write(..) | Act::Append(..))
                        && !place.is_dir()
                        && !place.is_symlink()
                    {
                        rig.edit(&turn, PATHS[*path], |_| run(rig, act, "agent", count));
                    }
                }
                Event::Shell(acts) => {
                    rig.snapshots().before_command(&rig.session, &turn);
                    acts.iter().for_each(|act| run(rig, act, "shell", count));
                    rig.snapshots().after_command(&rig.session, &turn);
                }
                Event::User(act) => run(rig, act, "user", count),
            }
        }
        rig.end(&turn);
        ids.push(turn);
        if let Some(act) = between.get(index) {
            count += 1;
            run(rig, act, "user", count);
        }
    }
    ids
}

fn target() -> impl Strategy<Value = RestoreTarget> {
    prop_oneof![
        Just(RestoreTarget::Before),
        Just(RestoreTarget::After),
        Just(RestoreTarget::Revert)
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn i2_i3_i6_rewind_then_undo_is_the_identity(
        start in proptest::collection::vec(act(), 0..6),
        turns in proptest::collection::vec(proptest::collection::vec(event(), 1..6), 1..4),
        between in proptest::collection::vec(act(), 0..4),
        pick in any::<proptest::sample::Index>(),
        target in target(),
        restart in any::<bool>(),
        exact in prop::bool::weighted(0.8),
    ) {
        let mut rig = Rig::new();
        // Without a look at both ends of a command, as in a huge workspace, who changed what in a turn is guessed from
        // times; what is kept and brought back is the same.
        let cheap_scan = Some(if exact { Duration::MAX } else { Duration::ZERO });
        rig.reopen(Options { cheap_scan, ..Options::default() });
        start.iter().enumerate().for_each(|(index, act)| run(&rig, act, "start", index));
        let ids = play(&mut rig, &turns, &between);
        let before = rig.picture();
        let theirs = user_lines(&rig);
        let turn = ids[pick.index(ids.len())].clone();
        let report = rig.restore(&turn, target);
        prop_assert_eq!(&report.outcome, &cairn_protocol::RestoreOutcome::Exact);

        let after = rig.picture();
        let planned: Vec<PathBuf> = report.steps.iter().map(|step| rig.at(&step.path)).collect();
        for (path, line) in &before {
            prop_assert!(planned.contains(path) || after.get(path) == Some(line), "{:?} is not in the plan", path);
        }
        let kept = user_lines(&rig);
        prop_assert!(!exact || kept.is_superset(&theirs), "lost of the user: {:?}", theirs.difference(&kept).collect::<Vec<_>>());

        if restart {
            rig.reopen(Options::default());
            rig.snapshots().recover(Timestamp(77));
        }
        rig.bring_back();
        prop_assert_eq!(rig.picture(), before);
    }
}
