use cairn_protocol::{FeedItem, Message, PartialEvent, PartialText, Role, Timestamp};

use super::subscription;

fn delta(text: &str) -> FeedItem {
    let part = PartialText {
        role: Role::Assistant,
        event_type: PartialEvent::Delta,
        text: text.to_owned(),
        stop_reason: None,
    };
    FeedItem::Partial {
        message: Box::new(Message::model(
            Timestamp(0),
            cairn_protocol::ModelMsg::PartialText(part),
        )),
    }
}

#[tokio::test]
async fn p107_ten_thousand_deltas_wait_as_one() {
    let (sender, receiver) = subscription();
    for _ in 0..10_000 {
        assert!(sender.push(delta("x")));
    }
    let batch = receiver.next_batch().await.expect("open");
    assert_eq!(batch.len(), 1);
}

#[tokio::test]
async fn p103_a_subscriber_that_is_too_slow_is_told_to_open_the_session_again() {
    let (sender, receiver) = subscription();
    for _ in 0..10_001 {
        sender.push(FeedItem::Queue { queue: Vec::new() });
    }
    let batch = receiver.next_batch().await.expect("open");
    assert!(matches!(batch.as_slice(), [FeedItem::Resync {}]));
}

#[tokio::test]
async fn a_dropped_receiver_ends_the_sender_and_a_dropped_sender_the_receiver() {
    let (sender, receiver) = subscription();
    drop(receiver);
    assert!(!sender.push(delta("x")));
    let (sender, receiver) = subscription();
    drop(sender);
    assert!(receiver.next_batch().await.is_none());
}
