use super::*;

fn watched() -> View {
    let mut view = View::default();
    view.attach();
    view
}

fn piece(length: usize) -> Vec<u8> {
    vec![b'x'; length]
}

#[test]
fn small_pieces_are_paced_and_large_ones_are_not_d15() {
    let start = Instant::now();
    let mut view = watched();
    view.read(b"a");
    assert_eq!(view.next(start), Next::Send(b"a".to_vec()), "the first one goes at once");
    view.read(b"b");
    assert_eq!(view.next(start), Next::Wait(PACE));
    assert_eq!(view.next(start + PACE), Next::Send(b"b".to_vec()));
    view.read(&piece(LARGE_BYTES));
    assert_eq!(view.next(start + PACE), Next::Send(piece(LARGE_BYTES)));
    view.read(&piece(PIECE_BYTES + 1));
    assert_eq!(view.next(start + PACE), Next::Send(piece(PIECE_BYTES)));
}

#[test]
fn an_unacknowledged_window_stops_the_reading_d15() {
    let now = Instant::now();
    let mut view = watched();
    let mut sent = 0;
    while view.may_read() {
        view.read(&piece(PIECE_BYTES));
        while let Next::Send(bytes) = view.next(now) {
            sent += bytes.len();
        }
    }
    assert_eq!(sent, WINDOW_BYTES);
    assert_eq!(view.next(now), Next::Idle);
    view.acknowledge(PIECE_BYTES as u64);
    assert!(view.may_read());
    view.acknowledge(u64::MAX);
    assert!(view.may_read(), "too much is not held against later output");
}

#[test]
fn without_a_viewer_the_shell_is_never_held_up_and_the_newest_is_kept_p233() {
    let mut view = View::default();
    for line in 0..100_000 {
        assert!(view.may_read());
        view.read(format!("line {line}\r\n").as_bytes());
    }
    assert_eq!(view.next(Instant::now()), Next::Idle);
    view.attach();
    let Next::Send(replay) = view.next(Instant::now()) else { panic!("there is scrollback") };
    let text = String::from_utf8(replay).expect("text");
    assert_eq!(text.lines().count(), SCROLLBACK_LINES);
    assert!(text.starts_with("line 99600\r\n") && text.ends_with("line 99999\r\n"));
}

#[test]
fn long_lines_are_cut_at_a_line_start() {
    let mut view = View::default();
    view.read(&piece(SCROLLBACK_BYTES - 10));
    view.read(b"\nsecond, whole line");
    view.attach();
    assert_eq!(view.next(Instant::now()), Next::Send(b"second, whole line".to_vec()));
}

#[test]
fn the_exit_is_told_last_and_once_to_each_viewer() {
    let now = Instant::now();
    let mut view = watched();
    view.read(b"bye");
    view.exit(Some(3));
    view.end();
    for _ in 0..2 {
        assert_eq!(view.next(now), Next::Send(b"bye".to_vec()));
        assert_eq!(view.next(now), Next::Exited(Some(3)));
        assert_eq!(view.next(now), Next::Idle);
        view.attach();
    }
}
