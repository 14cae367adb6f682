//! The stack an attempt passes: trace, timeout, classify, the user's layers, the send.
//!
//! A stack is built once per provider and cloned per attempt. It never queues, retries or chooses.

use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll};

use mainstay_types::{BoxFuture, Failure, Payload, Timers};
use tower::util::BoxCloneSyncService;
use tower::{Layer, Service, ServiceExt};

use crate::context::AttemptContext;
use crate::ending::{Deed, unclassified};
use crate::layers::{Classify, Timeout, Trace};
use crate::permit::Permit;
use crate::provider::{Provider, RawAnswer};

/// Any error, as tower's own layers return it.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// One attempt on its way out, as a service. Clones are independent callers of the same provider.
pub type AttemptService = BoxCloneSyncService<AttemptRequest, RawAnswer, Failure>;

/// What passes the layers. A layer may read and clone it, never change it: the bytes were recorded
/// before they were sent.
#[derive(Clone, Debug)]
pub struct AttemptRequest {
    request: Payload,
    cx: AttemptContext,
    permit: Permit,
}

impl AttemptRequest {
    /// An attempt to send `request`, with a permit of its own.
    #[must_use]
    pub fn new(request: Payload, cx: AttemptContext) -> Self {
        Self {
            request,
            cx,
            permit: Permit::new(),
        }
    }

    /// The recorded bytes.
    #[must_use]
    pub const fn request(&self) -> &Payload {
        &self.request
    }

    /// What the attempt knows about itself.
    #[must_use]
    pub const fn cx(&self) -> &AttemptContext {
        &self.cx
    }

    /// The permit; clones of the request share it.
    #[must_use]
    pub const fn permit(&self) -> &Permit {
        &self.permit
    }
}

type UserLayer = Arc<dyn Fn(AttemptService) -> AttemptService + Send + Sync>;

/// Builds the service of each provider.
#[derive(Clone)]
pub struct Stack {
    timers: Arc<dyn Timers>,
    layers: Vec<UserLayer>,
}

impl Stack {
    /// A stack without layers of the user.
    #[must_use]
    pub fn new(timers: Arc<dyn Timers>) -> Self {
        Self {
            timers,
            layers: Vec::new(),
        }
    }

    /// Adds a layer of the user inside of those added before.
    ///
    /// Its error may be a [`Failure`], boxed or not; every other error counts as unclassified. Its
    /// service is cloned for each attempt, so what is shared between attempts belongs into an
    /// `Arc`.
    #[must_use]
    pub fn layer<L>(mut self, layer: L) -> Self
    where
        L: Layer<AttemptService> + Send + Sync + 'static,
        L::Service: Service<AttemptRequest, Response = RawAnswer> + Clone + Send + Sync + 'static,
        <L::Service as Service<AttemptRequest>>::Error: Into<BoxError>,
        <L::Service as Service<AttemptRequest>>::Future: Send + 'static,
    {
        self.layers.push(Arc::new(move |inner| {
            let service = layer.layer(inner);
            AttemptService::new(service.map_err(|error| failure_of(error.into())))
        }));
        self
    }

    /// The service that sends to `provider`.
    ///
    /// Its future is not cancel safe for writes: dropping it leaves the write in doubt, and
    /// [`Permit::was_used`] says whether anything can have left.
    #[must_use]
    pub fn build(&self, provider: Arc<dyn Provider>) -> AttemptService {
        let deed = if provider.is_write() {
            Deed::Writes
        } else {
            Deed::Reads
        };
        let send = AttemptService::new(Out {
            provider: Arc::clone(&provider),
        });
        let own = self
            .layers
            .iter()
            .rev()
            .fold(send, |inner, layer| layer(inner));
        let classify = AttemptService::new(Classify::new(own, deed));
        let timers = Arc::clone(&self.timers);
        let timeout = AttemptService::new(Timeout::new(classify, timers, deed));
        AttemptService::new(Trace::new(timeout, provider))
    }
}

impl fmt::Debug for Stack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stack({} layers of the user)", self.layers.len())
    }
}

fn failure_of(error: BoxError) -> Failure {
    match error.downcast::<Failure>() {
        Ok(failure) => *failure,
        Err(error) => unclassified(error),
    }
}

/// The innermost service: the only one that uses the permit.
#[derive(Clone)]
struct Out {
    provider: Arc<dyn Provider>,
}

impl Service<AttemptRequest> for Out {
    type Response = RawAnswer;
    type Error = Failure;
    type Future = BoxFuture<'static, Result<RawAnswer, Failure>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: AttemptRequest) -> Self::Future {
        let provider = Arc::clone(&self.provider);
        Box::pin(async move {
            // Taken when the send really begins: a call that is never polled sends nothing.
            request.permit.take()?;
            let end = provider.send(request.request, request.cx).await;
            request.permit.record(&end);
            end
        })
    }
}
