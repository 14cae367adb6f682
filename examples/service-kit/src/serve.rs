//! The serve loop: accepts, asks the router, closes a connection where a fault says so.
//!
//! It must never write a byte of a response that is marked as dropped; this is why `axum::serve`,
//! which answers everything, is not used.

use std::convert::Infallible;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt;

use crate::front::{Front, is_dropped};
use crate::kit::ServeError;

/// Connections open at once; the next waits in the listener's backlog.
const CONNECTIONS_MAX: usize = 1_024;

/// How long a connection may take to send a request's head.
const HEAD_WITHIN: Duration = Duration::from_secs(30);

/// How long accepted requests may take to end once the service stops.
const DRAIN_WITHIN: Duration = Duration::from_secs(5);

/// Pause after a failed accept: out of descriptors is over sooner than a busy loop would let it be.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Accepts that may fail one after another before the listener counts as broken.
const ACCEPT_FAILURES_MAX: u32 = 200;

#[derive(Debug, thiserror::Error)]
#[error("the connection is closed without an answer: a fault asked for it")]
struct Dropped;

struct Acceptor<'a> {
    front: &'a Front,
    router: Router,
    stop: CancellationToken,
    connections: TaskTracker,
}

pub(crate) async fn until(
    listener: TcpListener,
    router: Router,
    front: &Front,
    shutdown: impl Future<Output = ()>,
) -> Result<(), ServeError> {
    let (stop, connections) = (CancellationToken::new(), TaskTracker::new());
    let acceptor = Acceptor {
        front,
        router,
        stop,
        connections,
    };
    let ended = {
        let mut shutdown = pin!(shutdown);
        let mut accepting = pin!(acceptor.accept_all(&listener));
        tokio::select! {
            biased;
            () = &mut shutdown => Ok(()),
            broken = &mut accepting => broken,
        }
    };
    drop(listener);
    acceptor.drain().await;
    ended
}

impl Acceptor<'_> {
    /// Ends only when the listener is broken.
    async fn accept_all(&self, listener: &TcpListener) -> Result<(), ServeError> {
        let slots = Arc::new(Semaphore::new(CONNECTIONS_MAX));
        let mut failures = 0;
        loop {
            let slot = Arc::clone(&slots)
                .acquire_owned()
                .await
                .expect("never closed");
            let stream = match listener.accept().await {
                Ok((stream, _)) => stream,
                Err(e) if ACCEPT_FAILURES_MAX <= failures => return Err(e.into()),
                Err(_) => {
                    failures += 1;
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                    continue;
                }
            };
            failures = 0;
            if self.front.faults.take_down() {
                continue; // Dropping the stream closes it.
            }
            let connection = converse(stream, self.router.clone(), self.stop.clone());
            self.connections.spawn(async move {
                connection.await;
                drop(slot);
            });
        }
    }

    async fn drain(self) {
        self.stop.cancel();
        self.connections.close();
        self.front.tracker.close();
        let drained = async {
            self.connections.wait().await;
            self.front.tracker.wait().await;
        };
        if tokio::time::timeout(DRAIN_WITHIN, drained).await.is_err() {
            let seconds = DRAIN_WITHIN.as_secs();
            eprintln!("warning: requests still ran after {seconds} s; stopped anyway");
        }
    }
}

async fn converse(stream: TcpStream, router: Router, stop: CancellationToken) {
    let service = service_fn(move |request: Request<Incoming>| {
        let answer = router.clone().oneshot(request.map(Body::new));
        async move { keep_or_drop(answer.await) }
    });
    // Small answers must not wait for the peer's delayed acknowledgement.
    let _ = stream.set_nodelay(true);
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_WITHIN)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    // Errors here are the client's hanging up or our own drop: both are wanted silence.
    tokio::select! {
        biased;
        _ = connection.as_mut() => {}
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
}

/// An error makes hyper close the connection without a status line.
fn keep_or_drop(response: Result<Response, Infallible>) -> Result<Response, Dropped> {
    let Ok(response) = response;
    if is_dropped(&response) {
        Err(Dropped)
    } else {
        Ok(response)
    }
}
