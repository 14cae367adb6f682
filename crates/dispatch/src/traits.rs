//! The two traits users implement: [`Read`] changes nothing, [`Write`] changes something once.
//!
//! They differ in one way that matters: a write says how to find out what became of it. One that
//! cannot does not compile, because a lost reply would then be a duplicate waiting to happen.

use std::future::Future;
use std::sync::Arc;

use mainstay_graph::Resolution;
use mainstay_types::{CostUnits, Failure};

use crate::context::AttemptContext;
use crate::promise::Promise;
use crate::value::Value;

/// A reply, with what it cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer<T> {
    /// The reply.
    pub value: T,
    /// What the attempt cost; `None`: what its contract expects.
    pub cost: Option<CostUnits>,
    /// Requests that a client library sent inside this attempt beyond the first: retries of its
    /// own, and each extra copy of a hedge. One retry token of the run is deducted for each.
    pub client_retries: u32,
}

impl<T> Answer<T> {
    /// A reply that cost what was expected, without retries of a client library.
    #[must_use]
    pub const fn new(value: T) -> Self {
        Self {
            value,
            cost: None,
            client_retries: 0,
        }
    }

    /// Says what the attempt cost.
    #[must_use]
    pub fn cost(mut self, cost: CostUnits) -> Self {
        self.cost = Some(cost);
        self
    }

    /// Reports requests that a client library sent beyond the first: its retries, and each extra
    /// copy of a hedge.
    ///
    /// It did not ask, so all of them are deducted even when the run has fewer retry tokens left;
    /// nothing that needs a token starts then.
    #[must_use]
    pub fn client_retries(mut self, retries: u32) -> Self {
        self.client_retries = retries;
        self
    }
}

impl<T> From<T> for Answer<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

/// What a receiver says about a request it may have got.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found<T> {
    /// It was done; this is the reply it gave.
    Applied(T),
    /// A part of it was done; a person has to look.
    Partly,
    /// It is being done; ask again later.
    InProgress,
    /// It is not known. Believed only once the request cannot land any more.
    NotFound,
    /// The receiver could not be asked, or cannot say.
    CannotTell,
}

impl<T> Found<T> {
    /// The same finding with another form of the reply.
    pub fn map<U>(self, form: impl FnOnce(T) -> U) -> Found<U> {
        match self {
            Self::Applied(value) => Found::Applied(form(value)),
            Self::Partly => Found::Partly,
            Self::InProgress => Found::InProgress,
            Self::NotFound => Found::NotFound,
            Self::CannotTell => Found::CannotTell,
        }
    }
}

impl<T, E> Found<Result<T, E>> {
    /// The finding, or the error of the form its reply should have had.
    pub fn transpose(self) -> Result<Found<T>, E> {
        match self {
            Self::Applied(value) => value.map(Found::Applied),
            Self::Partly => Ok(Found::Partly),
            Self::InProgress => Ok(Found::InProgress),
            Self::NotFound => Ok(Found::NotFound),
            Self::CannotTell => Ok(Found::CannotTell),
        }
    }
}

/// A dependency that is asked and changes nothing.
///
/// ```
/// use mainstay_dispatch::{Answer, AttemptContext, Failure, Read};
/// struct Length;
/// impl Read for Length {
///     type Request = String;
///     type Reply = usize;
///     fn name(&self) -> &str {
///         "length"
///     }
///     async fn call(&self, text: String, _: &AttemptContext) -> Result<Answer<usize>, Failure> {
///         Ok(text.len().into())
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be read",
    note = "implement `Read` (`Request`, `Reply`, `name`, `call`) and share it by `Arc` or `Clone`",
    note = "if it changes the outside world it is a `Write`: use `.write(..)` or `.each(..)`"
)]
pub trait Read: Send + Sync + 'static {
    /// What it is asked.
    type Request: Value;
    /// What it answers.
    type Reply: Value;

    /// The dependency's name: the port that tests and simulations replace. The rules of
    /// `DependencyName`; broken ones are NAME_INVALID when the class is built.
    fn name(&self) -> &str;

    /// Asks once. It must not retry or hedge: say `client_retries` when a library does, here or in
    /// the failure.
    ///
    /// A failure of unknown kind is made by [`crate::unclassified`]; a panic is caught and is a
    /// failure of the attempt. Must be cancel safe: the future is dropped when the attempt's time
    /// is up or the run is canceled.
    fn call(
        &self,
        request: Self::Request,
        cx: &AttemptContext,
    ) -> impl Future<Output = Result<Answer<Self::Reply>, Failure>> + Send;

    /// What it promises; a class may override each part.
    fn promise(&self) -> Promise {
        Promise::default()
    }
}

/// A dependency that changes the outside world, once per effect key.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be written",
    note = "implement `Write` (`Request`, `Reply`, `RESOLUTION`, `name`, `send`, `find`) and share \
            it by `Arc` or `Clone`",
    note = "if it changes nothing it is a `Read`: use `.read(..)`"
)]
pub trait Write: Send + Sync + 'static {
    /// What it is asked to do.
    type Request: Value;
    /// What it answers.
    type Reply: Value;
    /// How a write without an answer is resolved.
    const RESOLUTION: Resolution;

    /// The dependency's name: the port that tests and simulations replace.
    fn name(&self) -> &str;

    /// Sends once, under `cx.effect_key`. It must not retry or hedge: say `client_retries` when a
    /// library does, here or in the failure.
    ///
    /// `Sent::NotSent` in a failure is a proof: no byte of the request left, or the receiver said
    /// it did nothing. Everything that is not proven is in doubt, and [`Write::find`] is asked.
    /// Need not be cancel safe: when the attempt's time is up the future is dropped and the write
    /// is in doubt; a canceled run does not drop it.
    fn send(
        &self,
        request: Self::Request,
        cx: &AttemptContext,
    ) -> impl Future<Output = Result<Answer<Self::Reply>, Failure>> + Send;

    /// Finds out what became of an earlier [`Write::send`] of this request under `cx.effect_key`.
    ///
    /// It must change nothing, so it is cancel safe. A failure means `Found::CannotTell`. For a
    /// receiver that only a person can ask, answer `Found::CannotTell`.
    fn find(
        &self,
        request: Self::Request,
        cx: &AttemptContext,
    ) -> impl Future<Output = Result<Found<Self::Reply>, Failure>> + Send;

    /// What it promises; a class may override each part.
    fn promise(&self) -> Promise {
        Promise::default()
    }
}

impl<R: Read> Read for Arc<R> {
    type Request = R::Request;
    type Reply = R::Reply;

    fn name(&self) -> &str {
        (**self).name()
    }

    fn call(
        &self,
        request: Self::Request,
        cx: &AttemptContext,
    ) -> impl Future<Output = Result<Answer<Self::Reply>, Failure>> + Send {
        (**self).call(request, cx)
    }

    fn promise(&self) -> Promise {
        (**self).promise()
    }
}

impl<W: Write> Write for Arc<W> {
    type Request = W::Request;
    type Reply = W::Reply;
    const RESOLUTION: Resolution = W::RESOLUTION;

    fn name(&self) -> &str {
        (**self).name()
    }

    fn send(
        &self,
        request: Self::Request,
        cx: &AttemptContext,
    ) -> impl Future<Output = Result<Answer<Self::Reply>, Failure>> + Send {
        (**self).send(request, cx)
    }

    fn find(
        &self,
        request: Self::Request,
        cx: &AttemptContext,
    ) -> impl Future<Output = Result<Found<Self::Reply>, Failure>> + Send {
        (**self).find(request, cx)
    }

    fn promise(&self) -> Promise {
        (**self).promise()
    }
}
