//! How an attempt ended, told truly: the table from what was reported to what is believed.
//!
//! It must never call a write "not sent" or "not done" without proof. What the adapter returned
//! for the one send is evidence; what layers around it say is only a report.

use std::fmt;

use mainstay_types::{Code, Failure, FailureKind, Sent, limits};

use crate::permit::{Departure, Permit};
use crate::provider::RawAnswer;

/// Provider codes that this crate itself writes into a failure.
pub mod codes {
    use mainstay_types::{Code, Reason};

    /// The attempt's time was up before it ended.
    pub const ATTEMPT_TIMEOUT: &str = "ATTEMPT_TIMEOUT";
    /// A layer tried to send a second time.
    pub const ATTEMPT_ALREADY_SENT: &str = Code::AttemptAlreadySent.as_str();
    /// A layer answered a write that it never sent.
    pub const ANSWERED_WITHOUT_SENDING: &str = "ANSWERED_WITHOUT_SENDING";
    /// The user's code panicked.
    pub const CODE_PANICKED: &str = Reason::CodePanicked.as_str();
    /// The user's code returned an error without a kind.
    pub const UNCLASSIFIED: &str = Reason::Unclassified.as_str();
    /// The request is not a value of the provider's request type.
    pub const REQUEST_MISMATCH: &str = "REQUEST_MISMATCH";
    /// The reply has no canonical JSON, or is larger than allowed.
    pub const REPLY_NOT_REPRESENTABLE: &str = "REPLY_NOT_REPRESENTABLE";
}

/// What an attempt does to the world, as far as its ending is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deed {
    Reads,
    Writes,
}

/// A failure whose kind its own code does not know.
///
/// A read counts as PERMANENT_PROVIDER with the code UNCLASSIFIED; a write may have been sent, and
/// is in doubt. `error` is kept as the message, so it must not hold secrets.
#[must_use]
pub fn unclassified(error: impl fmt::Display) -> Failure {
    Failure::new(FailureKind::PermanentProvider, Sent::MaybeSent)
        .provider_code(codes::UNCLASSIFIED)
        .message(shortened(error.to_string()))
}

/// `?` for errors that say nothing about kind or sending, `anyhow::Error` included.
pub trait ResultExt<T> {
    /// Turns the error into an [`unclassified`] failure.
    fn or_unclassified(self) -> Result<T, Failure>;
}

impl<T, E: fmt::Display> ResultExt<T> for Result<T, E> {
    fn or_unclassified(self) -> Result<T, Failure> {
        self.map_err(unclassified)
    }
}

/// A failure after a panic of the user's code.
pub(crate) fn panicked(message: String) -> Failure {
    Failure::new(FailureKind::PermanentProvider, Sent::MaybeSent)
        .provider_code(codes::CODE_PANICKED)
        .message(shortened(message))
}

/// `text` cut to `limits::TEXT_BYTES_MAX`, with an ellipsis where it was longer.
pub(crate) fn shortened(mut text: String) -> String {
    const ELLIPSIS: &str = "…";
    if text.len() <= limits::TEXT_BYTES_MAX {
        return text;
    }
    let bound = limits::TEXT_BYTES_MAX - ELLIPSIS.len();
    let end = (0..=bound)
        .rev()
        .find(|&at| text.is_char_boundary(at))
        .unwrap_or(0);
    text.truncate(end);
    text.push_str(ELLIPSIS);
    text
}

/// How an attempt that was stopped from outside (time, cancel) ended.
pub(crate) fn stopped(deed: Deed, permit: &Permit, failure: Failure) -> Failure {
    believed(deed, permit.departure(), failure)
}

/// What is believed of an attempt whose layers reported `reported`.
pub(crate) fn settle(
    deed: Deed,
    permit: &Permit,
    reported: Result<RawAnswer, Failure>,
) -> Result<RawAnswer, Failure> {
    let departure = permit.departure();
    match (deed, reported) {
        (Deed::Reads, Ok(answer)) => Ok(answer),
        (Deed::Writes, Ok(answer)) => vouched(departure).map(|()| answer),
        (Deed::Reads | Deed::Writes, Err(failure)) => Err(believed(deed, departure, failure)),
    }
}

