//! The proof of "not sent": a request body that remembers whether it was ever handed out, and that
//! can be held back for good.
//!
//! A receiver cannot act on a request whose body it never got. So as long as the body has not been
//! taken, the gate can be shut, and from then on it is certain that this request does nothing, no
//! matter what the connection does. It must never be shut and still give the body out.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

const WAITING: u8 = 0;
const LEFT: u8 = 1;
const SHUT: u8 = 2;

/// Between a request's body and the connection.
#[derive(Clone, Debug)]
pub(crate) struct Gate(Arc<AtomicU8>);

impl Gate {
    /// The gate of `body`. A request without a body acts by its head alone, so nothing can be
    /// proven about it, and its gate counts as passed.
    pub(crate) fn of(body: Option<&Bytes>) -> Self {
        let provable = body.is_some_and(|body| !body.is_empty());
        Self(Arc::new(AtomicU8::new(if provable {
            WAITING
        } else {
            LEFT
        })))
    }

    /// Shuts the gate; `true` when the body had not left, and now never will.
    pub(crate) fn shut(&self) -> bool {
        self.turn(SHUT).unwrap_or_else(|now| now) != LEFT
    }

    /// From waiting to `to`, or what it is already.
    fn turn(&self, to: u8) -> Result<u8, u8> {
        self.0
            .compare_exchange(WAITING, to, Ordering::SeqCst, Ordering::SeqCst)
    }
}

/// A body in one piece, behind its gate. It cannot be cloned, so no client can send it twice.
#[derive(Debug)]
pub(crate) struct GatedBody {
    bytes: Option<Bytes>,
    gate: Gate,
}

impl GatedBody {
    pub(crate) const fn new(bytes: Bytes, gate: Gate) -> Self {
        Self {
            bytes: Some(bytes),
            gate,
        }
    }
}

/// The request was given up before its body left.
#[derive(Debug, thiserror::Error)]
#[error("given up before the body left")]
pub(crate) struct GivenUp;

impl Body for GatedBody {
    type Data = Bytes;
    type Error = GivenUp;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, GivenUp>>> {
        let Some(bytes) = self.bytes.take() else {
            return Poll::Ready(None);
        };
        match self.gate.turn(LEFT) {
            Err(SHUT) => Poll::Ready(Some(Err(GivenUp))),
            Ok(_) | Err(_) => Poll::Ready(Some(Ok(Frame::data(bytes)))),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.bytes.as_ref().is_none_or(Bytes::is_empty)
    }

    fn size_hint(&self) -> SizeHint {
        let length = self.bytes.as_ref().map_or(0, Bytes::len);
        SizeHint::with_exact(length.try_into().expect("a length fits into 64 bits"))
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use super::*;

    fn body(text: &'static str) -> (Gate, GatedBody) {
        let bytes = Bytes::from_static(text.as_bytes());
        let gate = Gate::of(Some(&bytes));
        (gate.clone(), GatedBody::new(bytes, gate))
    }

    fn take(body: &mut GatedBody) -> Option<Result<Bytes, GivenUp>> {
        let taken = Pin::new(body).poll_frame(&mut Context::from_waker(Waker::noop()));
        let Poll::Ready(frame) = taken else {
            panic!("it never waits")
        };
        frame.map(|frame| frame.map(|frame| frame.into_data().expect("data")))
    }

    #[test]
    fn a_body_that_left_cannot_be_held_back_any_more() {
        let (gate, mut body) = body("{}");
        assert_eq!(body.size_hint().exact(), Some(2));
        assert_eq!(take(&mut body).expect("a piece").expect("it left"), "{}");
        assert!(take(&mut body).is_none() && body.is_end_stream());
        assert!(!gate.shut() && !gate.shut());
    }

    #[test]
    fn a_body_behind_a_shut_gate_never_leaves() {
        let (gate, mut body) = body("{}");
        assert!(gate.shut() && gate.shut());
        assert!(take(&mut body).expect("an end").is_err());
        assert!(take(&mut body).is_none());
    }

    #[test]
    fn without_a_body_nothing_is_proven() {
        assert!(!Gate::of(None).shut());
        assert!(!Gate::of(Some(&Bytes::new())).shut());
    }
}
