//! The proxy: listens, and hands each connection its fault.
//!
//! It must never outlive its owner: dropping the [`Proxy`] stops everything it started.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::{JoinError, JoinHandle, JoinSet};
use tokio::time::sleep;

use crate::bounds::{ACCEPT_PAUSE_MS, millis};
use crate::carry::carry;
use crate::error::{PlanError, StartError};
use crate::fault::Fault;
use crate::plan::Plan;
use crate::record::Record;
use crate::shared::{Opened, Shared};
use crate::totals::Totals;
use crate::upstream::Upstream;

/// A proxy that is to be started; see [`Proxy::to`].
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until `start`"]
pub struct Builder {
    upstream: Upstream,
    listen: SocketAddr,
    plan: Plan,
}

/// A running proxy. Dropping it closes its port and ends its connections soon after; what waits
/// until that is done is [`Proxy::shutdown`].
#[derive(Debug)]
pub struct Proxy {
    addr: SocketAddr,
    shared: Arc<Shared>,
    /// The acceptor ends when this is gone.
    stop: Option<oneshot::Sender<()>>,
    acceptor: Option<JoinHandle<()>>,
}

impl Builder {
    /// Listens there. Default: the loopback, at a port that the system chooses.
    pub const fn listen(mut self, address: SocketAddr) -> Self {
        self.listen = address;
        self
    }

    /// Begins with this plan. Default: nothing is done to any connection.
    pub fn plan(mut self, plan: Plan) -> Self {
        self.plan = plan;
        self
    }

    /// Starts to listen, inside the tokio runtime it is called in. The upstream need not be there.
    ///
    /// Errors: the address cannot be listened at. Cancel safe: a dropped future leaves nothing.
    pub async fn start(self) -> Result<Proxy, StartError> {
        let address = self.listen;
        let refused = |source| StartError { address, source };
        let listener = TcpListener::bind(address).await.map_err(refused)?;
        let addr = listener.local_addr().map_err(refused)?;
        let shared = Shared::with(self.plan);
        let (stop, stopped) = oneshot::channel();
        let acceptor = Acceptor {
            listener,
            upstream: Arc::new(self.upstream),
            shared: Arc::clone(&shared),
            connections: JoinSet::new(),
        };
        Ok(Proxy {
            addr,
            shared,
            stop: Some(stop),
            acceptor: Some(tokio::spawn(acceptor.run(stopped))),
        })
    }
}

impl Proxy {
    /// A proxy in front of `upstream`.
    pub fn to(upstream: impl Into<Upstream>) -> Builder {
        Builder {
            upstream: upstream.into(),
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            plan: Plan::default(),
        }
    }

    /// Where it listens.
    #[must_use]
    pub const fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Replaces the plan. Connections that are open keep their fault; those to come are numbered
    /// from 1.
    pub fn set(&self, plan: Plan) {
        self.shared.set(plan);
    }

    /// Queues a fault for the next connection that no earlier one of the queue is for. It goes
    /// before what the plan says.
    ///
    /// Errors: a number out of its bounds, or a full queue.
    pub fn next(&self, fault: Fault) -> Result<(), PlanError> {
        self.shared.next(fault)
    }

    /// The connections that have ended, in that order; the newest `bounds::LOG_RECORDS_MAX`.
    #[must_use]
    pub fn log(&self) -> Vec<Record> {
        self.shared.log_after(0)
    }

    /// Those of [`Proxy::log`] whose `ended` is beyond `seen`: what is new since a record was seen.
    #[must_use]
    pub fn log_after(&self, seen: u64) -> Vec<Record> {
        self.shared.log_after(seen)
    }

    /// Sums over all connections.
    #[must_use]
    pub fn totals(&self) -> Totals {
        self.shared.totals()
    }

    /// Waits until at least so many connections have ended since the start. Without a bound of its
    /// own: whoever waits knows how long that may take.
    ///
    /// Cancel safe: it only looks.
    pub async fn until_ended(&self, count: u64) {
        self.shared.until_ended(count).await;
    }

    /// Stops listening and ends every connection; once it returns, all of them have their records
    /// and nothing of the proxy runs any more. The log stays readable. A second time it does
    /// nothing.
    ///
    /// Cancel safe: the end goes on by itself, and may be waited for again.
    ///
    /// # Panics
    ///
    /// When a connection panicked, which is a bug of this crate.
    pub async fn shutdown(&mut self) {
        drop(self.stop.take());
        if let Some(acceptor) = &mut self.acceptor {
            let ended = acceptor.await;
            self.acceptor = None;
            heed(ended);
        }
    }
}

/// What listens.
struct Acceptor {
    listener: TcpListener,
    upstream: Arc<Upstream>,
    shared: Arc<Shared>,
    connections: JoinSet<()>,
}

impl Acceptor {
    /// Accepts until `stopped` resolves, or its sender is gone.
    async fn run(mut self, mut stopped: oneshot::Receiver<()>) {
        loop {
            tokio::select! {
                biased;
                _ = &mut stopped => break,
                Some(ended) = self.connections.join_next() => heed(ended),
                accepted = self.listener.accept() => match accepted {
                    Ok((client, _)) => self.open(client),
                    Err(_) => {
                        // Often a lack that lasts: trying again at once would only heat the room.
                        self.shared.accept_failed();
                        sleep(millis(ACCEPT_PAUSE_MS)).await;
                    }
                },
            }
        }
        // First the door, so that nobody comes in while the others leave.
        drop(self.listener);
        self.connections.shutdown().await;
    }

    fn open(&mut self, client: TcpStream) {
        let opened: Opened = self.shared.open();
        if !opened.fits {
            // Its client learns of it at once, and the record says why.
            let _ = client.set_zero_linger();
            return;
        }
        let upstream = Arc::clone(&self.upstream);
        self.connections
            .spawn(async move { carry(client, &upstream, opened).await });
    }
}

/// A panic inside is a panic outside; an end by the owner's wish is none.
fn heed(ended: Result<(), JoinError>) {
    if let Err(error) = ended
        && error.is_panic()
    {
        std::panic::resume_unwind(error.into_panic());
    }
}
