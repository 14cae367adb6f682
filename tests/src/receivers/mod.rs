//! Receivers of writes, one of each kind that a write can be resolved at, over real HTTP.
//!
//! A receiver does to each request what its test says, and counts what is in its world; it must
//! never know what a run thinks of it. It lives in the test's process, so it outlives workers that
//! are killed.

mod api;
mod classes;
mod desk;
mod mute;
mod writes;

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;

use service_kit::{Described, Faults, Kit, KitOptions, MemoryLog};
use tokio::runtime::Runtime;

pub use classes::{BOUND_MS, TIMEOUT_MS, class};
pub use desk::{Fate, Sent, Told, Truth};
pub use mute::ByHuman;
pub use writes::{Order, Receipt};

use desk::Desk;

/// The variable that tells a worker the receiver's address.
pub const RECEIVER: &str = "MAINSTAY_RECEIVER";

/// How a write at a receiver is resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It honours keys, and is asked by key.
    Key,
    /// It is told an operation's id, and is asked for its status.
    Status,
    /// It ignores keys, and can be searched for a business id.
    BusinessKey,
    /// It takes a state under our id.
    Upsert,
    /// It keeps a ledger of what it was sent, which we may read.
    Ledger,
    /// Nobody but a person can find out.
    Human,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Key,
        Self::Status,
        Self::BusinessKey,
        Self::Upsert,
        Self::Ledger,
        Self::Human,
    ];

    /// Those that a machine can ask.
    pub const ASKABLE: [Self; 5] = [
        Self::Key,
        Self::Status,
        Self::BusinessKey,
        Self::Upsert,
        Self::Ledger,
    ];

    /// The stable text, also the name of its class, for example `by_key`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Key => "by_key",
            Self::Status => "by_status",
            Self::BusinessKey => "by_business_key",
            Self::Upsert => "by_upsert",
            Self::Ledger => "by_ledger",
            Self::Human => "by_human",
        }
    }

    /// The kind with this text.
    #[must_use]
    pub fn named(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

/// A receiver that listens; it stops when this is dropped.
pub struct Receiver {
    address: SocketAddr,
    desk: Arc<Desk>,
    runtime: Option<Runtime>,
}

impl Receiver {
    /// Listens, and does to one request after the other what `fates` say; to all beyond,
    /// [`Fate::Commit`].
    ///
    /// # Panics
    /// There is no port, or no runtime.
    #[must_use]
    pub fn start(kind: Kind, fates: &[Fate]) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port of the loopback");
        listener.set_nonblocking(true).expect("it can be polled");
        let address = listener.local_addr().expect("it is bound");
        let desk = Arc::new(Desk::new(kind, fates));
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = runtime.worker_threads(1).enable_all().build();
        let runtime = runtime.expect("a runtime of one thread");
        let options = KitOptions {
            faults: Faults::new(&[]),
            log: Arc::new(MemoryLog::new()),
            describe: |_| Described::default(),
            body_bytes_max: 64 * 1024,
        };
        let kit = Kit::new(options, api::routes(Arc::clone(&desk)));
        runtime.spawn(async move {
            let listener = tokio::net::TcpListener::from_std(listener).expect("it is a listener");
            kit.serve(listener, std::future::pending()).await
        });
        Self {
            address,
            desk,
            runtime: Some(runtime),
        }
    }

    /// Its address, without a slash at its end.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Hangs up on this many requests, whatever they are, before it is back.
    pub fn away_for(&self, requests: usize) {
        self.desk.away_for(requests);
    }

    /// Answers look-ups (and exports, at a mute one) from now on, or no more.
    pub fn tells(&self, tells: bool) {
        self.desk.tells(tells);
    }

    /// Lets one request be done that hangs until then.
    pub fn release(&self) {
        self.desk.release();
    }

    /// What it got, did and told so far.
    #[must_use]
    pub fn truth(&self) -> Truth {
        self.desk.truth()
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        // Requests that hang must not hold the test up.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
