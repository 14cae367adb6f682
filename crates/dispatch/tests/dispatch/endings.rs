//! How the user's own code may end, and what is told of it. It must hold for reads and writes.

use mainstay_dispatch::{Answer, AttemptContext, AttemptRequest, Read, ReadProvider};
use mainstay_dispatch::{Failure, FailureKind, Sent, unclassified};
use mainstay_types::{Payload, limits};
use std::sync::Arc;
use tower::ServiceExt;

use crate::doubles::{Bench, Does, Driven, Scripted, ending, reading, told};

#[test]
fn an_answer_comes_back_as_canonical_bytes_with_what_it_cost() {
    let answer = Bench::new()
        .read(&Scripted::new([Does::Reply(1e21)]))
        .end()
        .expect("an answer");
    assert_eq!(answer.value, Payload::from("1e+21"));
    assert_eq!((answer.cost, answer.client_retries), (None, 2));
}

#[test]
fn a_panic_fails_a_read_for_good_and_leaves_a_write_in_doubt() {
    let bench = Bench::new();
    let read = told(bench.read(&Scripted::new([Does::Panic])).end());
    assert_eq!(
        read,
        ending("PERMANENT_PROVIDER", "MAYBE_SENT", "CODE_PANICKED")
    );
    let write = told(bench.write(&Scripted::new([Does::Panic])).end());
    assert_eq!(
        write,
        ending("EFFECT_UNKNOWN", "MAYBE_SENT", "CODE_PANICKED")
    );
}

#[test]
fn a_bare_error_fails_a_read_for_good_and_leaves_a_write_in_doubt() {
    let (bench, bare) = (Bench::new(), Does::Fail(unclassified("ssl is sad")));
    let read = told(bench.read(&Scripted::new([bare.clone()])).end());
    assert_eq!(
        read,
        ending("PERMANENT_PROVIDER", "MAYBE_SENT", "UNCLASSIFIED")
    );
    let write = told(bench.write(&Scripted::new([bare])).end());
    assert_eq!(
        write,
        ending("EFFECT_UNKNOWN", "MAYBE_SENT", "UNCLASSIFIED")
    );
}

#[test]
fn a_proof_of_not_sent_is_kept() {
    let refused = Failure::new(FailureKind::TransientTransport, Sent::NotSent);
    let refused = Does::Fail(refused.provider_code("ECONNREFUSED"));
    let write = told(Bench::new().write(&Scripted::new([refused])).end());
    assert_eq!(
        write,
        ending("TRANSIENT_TRANSPORT", "NOT_SENT", "ECONNREFUSED")
    );
}

#[test]
fn a_request_of_another_type_never_reaches_the_users_code() {
    let (bench, script) = (Bench::new(), Scripted::new([]));
    let request = AttemptRequest::new(Payload::from("{\"not\":\"text\"}"), bench.cx());
    let service = bench.stack().build(reading(&script));
    let end = told(Driven::new(service.oneshot(request)).end());
    assert_eq!(end, ending("INVALID_INPUT", "NOT_SENT", "REQUEST_MISMATCH"));
    assert_eq!(script.sends(), 0);
}

#[test]
fn a_reply_without_json_is_invalid_for_a_read_and_doubt_for_a_write() {
    let bench = Bench::new();
    let read = told(bench.read(&Scripted::new([Does::Reply(f64::NAN)])).end());
    assert_eq!(
        read,
        ending("RESULT_INVALID", "ANSWERED", "REPLY_NOT_REPRESENTABLE")
    );
    // The receiver did it; that its answer cannot be kept does not undo it.
    let write = told(bench.write(&Scripted::new([Does::Reply(f64::NAN)])).end());
    assert_eq!(
        write,
        ending("EFFECT_UNKNOWN", "MAYBE_SENT", "REPLY_NOT_REPRESENTABLE")
    );
}

struct Endless;

impl Read for Endless {
    type Request = String;
    type Reply = String;

    fn name(&self) -> &str {
        "endless"
    }

    async fn call(&self, _: String, _: &AttemptContext) -> Result<Answer<String>, Failure> {
        Ok("x".repeat(limits::PAYLOAD_BYTES_MAX).into())
    }
}

#[test]
fn a_reply_beyond_the_bound_is_invalid_and_says_its_size() {
    let bench = Bench::new();
    let service = bench.stack().build(Arc::new(ReadProvider::new(Endless)));
    let failure = bench.send(service).end().expect_err("too large");
    assert_eq!(
        (failure.kind, failure.sent),
        (FailureKind::ResultInvalid, Sent::Answered)
    );
    let message = failure.message.expect("a message");
    assert!(message.contains("4194306 bytes"), "{message}");
}
