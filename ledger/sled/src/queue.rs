//! What waits for the committer: a bounded queue, first come, first served.
//!
//! A caller beyond the bound waits for room with its request in its own hands, so the store never
//! holds more than the bound. No caller overtakes one that waits.

use std::collections::VecDeque;
use std::sync::Arc;

use futures_channel::oneshot;
use mainstay_ledger::{CommitRequest, Enqueued, InboxMessage, LedgerError, Verdict};
use mainstay_types::RunId;
use parking_lot::{Condvar, Mutex};

/// Who waits for an answer, and the answer until it may leave.
#[derive(Debug)]
pub(crate) struct Reply<T> {
    to: oneshot::Sender<Result<T, LedgerError>>,
    with: Option<Result<T, LedgerError>>,
}

/// What a caller waits for; an error when the wish was dropped unanswered.
pub(crate) type Answer<T> = oneshot::Receiver<Result<T, LedgerError>>;

impl<T> Reply<T> {
    pub(crate) fn new() -> (Self, Answer<T>) {
        let (to, answer) = oneshot::channel();
        (Self { to, with: None }, answer)
    }

    /// Keeps the answer; nobody sees it yet.
    pub(crate) fn set(&mut self, answer: Result<T, LedgerError>) {
        self.with = Some(answer);
    }

    fn send(self, failure: Option<LedgerError>) {
        if let Some(answer) = failure.map(Err).or(self.with) {
            // A caller that gave up needs no answer.
            let _ = self.to.send(answer);
        }
    }
}

/// One caller's wish.
#[derive(Debug)]
pub(crate) enum Wish {
    /// Commit these.
    Commit(Vec<CommitRequest>, Reply<Vec<Verdict>>),
    /// Put a command into a run's inbox.
    Enqueue(RunId, InboxMessage, Reply<Enqueued>),
}

impl Wish {
    /// How many requests it counts as.
    pub(crate) fn weight(&self) -> usize {
        match self {
            Self::Commit(requests, _) => requests.len().max(1),
            Self::Enqueue(..) => 1,
        }
    }

    /// Lets the answer leave; the failure, when there is one, instead of it.
    pub(crate) fn answer(self, failure: Option<LedgerError>) {
        match self {
            Self::Commit(_, reply) => reply.send(failure),
            Self::Enqueue(_, _, reply) => reply.send(failure),
        }
    }
}

/// The queue was closed; the wish was not taken.
#[derive(Debug)]
pub(crate) struct Closed;

/// The queue of one committer.
#[derive(Debug)]
pub(crate) struct Queue {
    state: Mutex<State>,
    filled: Condvar,
    max: usize,
}

#[derive(Debug, Default)]
struct State {
    wishes: VecDeque<Wish>,
    /// Requests that have a place, in the queue or on their way into it.
    placed: usize,
    waiting: VecDeque<(usize, oneshot::Sender<Place>)>,
    closed: bool,
}

impl Queue {
    /// An empty queue with places for `max` requests; `max` is at least one wish's weight.
    pub(crate) fn new(max: usize) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::default(),
            filled: Condvar::new(),
            max,
        })
    }

    /// Puts a wish at the end, once there is room. Dropped before that, nothing was put.
    pub(crate) async fn push(self: &Arc<Self>, wish: Wish) -> Result<(), Closed> {
        let place = match self.ask(wish.weight())? {
            Ok(place) => place,
            Err(turn) => turn.await.map_err(|_| Closed)?,
        };
        let mut state = self.state.lock();
        if state.closed {
            drop(state);
            return Err(Closed);
        }
        place.keep();
        state.wishes.push_back(wish);
        self.filled.notify_one();
        Ok(())
    }

    /// A place at once, or the turn to wait for.
    fn ask(
        self: &Arc<Self>,
        weight: usize,
    ) -> Result<Result<Place, oneshot::Receiver<Place>>, Closed> {
        debug_assert!(
            weight <= self.max,
            "a wish that never fits would wait for ever"
        );
        let mut state = self.state.lock();
        if state.closed {
            return Err(Closed);
        }
        if state.waiting.is_empty() && state.placed + weight <= self.max {
            state.placed += weight;
            return Ok(Ok(self.place(weight)));
        }
        let (turn, wait) = oneshot::channel();
        state.waiting.push_back((weight, turn));
        Ok(Err(wait))
    }

    fn place(self: &Arc<Self>, weight: usize) -> Place {
        Place {
            queue: Some(Arc::clone(self)),
            weight,
        }
    }

    /// The next wish; waits for one. `None` once the queue is closed and empty.
    pub(crate) fn next(self: &Arc<Self>) -> Option<Wish> {
        let mut state = self.state.lock();
        loop {
            if let Some(wish) = state.wishes.pop_front() {
                drop(state);
                self.release(wish.weight());
                return Some(wish);
            }
            if state.closed {
                return None;
            }
            self.filled.wait(&mut state);
        }
    }

    /// The next wish if one waits that counts as at most `weight` requests.
    pub(crate) fn next_within(self: &Arc<Self>, weight: usize) -> Option<Wish> {
        let wish = {
            let mut state = self.state.lock();
            if weight < state.wishes.front()?.weight() {
                return None;
            }
            state.wishes.pop_front()?
        };
        self.release(wish.weight());
        Some(wish)
    }

    /// Gives places back and calls up who waits, in order. A loop and not a recursion: any number
    /// of those who waited may have left.
    fn release(self: &Arc<Self>, weight: usize) {
        let mut back = weight;
        loop {
            let mut state = self.state.lock();
            state.placed -= back;
            let fits = |(weight, _): &(usize, _)| state.placed + weight <= self.max;
            if !state.waiting.front().is_some_and(fits) {
                return;
            }
            let Some((weight, turn)) = state.waiting.pop_front() else {
                return;
            };
            state.placed += weight;
            drop(state);
            back = match turn.send(self.place(weight)) {
                Ok(()) => 0,
                Err(place) => {
                    place.keep();
                    weight
                }
            };
        }
    }

    /// Takes no more wishes; those that have a place are still served.
    pub(crate) fn close(&self) {
        let turned_away = {
            let mut state = self.state.lock();
            state.closed = true;
            std::mem::take(&mut state.waiting)
        };
        self.filled.notify_all();
        drop(turned_away);
    }

    /// Closes the queue and answers everyone in it with the failure.
    pub(crate) fn fail(&self, failure: &LedgerError) {
        self.close();
        let wishes = std::mem::take(&mut self.state.lock().wishes);
        for wish in wishes {
            wish.answer(Some(failure.clone()));
        }
    }
}

/// Room for one wish; given back when it is dropped unused.
#[derive(Debug)]
struct Place {
    queue: Option<Arc<Queue>>,
    weight: usize,
}

impl Place {
    /// The room stays taken.
    fn keep(mut self) {
        self.queue = None;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(queue) = self.queue.take() {
            queue.release(self.weight);
        }
    }
}

#[cfg(test)]
#[path = "queue_tests.rs"]
mod tests;
