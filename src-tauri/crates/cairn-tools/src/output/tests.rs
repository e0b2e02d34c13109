use tokio::sync::mpsc;

use super::{Collected, EXACT_LIMIT_BYTES, Output};
use crate::Cut;

fn collected(text: &str) -> Collected {
    let mut collected = Collected::default();
    collected.append(text);
    collected
}

#[test]
fn g_26_head_and_tail_are_kept() {
    let text: String = (0..1000).map(|line| format!("line {line}\n")).collect();
    let kept = collected(&text).keep(100, Cut::HeadAndTail);
    assert!(kept.cut);
    assert!(kept.text.starts_with("line 0\nline 1\n"), "{}", kept.text);
    assert!(kept.text.ends_with("line 998\nline 999\n"), "{}", kept.text);
    assert!(kept.text.contains("[… 8790 characters left out …]"), "{}", kept.text);
}

#[test]
fn p_70_the_head_is_kept() {
    let kept = collected("äbcdef").keep(3, Cut::Head);
    assert_eq!((kept.text.as_str(), kept.cut), ("äbc", true));
    let kept = collected("äbc").keep(3, Cut::Head);
    assert_eq!((kept.text.as_str(), kept.cut), ("äbc", false));
}

#[test]
fn p_72_exact_up_to_the_limit_then_two_windows() {
    let mut exact = collected(&"a".repeat(EXACT_LIMIT_BYTES));
    assert_eq!(exact.archive_text().len(), EXACT_LIMIT_BYTES);
    for _ in 0..4 {
        exact.append(&"b".repeat(EXACT_LIMIT_BYTES / 2));
    }
    exact.append("the end");
    let text = exact.archive_text();
    assert!(text.len() <= 2 * EXACT_LIMIT_BYTES);
    assert!(text.starts_with("aaa") && text.ends_with("the end"));
    assert!(text.contains(" characters are missing here]"));
    assert!(exact.keep(10, Cut::HeadAndTail).text.ends_with(" end"));
}

#[test]
fn a_progress_line_is_overwritten_for_the_model() {
    let (sink, _live) = mpsc::channel(8);
    let output = Output::new(sink);
    output.push(b"start\n10%\r50%\r");
    output.push(b"100%\ndone\n");
    assert_eq!(output.take().archive_text(), "start\n100%\ndone\n");
}

#[tokio::test]
async fn a_slow_window_gets_larger_pieces_and_misses_nothing() {
    let (sink, mut live) = mpsc::channel(1);
    let output = Output::new(sink);
    for number in 0..100 {
        output.push(format!("{number}\n").as_bytes());
    }
    let mut seen = live.recv().await.unwrap();
    let reader = tokio::spawn(async move {
        while let Some(piece) = live.recv().await {
            seen.push_str(&piece);
        }
        seen
    });
    output.finish().await;
    let record = output.take().archive_text();
    drop(output);
    assert_eq!(reader.await.unwrap(), record);
}

#[tokio::test]
async fn a_window_that_is_gone_or_stuck_stops_nothing() {
    let (sink, live) = mpsc::channel(1);
    drop(live);
    let output = Output::new(sink);
    output.push(b"a");
    output.push(b"b");
    output.finish().await;
    assert_eq!(output.take().archive_text(), "ab");

    let (sink, mut live) = mpsc::channel(1);
    let output = Output::new(sink);
    for _ in 0..100 {
        output.push(&[b'x'; 32 * 1024]);
    }
    assert!(output.state.lock().unwrap().pending.len() <= 2 * super::PENDING_LIMIT_BYTES);
    assert_eq!(live.recv().await.unwrap().len(), 32 * 1024);
    output.drain().await;
    assert!(live.recv().await.unwrap().contains("characters not shown live]"));
    assert_eq!(output.take().archive_text().len(), 3200 * 1024);
}
