//! The accept loop: who connects, whether there is room, and the way down.
//!
//! It must never wait for a connection before it takes the next one, and never serve more than its
//! bounds: a flood costs a bounded number of tasks and buffers.

use std::sync::Arc;
use std::time::Duration;

use mainstay_runtime::{Stay, WeakEngine};
use mainstay_types::Code;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::bounds::Bounds;
use crate::connection::{self, Connection, Greeting};
use crate::failure::Failure;
use crate::place::own_uid;
use crate::server::Bound;

/// Connections at once that are only told why they are not served.
const REFUSALS_MAX: usize = 16;

/// Pause after a failed accept: out of descriptors is over sooner than a busy loop would let it be.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Serves until the engine is over; then the file is removed, and what is under way may end.
pub(crate) async fn serve(bound: Bound, engine: WeakEngine, bounds: Bounds, mut stay: Stay) {
    let stop = CancellationToken::new();
    let mut acceptor = Acceptor {
        engine,
        bounds,
        stop: stop.clone(),
        served: Arc::new(Semaphore::new(bounds.connections_max)),
        refused: Arc::new(Semaphore::new(REFUSALS_MAX)),
        connections: JoinSet::new(),
    };
    tokio::select! {
        biased;
        () = stay.over() => {}
        () = acceptor.accept_all(&bound.listener) => {}
    }
    // The name goes first: whoever comes now finds no socket, not one that does not answer.
    drop(bound);
    stop.cancel();
    acceptor.drain().await;
    // Last: whoever waits for it may open the store again.
    drop(stay);
}

struct Acceptor {
    engine: WeakEngine,
    bounds: Bounds,
    stop: CancellationToken,
    served: Arc<Semaphore>,
    refused: Arc<Semaphore>,
    connections: JoinSet<()>,
}

impl Acceptor {
    async fn accept_all(&mut self, listener: &UnixListener) {
        loop {
            tokio::select! {
                biased;
                // Ends of connections are taken as they come, so that they do not pile up.
                Some(_) = self.connections.join_next() => {}
                accepted = listener.accept() => match accepted {
                    Ok((stream, _)) => self.take(stream),
                    Err(error) => {
                        tracing::warn!(%error, "the local socket cannot accept");
                        tokio::time::sleep(ACCEPT_PAUSE).await;
                    }
                },
            }
        }
    }

    fn take(&mut self, stream: UnixStream) {
        // Who the other end is was fixed when it connected.
        let Ok(peer) = stream.peer_cred() else { return };
        let Some((greeting, place)) = self.greet(peer.uid()) else {
            return;
        };
        let connection = Connection {
            stream,
            greeting,
            bounds: self.bounds,
            stop: self.stop.clone(),
        };
        self.connections.spawn(async move {
            connection::converse(connection).await;
            drop(place);
        });
    }

    /// What the other end gets, and its place; `None` when there is no room even for a refusal.
    fn greet(&self, uid: u32) -> Option<(Greeting, OwnedSemaphorePermit)> {
        let refusal = if may_ask(own_uid(), uid) {
            match Arc::clone(&self.served).try_acquire_owned() {
                Ok(place) => {
                    let engine = self.engine.clone();
                    return Some((Greeting::Served { engine, uid }, place));
                }
                Err(_) => busy(self.bounds.connections_max),
            }
        } else {
            tracing::warn!(uid, "another user asked the local socket");
            forbidden(uid)
        };
        let place = Arc::clone(&self.refused).try_acquire_owned().ok()?;
        Some((Greeting::Refused(refusal), place))
    }

    async fn drain(&mut self) {
        let all = async { while self.connections.join_next().await.is_some() {} };
        if tokio::time::timeout(self.bounds.drain_within, all)
            .await
            .is_err()
        {
            self.connections.shutdown().await;
        }
    }
}

/// The user who runs the engine, and root.
fn may_ask(own: u32, peer: u32) -> bool {
    peer == own || peer == 0
}

fn busy(connections_max: usize) -> Failure {
    let message = format!("{connections_max} callers are served at once, and as many are there");
    Failure::new(Code::SocketBusy, message)
}

fn forbidden(uid: u32) -> Failure {
    let own = own_uid();
    let message = format!("this socket serves uid {own} and root, not uid {uid}");
    Failure::new(Code::SocketForbidden, message)
}

#[cfg(test)]
mod tests {
    use super::may_ask;

    #[test]
    fn the_engines_user_and_root_may_ask_and_nobody_else() {
        assert!(may_ask(1000, 1000));
        assert!(may_ask(1000, 0));
        assert!(!may_ask(1000, 1001));
        assert!(!may_ask(0, 1000));
    }
}