/// Whether a layer's word that a write was done is backed by an answer of the receiver.
fn vouched(departure: Departure) -> Result<(), Failure> {
    match departure {
        Departure::Answered => Ok(()),
        // A layer read the receiver's "no" as "it is there already": the receiver did answer.
        Departure::Failed(failure) if failure.sent == Sent::Answered => Ok(()),
        Departure::Failed(failure) => Err(normal(Deed::Writes, failure)),
        Departure::Open => Err(normal(
            Deed::Writes,
            Failure::new(FailureKind::EffectUnknown, Sent::MaybeSent)
                .message("a layer answered while the request was still out"),
        )),
        Departure::Never => Err(Failure::new(FailureKind::PermanentProvider, Sent::NotSent)
            .provider_code(codes::ANSWERED_WITHOUT_SENDING)
            .message("a layer answered a write that was never sent")),
    }
}

/// The failure with `sent` as the departure proves it.
fn believed(deed: Deed, departure: Departure, failure: Failure) -> Failure {
    let again = failure.provider_code.as_deref() == Some(Code::AttemptAlreadySent.as_str());
    let failure = match departure {
        Departure::Never => Failure {
            sent: Sent::NotSent,
            ..failure
        },
        Departure::Open => Failure {
            sent: Sent::MaybeSent,
            ..failure
        },
        // The refused second send says nothing about the first one, whose end is known.
        Departure::Failed(first) if again => first,
        Departure::Failed(first) => Failure {
            sent: first.sent,
            ..failure
        },
        // A layer lost the reply of a write: what the receiver said is not known any more.
        Departure::Answered => match deed {
            Deed::Reads => Failure {
                sent: Sent::Answered,
                ..failure
            },
            Deed::Writes => Failure {
                sent: Sent::MaybeSent,
                ..failure
            },
        },
    };
    normal(deed, failure)
}

/// One way to say each thing: a write that may have been sent is EFFECT_UNKNOWN, and nothing else
/// is. An answer that cannot be read leaves a write unknown as well: the receiver may have done it.
fn normal(deed: Deed, failure: Failure) -> Failure {
    let unreadable = failure.kind == FailureKind::ResultInvalid;
    let unknown = failure.kind == FailureKind::EffectUnknown;
    match (deed, failure.sent) {
        (Deed::Writes, Sent::MaybeSent) => as_kind(failure, FailureKind::EffectUnknown),
        (Deed::Writes, Sent::Answered) if unreadable || unknown => {
            let failure = Failure {
                sent: Sent::MaybeSent,
                ..failure
            };
            as_kind(failure, FailureKind::EffectUnknown)
        }
        (Deed::Writes, Sent::NotSent) | (Deed::Reads, _) if unknown => {
            as_kind(failure, FailureKind::TransientTransport)
        }
        (Deed::Writes, Sent::NotSent | Sent::Answered)
        | (Deed::Reads, Sent::NotSent | Sent::MaybeSent | Sent::Answered) => failure,
    }
}

/// The failure as `kind`; the kind it had stays visible where the provider gave no code.
fn as_kind(mut failure: Failure, kind: FailureKind) -> Failure {
    if failure.kind != kind {
        failure
            .provider_code
            .get_or_insert_with(|| failure.kind.as_str().to_owned());
        failure.kind = kind;
    }
    failure
}

#[cfg(test)]
mod tests {
    use mainstay_types::{Millis, Payload};

    use super::*;
    use FailureKind::{EffectUnknown, PermanentProvider, RateLimited, TransientTransport};
    use Sent::{Answered, MaybeSent, NotSent};

    fn permit(first: Option<Option<Result<(), Failure>>>) -> Permit {
        let permit = Permit::new();
        if let Some(end) = first {
            permit.take().expect("unused");
            if let Some(end) = end {
                permit.record(&end.map(|()| answer()));
            }
        }
        permit
    }

    fn answer() -> RawAnswer {
        RawAnswer {
            value: Payload::from("1"),
            cost: None,
            client_retries: 0,
        }
    }

    fn told(deed: Deed, permit: &Permit, failure: Failure) -> (FailureKind, Sent) {
        let failure = settle(deed, permit, Err(failure)).expect_err("a failure stays one");
        (failure.kind, failure.sent)
    }

