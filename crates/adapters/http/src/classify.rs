//! What each ending of a request means: one table, from what was seen to kind and `sent`.
//!
//! It must never call a write "not done" because that is likely: a status that a proxy may have
//! made up after the receiver had committed leaves the write in doubt, and it is looked up.
//!
//! *n*: NOT_SENT, *m*: MAYBE_SENT, *a*: ANSWERED; *doubt*: EFFECT_UNKNOWN, MAYBE_SENT; *keyed*: a
//! write whose receiver promises to honour keys.
//!
//! | seen | read | write | |
//! |---|---|---|---|
//! | no time left | DEADLINE_EXHAUSTED n | the same | |
//! | path, body or key cannot be sent | INVALID_INPUT n | the same | |
//! | refused, no such host, connect timeout, TLS handshake | TRANSIENT_TRANSPORT n | the same | 1 |
//! | lost or time up before the body left | TRANSIENT_TRANSPORT n | the same | 2 |
//! | lost or time up after that | TRANSIENT_TRANSPORT m | doubt | 3 |
//! | canceled before the body left | CANCELED n | the same | 2 |
//! | canceled after that | CANCELED m | waited for | 4 |
//! | 2xx, too large or not of the type | RESULT_INVALID a | doubt | 5 |
//! | 301, 302, 303 | PERMANENT_PROVIDER a | doubt | 6 |
//! | other 3xx | PERMANENT_PROVIDER a | the same | 7 |
//! | 400, 413, 414, 415, 422, 431 | INVALID_INPUT a | the same | 8 |
//! | 401, 403, 407 | UNAUTHORIZED a | the same | |
//! | 408 | TRANSIENT_TRANSPORT a | keyed the same, else doubt | 9 |
//! | 409 | PERMANENT_PROVIDER a | doubt | 10 |
//! | 425 | TRANSIENT_TRANSPORT a | the same | 11 |
//! | 429 | RATE_LIMITED a | the same | 11 |
//! | 404, 410, every other 4xx, 501, 505 | PERMANENT_PROVIDER a | the same | 12 |
//! | 502, 504 | TRANSIENT_TRANSPORT m | doubt | 13 |
//! | 503 | OVERLOADED a | keyed the same, else doubt | 9 |
//! | 500, every other 5xx, what is beyond | TRANSIENT_TRANSPORT a | doubt | 14 |
//! | 1xx as the end | PERMANENT_PROVIDER a | doubt | |
//!
//! 1. No byte of a request goes out before its connection stands.
//! 2. A receiver cannot act on a request whose body it never gets, and the body is held back for
//!    good. Needs a body: without one, what counts is whether the connection stood.
//! 3. It may have arrived. This is also the end of a request on an old connection that breaks.
//! 4. Dropping a write on its way would only make a doubt of it.
//! 5. The write was done; looking it up may give a better reply.
//! 6. "See there" is a usual answer to a form that was accepted.
//! 7. A write goes where its contract says, so no redirect is followed.
//! 8. The request is refused. 422 is also: another payload under the same key.
//! 9. The receiver has not taken it up. But a proxy says the same when it lost the receiver after
//!    the send; then only an honoured key makes a resend harmless.
//! 10. The same key is being processed, or what was to be written is there already: ask.
//! 11. Refused unprocessed.
//! 12. The receiver does not have it or never does it.
//! 13. A proxy lost the receiver.
//! 14. It may have broken after the commit.
//!
//! A reply that announces no length (neither `Content-Length` nor chunks) ends where its connection
//! does, and HTTP takes it for whole. One that was cut is then told by its JSON alone, which an
//! empty body (read as `null`) and a bare number are not: a service whose replies are such has to
//! announce lengths.
//!
//! A `Retry-After` is kept whatever the kind. The provider code is `HTTP 503` for a status and one
//! of [`codes`] else.

use mainstay_dispatch::{Failure, FailureKind, Keys, Sent};
use reqwest::StatusCode;

