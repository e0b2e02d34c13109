use std::cell::RefCell;

use futures::stream::{StreamExt, iter, repeat};
use tokio::time::{Duration, Instant, sleep_until};

use super::paced;

/// G13: whatever arrives in a second, the page gets at most 62 messages.
#[tokio::test(start_paused = true)]
async fn a_stream_sends_at_most_one_message_a_frame() {
    let began = Instant::now();
    let times = RefCell::new(Vec::new());
    paced(iter(0..1_000), |_| {
        times.borrow_mut().push(began.elapsed());
        true
    })
    .await;
    let times = times.into_inner();
    assert_eq!(times.len(), 1_000);
    for from in &times {
        let within = |time: &&Duration| *time >= from && **time < *from + Duration::from_secs(1);
        let count = times.iter().filter(within).count();
        assert!(count <= 62, "{count} messages in the second from {from:?}");
    }
}

/// What comes after a pause is sent at once: the pace costs no time when little happens.
#[tokio::test(start_paused = true)]
async fn a_single_batch_is_not_held_back() {
    let began = Instant::now();
    let times = RefCell::new(Vec::new());
    let at = |number| began + Duration::from_millis(500) * number;
    let batches = iter(1..=3).then(|number| sleep_until(at(number)));
    paced(batches, |()| {
        times.borrow_mut().push(began.elapsed().as_millis());
        true
    })
    .await;
    assert_eq!(times.into_inner(), [500, 1_000, 1_500]);
}

/// A page that is gone ends its stream.
#[tokio::test(start_paused = true)]
async fn nothing_is_sent_after_a_message_that_nobody_took() {
    let mut sent = 0;
    paced(repeat(()), |()| {
        sent += 1;
        sent < 2
    })
    .await;
    assert_eq!(sent, 2);
}
