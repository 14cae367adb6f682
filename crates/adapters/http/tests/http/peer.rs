//! A peer that speaks raw bytes: it reads whole requests and does to each what it is told.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::Semaphore;

/// What happens to a request that was read whole.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    /// These bytes are sent; the connection stays open.
    Say(Vec<u8>),
    /// These bytes are sent, then the connection is closed.
    SayAndClose(Vec<u8>),
    /// These bytes are sent, then the connection is reset.
    SayAndReset(Vec<u8>),
    /// Nothing is sent until [`Peer::release`], then the bytes.
    Hold(Vec<u8>),
}

pub(crate) struct Peer {
    pub(crate) url: String,
    seen: Arc<Mutex<Seen>>,
    arrivals: Arc<Semaphore>,
    released: Arc<Semaphore>,
}

#[derive(Default)]
struct Seen {
    connections: usize,
    requests: Vec<String>,
    script: VecDeque<Act>,
}

impl Peer {
    /// Does one act after the other, and the last one from then on.
    pub(crate) async fn acting(script: impl IntoIterator<Item = Act>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0")
            .await
            .expect("the loopback is there");
        let url = format!("http://{}", listener.local_addr().expect("it is bound"));
        let script = script.into_iter().collect();
        let seen = Arc::new(Mutex::new(Seen {
            script,
            ..Seen::default()
        }));
        let (arrivals, released) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
        let peer = Self {
            url,
            seen,
            arrivals,
            released,
        };
        let server = peer.server();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                server.seen.lock().expect("no panic holds it").connections += 1;
                let connection = server.server();
                tokio::spawn(async move { connection.converse(stream).await });
            }
        });
        peer
    }

    /// Says the same to everyone.
    pub(crate) async fn saying(bytes: impl Into<Vec<u8>>) -> Self {
        Self::acting([Act::Say(bytes.into())]).await
    }

    /// What was asked so far, each head and body as one text.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.seen
            .lock()
            .expect("no panic holds it")
            .requests
            .clone()
    }

    /// How many connections were accepted.
    pub(crate) fn connections(&self) -> usize {
        self.seen.lock().expect("no panic holds it").connections
    }

    /// Waits until one more request was read whole.
    pub(crate) async fn arrival(&self) {
        self.arrivals
            .acquire()
            .await
            .expect("never closed")
            .forget();
    }

    /// Lets one held reply go.
    pub(crate) fn release(&self) {
        self.released.add_permits(1);
    }

    fn server(&self) -> Self {
        Self {
            url: self.url.clone(),
            seen: Arc::clone(&self.seen),
            arrivals: Arc::clone(&self.arrivals),
            released: Arc::clone(&self.released),
        }
    }

    async fn converse(&self, mut stream: TcpStream) {
        while let Some(request) = read_request(&mut stream).await {
            match self.take(request) {
                Act::Say(bytes) => drop(stream.write_all(&bytes).await),
                Act::SayAndClose(bytes) => {
                    let _ = stream.write_all(&bytes).await;
                    return;
                }
                Act::SayAndReset(bytes) => {
                    let _ = stream.write_all(&bytes).await;
                    stream.set_zero_linger().expect("a socket option");
                    return;
                }
                Act::Hold(bytes) => {
                    self.released
                        .acquire()
                        .await
                        .expect("never closed")
                        .forget();
                    let _ = stream.write_all(&bytes).await;
                }
            }
        }
    }

    fn take(&self, request: String) -> Act {
        let mut seen = self.seen.lock().expect("no panic holds it");
        seen.requests.push(request);
        self.arrivals.add_permits(1);
        match seen.script.len() {
            1 => seen.script[0].clone(),
            _ => seen.script.pop_front().expect("a script is not empty"),
        }
    }
}

/// The next request, head and body; `None` once the other side is gone.
async fn read_request(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    let head = loop {
        bytes.push(stream.read_u8().await.ok()?);
        if bytes.ends_with(b"\r\n\r\n") {
            break String::from_utf8(bytes).expect("heads are ASCII");
        }
    };
    let length = header(&head, "content-length").map_or(0, |text| text.parse().expect("a number"));
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    Some(head + &String::from_utf8(body).expect("bodies are JSON"))
}

/// The value of a header of a request's text.
pub(crate) fn header<'a>(request: &'a str, name: &str) -> Option<&'a str> {
    let head = request.split("\r\n\r\n").next()?;
    let pair = |line: &'a str| line.split_once(": ");
    head.lines()
        .filter_map(pair)
        .find(|(n, _)| n.eq_ignore_ascii_case(name))
        .map(|(_, v)| v)
}

/// A whole reply with this status and body.
pub(crate) fn reply(status: u16, body: &str) -> String {
    reply_with(status, "", body)
}

/// The same with further header lines, each ended by `\r\n`.
pub(crate) fn reply_with(status: u16, headers: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status} Whatever\r\n{headers}Content-Length: {length}\r\n\r\n{body}")
}

/// An address where a connection neither stands nor is refused: the queue of its listener is full.
pub(crate) struct FullHouse {
    pub(crate) url: String,
    _listener: TcpListener,
    _guests: Vec<TcpStream>,
}

impl FullHouse {
    pub(crate) async fn open() -> Self {
        let socket = TcpSocket::new_v4().expect("a socket");
        socket
            .bind(SocketAddr::from(([127, 0, 0, 1], 0)))
            .expect("the loopback is there");
        let listener = socket.listen(1).expect("it is bound");
        let address = listener.local_addr().expect("it is bound");
        let mut guests = Vec::new();
        // The one that does not come in within this time proves that the house is full.
        let patience = std::time::Duration::from_millis(300);
        while let Ok(guest) = tokio::time::timeout(patience, TcpStream::connect(address)).await {
            guests.push(guest.expect("the queue takes it or lets it wait"));
            assert!(
                guests.len() < 64,
                "the system takes more than the queue's length"
            );
        }
        Self {
            url: format!("http://{address}"),
            _listener: listener,
            _guests: guests,
        }
    }
}
