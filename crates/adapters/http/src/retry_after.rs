//! `Retry-After`: seconds, or a date. It must never trust that two machines' clocks agree: a date
//! is taken against the reply's own `Date` where there is one.

use std::time::{SystemTime, UNIX_EPOCH};

use mainstay_types::{Millis, Timestamp};
use reqwest::header::{DATE, HeaderMap, HeaderName, RETRY_AFTER};

/// How long the reply asks us to wait; `None` when it does not say, or not in a known form. `now`
/// is our own clock, asked only when the reply has no `Date`.
pub(crate) fn retry_after(headers: &HeaderMap, now: impl FnOnce() -> Timestamp) -> Option<Millis> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        // What has more digits than fit is "never", not "now".
        return Some(Millis::from_secs(text.parse().unwrap_or(u64::MAX)));
    }
    let at = timestamp(text)?;
    let sent_at = header_date(headers, &DATE).unwrap_or_else(now);
    Some(sent_at.until(at))
}

fn header_date(headers: &HeaderMap, name: &HeaderName) -> Option<Timestamp> {
    timestamp(headers.get(name)?.to_str().ok()?)
}

fn timestamp(text: &str) -> Option<Timestamp> {
    Some(wall(httpdate::parse_http_date(text).ok()?))
}

/// The moment on our scale; before 1970 and beyond the range it stops at their ends.
pub(crate) fn wall(time: SystemTime) -> Timestamp {
    let ms = time
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_millis());
    Timestamp::from_millis(i64::try_from(ms).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2027-01-01T00:00:00Z.
    const NOW: Timestamp = Timestamp::from_millis(1_798_761_600_000);

    fn told(retry_after_: &str, date: Option<&str>) -> Option<Millis> {
        let mut headers = HeaderMap::new();
        headers.insert(RETRY_AFTER, retry_after_.parse().expect("a valid value"));
        if let Some(date) = date {
            headers.insert(DATE, date.parse().expect("a valid value"));
        }
        retry_after(&headers, || NOW)
    }

    #[test]
    fn seconds_are_taken_as_they_are_and_too_many_are_never() {
        assert_eq!(told("120", None), Some(Millis::from_secs(120)));
        assert_eq!(told("0", None), Some(Millis::ZERO));
        let never = Some(Millis::from_secs(u64::MAX));
        assert_eq!(told("99999999999999999999999", None), never);
    }

    #[test]
    fn a_date_counts_from_the_replys_own_date_or_else_from_our_clock() {
        let at = "Fri, 01 Jan 2027 00:01:30 GMT";
        assert_eq!(told(at, None), Some(Millis::from_secs(90)));
        // The receiver's clock is an hour behind ours.
        let theirs = Some("Fri, 01 Jan 2027 00:01:20 GMT");
        assert_eq!(told(at, theirs), Some(Millis::from_secs(10)));
        assert_eq!(
            told("Thu, 31 Dec 2026 23:59:00 GMT", None),
            Some(Millis::ZERO)
        );
    }

    #[test]
    fn what_is_neither_is_not_guessed() {
        for text in ["soon", "-5", "1.5", "", "Fri, 01 Jan"] {
            assert_eq!(told(text, None), None, "{text}");
        }
        assert_eq!(retry_after(&HeaderMap::new(), || NOW), None);
    }
}
