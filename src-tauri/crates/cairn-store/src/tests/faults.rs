//! Each operation on the disk fails once, and from some point on all do (security plan 4.9).

use super::*;

const FAULTS: [Fault; 3] =
    [Fault::Error(io::ErrorKind::StorageFull), Fault::Error(io::ErrorKind::Other), Fault::Half];

/// What the scenario was told.
#[derive(Default)]
struct Told {
    /// Messages whose `append` succeeded, with their places.
    stored: Vec<(u64, String)>,
    /// Messages of class A whose `append` failed: they must not be there.
    refused: Vec<String>,
    /// The title that was saved last, and later ones that may have been saved.
    title: Option<(String, Vec<String>)>,
}

fn scenario(store: &Store, told: &mut Told) -> Result<(), Error> {
    let id = session_id();
    store.create_session(record(&id))?;
    told.title = Some(("Title".to_owned(), Vec::new()));
    let (mut trace, _) = store.open_trace(&id)?;
    let long = "y".repeat(300_000);
    let steps = [
        ("a", SyncClass::A),
        ("b", SyncClass::B),
        (long.as_str(), SyncClass::B),
        ("c", SyncClass::C),
        ("d", SyncClass::A),
    ];
    for round in 0..2 {
        for (text, class) in steps {
            let text = format!("{round}{text}");
            match trace.append(&user(text.clone()), class) {
                Ok(seq) => told.stored.push((seq, text)),
                Err(_) if class == SyncClass::A => told.refused.push(text),
                Err(_) => {}
            }
        }
        let seq = trace.last_seq() + 1;
        if trace.next_file(&meta()).is_ok() {
            told.stored.push((seq, text_of(&meta())));
        }
        let title = format!("Title {round}");
        let result = store.save_session(&SessionRecord { title: title.clone(), ..record(&id) });
        match (result, &mut told.title) {
            (Ok(()), slot) => *slot = Some((title, Vec::new())),
            // The new file may be in place with its name not yet durable.
            (Err(_), Some((_, maybe))) => maybe.push(title),
            (Err(_), None) => {}
        }
    }
    trace.flush()
}

#[track_caller]
fn check_after(root: &Path, told: &Told, disk_came_back: bool, what: &str) {
    let store = open(root);
    let Ok((mut trace, recovered)) = store.open_trace(&session_id()) else {
        assert!(told.stored.is_empty(), "{what}: the session is gone");
        return;
    };
    assert_eq!(recovered.gaps, [0_u64; 0], "{what}");
    let found: Vec<(u64, String)> = trace
        .messages()
        .unwrap()
        .iter()
        .map(|stored| (stored.seq, text_of(&stored.message)))
        .collect();
    let numbers: Vec<u64> = found.iter().map(|(seq, _)| *seq).collect();
    assert_eq!(numbers, (1..=found.len() as u64).collect::<Vec<_>>(), "{what}");
    for stored in &told.stored {
        assert!(found.contains(stored), "{what}: message {} is lost", stored.0);
    }
    for refused in told.refused.iter().filter(|_| disk_came_back) {
        assert!(!found.iter().any(|(_, text)| text == refused), "{what}: {refused} is there");
    }
    trace.append(&user("after"), SyncClass::A).unwrap();
    if let Some((sure, maybe)) = &told.title {
        let title = store.session(&session_id()).expect("the record is there").title;
        assert!(title == *sure || maybe.contains(&title), "{what}: title {title}");
    }
}

fn run_with(kinds: &[Fault], faults: impl Fn(usize) -> std::ops::Range<usize>) {
    for fault in kinds.iter().copied() {
        for number in 0.. {
            let root = memory_dir();
            let disk = TestDisk::new();
            let store = open_on(&disk, root.path());
            let mut told = Told::default();
            disk.fail(faults(number), fault);
            let result = scenario(&store, &mut told);
            let reached = disk.count.load(Ordering::SeqCst) > number;
            drop(store);
            // On a disk that refuses everything a line can't even be taken back.
            let came_back = faults(number).end < usize::MAX;
            check_after(root.path(), &told, came_back, &format!("{fault:?} at operation {number}"));
            if !reached {
                result.expect("without a fault all works");
                assert!(number > 60, "the scenario is too short: {number} operations");
                break;
            }
        }
    }
}