    /// The deed, what is known of the send, what a layer reports -> what is believed.
    const TABLE: &str = "
        reads  never                        OVERLOADED MAYBE_SENT     -> OVERLOADED NOT_SENT
        reads  open                         OVERLOADED NOT_SENT       -> OVERLOADED MAYBE_SENT
        reads  answered                     RESULT_INVALID NOT_SENT   -> RESULT_INVALID ANSWERED
        reads  RATE_LIMITED ANSWERED        OVERLOADED NOT_SENT       -> OVERLOADED ANSWERED
        reads  EFFECT_UNKNOWN MAYBE_SENT    EFFECT_UNKNOWN MAYBE_SENT -> TRANSIENT_TRANSPORT MAYBE_SENT
        writes never                        EFFECT_UNKNOWN MAYBE_SENT -> TRANSIENT_TRANSPORT NOT_SENT
        writes open                         OVERLOADED NOT_SENT       -> EFFECT_UNKNOWN MAYBE_SENT
        writes answered                     INVALID_INPUT NOT_SENT    -> EFFECT_UNKNOWN MAYBE_SENT
        writes OVERLOADED NOT_SENT          OVERLOADED MAYBE_SENT     -> OVERLOADED NOT_SENT
        writes INVALID_INPUT ANSWERED       INVALID_INPUT ANSWERED    -> INVALID_INPUT ANSWERED
        writes RESULT_INVALID ANSWERED      RESULT_INVALID ANSWERED   -> EFFECT_UNKNOWN MAYBE_SENT
        writes EFFECT_UNKNOWN ANSWERED      EFFECT_UNKNOWN ANSWERED   -> EFFECT_UNKNOWN MAYBE_SENT
    ";

    fn failure(words: &[&str]) -> Failure {
        let sent = [NotSent, MaybeSent, Answered]
            .into_iter()
            .find(|s| s.as_str() == words[1]);
        let kind = FailureKind::from_code(words[0]).expect("a kind");
        Failure::new(kind, sent.expect("a state"))
    }

    #[test]
    fn the_table_of_what_is_believed() {
        for line in TABLE.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let words: Vec<&str> = line
                .split_whitespace()
                .filter(|word| *word != "->")
                .collect();
            let deed = if words[0] == "reads" {
                Deed::Reads
            } else {
                Deed::Writes
            };
            let permit = permit(match words[1] {
                "never" => None,
                "open" => Some(None),
                "answered" => Some(Some(Ok(()))),
                _ => Some(Some(Err(failure(&words[1..])))),
            });
            let (reported, believed) = words[words.len() - 4..].split_at(2);
            let (kind, sent) = told(deed, &permit, failure(reported));
            assert_eq!([kind.as_str(), sent.as_str()], believed, "{line}");
        }
    }

    #[test]
    fn a_refused_second_send_is_settled_by_the_first_ones_end() {
        let first = Failure::new(RateLimited, Answered).retry_after(Millis::new(700));
        let permit = permit(Some(Some(Err(first.clone()))));
        let again = permit.take().expect_err("used");
        assert_eq!(settle(Deed::Reads, &permit, Err(again)), Err(first));
    }

    #[test]
    fn a_write_is_done_only_when_the_receiver_answered() {
        let settled = |permit: Permit| settle(Deed::Writes, &permit, Ok(answer()));
        assert_eq!(settled(permit(Some(Some(Ok(()))))), Ok(answer()));
        let conflict = Failure::new(PermanentProvider, Answered);
        assert_eq!(settled(permit(Some(Some(Err(conflict))))), Ok(answer()));
        let invented = settled(permit(None)).expect_err("nothing was sent");
        assert_eq!(
            invented.provider_code.as_deref(),
            Some("ANSWERED_WITHOUT_SENDING")
        );
        assert_eq!(invented.sent, NotSent);
        let guessed = settled(permit(Some(None))).expect_err("nothing came back");
        assert_eq!((guessed.kind, guessed.sent), (EffectUnknown, MaybeSent));
        let lost = Failure::new(TransientTransport, MaybeSent);
        let lost = settled(permit(Some(Some(Err(lost))))).expect_err("the reply was lost");
        assert_eq!((lost.kind, lost.sent), (EffectUnknown, MaybeSent));
        assert_eq!(lost.provider_code.as_deref(), Some("TRANSIENT_TRANSPORT"));
    }

    #[test]
    fn a_bare_error_is_permanent_for_a_read_and_doubt_for_a_write() {
        let bare = || {
            Err::<(), _>("no idea")
                .or_unclassified()
                .expect_err("an error")
        };
        let read = settle(Deed::Reads, &permit(Some(Some(Err(bare())))), Err(bare()));
        let read = read.expect_err("an error");
        assert_eq!(read.kind, PermanentProvider);
        assert_eq!(read.provider_code.as_deref(), Some("UNCLASSIFIED"));
        assert_eq!(
            told(Deed::Writes, &permit(Some(None)), bare()),
            (EffectUnknown, MaybeSent)
        );
    }

    #[test]
    fn a_long_message_is_cut_between_characters() {
        let cut = shortened("é".repeat(limits::TEXT_BYTES_MAX));
        assert!(
            cut.len() <= limits::TEXT_BYTES_MAX && cut.ends_with('…'),
            "{}",
            cut.len()
        );
        assert_eq!(shortened("short".to_owned()), "short");
    }
}
