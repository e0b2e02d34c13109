use std::ops::ControlFlow;

use proptest::prelude::*;

use super::{LINE_LIMIT_BYTES, LineTooLong, Reader};

type Seen = (String, String, bool);

fn read(chunks: &[&[u8]]) -> Vec<Seen> {
    let mut reader = Reader::default();
    let mut seen = Vec::new();
    for chunk in chunks {
        let flow = reader.push(chunk, |event| {
            let data = String::from_utf8(event.data.to_vec()).expect("whole code points");
            seen.push((event.name.to_owned(), data, event.at_end));
            ControlFlow::Continue(())
        });
        assert_eq!(flow, Ok(ControlFlow::Continue(())));
    }
    reader.finish(|event| {
        let data = String::from_utf8(event.data.to_vec()).expect("whole code points");
        seen.push((event.name.to_owned(), data, event.at_end));
    });
    seen
}

#[track_caller]
fn check(stream: &[u8], expected: &[(&str, &str, bool)]) {
    let expected: Vec<Seen> =
        expected.iter().map(|(n, d, e)| ((*n).to_owned(), (*d).to_owned(), *e)).collect();
    assert_eq!(read(&[stream]), expected, "whole");
    for size in [1, 2, 3, 7] {
        let chunks: Vec<&[u8]> = stream.chunks(size).collect();
        assert_eq!(read(&chunks), expected, "in pieces of {size}");
    }
    let chunks: Vec<&[u8]> = stream.chunks(1).flat_map(|c| [c, &b""[..]]).collect();
    assert_eq!(read(&chunks), expected, "with empty chunks between");
}

#[test]
fn every_line_end_ends_a_line() {
    let expected = [("", "a", false), ("", "b", false)];
    check(b"data: a\n\ndata: b\n\n", &expected);
    check(b"data: a\r\n\r\ndata: b\r\n\r\n", &expected);
    check(b"data: a\r\rdata: b\r\r", &expected);
    check(b"data: a\r\n\rdata: b\n\r\n", &expected);
}

#[test]
fn a_byte_order_mark_is_dropped_once() {
    check(b"\xEF\xBB\xBFdata: a\n\n", &[("", "a", false)]);
    check(b"\n\xEF\xBB\xBFdata: a\n\ndata: b\n\n", &[("", "b", false)]);
}

#[test]
fn comments_blank_lines_and_unknown_fields_give_nothing() {
    check(
        b"\n\n: OPENROUTER PROCESSING\n\n:\n\nid: 7\nretry: 9\n data: x\ndatax: y\nnothing\n\n\
          data: a\n: in the middle\n\n\n\n",
        &[("", "a", false)],
    );
}

#[test]
fn several_data_lines_are_joined() {
    check(b"data: {\ndata:  \"a\"\ndata:}\ndata\n\n", &[("", "{\n \"a\"\n}\n", false)]);
}

#[test]
fn the_last_event_needs_no_blank_line() {
    check(b"event: error\ndata: a\n", &[("error", "a", true)]);
    check(b"data: a\n\ndata: b", &[("", "a", false), ("", "b", true)]);
}

#[test]
fn an_event_name_holds_for_one_event() {
    check(b"event: x\ndata: a\n\ndata: b\n\n", &[("x", "a", false), ("", "b", false)]);
    check(b"event: x\n\ndata: b\n\n", &[("", "b", false)]);
}

#[test]
fn text_outside_ascii_survives_every_cut() {
    check("data: 積み石 🪨\n\n".as_bytes(), &[("", "積み石 🪨", false)]);
}

#[test]
fn a_line_over_the_limit_is_an_error() {
    let mut reader = Reader::default();
    let piece = vec![b'x'; 1024 * 1024];
    let mut last = Ok(ControlFlow::Continue(()));
    for _ in 0..=LINE_LIMIT_BYTES / piece.len() {
        last = reader.push(&piece, |_| ControlFlow::Continue(()));
    }
    assert_eq!(last, Err(LineTooLong));
}

#[test]
fn reading_stops_where_the_caller_stops() {
    let mut reader = Reader::default();
    let mut count = 0;
    let flow = reader.push(b"data: a\n\ndata: b\n\n", |_| {
        count += 1;
        ControlFlow::Break(())
    });
    assert_eq!((flow, count), (Ok(ControlFlow::Break(())), 1));
}

proptest! {
    /// Cutting a stream anywhere changes nothing, whatever the bytes are.
    #[test]
    fn cuts_change_nothing(
        parts in prop::collection::vec(
            prop_oneof![
                Just("data: a".to_owned()), Just("data:".to_owned()), Just("\n".to_owned()),
                Just("\r".to_owned()), Just("\r\n".to_owned()), Just(": c".to_owned()),
                Just("event: e".to_owned()), Just("\u{feff}".to_owned()), "[a-zé🪨: ]{0,6}",
            ],
            0..40,
        ),
        cuts in prop::collection::vec(0usize..200, 0..12),
    ) {
        let stream = parts.concat().into_bytes();
        let whole = read(&[&stream]);
        let mut at: Vec<usize> = cuts.into_iter().map(|c| c.min(stream.len())).collect();
        at.push(0);
        at.push(stream.len());
        at.sort_unstable();
        let pieces: Vec<&[u8]> = at.windows(2).map(|w| &stream[w[0]..w[1]]).collect();
        prop_assert_eq!(read(&pieces), whole);
    }
}
