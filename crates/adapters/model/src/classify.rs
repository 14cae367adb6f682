//! What each ending of a question to a model means: the table of `mainstay_http::classify` for
//! reads, and what is added to it here.
//!
//! It must never let a server's own code replace a kind, and never repeat what a server or a model
//! said: an error message often quotes the prompt, or half of the key. Codes are kept when they are
//! on the list of those that are known; others are only counted as "not known".
//!
//! *a*: ANSWERED; *cost*: of the tokens that were counted, if any.
//!
//! | seen | told | cost | |
//! |---|---|---|---|
//! | 400, 413, 422 | INVALID_INPUT a | none | 1 |
//! | code `context_length_exceeded` and its like, any 4xx | INVALID_INPUT a | none | 1 |
//! | 401, 403 | UNAUTHORIZED a | none | |
//! | 429 | RATE_LIMITED a, with the wait | none | |
//! | 429, code `insufficient_quota` and its like | PERMANENT_PROVIDER a | none | 2 |
//! | 503, 529, code `overloaded_error` | OVERLOADED a, with the wait | none | |
//! | 500, 502, 504, other 5xx | TRANSIENT_TRANSPORT | expected | 3 |
//! | 404 and other 4xx | PERMANENT_PROVIDER a | none | |
//! | 2xx, no JSON or no completion | RESULT_INVALID a | expected | |
//! | 2xx with an error that names a status | as that status | as that status | 4 |
//! | 2xx with another error | RESULT_INVALID a, ERROR_IN_REPLY | cost | 4 |
//! | a refusal | PERMANENT_PROVIDER a, ANSWER_REFUSED | cost | 5 |
//! | `finish_reason: content_filter` | PERMANENT_PROVIDER a, ANSWER_FILTERED | cost | 5 |
//! | `finish_reason: length` | RESULT_INVALID a, ANSWER_CUT_SHORT | cost | 6 |
//! | no text | RESULT_INVALID a, ANSWER_MISSING | cost | |
//! | text that is no JSON | RESULT_INVALID a, ANSWER_MALFORMED | cost | 7 |
//! | JSON that breaks the schema | RESULT_INVALID a, ANSWER_BREAKS_SCHEMA | cost | 7 |
//! | an answer that the check refused | RESULT_INVALID a, ANSWER_UNGROUNDED | cost | 7 |
//!
//! 1. The same prompt will never fit.
//! 2. Waiting fills no purse.
//! 3. It may have been worked on; nobody says what that cost.
//! 4. Routers in front of several providers do so.
//! 5. The same prompt to the same model: another provider may answer.
//! 6. Half an answer is none, also where text was asked for.
//! 7. Mending it is the core's decision, because it is another attempt.
//!
//! "None" holds where tokens have a price: then it is known that they are what is charged, and a
//! request that was not taken up had none. Without a price the contract's estimate counts.

use mainstay_dispatch::{CostUnits, Failure, FailureKind};
use mainstay_http::HttpReply;
use serde_json::Value;

use crate::completion::{Choice, Completion};
use crate::model::Model;
use crate::price::Usage;

/// Provider codes of what is no status. Those of the connection are `mainstay_http`'s.
pub mod codes {
    /// The reply tells an error under a good status.
    pub const ERROR_IN_REPLY: &str = "ERROR_IN_REPLY";
    /// The model says that it will not answer.
    pub const ANSWER_REFUSED: &str = "ANSWER_REFUSED";
    /// The server's filter kept the answer back.
    pub const ANSWER_FILTERED: &str = "ANSWER_FILTERED";
    /// The answer stopped at a bound of tokens.
    pub const ANSWER_CUT_SHORT: &str = "ANSWER_CUT_SHORT";
    /// There is no text in the answer.
    pub const ANSWER_MISSING: &str = "ANSWER_MISSING";
    /// The text is no JSON.
    pub const ANSWER_MALFORMED: &str = "ANSWER_MALFORMED";
    /// The JSON breaks the schema of the reply's type.
    pub const ANSWER_BREAKS_SCHEMA: &str = "ANSWER_BREAKS_SCHEMA";
    /// The user's own check refused the answer.
    pub const ANSWER_UNGROUNDED: &str = "ANSWER_UNGROUNDED";
}

