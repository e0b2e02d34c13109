use super::*;

fn text(bytes: Option<Vec<u8>>) -> String {
    String::from_utf8(bytes.unwrap_or_default()).expect("whole characters")
}

#[test]
fn the_tail_is_kept_and_the_dropped_bytes_are_counted_p84() {
    let mut unread = Unread::default();
    unread.push(b"gone");
    unread.push(&vec![b'x'; LIMIT_BYTES - 1]);
    unread.push(b"end");
    let taken = text(unread.take(More::MayCome));
    assert!(taken.starts_with("[6 bytes of output dropped]\nxxx"), "{}", &taken[..60]);
    assert!(taken.ends_with("xend"));
    unread.push(b"next");
    assert_eq!(text(unread.take(More::MayCome)), "next", "the marker is said once");
}

#[test]
fn a_push_larger_than_the_limit_keeps_its_end() {
    let mut unread = Unread::default();
    unread.push(b"first");
    let mut large = vec![b'a'; 3 * LIMIT_BYTES];
    large.extend(b"tail");
    unread.push(&large);
    let taken = text(unread.take(More::No));
    let marker = format!("[{} bytes of output dropped]\n", 5 + 2 * LIMIT_BYTES + 4);
    assert!(taken.starts_with(&marker));
    assert_eq!(taken.len(), marker.len() + LIMIT_BYTES);
}

#[test]
fn characters_are_never_cut() {
    let mut unread = Unread::default();
    for byte in "a€𝄞".bytes() {
        unread.push(&[byte]);
        text(unread.take(More::MayCome));
    }
    unread.push("x".as_bytes());
    unread.push("€".repeat(LIMIT_BYTES / 3 + 1).as_bytes());
    let taken = text(unread.take(More::MayCome));
    assert!(taken.contains("dropped]\n€"));
}

#[test]
fn bytes_that_are_not_utf8_are_not_held_for_ever() {
    let mut unread = Unread::default();
    unread.push(&[0xff, 0xfe, 0x80, 0x80, 0x80, 0x80]);
    assert_eq!(unread.take(More::MayCome), Some(vec![0xff, 0xfe, 0x80, 0x80, 0x80, 0x80]));
    unread.push(&[0xe2, 0x82]);
    assert_eq!(unread.take(More::MayCome), None);
    assert_eq!(unread.take(More::No), Some(vec![0xe2, 0x82]));
}
