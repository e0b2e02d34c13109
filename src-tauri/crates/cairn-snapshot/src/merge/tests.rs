use std::collections::HashMap;

use git2::ObjectType;

use super::*;
use crate::objects::hash;

fn file(content: &str, mode: u32) -> Option<Item> {
    let oid = hash(ObjectType::Blob, content.as_bytes()).expect("hashes");
    Some(Item { kind: Kind::File, mode, size: content.len() as u64, oid })
}

#[track_caller]
fn check(sides: [Option<&str>; 3], expected: Verdict) {
    let contents: HashMap<Oid, Vec<u8>> = sides
        .iter()
        .flatten()
        .map(|text| {
            (hash(ObjectType::Blob, text.as_bytes()).expect("hashes"), text.as_bytes().to_vec())
        })
        .collect();
    let [before, after, now] = sides.map(|side| side.and_then(|text| file(text, 0o644)));
    let verdict = take_back(before, after, now, &mut |oid| Ok(contents.get(&oid).cloned()));
    assert_eq!(verdict.expect("reads"), expected, "{sides:?}");
}

fn merged(text: &str) -> Verdict {
    Verdict::Merged { content: text.as_bytes().to_vec(), mode: 0o644 }
}

#[test]
fn what_is_as_the_agent_left_it_is_taken_back() {
    check([Some("1"), Some("2"), Some("2")], Verdict::Becomes(file("1", 0o644)));
    check([None, Some("2"), Some("2")], Verdict::Becomes(None));
    check([Some("1"), None, None], Verdict::Becomes(file("1", 0o644)));
}

#[test]
fn what_is_there_already_stays() {
    check([Some("1"), Some("2"), Some("1")], Verdict::Same);
    check([None, Some("2"), None], Verdict::Same);
}

#[test]
fn the_users_part_always_stays() {
    check(
        [Some("1\n"), Some("2\n"), Some("3\n")],
        Verdict::Keep("you changed the same place since"),
    );
    check([None, Some("2"), Some("3")], Verdict::Keep("you changed what the agent made"));
    check([Some("1"), None, Some("3")], Verdict::Keep("you made something new there"));
    check([Some("1"), Some("2"), None], Verdict::Keep("you deleted it"));
    check(
        [Some("a\0b"), Some("a\0c"), Some("x\na\0c")],
        Verdict::Keep("you changed the same place since"),
    );
}

#[test]
fn changes_in_different_places_fit_together() {
    check(
        [Some("1\n2\n3\n4\n5\n"), Some("one\n2\n3\n4\n5\n"), Some("one\n2\n3\n4\nfive")],
        merged("1\n2\n3\n4\nfive"),
    );
}

#[test]
fn the_users_line_ends_stay() {
    check([Some("a\nb\n"), Some("a\nB\n"), Some("a\r\nB\r\n")], merged("a\r\nb\r\n"));
    check([Some("a\r\nb\r\n"), Some("a\r\nB\r\n"), Some("a\nB\n")], merged("a\nb\n"));
}

#[test]
fn content_and_mode_are_decided_apart() {
    let read: &mut Read<'_> = &mut |_| Ok(None);
    let verdict =
        take_back(file("1", 0o644), file("2", 0o644), file("2", 0o600), read).expect("reads");
    assert_eq!(verdict, Verdict::Becomes(file("1", 0o600)));
    let verdict =
        take_back(file("1", 0o644), file("1", 0o755), file("3", 0o755), read).expect("reads");
    assert_eq!(verdict, Verdict::Becomes(file("3", 0o644)));
}
