//! The purchase tool: a real HTTP server on the loopback, with its table in memory.
//!
//! It executes orders and meets the drawn faults. It must never know which strategy asks: the path
//! says for whose order a request is, so that its fate is the same for all of them.
//!
//! ```text
//! POST /sessions/{session}/wanted/{order}/orders                 place one
//! GET  /sessions/{session}/wanted/{order}/orders?request_no=..   search; &slot=.. for one of them
//! GET  /sessions/{session}/wanted/{order}/orders/by-key/{key}    what became of a key
//! ```

mod api;
mod key;
mod landing;
mod table;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio_util::sync::{CancellationToken, DropGuard};

pub use api::{OrderRequest, Placed};
pub use table::{Applied, Truth};

use super::draw::{Draws, Intent};
use super::faults::Faults;
use landing::Desk;

/// What the receiver does with idempotency keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keys {
    /// The first request of a key is executed, the others get its result.
    Honoured,
    /// They are ignored; orders can only be searched by their request number.
    Ignored,
}

/// A receiver that listens; it stops when this is dropped.
pub struct Receiver {
    address: SocketAddr,
    desk: Arc<Desk>,
    _stops: DropGuard,
}

impl Receiver {
    /// Listens on a port of the loopback that the system chooses; needs a tokio runtime.
    ///
    /// Cancel safe: a dropped future leaves nothing that listens.
    pub async fn start(faults: Faults, draws: Draws, keys: Keys) -> std::io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let desk = Arc::new(Desk::new(faults, draws, keys));
        let stop = CancellationToken::new();
        let serving = axum::serve(NoDelay(listener), api::routes(Arc::clone(&desk)));
        tokio::spawn(
            stop.clone()
                .run_until_cancelled_owned(serving.into_future()),
        );
        Ok(Self {
            address,
            desk,
            _stops: stop.drop_guard(),
        })
    }

    /// Where everything about this order is sent to and asked; without a slash at its end.
    #[must_use]
    pub fn base(&self, intent: Intent) -> String {
        let Intent { session, order } = intent;
        format!("http://{}/sessions/{session}/wanted/{order}", self.address)
    }

    /// Waits until nothing that was sent can land any more, and says what happened.
    ///
    /// Cancel safe: it only waits and reads.
    pub async fn settled(&self) -> Truth {
        self.desk.settled().await
    }
}

/// Connections whose replies leave at once: a reply held back for the next packet would be late.
struct NoDelay(TcpListener);

impl axum::serve::Listener for NoDelay {
    type Io = tokio::net::TcpStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        let (stream, address) = axum::serve::Listener::accept(&mut self.0).await;
        // Refused only by a connection that is gone already.
        let _ = stream.set_nodelay(true);
        (stream, address)
    }

    fn local_addr(&self) -> std::io::Result<Self::Addr> {
        self.0.local_addr()
    }
}
