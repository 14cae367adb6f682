//! One table of how a connection breaks, for every adapter that speaks HTTP: what is done to the
//! one connection, whether the request arrives whole, and how it ends for who asked.
//!
//! What an end means (kind, sent, code) is each adapter's own and stands in its tests. It must
//! never be guessed from the adapter what arrived: the proxy counts bytes, the server requests.

use std::net::SocketAddr;
use std::time::Duration;

use mainstay_fault_proxy::{Delayed, Direction, Directions, Fault, Proxy, Record};
use mainstay_types::Millis;

/// How long an attempt has that is to run out of time. Its request has to leave within that, also
/// on a busy machine.
pub(crate) const SHORT: Millis = Millis::new(500);

/// Longer than any attempt here: the proxy is stopped before.
const FOREVER_MS: u64 = 600_000;

/// Bounds how long a test waits for what is to come.
const PATIENCE: Duration = Duration::from_secs(30);

/// How many bytes an exchange has when nothing is done to it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lengths {
    pub(crate) request: u64,
    pub(crate) reply: u64,
}

/// How it ends for who asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ends {
    /// With the answer.
    Answered,
    /// The connection was refused or reset, perhaps before anything left. Which of the two comes
    /// first is the system's; neither may be called an answer.
    Refused,
    /// The connection broke after the request left.
    Lost,
    /// The time was up after the request left.
    TimeUp,
}

/// One row.
pub(crate) struct Break {
    pub(crate) name: &'static str,
    pub(crate) fault: fn(Lengths) -> Fault,
    /// Whether the server gets the request whole.
    pub(crate) arrives: bool,
    pub(crate) ends: Ends,
}

const fn row(name: &'static str, fault: fn(Lengths) -> Fault, arrives: bool, ends: Ends) -> Break {
    Break {
        name,
        fault,
        arrives,
        ends,
    }
}

/// So much of the head of a reply.
const IN_THE_HEAD: u64 = 20;
/// So many bytes before the end of a reply, which is in its body.
const IN_THE_BODY: u64 = 3;

#[rustfmt::skip]
pub(crate) const BREAKS: [Break; 23] = [
    row("refused before a byte left", |_| Fault::Refuse, false, Ends::Refused),
    row("taken, and silence", |_| Fault::Stall { hold_ms: FOREVER_MS }, false, Ends::TimeUp),
    row("reset at the first byte", |_| ask(0, true), false, Ends::Lost),
    row("closed at the first byte", |_| ask(0, false), false, Ends::Lost),
    row("request reset in the middle", |l| ask(l.request / 2, true), false, Ends::Lost),
    row("request cut in the middle", |l| ask(l.request / 2, false), false, Ends::Lost),
    row("request cut before its last byte", |l| ask(l.request - 1, false), false, Ends::Lost),
    row("request ended half way", |l| end(Direction::Request, l.request / 2), false, Ends::Lost),
    row("closed once the request is whole", |l| ask(l.request, false), true, Ends::Lost),
    row("reply dropped, then closed", |_| drop_reply(0), true, Ends::Lost),
    row("reply dropped, and silence", |_| drop_reply(FOREVER_MS), true, Ends::TimeUp),
    row("reset before the reply", |_| say(0, true), true, Ends::Lost),
    row("reply reset in its head", |_| say(IN_THE_HEAD, true), true, Ends::Lost),
    row("reply cut in its head", |_| say(IN_THE_HEAD, false), true, Ends::Lost),
    row("reply reset in its body", |l| say(l.reply - IN_THE_BODY, true), true, Ends::Lost),
    row("reply cut in its body", |l| say(l.reply - IN_THE_BODY, false), true, Ends::Lost),
    row("reply ended in its body", |l| end(Direction::Reply, l.reply - 1), true, Ends::Lost),
    row("closed behind the whole reply", |l| say(l.reply, false), true, Ends::Answered),
    row("reply slow, and in time", |l| slow(l.reply * 20), true, Ends::Answered),
    row("reply slow, and too late", |l| slow(l.reply / 10), true, Ends::TimeUp),
    row("all late, and in time", |_| late(Directions::Both, 5), true, Ends::Answered),
    row("reply too late", |_| late(Directions::Reply, FOREVER_MS), true, Ends::TimeUp),
    row("request too late", |_| late(Directions::Request, FOREVER_MS), false, Ends::TimeUp),
];

fn ask(bytes: u64, reset: bool) -> Fault {
    let direction = Direction::Request;
    Fault::CutAfter {
        direction,
        bytes,
        reset,
    }
}

fn say(bytes: u64, reset: bool) -> Fault {
    let direction = Direction::Reply;
    Fault::CutAfter {
        direction,
        bytes,
        reset,
    }
}

const fn drop_reply(hold_ms: u64) -> Fault {
    Fault::DropReply { hold_ms }
}

const fn end(direction: Direction, bytes: u64) -> Fault {
    Fault::HalfClose { direction, bytes }
}

const fn slow(bytes_per_second: u64) -> Fault {
    Fault::Throttle {
        direction: Directions::Reply,
        bytes_per_second,
    }
}

const fn late(direction: Directions, ms: u64) -> Fault {
    Fault::Delay {
        direction,
        ms,
        what: Delayed::EachChunk,
    }
}

/// A proxy in front of one server.
pub(crate) struct Broken {
    pub(crate) url: String,
    proxy: Proxy,
}

impl Broken {
    /// In front of `http://ADDRESS`, without a fault yet.
    pub(crate) async fn before(url: &str) -> Self {
        let address = url.strip_prefix("http://").expect("a URL of the loopback");
        let upstream: SocketAddr = address.parse().expect("an address");
        let proxy = Proxy::to(upstream)
            .start()
            .await
            .expect("the loopback is there");
        Self {
            url: format!("http://{}", proxy.addr()),
            proxy,
        }
    }

    /// The same, with this fault for the next connection.
    pub(crate) async fn with(url: &str, fault: Fault) -> Self {
        let broken = Self::before(url).await;
        broken.proxy.next(fault).expect("a valid fault");
        broken
    }

    /// The one connection there was, once everything of it is over.
    pub(crate) async fn record(mut self) -> Record {
        tokio::time::timeout(PATIENCE, self.proxy.shutdown())
            .await
            .expect("it ends at once");
        let mut log = self.proxy.log();
        assert_eq!(log.len(), 1, "one attempt is one connection: {log:?}");
        log.remove(0)
    }
}

/// What the proxy and the server saw of an attempt is what the row says.
///
/// `requests` is how many the server got whole. A request that was to arrive was waited for before.
pub(crate) fn check(row: &Break, record: &Record, lengths: Lengths, requests: usize) {
    let name = row.name;
    assert!(record.hit, "{name}: the fault did not hit: {record:?}");
    assert_eq!(requests, usize::from(row.arrives), "{name}: {record:?}");
    let request = record.request;
    let is_whole = match row.ends {
        // The less time an attempt has, the fewer digits it says that in.
        Ends::TimeUp => 0 < request.passed && request.passed == request.read,
        Ends::Answered | Ends::Refused | Ends::Lost => request.passed == lengths.request,
    };
    assert_eq!(is_whole, row.arrives, "{name}: {record:?}");
}

/// The lengths of an exchange to which nothing was done.
pub(crate) fn lengths(record: &Record) -> Lengths {
    assert!(0 < record.reply.passed, "{record:?}");
    Lengths {
        request: record.request.passed,
        reply: record.reply.passed,
    }
}
