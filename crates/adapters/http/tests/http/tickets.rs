//! Writes to the ticket service: what a lost reply leaves behind, and how it is found again.

use std::time::{Duration, Instant};

use mainstay_dispatch::{AttemptContext, FailureKind, Found, Millis, Sent, Write};
use tempfile::TempDir;
use ticket_service::{Fault, Options};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use crate::support::{
    NewTicket, PLENTY, Ticket, Told, client, context, failed, is, key, keyed, look_up, new_ticket,
    searched, told,
};

/// How long a test waits for a value before it fails.
const PATIENCE: Duration = Duration::from_secs(20);

struct Service {
    url: String,
    options: Options,
    stop: oneshot::Sender<()>,
    ended: tokio::task::JoinHandle<Result<(), ticket_service::Error>>,
    _folder: TempDir,
}

impl Service {
    async fn start() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let mut options = Options::new(folder.path().join("tickets.db"));
        // A delay must end in a commit, however slow the machine is.
        options.bound = Duration::from_secs(20);
        let listener = TcpListener::bind("127.0.0.1:0")
            .await
            .expect("the loopback is there");
        let url = format!("http://{}", listener.local_addr().expect("it is bound"));
        let (stop, stopped) = oneshot::channel();
        let shutdown = async { drop(stopped.await) };
        let ended = tokio::spawn(ticket_service::serve(options.clone(), listener, shutdown));
        Self {
            url,
            options,
            stop,
            ended,
            _folder: folder,
        }
    }

    /// A service with this fault, as its command line writes it.
    async fn with(fault: &str) -> Self {
        let service = Self::start().await;
        service.arm(fault);
        service
    }

    fn arm(&self, fault: &str) {
        let fault: Fault = fault.parse().expect("a valid fault");
        self.options
            .faults
            .arm(fault)
            .expect("the service can do it");
    }

    async fn stop(self) {
        self.stop.send(()).expect("it runs");
        self.ended.await.expect("no panic").expect("a clean end");
    }
}

fn doubt(code: &str) -> (FailureKind, Sent, String) {
    is(FailureKind::EffectUnknown, Sent::MaybeSent, code)
}

async fn found(write: &impl Write<Request = NewTicket, Reply = Ticket>) -> Found<Ticket> {
    write
        .find(new_ticket(0), &look_up())
        .await
        .expect("the service can be asked")
}

