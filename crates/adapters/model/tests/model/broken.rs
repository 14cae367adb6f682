//! Connections that break on purpose, between the adapter and a server that answers every question.

use mainstay_dispatch::{Answer, Failure, FailureKind, Millis, Read, Sent};

use crate::breaks::{BREAKS, Broken, Ends, SHORT, check, lengths};
use crate::peer::Peer;
use crate::support::{
    DIGEST, Digest, PLENTY, Told, completion, digest, model, structured, told, with_time,
};

async fn attempt(url: &str, time: Millis) -> Result<Answer<Digest>, Failure> {
    let read = structured(&model(url));
    read.call("the minutes".to_owned(), &with_time(time)).await
}

async fn server() -> Peer {
    Peer::completing(&completion(DIGEST, "stop")).await
}

/// What is told of an answer that did not come: what it cost is not known.
fn transient(sent: Sent, code: &str) -> Told {
    (FailureKind::TransientTransport, sent, code.to_owned(), None)
}

#[tokio::test]
async fn every_way_a_connection_breaks_is_told_as_that_of_a_read_without_a_cost() {
    let peer = server().await;
    let broken = Broken::before(&peer.url).await;
    let answer = attempt(&broken.url, PLENTY).await.expect("an answer");
    assert_eq!(answer.value, digest());
    let lengths = lengths(&broken.record().await);
    for row in &BREAKS {
        let peer = server().await;
        let broken = Broken::with(&peer.url, (row.fault)(lengths)).await;
        let time = if row.ends == Ends::TimeUp {
            SHORT
        } else {
            PLENTY
        };
        let ended = attempt(&broken.url, time).await;
        if row.arrives {
            peer.arrival().await;
        }
        let lost = transient(Sent::MaybeSent, "CONNECTION_LOST");
        match row.ends {
            Ends::Answered => assert_eq!(ended.expect(row.name).value, digest(), "{}", row.name),
            Ends::Lost => assert_eq!(told(ended), lost, "{}", row.name),
            Ends::TimeUp => {
                let late = transient(Sent::MaybeSent, "ATTEMPT_TIMEOUT");
                assert_eq!(told(ended), late, "{}", row.name);
            }
            Ends::Refused => {
                let not_sent = |code| transient(Sent::NotSent, code);
                let heard = told(ended);
                let allowed = [
                    not_sent("CONNECT_FAILED"),
                    not_sent("CONNECTION_LOST"),
                    lost,
                ];
                assert!(allowed.contains(&heard), "{}: {heard:?}", row.name);
            }
        }
        check(row, &broken.record().await, lengths, peer.requests().len());
    }
}
