//! https: what fails in the handshake was not sent.

use mainstay_dispatch::{FailureKind, Read, Sent, Write};

use crate::peer::{Peer, reply};
use crate::support::{TICKET_JSON, client, context, is, keyed, new_ticket, one, told};

#[tokio::test]
async fn a_failed_handshake_is_not_sent() {
    let peer = Peer::saying(reply(201, TICKET_JSON)).await;
    let failed = is(
        FailureKind::TransientTransport,
        Sent::NotSent,
        "CONNECT_FAILED",
    );
    let client = client(&peer.url.replace("http://", "https://"));
    assert_eq!(
        told(one(&client).call("T-1".to_owned(), &context()).await),
        failed
    );
    assert_eq!(
        told(keyed(&client).send(new_ticket(0), &context()).await),
        failed
    );
    assert_eq!(peer.requests().len(), 0);
}
