//! One connection, from the moment it was accepted to its record.
//!
//! It must never end without the client learning of it, except where the fault is that it does not.

use std::io;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

use crate::bounds::{BUFFER_BYTES, CLOSE_MS_MAX, CONNECTION_MS_MAX, millis};
use crate::pump::{Broken, Finished, Pump};
use crate::record::{End, Side};
use crate::shared::Opened;
use crate::upstream::Upstream;
use crate::valve::{Course, Valve};

/// Carries `client` to the end; what became of it is in the record that `opened` leaves.
pub(crate) async fn carry(client: TcpStream, upstream: &Upstream, mut opened: Opened) {
    let whole = course(client, upstream, &mut opened);
    opened.end = match timeout(millis(CONNECTION_MS_MAX), whole).await {
        Ok(end) => end,
        Err(_) => End::TimeUp,
    };
}

async fn course(client: TcpStream, upstream: &Upstream, opened: &mut Opened) -> End {
    match Course::of(opened.fault) {
        Course::Refuse => {
            opened.request.hit = true;
            reset(client);
            End::Fault
        }
        Course::Stall(hold) => {
            opened.request.hit = true;
            sleep(hold).await;
            reset(client);
            End::Fault
        }
        Course::Carry { request, reply } => match connect(&client, upstream).await {
            Ok(server) => pass_on(client, server, [request, reply], opened).await,
            Err(error) => {
                reset(client);
                End::UpstreamDown {
                    why: error.to_string(),
                }
            }
        },
    }
}

async fn connect(client: &TcpStream, upstream: &Upstream) -> io::Result<TcpStream> {
    client.set_nodelay(true)?;
    upstream.connect().await
}

async fn pass_on(
    mut client: TcpStream,
    mut server: TcpStream,
    [request, reply]: [Valve; 2],
    opened: &mut Opened,
) -> End {
    let ended = both(&mut client, &mut server, [request, reply], opened).await;
    match ended {
        Ok(End::Closed) => End::Closed,
        Err((_, Broken::Cut { reset: false })) => {
            close(client, server).await;
            End::Fault
        }
        Err((_, Broken::Cut { reset: true })) => {
            reset(client);
            reset(server);
            End::Fault
        }
        Ok(lost) => {
            reset(client);
            reset(server);
            lost
        }
        Err((side, Broken::Lost(error))) => {
            reset(client);
            reset(server);
            lost(side, &error)
        }
    }
}

/// Both directions, until both have ended or one ends both.
async fn both(
    client: &mut TcpStream,
    server: &mut TcpStream,
    [request, reply]: [Valve; 2],
    opened: &mut Opened,
) -> Result<End, (Side, Broken)> {
    let (from_client, to_client) = client.split();
    let (from_server, to_server) = server.split();
    let asking = Pump {
        from: from_client,
        to: to_server,
        valve: request,
        way: &mut opened.request,
    };
    let answering = Pump {
        from: from_server,
        to: to_client,
        valve: reply,
        way: &mut opened.reply,
    };
    let ended = tokio::try_join!(
        async { asking.run().await.map_err(|broken| (Side::Client, broken)) },
        async {
            answering
                .run()
                .await
                .map_err(|broken| (Side::Upstream, broken))
        },
    );
    Ok(match ended? {
        (Finished::Said, Finished::Said) => End::Closed,
        (Finished::Unheard(error), _) => lost(Side::Upstream, &error),
        (_, Finished::Unheard(error)) => lost(Side::Client, &error),
    })
}

fn lost(side: Side, error: &io::Error) -> End {
    End::Lost {
        side,
        why: error.to_string(),
    }
}

/// RST: what is not delivered yet is thrown away.
fn reset(stream: TcpStream) {
    // A socket that is already gone has nobody to tell.
    let _ = stream.set_zero_linger();
}

/// FIN on both sides. What they still send is read and forgotten for a while: a socket that is
/// dropped with unread bytes sends a reset, which may overtake what was passed on before.
async fn close(mut client: TcpStream, mut server: TcpStream) {
    let both = async { tokio::join!(close_one(&mut client), close_one(&mut server)) };
    let _ = timeout(millis(CLOSE_MS_MAX), both).await;
}

async fn close_one(stream: &mut TcpStream) {
    let mut buffer = vec![0; BUFFER_BYTES];
    let _ = stream.shutdown().await;
    while matches!(stream.read(&mut buffer).await, Ok(1..)) {}
}
