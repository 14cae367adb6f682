//! A peer that reads one whole request after the other and answers each with bytes.
//!
//! It must never know HTTP beyond where a request ends: the tests say what goes over the wire.

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

/// What a request is answered with.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    /// These bytes; the connection stays open.
    Say(String),
    /// These bytes, then the connection is closed.
    Close(String),
    /// These bytes, and then nothing any more.
    Stall(String),
}

pub(crate) struct Peer {
    pub(crate) url: String,
    requests: Arc<Mutex<Vec<String>>>,
    arrivals: Arc<Semaphore>,
}

impl Peer {
    /// Does the same to every request.
    pub(crate) async fn acting(act: Act) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0")
            .await
            .expect("the loopback is there");
        let peer = Self {
            url: format!("http://{}", listener.local_addr().expect("it is bound")),
            requests: Arc::default(),
            arrivals: Arc::new(Semaphore::new(0)),
        };
        let (requests, arrivals) = (Arc::clone(&peer.requests), Arc::clone(&peer.arrivals));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (requests, arrivals) = (Arc::clone(&requests), Arc::clone(&arrivals));
                let act = act.clone();
                tokio::spawn(async move {
                    converse(stream, act, |request| {
                        requests.lock().expect("no panic holds it").push(request);
                        arrivals.add_permits(1);
                    })
                    .await;
                });
            }
        });
        peer
    }

    /// Says this completion to everyone.
    pub(crate) async fn completing(body: &str) -> Self {
        Self::acting(Act::Say(reply(200, "", body))).await
    }

    /// What was asked so far, each head and body as one text.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().expect("no panic holds it").clone()
    }

    /// The body of the only request.
    pub(crate) fn body(&self) -> serde_json::Value {
        let requests = self.requests();
        let [request] = &requests[..] else {
            panic!("one request: {requests:?}");
        };
        let (_, body) = request.split_once("\r\n\r\n").expect("a body");
        serde_json::from_str(body).expect("it is JSON")
    }

    /// Waits until one more request was read whole.
    pub(crate) async fn arrival(&self) {
        self.arrivals
            .acquire()
            .await
            .expect("never closed")
            .forget();
    }
}

/// A whole reply.
pub(crate) fn reply(status: u16, headers: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status} Whatever\r\n{headers}Content-Length: {length}\r\n\r\n{body}")
}

async fn converse(mut stream: TcpStream, act: Act, heard: impl Fn(String)) {
    while let Some(request) = read_request(&mut stream).await {
        heard(request);
        match &act {
            Act::Say(bytes) => drop(stream.write_all(bytes.as_bytes()).await),
            Act::Close(bytes) => {
                let _ = stream.write_all(bytes.as_bytes()).await;
                return;
            }
            Act::Stall(bytes) => {
                let _ = stream.write_all(bytes.as_bytes()).await;
                // Until the other side is gone.
                let _ = stream.read_u8().await;
                return;
            }
        }
    }
}

async fn read_request(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    while !bytes.ends_with(b"\r\n\r\n") {
        bytes.push(stream.read_u8().await.ok()?);
    }
    let head = String::from_utf8(bytes).expect("heads are ASCII");
    let length = header(&head, "content-length").map_or(0, |text| text.parse().expect("a number"));
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    Some(head + &String::from_utf8(body).expect("bodies are JSON"))
}

/// The value of a header of a request's text.
pub(crate) fn header<'a>(request: &'a str, name: &str) -> Option<&'a str> {
    let head = request.split("\r\n\r\n").next()?;
    head.lines()
        .filter_map(|line: &'a str| line.split_once(": "))
        .find(|(n, _)| n.eq_ignore_ascii_case(name))
        .map(|(_, value)| value)
}
