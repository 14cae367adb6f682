//! The queue's promises: a bound, an order, and no place lost to a caller that left.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use mainstay_ledger::InboxCommand;
use mainstay_types::MessageId;

use super::*;

fn wish(n: u8) -> Wish {
    let command = InboxCommand::Cancel {
        by: "t".to_owned(),
        why: n.to_string(),
    };
    let message = InboxMessage {
        id: MessageId::from_bytes([n; 16]),
        command,
    };
    Wish::Enqueue(
        RunId::from_bytes([n; 16]),
        message,
        Arc::default(),
        Reply::new().0,
    )
}

fn number(wish: &Wish) -> u8 {
    match wish {
        Wish::Enqueue(run, ..) => run.as_bytes()[0],
        Wish::Commit(..) | Wish::Sweep(..) => panic!("only inbox wishes are made here"),
    }
}

fn poll<F: Future>(future: std::pin::Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

#[test]
fn a_full_queue_makes_callers_wait_and_serves_them_in_order() {
    let queue = Queue::new(2);
    let mut waiting: Vec<_> = (0..5).map(|n| Box::pin(queue.push(wish(n)))).collect();
    let ready: Vec<bool> = waiting
        .iter_mut()
        .map(|w| poll(w.as_mut()).is_ready())
        .collect();
    assert_eq!(ready, [true, true, false, false, false]);
    assert_eq!(
        queue.next(|| Served::Both).map(|wish| number(&wish)),
        Some(0)
    );
    // One place is free and promised to the one who waits longest: nobody overtakes.
    assert!(poll(pin!(queue.push(wish(9)))).is_pending());
    assert!(poll(waiting[3].as_mut()).is_pending());
    assert!(poll(waiting[2].as_mut()).is_ready());
    assert_eq!(
        queue.next(|| Served::Both).map(|wish| number(&wish)),
        Some(1)
    );
    assert_eq!(
        queue.next(|| Served::Both).map(|wish| number(&wish)),
        Some(2)
    );
}

#[test]
fn callers_that_leave_take_no_place_with_them() {
    let queue = Queue::new(1);
    assert!(poll(pin!(queue.push(wish(0)))).is_ready());
    let mut leaving: Vec<_> = (0..10_000).map(|_| Box::pin(queue.push(wish(1)))).collect();
    assert!(leaving.iter_mut().all(|w| poll(w.as_mut()).is_pending()));
    let mut stays = pin!(queue.push(wish(2)));
    assert!(poll(stays.as_mut()).is_pending());
    // The first is called up and then leaves without having come; the others leave before.
    let called_up = leaving.remove(0);
    drop(leaving);
    assert_eq!(
        queue.next(|| Served::Both).map(|wish| number(&wish)),
        Some(0)
    );
    drop(called_up);
    assert!(poll(stays.as_mut()).is_ready());
    assert_eq!(
        queue.next(|| Served::Both).map(|wish| number(&wish)),
        Some(2)
    );
    assert_eq!(queue.state.lock().control.placed, 0);
}

#[test]
fn a_group_takes_no_wish_that_would_exceed_it() {
    let queue = Queue::new(8);
    assert!(
        poll(pin!(queue.push(Wish::Commit(
            Vec::new(),
            Arc::default(),
            Reply::new().0
        ))))
        .is_ready()
    );
    assert!(queue.next_within(Served::Both, 0).is_none());
    assert!(queue.next_within(Served::Both, 1).is_some());
    assert!(queue.next_within(Served::Both, 1).is_none());
}

#[test]
fn a_closed_queue_serves_what_it_has_and_turns_the_rest_away() {
    let queue = Queue::new(1);
    assert!(poll(pin!(queue.push(wish(0)))).is_ready());
    let mut waits = pin!(queue.push(wish(1)));
    assert!(poll(waits.as_mut()).is_pending());
    queue.close();
    assert!(matches!(poll(waits.as_mut()), Poll::Ready(Err(Closed))));
    assert!(matches!(
        poll(pin!(queue.push(wish(2)))),
        Poll::Ready(Err(Closed))
    ));
    assert_eq!(
        queue.next(|| Served::Both).map(|wish| number(&wish)),
        Some(0)
    );
    assert!(queue.next(|| Served::Both).is_none());
}

#[test]
fn a_failed_queue_answers_everyone_in_it() {
    let queue = Queue::new(4);
    let (reply, mut answer) = Reply::new();
    assert!(
        poll(pin!(queue.push(Wish::Commit(
            Vec::new(),
            Arc::default(),
            reply
        ))))
        .is_ready()
    );
    let failure = LedgerError::Poisoned {
        detail: "disk".to_owned(),
    };
    queue.fail(&failure);
    assert_eq!(answer.try_recv(), Ok(Some(Err(failure))));
    assert!(queue.next(|| Served::Both).is_none());
}