/// Provider codes of what is no status.
pub mod codes {
    pub use mainstay_dispatch::codes::ATTEMPT_TIMEOUT;

    /// The attempt had no time left when it reached the adapter.
    pub const NO_TIME_LEFT: &str = "NO_TIME_LEFT";
    /// Path, body or key cannot be put on the wire.
    pub const REQUEST_UNSENDABLE: &str = "REQUEST_UNSENDABLE";
    /// No connection came to stand.
    pub const CONNECT_FAILED: &str = "CONNECT_FAILED";
    /// The connection broke, or what came over it was not HTTP.
    pub const CONNECTION_LOST: &str = "CONNECTION_LOST";
    /// The run, or this call, was canceled.
    pub const ATTEMPT_CANCELED: &str = "ATTEMPT_CANCELED";
    /// The reply is longer than the client's bound.
    pub const REPLY_TOO_LARGE: &str = "REPLY_TOO_LARGE";
    /// The reply is no JSON of the expected type.
    pub const REPLY_INVALID: &str = "REPLY_INVALID";
}

/// What the request does to the world, as far as its ending is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    /// Nothing.
    Reads,
    /// Something, once, if the receiver honours keys.
    Writes(Keys),
}

/// Why a request was not waited for any longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Its time was up.
    TimeUp,
    /// Nobody wants it any more.
    Canceled,
    /// The connection broke.
    Lost,
}

/// How a request ended without a reply that can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// There was no time left to begin.
    NoTimeLeft,
    /// Its parts cannot be put on the wire.
    Unsendable,
    /// No connection came to stand.
    NotConnected,
    /// It ended, and its body had not left and never will.
    NotLeft(Cause),
    /// It ended, and it may have arrived.
    Left(Cause),
    /// The reply was 2xx and longer than allowed.
    ReplyTooLarge,
    /// The reply was 2xx and not of the type.
    ReplyInvalid,
    /// The reply was not 2xx.
    Status(StatusCode),
}

/// The failure that `ending` is, without a message.
#[must_use]
pub fn failure(ending: Ending, deed: Deed) -> Failure {
    let (kind, sent) = match ending {
        Ending::NoTimeLeft => (FailureKind::DeadlineExhausted, Sent::NotSent),
        Ending::Unsendable => (FailureKind::InvalidInput, Sent::NotSent),
        Ending::NotConnected => (FailureKind::TransientTransport, Sent::NotSent),
        Ending::NotLeft(Cause::Canceled) => (FailureKind::Canceled, Sent::NotSent),
        Ending::NotLeft(Cause::TimeUp | Cause::Lost) => {
            (FailureKind::TransientTransport, Sent::NotSent)
        }
        Ending::Left(Cause::Canceled) => doubt_or(deed, FailureKind::Canceled, Sent::MaybeSent),
        Ending::Left(Cause::TimeUp | Cause::Lost) => {
            doubt_or(deed, FailureKind::TransientTransport, Sent::MaybeSent)
        }
        Ending::ReplyTooLarge | Ending::ReplyInvalid => {
            doubt_or(deed, FailureKind::ResultInvalid, Sent::Answered)
        }
        Ending::Status(status) => of_status(status, deed),
    };
    Failure::new(kind, sent).provider_code(provider_code(ending))
}

fn of_status(status: StatusCode, deed: Deed) -> (FailureKind, Sent) {
    let answered = |kind| (kind, Sent::Answered);
    match status.as_u16() {
        301..=303 => doubt_or(deed, FailureKind::PermanentProvider, Sent::Answered),
        300..=399 => answered(FailureKind::PermanentProvider),
        400 | 413 | 414 | 415 | 422 | 431 => answered(FailureKind::InvalidInput),
        401 | 403 | 407 => answered(FailureKind::Unauthorized),
        408 => doubt_without_keys(deed, FailureKind::TransientTransport),
        409 => doubt_or(deed, FailureKind::PermanentProvider, Sent::Answered),
        425 => answered(FailureKind::TransientTransport),
        429 => answered(FailureKind::RateLimited),
        400..=499 | 501 | 505 => answered(FailureKind::PermanentProvider),
        502 | 504 => doubt_or(deed, FailureKind::TransientTransport, Sent::MaybeSent),
        503 => doubt_without_keys(deed, FailureKind::Overloaded),
        500..=u16::MAX => doubt_or(deed, FailureKind::TransientTransport, Sent::Answered),
        0..=299 => doubt_or(deed, FailureKind::PermanentProvider, Sent::Answered),
    }
}

