//! From a user's closure to bytes: the one place where it is called.
//!
//! A closure is called once per call of a run, from recorded values; its result is recorded and
//! never made again. A panic passes through: what it means for the run is for the engine to say.

use std::fmt;
use std::sync::Arc;

use mainstay_dispatch::{Value, ValueError, decode, encode};
use mainstay_types::{Failure, FailureKind, Payload, Sent};

use crate::effected::Effected;
use crate::refs::{Recorded, Refs};

/// What a node's closure made.
pub(crate) enum Made {
    Request(Payload),
    List(Vec<Payload>),
    Value(Payload),
}

/// A node's closure with the types of its refs and of its result erased.
pub(crate) type Maker<I> =
    Box<dyn Fn(&I, &[Option<Payload>]) -> Result<Made, Failure> + Send + Sync>;

/// The business id of a run, from its input alone.
pub(crate) type Identify<I> = Arc<dyn Fn(&I) -> String + Send + Sync>;

/// A request made anew: from the input, the bytes of the first request, and what was wrong.
pub(crate) type Repairer<I> =
    Box<dyn Fn(&I, &Payload, &Failure) -> Result<Made, Failure> + Send + Sync>;

/// `closure` over the request as its own type, its result put into bytes.
pub(crate) fn repairer<I, F, Q>(closure: F) -> Repairer<I>
where
    I: 'static,
    F: Fn(&I, Q, &Failure) -> Q + Send + Sync + 'static,
    Q: Value,
{
    Box::new(move |input, before, failure| {
        let before = decode::<Q>(before)
            .map_err(|error| invalid(format!("the first request cannot be read: {error}")))?;
        request(&closure(input, before, failure))
    })
}

/// The failure of a class's own code: nothing was sent, and the same input fails again.
pub(crate) fn invalid(message: impl Into<String>) -> Failure {
    Failure::new(FailureKind::InvalidInput, Sent::NotSent).message(message)
}

/// `closure` over the values of `R`, its result put into bytes by `keep`.
pub(crate) fn maker<I, R, F, Q, E>(closure: F, keep: fn(&Q) -> Result<Made, Failure>) -> Maker<I>
where
    I: 'static,
    R: Refs,
    F: Fn(&I, R::Values<'_>) -> Result<Q, E> + Send + Sync + 'static,
    Q: 'static,
    E: fmt::Display,
{
    Box::new(move |input, values| {
        let owned = R::take(&mut Recorded::new(values))?;
        let made = closure(input, R::view(&owned));
        keep(&made.map_err(|error| invalid(format!("its closure refused: {error}")))?)
    })
}

/// `closure` over what a model gave, as its own type.
pub(crate) fn of_arguments<I, A, F, Q>(closure: F) -> Maker<I>
where
    I: 'static,
    A: Value,
    F: Fn(&I, A) -> Q + Send + Sync + 'static,
    Q: Value,
{
    Box::new(move |input, values| {
        let given = values.first().and_then(Option::as_ref);
        let given = given.ok_or_else(|| invalid("there are no arguments"))?;
        let arguments = decode::<A>(given)
            .map_err(|error| invalid(format!("the arguments cannot be read: {error}")))?;
        request(&closure(input, arguments))
    })
}

/// `closure` over a write's recorded request, its answer and its key.
pub(crate) fn of_effect<I, Q, R, F, U>(closure: F) -> Maker<I>
where
    I: 'static,
    Q: Value,
    R: Value,
    F: Fn(&I, Effected<'_, Q, R>) -> U + Send + Sync + 'static,
    U: Value,
{
    Box::new(move |input, values| {
        let [made, reply, key] = values else {
            return Err(invalid("there is no effect to undo"));
        };
        let there = |value: &Option<Payload>| value.clone().ok_or_else(|| invalid("it is missing"));
        let read = |error: &ValueError| invalid(format!("what was done cannot be read: {error}"));
        let made = decode::<Q>(&there(made)?).map_err(|error| read(&error))?;
        let reply = reply.as_ref().map(decode::<R>).transpose();
        let reply = reply.map_err(|error| read(&error))?;
        let key = decode::<String>(&there(key)?).map_err(|error| read(&error))?;
        request(&closure(
            input,
            Effected {
                request: &made,
                reply: reply.as_ref(),
                key: &key,
            },
        ))
    })
}

pub(crate) fn request<Q: Value>(request: &Q) -> Result<Made, Failure> {
    encode(request)
        .map(Made::Request)
        .map_err(|error| unkept("the request", &error))
}

#[expect(clippy::ptr_arg, reason = "`maker` hands the closure's own type over")]
pub(crate) fn list<Q: Value>(items: &Vec<Q>) -> Result<Made, Failure> {
    let keep = |(place, item)| {
        encode::<Q>(item).map_err(|error| unkept(&format!("item {place} of the list"), &error))
    };
    items
        .iter()
        .enumerate()
        .map(keep)
        .collect::<Result<_, _>>()
        .map(Made::List)
}

pub(crate) fn value<Q: Value>(value: &Q) -> Result<Made, Failure> {
    encode(value)
        .map(Made::Value)
        .map_err(|error| unkept("the value", &error))
}

fn unkept(what: &str, error: &ValueError) -> Failure {
    invalid(format!("{what} cannot be kept: {error}"))
}
