//! A server, a proxy in front of it, and a client.

use std::io;
use std::time::Duration;

use mainstay_fault_proxy::{Fault, Plan, Proxy, Record};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

/// Bounds how long a test waits for what is to come.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// A server that accepts when it is told, and a proxy in front of it.
pub(crate) struct Place {
    pub(crate) server: TcpListener,
    pub(crate) proxy: Proxy,
}

/// Both ends of one connection through the proxy.
pub(crate) struct Line {
    pub(crate) client: TcpStream,
    pub(crate) server: TcpStream,
}

impl Place {
    pub(crate) async fn with(plan: Plan) -> Self {
        let server = TcpListener::bind("127.0.0.1:0")
            .await
            .expect("the loopback is there");
        let upstream = server.local_addr().expect("it is bound");
        let proxy = Proxy::to(upstream).plan(plan).start().await;
        Self {
            server,
            proxy: proxy.expect("the loopback is there"),
        }
    }

    /// Does this to every connection.
    pub(crate) async fn doing(fault: Fault) -> Self {
        Self::with(Plan::every(fault).expect("a valid fault")).await
    }

    pub(crate) async fn client(&self) -> TcpStream {
        TcpStream::connect(self.proxy.addr())
            .await
            .expect("the proxy listens")
    }

    pub(crate) async fn line(&self) -> Line {
        let client = self.client().await;
        let (server, _) = soon(self.server.accept())
            .await
            .expect("it is connected to");
        Line { client, server }
    }

    /// The record of the `count`th connection that ended.
    pub(crate) async fn record(&self, count: u64) -> Record {
        soon(self.proxy.until_ended(count)).await;
        let log = self.proxy.log_after(count - 1);
        log.into_iter().next().expect("it is kept")
    }

    /// Checks that the server was never connected to, beyond what it has accepted.
    pub(crate) fn leave_untouched(self) {
        // Not through tokio: it asks the system only once it was told that somebody is there.
        let server = self.server.into_std().expect("a listener");
        let error = server.accept().expect_err("nobody connects");
        assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
    }
}

/// The end of what is to come at once.
pub(crate) async fn soon<T>(future: impl Future<Output = T>) -> T {
    timeout(PATIENCE, future).await.expect("it comes in time")
}

/// Sends this.
pub(crate) async fn send(stream: &mut TcpStream, bytes: &[u8]) {
    soon(stream.write_all(bytes)).await.expect("it takes it");
}

/// Reads exactly so many bytes.
pub(crate) async fn read(stream: &mut TcpStream, count: usize) -> Vec<u8> {
    let mut bytes = vec![0; count];
    soon(stream.read_exact(&mut bytes))
        .await
        .expect("they come");
    bytes
}

/// What comes until an orderly end.
pub(crate) async fn read_to_end(stream: &mut TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    soon(stream.read_to_end(&mut bytes))
        .await
        .expect("an orderly end");
    bytes
}

/// What comes until a reset.
pub(crate) async fn read_to_reset(stream: &mut TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    let error = soon(stream.read_to_end(&mut bytes))
        .await
        .expect_err("a reset");
    assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
    bytes
}