/// The same prompt will never fit.
const TOO_LONG: [&str; 4] = [
    "context_length_exceeded",
    "exceed_context_size_error",
    "string_above_max_length",
    "request_too_large",
];
/// Nothing is left to pay with.
const UNPAID: [&str; 4] = [
    "insufficient_quota",
    "billing_hard_limit_reached",
    "billing_not_active",
    "insufficient_credits",
];
/// Too much to do, whatever the status.
const BUSY: [&str; 2] = ["overloaded_error", "engine_overloaded"];
/// Known, and without a meaning beyond their status.
const PLAIN: [&str; 21] = [
    "api_error",
    "authentication_error",
    "content_filter",
    "content_policy_violation",
    "incorrect_api_key",
    "internal_error",
    "invalid_api_key",
    "invalid_json_schema",
    "invalid_prompt",
    "invalid_request_error",
    "invalid_type",
    "invalid_value",
    "missing_required_parameter",
    "model_not_found",
    "not_found_error",
    "permission_error",
    "rate_limit_error",
    "rate_limit_exceeded",
    "server_error",
    "unsupported_parameter",
    "unsupported_value",
];
/// What many servers say when they are overloaded; no registered status.
const STATUS_OVERLOADED: u16 = 529;

/// What a model said, and what it counted.
pub(crate) struct Answered {
    pub(crate) text: String,
    pub(crate) usage: Option<Usage>,
}

/// The model's text, or what its reply means instead.
pub(crate) fn answered(reply: &HttpReply, model: &Model) -> Result<Answered, Failure> {
    if !reply.is_success() {
        let body = serde_json::from_slice::<Value>(reply.body()).unwrap_or_default();
        let failure = with_code(reply.refused(), reply.status(), &body);
        return Err(unpriced(failure, reply.status(), model));
    }
    let completion: Completion = serde_json::from_slice(reply.body()).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        reply.invalid(&format!(
            "the reply is no chat completion in JSON (line {line}, column {column})"
        ))
    })?;
    let usage = Usage::told(completion.usage.as_ref());
    let text = text_of(completion, reply, model);
    match text {
        Ok(text) => Ok(Answered { text, usage }),
        Err(failure) => Err(priced(failure, model.cost(usage))),
    }
}

fn text_of(completion: Completion, reply: &HttpReply, model: &Model) -> Result<String, Failure> {
    let Some(choice) = completion.choices.into_iter().next() else {
        return Err(match completion.error {
            Some(error) => error_in_reply(reply, &error, model),
            None => unusable(
                reply,
                codes::ANSWER_MISSING,
                "the reply has no answer in it",
            ),
        });
    };
    if let Some(failure) = held_back(&choice, reply) {
        return Err(failure);
    }
    let text = choice.message.and_then(|said| said.content);
    text.filter(|text| !text.is_empty())
        .ok_or_else(|| unusable(reply, codes::ANSWER_MISSING, "the answer has no text in it"))
}

/// Why what the choice says is not the whole answer, whatever its text is.
fn held_back(choice: &Choice, reply: &HttpReply) -> Option<Failure> {
    let refusal = choice
        .message
        .as_ref()
        .and_then(|said| said.refusal.as_deref());
    let refused = |failure| Failure {
        kind: FailureKind::PermanentProvider,
        ..failure
    };
    if refusal.is_some_and(|text| !text.is_empty()) {
        let why = "the model refused to answer";
        return Some(refused(unusable(reply, codes::ANSWER_REFUSED, why)));
    }
    match choice.finish_reason.as_deref() {
        Some("content_filter") => {
            let why = "the server's content filter kept the answer back";
            Some(refused(unusable(reply, codes::ANSWER_FILTERED, why)))
        }
        Some("length") => {
            let why = "the answer stopped at the bound of its tokens (finish_reason length)";
            Some(unusable(reply, codes::ANSWER_CUT_SHORT, why))
        }
        Some(_) | None => None,
    }
}

fn error_in_reply(reply: &HttpReply, error: &Value, model: &Model) -> Failure {
    let status = error["code"]
        .as_u64()
        .and_then(|code| u16::try_from(code).ok());
    let named = status.and_then(|status| Some((status, reply.refused_as(status)?)));
    match named {
        Some((status, failure)) => unpriced(failure, status, model),
        None => unusable(
            reply,
            codes::ERROR_IN_REPLY,
            "the reply tells an error under a good status",
        ),
    }
}

/// RESULT_INVALID with this code.
pub(crate) fn unusable(reply: &HttpReply, code: &str, why: &str) -> Failure {
    reply.invalid(why).provider_code(code)
}

