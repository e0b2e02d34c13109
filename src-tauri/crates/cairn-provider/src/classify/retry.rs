//! Reads how long a provider asks to wait. Used for failures only: some send it with successes.

use std::time::Duration;

use cairn_protocol::Timestamp;
use reqwest::header::HeaderMap;

use super::{ErrorBody, seconds};

/// No provider means a longer wait than this; the engine caps it further.
const LONGEST: Duration = Duration::from_secs(24 * 3600);

/// Returns the wait that headers or body name.
pub(super) fn hint(headers: &HeaderMap, body: &ErrorBody, now: Timestamp) -> Option<Duration> {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    header("retry-after-ms")
        .and_then(|text| text.trim().parse::<f64>().ok())
        .and_then(|ms| Duration::try_from_secs_f64(ms / 1000.0).ok())
        .or_else(|| header("retry-after").and_then(|text| after(text, now)))
        .or_else(|| body.retry_delay.as_deref().and_then(duration))
        .or_else(|| in_text(&body.message))
        .map(|wait| wait.min(LONGEST))
}

/// Reads seconds or an HTTP date.
fn after(text: &str, now: Timestamp) -> Option<Duration> {
    if let Some(wait) = seconds(text) {
        return Some(wait);
    }
    let at = jiff::fmt::rfc2822::parse(text.trim()).ok()?.timestamp().as_millisecond();
    Some(Duration::from_millis(u64::try_from(at.saturating_sub(now.0)).unwrap_or(0)))
}

/// Reads `2ms`, `12.3s`, `6m0s`, `1h2m`.
fn duration(text: &str) -> Option<Duration> {
    let mut total = Duration::ZERO;
    let mut rest = text.trim();
    let mut any = false;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, tail) = rest.split_at(digits);
        let unit = tail.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(unit);
        let scale = match unit {
            "ms" => 0.001,
            "s" | "sec" | "second" | "seconds" => 1.0,
            "m" | "min" => 60.0,
            "h" => 3600.0,
            _ => return None,
        };
        let number: f64 = number.parse().ok()?;
        total += Duration::try_from_secs_f64(number * scale).ok()?;
        rest = tail;
        any = true;
    }
    any.then_some(total)
}

/// Finds "try again in 1.898s" and its like in a text.
fn in_text(text: &str) -> Option<Duration> {
    let lower = text.to_ascii_lowercase();
    ["try again in ", "retry in ", "retry after "].iter().find_map(|opening| {
        let start = lower.find(opening)? + opening.len();
        let rest = &lower[start..];
        let word = rest.split_whitespace().next()?.trim_end_matches(['.', ',', ')']);
        duration(word).or_else(|| {
            let unit = rest.split_whitespace().nth(1)?;
            unit.starts_with("second").then(|| seconds(word))?
        })
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{after, duration, in_text};
    use cairn_protocol::Timestamp;

    #[test]
    fn every_form_of_a_wait_is_read() {
        let now = Timestamp::parse("2015-10-21T07:27:30.000Z").expect("instant");
        let secs = Duration::from_secs_f64;
        assert_eq!(after("7", now), Some(secs(7.0)));
        assert_eq!(after("Wed, 21 Oct 2015 07:28:00 GMT", now), Some(secs(30.0)));
        assert_eq!(after("Wed, 21 Oct 2015 07:20:00 GMT", now), Some(secs(0.0)));
        assert_eq!(after("soon", now), None);
        assert_eq!(duration("6m0s"), Some(secs(360.0)));
        assert_eq!(duration("2ms"), Some(secs(0.002)));
        assert_eq!(duration("34s"), Some(secs(34.0)));
        assert_eq!(duration("34"), None);
        assert_eq!(in_text("Please try again in 1.898s. Visit"), Some(secs(1.898)));
        assert_eq!(in_text("Please try again in 28ms."), Some(secs(0.028)));
        assert_eq!(in_text("Please retry in 12.3s"), Some(secs(12.3)));
        assert_eq!(in_text("Please retry after 20 seconds"), Some(secs(20.0)));
        assert_eq!(in_text("try again in a while"), None);
    }
}
