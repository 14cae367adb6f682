//! Where in a trace something happens, as W3C Trace Context writes it.
//!
//! Span ids are not drawn, they follow from what the span is about: after a crash the next process
//! can name the spans of the last one, and a receiver's trace leads back to the attempt, without a
//! byte stored for it. It must never refuse: a text that is no context is none.

use std::fmt::{self, Write as _};

use mainstay_types::{AttemptNo, Digest, Epoch, RunId};

/// `sampled`, and level 2's `random-trace-id`; what other bits mean is not known, so they are not
/// passed on.
const FLAGS_KNOWN: u8 = 0b11;
const SAMPLED: u8 = 0b01;

/// A trace, a span in it, and whether the caller records it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceContext {
    trace: u128,
    span: SpanId,
    flags: u8,
}

impl TraceContext {
    /// The context that a `traceparent` header holds; `None` when it holds none. A text of a later
    /// version is read as far as its first four fields go, as its standard asks for.
    #[must_use]
    pub fn parse(traceparent: &str) -> Option<Self> {
        let mut fields = traceparent.split('-');
        let version = hex(fields.next()?, 2)?;
        let trace = hex(fields.next()?, 32)?;
        let span = hex(fields.next()?, 16)?;
        let flags = hex(fields.next()?, 2)?;
        let is_whole = 0 < version || fields.next().is_none();
        if version == 0xff || !is_whole || trace == 0 || span == 0 {
            return None;
        }
        Some(Self {
            trace,
            span: SpanId(u64::try_from(span).ok()?),
            flags: u8::try_from(flags).ok()? & FLAGS_KNOWN,
        })
    }

    /// The same trace with the same flags, at another span of it.
    #[must_use]
    pub const fn at(self, span: SpanId) -> Self {
        Self { span, ..self }
    }

    /// The trace's id: 32 lower-case hexadecimal digits.
    #[must_use]
    pub fn trace_id(&self) -> String {
        format!("{:032x}", self.trace)
    }

    /// The span.
    #[must_use]
    pub const fn span_id(&self) -> SpanId {
        self.span
    }

    /// Whether the caller records the trace.
    #[must_use]
    pub const fn is_sampled(&self) -> bool {
        self.flags & SAMPLED != 0
    }
}

/// As the header `traceparent` has it.
impl fmt::Display for TraceContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "00-{:032x}-{}-{:02x}", self.trace, self.span, self.flags)
    }
}

/// One span's id, never zero. Printed as 16 lower-case hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpanId(u64);

impl SpanId {
    /// The span of a run while the owner of this epoch drives it.
    #[must_use]
    pub fn of_run(run: RunId, epoch: Epoch) -> Self {
        Self::named(&[&"run", &run, &epoch])
    }

    /// The span of a call while the owner of this epoch drives its run.
    #[must_use]
    pub fn of_call(run: RunId, epoch: Epoch, call: &str) -> Self {
        Self::named(&[&"call", &run, &epoch, &call])
    }

    /// The span of an attempt. No epoch: an attempt has one owner, and who asks later what became
    /// of it names the same span.
    #[must_use]
    pub fn of_attempt(run: RunId, call: &str, attempt: AttemptNo) -> Self {
        Self::named(&[&"attempt", &run, &call, &attempt])
    }

    /// The span of a look-up. With the epoch: a look-up whose answer was lost with its process is
    /// made again under the same number.
    #[must_use]
    pub fn of_look_up(run: RunId, epoch: Epoch, call: &str, number: u32) -> Self {
        Self::named(&[&"reconcile", &run, &epoch, &call, &number])
    }

    fn named(parts: &[&dyn fmt::Display]) -> Self {
        // Room for the longest in one piece: a kind, a run, two numbers, a short call.
        let mut text = String::with_capacity(128);
        for part in parts {
            writeln!(text, "{part}").expect("writing into a String cannot fail");
        }
        let digest = Digest::of(text.as_bytes());
        let mut first = [0; 8];
        first.copy_from_slice(&digest.as_bytes()[..8]);
        Self(u64::from_be_bytes(first).max(1))
    }
}

impl fmt::Display for SpanId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// Exactly `digits` lower-case hexadecimal digits.
fn hex(text: &str, digits: usize) -> Option<u128> {
    let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    if text.len() != digits || !text.bytes().all(is_hex) {
        return None;
    }
    u128::from_str_radix(text, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALID: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn a_context_is_written_as_it_was_read() {
        let context = TraceContext::parse(VALID).expect("it is one");
        assert_eq!(context.to_string(), VALID);
        assert_eq!(context.trace_id(), "0af7651916cd43dd8448eb211c80319c");
        assert_eq!(context.span_id().to_string(), "b7ad6b7169203331");
        assert!(context.is_sampled());
    }

    #[test]
    fn what_the_standard_calls_invalid_is_no_context() {
        for text in [
            "",
            "not one",
            "00",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
            "00-0AF7651916CD43DD8448EB211C80319C-B7AD6B7169203331-01",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-extra",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-1",
            "00-+af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            " 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        ] {
            assert_eq!(TraceContext::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_later_version_is_read_as_this_one_and_unknown_flags_are_not_passed_on() {
        let later = "cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-fd-what-the-future-says";
        let context = TraceContext::parse(later).expect("read as far as it is known");
        assert_eq!(context.to_string(), VALID);
    }

    #[test]
    fn a_span_of_the_trace_keeps_trace_and_sampling() {
        for (given, sampled) in [(VALID, true), (&VALID.replace("-01", "-00"), false)] {
            let caller = TraceContext::parse(given).expect("it is one");
            let run = RunId::from_bytes([7; 16]);
            let own = caller.at(SpanId::of_attempt(run, "order", AttemptNo(1)));
            assert_eq!(own.trace_id(), caller.trace_id());
            assert_eq!(own.is_sampled(), sampled);
            assert_eq!(TraceContext::parse(&own.to_string()), Some(own));
            assert_ne!(own.span_id(), caller.span_id());
        }
    }

    #[test]
    fn span_ids_tell_everything_apart_that_can_be_out() {
        let run = RunId::from_bytes([7; 16]);
        let mut ids = vec![];
        for epoch in [Epoch(1), Epoch(2)] {
            ids.push(SpanId::of_run(run, epoch));
            ids.extend(["a", "b"].map(|call| SpanId::of_call(run, epoch, call)));
            ids.extend([1, 2].map(|number| SpanId::of_look_up(run, epoch, "a", number)));
        }
        for no in [AttemptNo(1), AttemptNo(2)] {
            ids.extend(["a", "b"].map(|call| SpanId::of_attempt(run, call, no)));
        }
        ids.push(SpanId::of_run(RunId::from_bytes([8; 16]), Epoch(1)));
        let texts: std::collections::BTreeSet<String> =
            ids.iter().map(ToString::to_string).collect();
        assert_eq!(texts.len(), ids.len());
    }
}