/// The failure with what it cost, when that is known.
pub(crate) fn priced(failure: Failure, cost: Option<CostUnits>) -> Failure {
    Failure {
        cost: cost.or(failure.cost),
        ..failure
    }
}

/// A request that was not taken up had no tokens; one that broke on the way may have had.
fn unpriced(failure: Failure, status: u16, model: &Model) -> Failure {
    let not_taken_up = matches!(status, 400..=499 | 503 | STATUS_OVERLOADED);
    let cost = (not_taken_up && model.has_price()).then_some(CostUnits::ZERO);
    priced(failure, cost)
}

/// The failure with the server's own code beside its kind, and the kind where that code says more
/// than the status did.
fn with_code(failure: Failure, status: u16, body: &Value) -> Failure {
    let code = known_code(body);
    let is = |list: &[&str]| code.is_some_and(|code| list.contains(&code));
    let kind = match status {
        400..=499 if is(&TOO_LONG) => FailureKind::InvalidInput,
        400..=499 if is(&UNPAID) => FailureKind::PermanentProvider,
        STATUS_OVERLOADED => FailureKind::Overloaded,
        500..=599 if is(&BUSY) => FailureKind::Overloaded,
        _ => failure.kind,
    };
    let failure = Failure { kind, ..failure };
    match (code, failure.provider_code.as_deref()) {
        (Some(code), Some(told)) => {
            let both = format!("{told} {code}");
            failure.provider_code(both)
        }
        (Some(_), None) | (None, _) => failure,
    }
}

/// The server's own code, or the type of its error, if it is on the list.
fn known_code(body: &Value) -> Option<&'static str> {
    let error = if body["error"].is_object() {
        &body["error"]
    } else {
        body
    };
    let known = |value: &Value| {
        let text = value.as_str()?;
        let lists: [&'static [&'static str]; 4] = [&TOO_LONG, &UNPAID, &BUSY, &PLAIN];
        lists
            .into_iter()
            .flatten()
            .copied()
            .find(|code| *code == text)
    };
    known(&error["code"]).or_else(|| known(&error["type"]))
}

#[cfg(test)]
mod tests {
    use mainstay_dispatch::Sent;
    use serde_json::json;

    use super::*;

    fn told(status: u16, kind: FailureKind, body: Value) -> (FailureKind, String) {
        let base = Failure::new(kind, Sent::Answered).provider_code(format!("HTTP {status}"));
        let failure = with_code(base, status, &body);
        (failure.kind, failure.provider_code.expect("always there"))
    }

    #[test]
    fn a_known_code_stands_beside_the_kind_and_changes_it_only_where_it_says_more() {
        use FailureKind::{InvalidInput, Overloaded, PermanentProvider, RateLimited};
        let error = |code: &str| json!({"error": {"code": code, "type": "x", "message": "y"}});
        for (status, kind, body, is, shown) in [
            (
                429,
                RateLimited,
                error("rate_limit_exceeded"),
                RateLimited,
                "HTTP 429 rate_limit_exceeded",
            ),
            (
                429,
                RateLimited,
                error("insufficient_quota"),
                PermanentProvider,
                "HTTP 429 insufficient_quota",
            ),
            (
                400,
                InvalidInput,
                error("context_length_exceeded"),
                InvalidInput,
                "HTTP 400 context_length_exceeded",
            ),
            (
                404,
                PermanentProvider,
                error("context_length_exceeded"),
                InvalidInput,
                "HTTP 404 context_length_exceeded",
            ),
            (
                404,
                PermanentProvider,
                error("model_not_found"),
                PermanentProvider,
                "HTTP 404 model_not_found",
            ),
            (
                529,
                FailureKind::TransientTransport,
                json!(null),
                Overloaded,
                "HTTP 529",
            ),
            (
                500,
                FailureKind::TransientTransport,
                json!({"type": "overloaded_error"}),
                Overloaded,
                "HTTP 500 overloaded_error",
            ),
        ] {
            assert_eq!(told(status, kind, body), (is, shown.to_owned()));
        }
    }

    #[test]
    fn a_code_that_is_not_known_is_not_repeated() {
        for body in [
            json!({"error": {"code": "swordfish", "type": "sword fish"}}),
            json!({"error": "swordfish"}),
            json!({"code": 4711, "type": ["swordfish"]}),
            json!("swordfish"),
        ] {
            let shown = told(400, FailureKind::InvalidInput, body);
            assert_eq!(shown, (FailureKind::InvalidInput, "HTTP 400".to_owned()));
        }
    }
}
