mod loopback;
mod quirks;
mod render;
mod replay;

use std::ops::ControlFlow;
use std::sync::Arc;

use cairn_protocol::{Message, TokenUsage};

use super::decode::{Decoder, Ended};
use crate::quirks::Quirks;
use crate::tests::{check, clock, model};
use crate::{Outcome, sse};

struct Decoded {
    messages: Vec<Message>,
    outcome: Outcome,
    usage: Option<TokenUsage>,
}

fn plain() -> Quirks {
    crate::quirks::of(&reqwest::Url::parse("http://127.0.0.1/v1").expect("address"))
}

/// Decodes a stream that comes in these pieces and then ends.
fn decode<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Decoded {
    decode_with(pieces, plain(), Ended::Eof)
}

fn decode_with<'a>(
    pieces: impl IntoIterator<Item = &'a [u8]>,
    quirks: Quirks,
    ended: Ended,
) -> Decoded {
    let mut decoder = Decoder::new(&model(), Arc::default(), quirks, clock);
    let mut reader = sse::Reader::default();
    let mut stopped = false;
    for piece in pieces {
        let flow = reader.push(piece, |event| decoder.event(&event));
        if flow == Ok(ControlFlow::Break(())) {
            stopped = true;
            break;
        }
        assert_eq!(flow, Ok(ControlFlow::Continue(())));
    }
    if !stopped {
        reader.finish(|event| {
            let _ = decoder.event(&event);
        });
    }
    let outcome = decoder.end(ended);
    let usage = decoder.usage();
    let messages: Vec<Message> = decoder.emitter.out.drain(..).collect();
    check(&messages);
    Decoded { messages, outcome, usage }
}

/// Makes a stream of chunks: `data: …` for each, then `[DONE]`.
fn stream(chunks: &[&str]) -> Vec<u8> {
    let mut bytes = open_stream(chunks);
    bytes.extend_from_slice(b"data: [DONE]\n\n");
    bytes
}

/// The same without `[DONE]`.
fn open_stream(chunks: &[&str]) -> Vec<u8> {
    chunks.iter().flat_map(|chunk| format!("data: {chunk}\n\n").into_bytes()).collect()
}