/// In doubt for a write; for a read what it says.
const fn doubt_or(deed: Deed, kind: FailureKind, sent: Sent) -> (FailureKind, Sent) {
    match deed {
        Deed::Reads => (kind, sent),
        Deed::Writes(_) => (FailureKind::EffectUnknown, Sent::MaybeSent),
    }
}

/// In doubt for a write whose receiver does not honour keys; else an answer.
const fn doubt_without_keys(deed: Deed, kind: FailureKind) -> (FailureKind, Sent) {
    match deed {
        Deed::Reads | Deed::Writes(Keys::Honoured) => (kind, Sent::Answered),
        Deed::Writes(Keys::Ignored) => (FailureKind::EffectUnknown, Sent::MaybeSent),
    }
}

fn provider_code(ending: Ending) -> String {
    match ending {
        Ending::NoTimeLeft => codes::NO_TIME_LEFT.to_owned(),
        Ending::Unsendable => codes::REQUEST_UNSENDABLE.to_owned(),
        Ending::NotConnected => codes::CONNECT_FAILED.to_owned(),
        Ending::NotLeft(cause) | Ending::Left(cause) => match cause {
            Cause::TimeUp => codes::ATTEMPT_TIMEOUT.to_owned(),
            Cause::Canceled => codes::ATTEMPT_CANCELED.to_owned(),
            Cause::Lost => codes::CONNECTION_LOST.to_owned(),
        },
        Ending::ReplyTooLarge => codes::REPLY_TOO_LARGE.to_owned(),
        Ending::ReplyInvalid => codes::REPLY_INVALID.to_owned(),
        Ending::Status(status) => format!("HTTP {}", status.as_u16()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use FailureKind::{
        Canceled, DeadlineExhausted, EffectUnknown, InvalidInput, Overloaded, PermanentProvider,
        RateLimited, ResultInvalid, TransientTransport, Unauthorized,
    };
    use Sent::{Answered, MaybeSent, NotSent};

    const READ: Deed = Deed::Reads;
    const KEYED: Deed = Deed::Writes(Keys::Honoured);
    const UNKEYED: Deed = Deed::Writes(Keys::Ignored);
    const DOUBT: (FailureKind, Sent) = (EffectUnknown, MaybeSent);

    fn told(ending: Ending, deed: Deed) -> (FailureKind, Sent) {
        let failure = failure(ending, deed);
        (failure.kind, failure.sent)
    }

    /// One row: what a read, a write under an honoured key and one without are told.
    fn row(ending: Ending) -> [(FailureKind, Sent); 3] {
        [READ, KEYED, UNKEYED].map(|deed| told(ending, deed))
    }

    fn status(code: u16) -> [(FailureKind, Sent); 3] {
        row(Ending::Status(
            StatusCode::from_u16(code).expect("a valid status"),
        ))
    }

    #[test]
    fn what_never_left_is_not_sent_for_reads_and_writes_alike() {
        assert_eq!(row(Ending::NoTimeLeft), [(DeadlineExhausted, NotSent); 3]);
        assert_eq!(row(Ending::Unsendable), [(InvalidInput, NotSent); 3]);
        assert_eq!(
            row(Ending::NotConnected),
            [(TransientTransport, NotSent); 3]
        );
        assert_eq!(
            row(Ending::NotLeft(Cause::TimeUp)),
            [(TransientTransport, NotSent); 3]
        );
        assert_eq!(
            row(Ending::NotLeft(Cause::Lost)),
            [(TransientTransport, NotSent); 3]
        );
        assert_eq!(
            row(Ending::NotLeft(Cause::Canceled)),
            [(Canceled, NotSent); 3]
        );
    }

    #[test]
    fn what_may_have_arrived_leaves_a_write_in_doubt() {
        for cause in [Cause::TimeUp, Cause::Lost] {
            let read = (TransientTransport, MaybeSent);
            assert_eq!(row(Ending::Left(cause)), [read, DOUBT, DOUBT]);
        }
        assert_eq!(
            row(Ending::Left(Cause::Canceled)),
            [(Canceled, MaybeSent), DOUBT, DOUBT]
        );
    }

    #[test]
    fn a_good_status_with_an_unusable_reply_is_a_write_that_was_done() {
        for ending in [Ending::ReplyTooLarge, Ending::ReplyInvalid] {
            assert_eq!(row(ending), [(ResultInvalid, Answered), DOUBT, DOUBT]);
        }
    }

    #[test]
    fn a_redirect_is_not_followed_and_may_be_the_answer_to_a_done_write() {
        for code in [301, 302, 303] {
            assert_eq!(
                status(code),
                [(PermanentProvider, Answered), DOUBT, DOUBT],
                "{code}"
            );
        }
        for code in [300, 304, 307, 308] {
            assert_eq!(status(code), [(PermanentProvider, Answered); 3], "{code}");
        }
    }

    #[test]
    fn a_refusal_of_the_request_is_an_answer() {
        for code in [400, 413, 414, 415, 422, 431] {
            assert_eq!(status(code), [(InvalidInput, Answered); 3], "{code}");
        }
        for code in [401, 403, 407] {
            assert_eq!(status(code), [(Unauthorized, Answered); 3], "{code}");
        }
        for code in [
            402, 404, 405, 406, 410, 412, 417, 418, 421, 428, 451, 499, 501, 505,
        ] {
            assert_eq!(status(code), [(PermanentProvider, Answered); 3], "{code}");
        }
        assert_eq!(status(425), [(TransientTransport, Answered); 3]);
        assert_eq!(status(429), [(RateLimited, Answered); 3]);
    }

    #[test]
    fn what_a_proxy_may_say_too_is_an_answer_only_where_a_resend_is_harmless() {
        let late = (TransientTransport, Answered);
        assert_eq!(status(408), [late, late, DOUBT]);
        let busy = (Overloaded, Answered);
        assert_eq!(status(503), [busy, busy, DOUBT]);
    }

    #[test]
    fn a_conflict_is_asked_about() {
        assert_eq!(status(409), [(PermanentProvider, Answered), DOUBT, DOUBT]);
    }

    #[test]
    fn a_broken_receiver_may_have_committed() {
        for code in [500, 506, 507, 508, 511, 520, 599, 999] {
            assert_eq!(
                status(code),
                [(TransientTransport, Answered), DOUBT, DOUBT],
                "{code}"
            );
        }
        for code in [502, 504] {
            assert_eq!(
                status(code),
                [(TransientTransport, MaybeSent), DOUBT, DOUBT],
                "{code}"
            );
        }
        assert_eq!(status(101), [(PermanentProvider, Answered), DOUBT, DOUBT]);
    }

    #[test]
    fn the_provider_code_is_the_status_or_the_mishaps_name() {
        let code = |ending| failure(ending, READ).provider_code.expect("always there");
        assert_eq!(
            code(Ending::Status(StatusCode::SERVICE_UNAVAILABLE)),
            "HTTP 503"
        );
        assert_eq!(code(Ending::NotConnected), "CONNECT_FAILED");
        assert_eq!(code(Ending::Left(Cause::TimeUp)), "ATTEMPT_TIMEOUT");
        assert_eq!(code(Ending::NotLeft(Cause::Lost)), "CONNECTION_LOST");
    }
}
