//! Which connection gets which fault, and how a proxy and its connections come and go.

use std::net::{Ipv4Addr, SocketAddr};

use mainstay_fault_proxy::{Connections, End, Fault, Plan, Proxy, Rule};
use tokio::net::{TcpListener, TcpStream};

use crate::support::{PATIENCE, Place, read, read_to_end, read_to_reset, send, soon};

#[tokio::test]
async fn the_plan_is_applied_by_number_may_be_replaced_and_the_queue_goes_first() {
    let second = Rule {
        connections: Connections::Nth(2),
        fault: Fault::Refuse,
    };
    let plan = Plan::new([second]).expect("a valid plan");
    let place = Place::with(plan.clone()).await;
    let _first = place.line().await;
    drop(place.client().await);
    assert_eq!(place.record(1).await.fault, Some(Fault::Refuse));
    place.proxy.set(plan);
    let _third = place.line().await;
    place
        .proxy
        .next(Fault::Stall { hold_ms: 0 })
        .expect("a valid fault");
    drop(place.client().await);
    let record = place.record(2).await;
    assert_eq!(record.fault, Some(Fault::Stall { hold_ms: 0 }));
    assert_eq!((record.connection, record.ended), (4, 2));
    let totals = place.proxy.totals();
    assert_eq!((totals.connections, totals.open(), totals.hit), (4, 2, 2));
}

#[tokio::test]
async fn an_upstream_that_is_down_is_a_reset_and_a_record() {
    let gone = TcpListener::bind("127.0.0.1:0")
        .await
        .expect("the loopback is there");
    let address = gone.local_addr().expect("it is bound");
    drop(gone);
    let proxy = Proxy::to(address).start().await.expect("a proxy");
    let mut client = TcpStream::connect(proxy.addr()).await.expect("it listens");
    assert_eq!(read_to_reset(&mut client).await, b"");
    soon(proxy.until_ended(1)).await;
    let end = &proxy.log()[0].end;
    assert!(
        matches!(end, End::UpstreamDown { why } if why.contains("refused")),
        "{end:?}"
    );
}

#[tokio::test]
async fn a_shutdown_ends_every_connection_and_records_it() {
    let mut place = Place::with(Plan::default()).await;
    let mut line = place.line().await;
    send(&mut line.client, b"hello").await;
    assert_eq!(read(&mut line.server, 5).await, b"hello");
    place
        .proxy
        .next(Fault::Stall { hold_ms: 60_000 })
        .expect("a valid fault");
    let mut stalled = place.client().await;
    wait_for(|| place.proxy.totals().open() == 2).await;

    soon(place.proxy.shutdown()).await;
    let mut ends: Vec<(u64, u64, End)> = place
        .proxy
        .log()
        .into_iter()
        .map(|record| (record.connection, record.request.passed, record.end))
        .collect();
    ends.sort_by_key(|(connection, ..)| *connection);
    assert_eq!(ends, [(1, 5, End::Stopped), (2, 0, End::Stopped)]);
    assert_eq!(read_to_end(&mut line.client).await, b"");
    assert_eq!(read_to_end(&mut line.server).await, b"");
    assert_eq!(read_to_end(&mut stalled).await, b"");
    let again = TcpStream::connect(place.proxy.addr()).await;
    assert!(again.is_err(), "the port is closed");
    soon(place.proxy.shutdown()).await;
}

#[tokio::test]
async fn a_dropped_proxy_closes_its_port_and_its_connections() {
    let place = Place::with(Plan::default()).await;
    let mut line = place.line().await;
    let address = place.proxy.addr();
    drop(place.proxy);
    assert_eq!(read_to_end(&mut line.client).await, b"");
    assert_eq!(read_to_end(&mut line.server).await, b"");
    assert!(
        TcpStream::connect(address).await.is_err(),
        "the port is closed"
    );
}

#[tokio::test]
async fn an_address_that_is_taken_is_said() {
    let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .await
        .expect("the loopback is there");
    let address = taken.local_addr().expect("it is bound");
    let nowhere = SocketAddr::from((Ipv4Addr::LOCALHOST, 9));
    let error = Proxy::to(nowhere).listen(address).start().await;
    let error = error.expect_err("it is taken");
    assert_eq!(
        error.to_string(),
        format!("{address} cannot be listened at")
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_connections_at_once_each_get_their_own_bytes() {
    let place = Place::with(Plan::default()).await;
    let lines = 200_u32;
    let echo = async {
        for _ in 0..lines {
            let (mut server, _) = place.server.accept().await.expect("it is connected to");
            tokio::spawn(async move {
                let (mut from, mut to) = server.split();
                tokio::io::copy(&mut from, &mut to).await
            });
        }
    };
    let clients = (0..lines).map(|number| {
        let address = place.proxy.addr();
        tokio::spawn(async move {
            let mut client = TcpStream::connect(address).await.expect("it listens");
            let mine = number.to_le_bytes();
            send(&mut client, &mine).await;
            assert_eq!(read(&mut client, 4).await, mine);
        })
    });
    let clients: Vec<_> = clients.collect();
    soon(echo).await;
    for client in clients {
        soon(client).await.expect("no panic");
    }
    soon(place.proxy.until_ended(lines.into())).await;
    let totals = place.proxy.totals();
    assert_eq!((totals.request_bytes, totals.reply_bytes), (800, 800));
}

/// Looks until it is so.
async fn wait_for(is_so: impl Fn() -> bool) {
    let looking = async {
        while !is_so() {
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(PATIENCE, looking)
        .await
        .expect("it comes");
}