/// Asks until the answer is not this one any more.
async fn found_after(
    write: &impl Write<Request = NewTicket, Reply = Ticket>,
    passing: Found<Ticket>,
) -> Found<Ticket> {
    let since = Instant::now();
    loop {
        let now = found(write).await;
        if now != passing {
            return now;
        }
        assert!(since.elapsed() < PATIENCE, "it stays {now:?}");
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_write_is_found_by_its_key_and_a_resend_is_the_same_ticket() {
    let service = Service::start().await;
    let write = keyed(&client(&service.url));
    assert_eq!(found(&write).await, Found::NotFound);
    let first = write
        .send(new_ticket(0), &context())
        .await
        .expect("an answer")
        .value;
    assert_eq!(found(&write).await, Found::Applied(first.clone()));
    let again = write
        .send(new_ticket(0), &context())
        .await
        .expect("an answer")
        .value;
    assert_eq!(again, first);
    service.stop().await;
}

#[tokio::test]
async fn a_reply_lost_after_the_commit_is_in_doubt_and_found() {
    let service = Service::with("commit_then_drop:1").await;
    let write = keyed(&client(&service.url));
    let lost = told(write.send(new_ticket(0), &context()).await);
    assert_eq!(lost, doubt("CONNECTION_LOST"));
    let Found::Applied(ticket) = found(&write).await else {
        panic!("it was committed")
    };
    assert_eq!(ticket.id, "T-1");
    service.stop().await;
}

#[tokio::test]
async fn a_reply_lost_before_the_commit_is_in_doubt_and_not_found() {
    let service = Service::with("drop_before_commit:1").await;
    let write = keyed(&client(&service.url));
    let lost = told(write.send(new_ticket(0), &context()).await);
    assert_eq!(lost, doubt("CONNECTION_LOST"));
    assert_eq!(
        found_after(&write, Found::InProgress).await,
        Found::NotFound
    );
    service.stop().await;
}

#[tokio::test]
async fn a_write_that_is_still_being_done_is_in_progress_and_then_applied() {
    // Only the write waits, long enough for two requests to come in between.
    let service = Service::with("delay:1,delay_ms=2500,method=POST").await;
    let write = keyed(&client(&service.url));
    let first = write.clone();
    let sending = tokio::spawn(async move { first.send(new_ticket(0), &context()).await });
    assert_eq!(
        found_after(&write, Found::NotFound).await,
        Found::InProgress
    );
    let conflict = told(write.send(new_ticket(0), &context()).await);
    assert_eq!(conflict, doubt("HTTP 409"));
    let ticket = sending.await.expect("no panic").expect("an answer").value;
    assert_eq!(found(&write).await, Found::Applied(ticket));
    service.stop().await;
}

#[tokio::test]
async fn another_request_under_a_used_key_is_refused_as_invalid() {
    let service = Service::start().await;
    let write = keyed(&client(&service.url));
    write
        .send(new_ticket(0), &context())
        .await
        .expect("an answer");
    let other = NewTicket {
        title: "repave".to_owned(),
        ..new_ticket(0)
    };
    let mismatch = told(write.send(other, &context()).await);
    assert_eq!(
        mismatch,
        is(FailureKind::InvalidInput, Sent::Answered, "HTTP 422")
    );
    service.stop().await;
}

#[tokio::test]
async fn a_busy_service_says_when_to_come_back() {
    for (kind, told_kind) in [
        ("unavailable", FailureKind::Overloaded),
        ("rate_limited", FailureKind::RateLimited),
    ] {
        let service = Service::with(&format!("{kind}:2,retry_after_s=7")).await;
        let write = keyed(&client(&service.url));
        let failure = failed(write.send(new_ticket(0), &context()).await);
        assert_eq!((failure.kind, failure.sent), (told_kind, Sent::Answered));
        assert_eq!(failure.retry_after, Some(Millis::from_secs(7)));
        // A look-up that is refused cannot tell, and says why.
        let failure = failed(write.find(new_ticket(0), &look_up()).await);
        assert_eq!(failure.kind, told_kind);
        assert_eq!(found(&write).await, Found::NotFound);
        service.stop().await;
    }
}

#[tokio::test]
async fn without_keys_a_lost_reply_is_found_by_a_search() {
    let service = Service::with("no_dedupe").await;
    service.arm("commit_then_drop:1");
    let write = searched(&client(&service.url));
    assert_eq!(found(&write).await, Found::NotFound);
    let lost = told(write.send(new_ticket(0), &context()).await);
    assert_eq!(lost, doubt("CONNECTION_LOST"));
    let end = found(&write).await;
    assert!(
        matches!(&end, Found::Applied(ticket) if ticket.id == "T-1"),
        "{end:?}"
    );
    service.stop().await;
}

#[tokio::test]
async fn a_service_that_closes_every_connection_is_asked_again_once_it_is_back() {
    let service = Service::with("down").await;
    let write = keyed(&client(&service.url));
    let failure = failed(write.send(new_ticket(0), &context()).await);
    // The connection stood; whether the body was already out when it closed differs.
    assert_ne!(failure.sent, Sent::Answered);
    assert!(write.find(new_ticket(0), &look_up()).await.is_err());
    service.options.faults.clear();
    assert_eq!(found(&write).await, Found::NotFound);
    service.stop().await;
}

#[tokio::test]
async fn a_service_that_is_gone_has_got_nothing() {
    let service = Service::start().await;
    let write = keyed(&client(&service.url));
    write
        .send(new_ticket(0), &context())
        .await
        .expect("an answer");
    service.stop().await;
    let gone = told(write.send(new_ticket(0), &context()).await);
    assert_eq!(
        gone,
        is(
            FailureKind::TransientTransport,
            Sent::NotSent,
            "CONNECT_FAILED"
        )
    );
}

#[tokio::test]
async fn a_key_beyond_ascii_is_found_again() {
    let service = Service::start().await;
    let write = keyed(&client(&service.url));
    let told = |control| -> AttemptContext {
        let key = Some(key("Müller & Söhne / \"Nord\"", 0));
        Told {
            key,
            control,
            time_left: PLENTY,
            ..Told::default()
        }
        .context()
    };
    let first = write
        .send(new_ticket(0), &told(false))
        .await
        .expect("an answer")
        .value;
    let end = write.find(new_ticket(0), &told(true)).await;
    assert_eq!(end, Ok(Found::Applied(first)));
    assert_eq!(found(&write).await, Found::NotFound);
    service.stop().await;
}