#[test]
fn nothing_acknowledged_is_lost_when_one_operation_fails() {
    run_with(&FAULTS, |number| number..number + 1);
}

#[test]
fn nothing_acknowledged_is_lost_when_the_disk_fails_for_good() {
    run_with(&FAULTS[..1], |number| number..usize::MAX);
}

#[test]
fn nothing_acknowledged_is_lost_when_a_few_operations_fail() {
    run_with(&FAULTS[2..], |number| number..number + 4);
}

#[test]
fn a_full_disk_is_said_and_what_was_held_is_written_later() {
    let root = TempDir::new().unwrap();
    let disk = TestDisk::new();
    let store = open_on(&disk, root.path());
    store.create_session(record(&session_id())).unwrap();
    let (mut trace, _) = store.open_trace(&session_id()).unwrap();
    trace.append(&user("1"), SyncClass::B).unwrap();
    disk.fail(0..usize::MAX, Fault::Error(io::ErrorKind::StorageFull));
    assert!(matches!(trace.append(&user("2"), SyncClass::B), Err(Error::Full { .. })));
    assert!(matches!(trace.append(&user("refused"), SyncClass::A), Err(Error::Full { .. })));
    assert!(trace.append(&user("3"), SyncClass::C).is_err());
    let degraded = trace.degraded().unwrap();
    assert_eq!(degraded.held, 2);
    assert!(degraded.reason.contains("the disk is full"), "{}", degraded.reason);
    assert_eq!(trace.last_seq(), 3);
    disk.fail(0..0, Fault::Half);
    assert_eq!(texts(&trace.page(None, 2).unwrap().messages), ["2", "3"]);
    assert_eq!(trace.append(&user("4"), SyncClass::A).unwrap(), 4);
    assert_eq!(trace.degraded(), None);
    drop(trace);
    let view = store.read_trace(&session_id()).unwrap();
    assert_eq!(texts(&view.messages().unwrap()), ["1", "2", "3", "4"]);
}

#[test]
fn class_b_is_synced_after_250_ms_or_64_kib() {
    let root = TempDir::new().unwrap();
    let disk = TestDisk::new();
    let time = HandClock::new();
    let options = Options { clock: time.clock(), ..options(&disk) };
    let (store, _) = Store::open_with(root.path(), NOW, options).unwrap();
    store.create_session(record(&session_id())).unwrap();
    let (mut trace, _) = store.open_trace(&session_id()).unwrap();
    let synced = |trace: &mut Trace, class, text: &str| {
        let before = disk.syncs.load(Ordering::SeqCst);
        trace.append(&user(text), class).unwrap();
        disk.syncs.load(Ordering::SeqCst) - before
    };
    assert_eq!(synced(&mut trace, SyncClass::C, "c"), 0);
    assert_eq!(trace.flush_due(), None);
    assert_eq!(synced(&mut trace, SyncClass::B, "b"), 0);
    let due = trace.flush_due().unwrap();
    time.advance(Duration::from_millis(249));
    assert_eq!(synced(&mut trace, SyncClass::B, "b"), 0);
    assert_eq!(trace.flush_due(), Some(due));
    time.advance(Duration::from_millis(1));
    assert_eq!(synced(&mut trace, SyncClass::B, "b"), 1);
    assert_eq!(synced(&mut trace, SyncClass::B, &"x".repeat(65_000)), 0);
    assert_eq!(synced(&mut trace, SyncClass::B, &"x".repeat(1_000)), 1);
    assert_eq!(synced(&mut trace, SyncClass::A, "a"), 1);
    assert_eq!(trace.flush_due(), None);
}

#[test]
fn a_root_that_may_not_be_written_can_be_read() {
    let root = TempDir::new().unwrap();
    fill(&with_session(root.path()), 2);
    let disk = TestDisk::new();
    disk.fail(0..1, Fault::Error(io::ErrorKind::ReadOnlyFilesystem));
    let (store, problems) = Store::open_with(root.path(), NOW, options(&disk)).unwrap();
    assert!(problems[0].contains("may not be written"), "{problems:?}");
    assert_eq!(store.sessions().len(), 1);
    assert_eq!(store.read_trace(&session_id()).unwrap().messages().unwrap().len(), 2);
}
