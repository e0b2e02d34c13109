//! Opening what a crash, a full disk or an editor left (security plan 4.3).

use std::fs;

use super::*;

/// Damages the file of a session with three texts and opens it again.
fn reopen(damage: impl FnOnce(&mut Vec<u8>)) -> (Vec<String>, Recovered, TempDir) {
    let root = TempDir::new().unwrap();
    let store = with_session(root.path());
    fill(&store, 3);
    let path = trace_file(root.path(), 1);
    let mut bytes = fs::read(&path).unwrap();
    damage(&mut bytes);
    fs::write(&path, &bytes).unwrap();
    let (mut trace, recovered) = store.open_trace(&session_id()).unwrap();
    trace.append(&user("after"), SyncClass::A).unwrap();
    let found = texts(&trace.messages().unwrap());
    drop(trace);
    // What was repaired needs no second repair.
    let (_, again) = store.open_trace(&session_id()).unwrap();
    assert_eq!(again.torn_bytes, 0);
    (found, recovered, root)
}

fn second_line(bytes: &[u8]) -> std::ops::Range<usize> {
    let ends: Vec<usize> =
        bytes.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(at, _)| at).collect();
    ends[0] + 1..ends[1]
}

#[test]
fn every_cut_of_the_file_opens_and_keeps_what_is_whole_p179() {
    let root = TempDir::new().unwrap();
    let store = with_session(root.path());
    fill(&store, 3);
    let path = trace_file(root.path(), 1);
    let whole = fs::read(&path).unwrap();
    for length in 0..whole.len() {
        fs::write(&path, &whole[..length]).unwrap();
        let _ = fs::remove_file(path.with_extension("jsonl.torn"));
        let complete = whole[..length].iter().filter(|b| **b == b'\n').count();
        // A record that lacks only its newline is whole.
        let complete = complete + usize::from(whole[length] == b'\n');
        let (mut trace, recovered) = store.open_trace(&session_id()).unwrap();
        assert_eq!(recovered.last_seq, complete as u64, "cut at {length}");
        assert_eq!(trace.append(&user("after"), SyncClass::C).unwrap(), complete as u64 + 1);
        let mut expected: Vec<String> = (1..=complete).map(|number| number.to_string()).collect();
        expected.push("after".to_owned());
        assert_eq!(texts(&trace.messages().unwrap()), expected, "cut at {length}");
        assert_eq!(trace.page(None, 10).unwrap().gaps, [0_u64; 0]);
        let torn = fs::read(path.with_extension("jsonl.torn")).unwrap_or_default();
        assert_eq!(torn.len().saturating_sub(1) as u64, recovered.torn_bytes, "cut at {length}");
    }
}

#[test]
fn a_run_of_nul_at_the_end_is_cut_off() {
    let (found, recovered, root) = reopen(|bytes| bytes.extend([0; 5_000]));
    assert_eq!(found, ["1", "2", "3", "after"]);
    assert_eq!(recovered.torn_bytes, 5_000);
    assert!(trace_file(root.path(), 1).with_extension("jsonl.torn").is_file());
}

#[test]
fn a_damaged_line_in_the_middle_is_a_gap_and_later_lines_load() {
    let (found, recovered, _) = reopen(|bytes| {
        let line = second_line(bytes);
        bytes[line.start + 30] ^= 1;
    });
    assert_eq!(found, ["1", "3", "after"]);
    assert_eq!(recovered.gaps, [2]);
    assert_eq!(recovered.problems.len(), 1);
}

#[test]
fn a_damaged_last_line_keeps_its_place_as_a_gap() {
    let root = TempDir::new().unwrap();
    let store = with_session(root.path());
    fill(&store, 3);
    let path = trace_file(root.path(), 1);
    let mut bytes = fs::read(&path).unwrap();
    let at = bytes.len() - 30;
    bytes[at] ^= 1;
    fs::write(&path, bytes).unwrap();
    assert_eq!(store.read_trace(&session_id()).unwrap().page(None, 9).unwrap().gaps, [3]);
    let (mut trace, recovered) = store.open_trace(&session_id()).unwrap();
    assert_eq!((recovered.last_seq, &recovered.gaps[..]), (2, &[3][..]));
    assert_eq!(trace.append(&user("after"), SyncClass::A).unwrap(), 4);
    assert_eq!(trace.page(None, 9).unwrap().gaps, [3]);
}

#[test]
fn fused_lines_are_recovered() {
    let (found, recovered, _) = reopen(|bytes| {
        let line = second_line(bytes);
        bytes.remove(line.end);
    });
    assert_eq!(found, ["1", "2", "3", "after"]);
    assert_eq!(recovered.saved, 2);
    // Half a record before a whole one, and NUL before a whole one.
    let (found, recovered, _) = reopen(|bytes| {
        let line = second_line(bytes);
        let half = bytes[line.start..line.start + 20].to_vec();
        bytes.splice(line.start..line.start, half);
    });
    assert_eq!((found.len(), recovered.saved, recovered.gaps.len()), (4, 1, 0));
    let (found, ..) = reopen(|bytes| {
        let line = second_line(bytes);
        bytes.splice(line.start..line.start, vec![0; 3_000_000]);
    });
    assert_eq!(found, ["1", "2", "3", "after"]);
}

#[test]
fn a_file_of_a_newer_version_is_read_and_not_changed() {
    let root = TempDir::new().unwrap();
    let store = with_session(root.path());
    fill(&store, 1);
    let path = trace_file(root.path(), 1);
    let old = fs::read_to_string(&path).unwrap();
    let (body, _) = old.trim_end().rsplit_once(",\"c\":").unwrap();
    let body = body.replacen("\"v\":1", "\"v\":2", 1);
    let sum = crc32c::crc32c(format!("{body}}}").as_bytes());
    let newer = format!("{body},\"c\":\"{sum:08x}\"}}\n{{\"torn");
    fs::write(&path, &newer).unwrap();
    assert!(matches!(store.open_trace(&session_id()), Err(Error::Newer { .. })));
    assert_eq!(fs::read_to_string(&path).unwrap(), newer);
    assert_eq!(store.read_trace(&session_id()).unwrap().messages().unwrap().len(), 1);
}

#[test]
fn a_next_file_that_a_crash_left_empty_or_torn_is_no_context() {
    for left in ["", "{\"v\":1,\"seq\":4,\"times"] {
        let root = TempDir::new().unwrap();
        let store = with_session(root.path());
        fill(&store, 3);
        fs::write(trace_file(root.path(), 2), left).unwrap();
        let (mut trace, recovered) = store.open_trace(&session_id()).unwrap();
        assert_eq!((recovered.last_seq, recovered.torn_bytes), (3, left.len() as u64));
        trace.append(&user("after"), SyncClass::A).unwrap();
        assert_eq!(texts(&trace.context_messages().unwrap()), ["1", "2", "3", "after"]);
    }
}

#[test]
fn megabytes_of_rubbish_at_the_end_do_not_start_the_count_again() {
    let (found, _, root) = reopen(|bytes| {
        for _ in 0..10 {
            bytes.extend(vec![b'x'; 1_000_000]);
            bytes.push(b'\n');
        }
    });
    assert_eq!(found, ["1", "2", "3", "after"]);
    assert!(open(root.path()).open_trace(&session_id()).unwrap().1.last_seq > 3);
}
