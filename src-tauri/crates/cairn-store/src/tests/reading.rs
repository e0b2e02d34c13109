//! Pages, contexts and gaps.

use super::*;

#[test]
fn pages_go_back_from_the_end_without_overlap_p185() {
    let root = TempDir::new().unwrap();
    let store = with_session(root.path());
    fill(&store, 25);
    let (trace, _) = store.open_trace(&session_id()).unwrap();
    let mut before = None;
    let mut found = Vec::new();
    loop {
        let page = trace.page(before, 10).unwrap();
        assert!(page.gaps.is_empty());
        before = page.messages.first().map(|stored| stored.seq);
        found.splice(0..0, page.messages.iter().map(|stored| stored.seq));
        if !page.has_more {
            break;
        }
    }
    assert_eq!(found, (1..=25).collect::<Vec<_>>());
}

#[test]
fn the_last_page_costs_the_same_in_a_long_session_g15() {
    let cost = |count: u64| {
        let root = TempDir::new().unwrap();
        fill(&with_session(root.path()), count);
        let disk = TestDisk::new();
        let store = open_on(&disk, root.path());
        let view = store.read_trace(&session_id()).unwrap();
        assert_eq!(view.page(None, 100).unwrap().messages.len(), 100);
        disk.bytes_read.load(Ordering::SeqCst)
    };
    let (short, long) = (cost(2_000), cost(40_000));
    assert!(long <= short + 1_000, "{long} bytes against {short}");
}

#[test]
fn a_page_deep_in_the_past_is_the_right_one() {
    let root = TempDir::new().unwrap();
    let store = with_session(root.path());
    fill(&store, 3_000);
    let page = store.read_trace(&session_id()).unwrap().page(Some(1_001), 3).unwrap();
    assert_eq!(texts(&page.messages), ["998", "999", "1000"]);
    assert!(page.has_more);
}

#[test]
fn a_new_context_goes_on_counting_in_the_next_file_d1() {
    let root = TempDir::new().unwrap();
    let store = with_session(root.path());
    let (mut trace, _) = store.open_trace(&session_id()).unwrap();
    trace.append(&meta(), SyncClass::A).unwrap();
    trace.append(&user("old"), SyncClass::B).unwrap();
    assert!(matches!(trace.next_file(&user("no meta")), Err(Error::Invalid(_))));
    trace.next_file(&meta()).unwrap();
    trace.append(&user("new"), SyncClass::B).unwrap();
    assert_eq!(seqs(&trace.messages().unwrap()), [1, 2, 3, 4]);
    assert_eq!(seqs(&trace.context_messages().unwrap()), [3, 4]);
    assert!(trace_file(root.path(), 2).is_file());
    drop(trace);
    let (mut trace, recovered) = store.open_trace(&session_id()).unwrap();
    assert_eq!(recovered, Recovered { last_seq: 4, ..Recovered::default() });
    assert_eq!(trace.append(&user("more"), SyncClass::A).unwrap(), 5);
    assert_eq!(seqs(&trace.page(Some(4), 2).unwrap().messages), [2, 3]);
}

#[test]
fn long_messages_come_back_from_their_blobs() {
    let root = TempDir::new().unwrap();
    let store = with_session(root.path());
    let long = "ä".repeat(400_000);
    let (mut trace, _) = store.open_trace(&session_id()).unwrap();
    trace.append(&user(long.clone()), SyncClass::B).unwrap();
    trace.append(&user("short"), SyncClass::B).unwrap();
    assert_eq!(texts(&trace.messages().unwrap()), [long, "short".to_owned()]);
    drop(trace);
    // A blob that is lost or damaged is a gap, not an error.
    let blobs = store.session_dir(&session_id()).join("blobs");
    let blob = std::fs::read_dir(&blobs).unwrap().next().unwrap().unwrap().path();
    std::fs::write(blob, "other bytes").unwrap();
    let page = store.read_trace(&session_id()).unwrap().page(None, 10).unwrap();
    assert_eq!((texts(&page.messages), page.gaps), (vec!["short".to_owned()], vec![1]));
}

#[test]
fn parts_and_messages_of_children_are_refused_p25() {
    let root = TempDir::new().unwrap();
    let store = with_session(root.path());
    let (mut trace, _) = store.open_trace(&session_id()).unwrap();
    let part = PartialText {
        role: Role::Assistant,
        event_type: PartialEvent::Delta,
        text: "x".to_owned(),
        stop_reason: None,
    };
    let part = Message::model(NOW, ModelMsg::PartialText(part));
    let child = Message { origin: vec![SessionId::new("child")], ..user("x") };
    for message in [part, child, Message::event(NOW, EventMsg::Unknown)] {
        assert!(matches!(trace.append(&message, SyncClass::B), Err(Error::Invalid(_))));
    }
    assert_eq!((trace.last_seq(), trace.degraded()), (0, None));
}

#[test]
fn a_reader_sees_a_session_that_another_writes() {
    let root = TempDir::new().unwrap();
    let store = with_session(root.path());
    let (mut trace, _) = store.open_trace(&session_id()).unwrap();
    trace.append(&user("1"), SyncClass::C).unwrap();
    // Another process opens the same root.
    let other = open(root.path());
    assert!(matches!(other.open_trace(&session_id()), Err(Error::Locked { .. })));
    assert!(matches!(other.delete_session(&session_id()), Err(Error::Locked { .. })));
    assert_eq!(texts(&other.read_trace(&session_id()).unwrap().messages().unwrap()), ["1"]);
    drop(trace);
    assert!(other.open_trace(&session_id()).is_ok());
}
