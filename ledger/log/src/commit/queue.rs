//! What waits for the committer: two bounded lines, each first come, first served.
//!
//! Control goes first: what ends, settles or steers a run must not wait behind new work. A caller
//! beyond a line's bound waits for room with its request in its own hands, so the store never holds
//! more than the bounds. No caller overtakes one that waits in its line.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use futures_channel::oneshot;

use mainstay_ledger::{CommitRequest, Enqueued, InboxMessage, LedgerError, Verdict};
use mainstay_machine::Event;
use mainstay_types::{RunId, limits};
use parking_lot::{Condvar, Mutex};

use crate::look::Looked;
use crate::retention::Sweep;
use crate::standing::{Pressure, Standing};

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

    /// Changes the answer that is kept.
    pub(crate) fn change(&mut self, change: impl FnOnce(&mut Result<T, LedgerError>)) {
        if let Some(answer) = &mut self.with {
            change(answer);
        }
    }

    fn send(self, failure: Option<LedgerError>) {
        if let Some(answer) = failure.map(Err).or(self.with) {
            // A caller that gave up needs no answer.
            let _ = self.to.send(answer);
        }
    }
}

/// Which line a wish stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lane {
    /// Ends, settles or steers something, or gives room back. Goes first, and has room of its own.
    Control,
    /// Begins something.
    Ordinary,
}

/// Which lines are served now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Served {
    /// Both, control first.
    Both,
    /// Control only: what begins something waits.
    Control,
}

impl Served {
    /// While the overlay is too far ahead of the table, what begins something waits until the table
    /// has caught up. Behind a table that fails it would wait for nothing: it is refused at once.
    pub(crate) fn now(standing: &Standing) -> Self {
        match standing.pressure() {
            Pressure::Calm => Self::Both,
            Pressure::High | Pressure::Full if standing.is_failing() => Self::Both,
            Pressure::High | Pressure::Full => Self::Control,
        }
    }
}

/// One caller's wish.
#[derive(Debug)]
pub(crate) enum Wish {
    /// Commit these; what the caller looked up for them.
    Commit(Vec<CommitRequest>, Arc<Looked>, Reply<Vec<Verdict>>),
    /// Put a command into a run's inbox; what the caller looked up for it.
    Enqueue(RunId, InboxMessage, Arc<Looked>, Reply<Enqueued>),
    /// Keep the store small.
    Sweep(Sweep, Reply<u64>),
}

impl Wish {
    /// How many requests it counts as.
    pub(crate) fn weight(&self) -> usize {
        match self {
            Self::Commit(requests, ..) => requests.len().max(1),
            Self::Enqueue(..) | Self::Sweep(..) => 1,
        }
    }

    /// Its line.
    pub(crate) fn lane(&self) -> Lane {
        match self {
            Self::Commit(requests, ..) if requests.iter().any(begins_something) => Lane::Ordinary,
            Self::Commit(..) | Self::Enqueue(..) | Self::Sweep(..) => Lane::Control,
        }
    }

    /// Lets the answer leave; the failure, when there is one, instead of it.
    pub(crate) fn answer(self, failure: Option<LedgerError>) {
        match self {
            Self::Commit(_, _, reply) => reply.send(failure),
            Self::Enqueue(_, _, _, reply) => reply.send(failure),
            Self::Sweep(_, reply) => reply.send(failure),
        }
    }
}

/// Whether a request begins a run or lets an attempt leave.
pub(crate) fn begins_something(request: &CommitRequest) -> bool {
    let mut events = request.parts.iter().flat_map(|part| &part.events);
    events.any(|stamped| {
        matches!(
            stamped.event,
            Event::RunStarted(_) | Event::AttemptStarted(_)
        )
    })
}

/// The queue was closed; the wish was not taken.
#[derive(Debug)]
pub(crate) struct Closed;

/// The queue of one committer.
#[derive(Debug)]
pub(crate) struct Queue {
    state: Mutex<State>,
    filled: Condvar,
}

#[derive(Debug)]
struct State {
    control: Line,
    ordinary: Line,
    closed: bool,
}

#[derive(Debug, Default)]
struct Line {
    wishes: VecDeque<Wish>,
    /// Requests that have a place, in the line or on their way into it.
    placed: usize,
    max: usize,
    waiting: VecDeque<(usize, oneshot::Sender<Place>)>,
}

/// How long the committer sleeps while only lines are filled that are not served.
const UNSERVED_GLANCE: Duration = Duration::from_millis(limits::COMMIT_GLANCE_MS);

impl State {
    fn line(&mut self, lane: Lane) -> &mut Line {
        match lane {
            Lane::Control => &mut self.control,
            Lane::Ordinary => &mut self.ordinary,
        }
    }

    /// The next wish of a served line that counts as at most `weight` requests.
    fn take(&mut self, served: Served, weight: usize) -> Option<Wish> {
        for lane in [Lane::Control, Lane::Ordinary] {
            if lane == Lane::Ordinary && served == Served::Control {
                return None;
            }
            let line = self.line(lane);
            match line.wishes.front() {
                Some(first) if first.weight() <= weight => return line.wishes.pop_front(),
                // It has to wait for the next group, and nobody overtakes it meanwhile.
                Some(_) => return None,
                None => {}
            }
        }
        None
    }
}

impl Queue {
    /// An empty queue with places for `max` requests in each line; `max` is at least one wish's
    /// weight.
    pub(crate) fn new(max: usize) -> Arc<Self> {
        let line = || Line {
            max,
            ..Line::default()
        };
        Arc::new(Self {
            state: Mutex::new(State {
                control: line(),
                ordinary: line(),
                closed: false,
            }),
            filled: Condvar::new(),
        })
    }

    /// Whether nothing waits.
    pub(crate) fn is_empty(&self) -> bool {
        let state = self.state.lock();
        state.control.wishes.is_empty() && state.ordinary.wishes.is_empty()
    }

    /// Puts a wish at the end of its line, once there is room. Dropped before that, nothing was
    /// put.
    pub(crate) async fn push(self: &Arc<Self>, wish: Wish) -> Result<(), Closed> {
        let lane = wish.lane();
        let place = match self.ask(lane, wish.weight())? {
            Ok(place) => place,
            Err(turn) => turn.await.map_err(|_| Closed)?,
        };
        let mut state = self.state.lock();
        if state.closed {
            drop(state);
            return Err(Closed);
        }
        place.keep();
        state.line(lane).wishes.push_back(wish);
        drop(state);
        self.filled.notify_one();
        Ok(())
    }

    /// A place at once, or the turn to wait for.
    fn ask(
        self: &Arc<Self>,
        lane: Lane,
        weight: usize,
    ) -> Result<Result<Place, oneshot::Receiver<Place>>, Closed> {
        let mut state = self.state.lock();
        if state.closed {
            return Err(Closed);
        }
        let line = state.line(lane);
        debug_assert!(
            weight <= line.max,
            "a wish that never fits would wait for ever"
        );
        if line.waiting.is_empty() && line.placed + weight <= line.max {
            line.placed += weight;
            return Ok(Ok(self.place(lane, weight)));
        }
        let (turn, wait) = oneshot::channel();
        line.waiting.push_back((weight, turn));
        Ok(Err(wait))
    }

    fn place(self: &Arc<Self>, lane: Lane, weight: usize) -> Place {
        Place {
            queue: Some(Arc::clone(self)),
            lane,
            weight,
        }
    }

    /// The next wish of the lines that `served` says, which is asked again and again; waits for
    /// one. `None` once the queue is closed and empty.
    pub(crate) fn next(self: &Arc<Self>, served: impl Fn() -> Served) -> Option<Wish> {
        let mut state = self.state.lock();
        loop {
            let now = if state.closed { Served::Both } else { served() };
            if let Some(wish) = state.take(now, usize::MAX) {
                drop(state);
                self.release(wish.lane(), wish.weight());
                return Some(wish);
            }
            if state.closed {
                return None;
            }
            match state.ordinary.wishes.is_empty() {
                true => self.filled.wait(&mut state),
                false => {
                    let _ = self.filled.wait_for(&mut state, UNSERVED_GLANCE);
                }
            }
        }
    }

    /// Has whoever waits for a wish look again at which lines are served.
    pub(crate) fn look_again(&self) {
        // Under the lock, or it could fall between a look and the waiting that follows.
        let _state = self.state.lock();
        self.filled.notify_all();
    }

    /// The next wish of the served lines if one waits that counts as at most `weight` requests.
    pub(crate) fn next_within(self: &Arc<Self>, served: Served, weight: usize) -> Option<Wish> {
        let wish = self.state.lock().take(served, weight)?;
        self.release(wish.lane(), wish.weight());
        Some(wish)
    }

    /// Gives places back and calls up who waits, in order. A loop and not a recursion: any number
    /// of those who waited may have left.
    fn release(self: &Arc<Self>, lane: Lane, weight: usize) {
        let mut back = weight;
        loop {
            let mut state = self.state.lock();
            let line = state.line(lane);
            line.placed -= back;
            let fits = |(weight, _): &(usize, _)| line.placed + weight <= line.max;
            if !line.waiting.front().is_some_and(fits) {
                return;
            }
            let Some((weight, turn)) = line.waiting.pop_front() else {
                return;
            };
            line.placed += weight;
            drop(state);
            back = match turn.send(self.place(lane, weight)) {
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
            let control = std::mem::take(&mut state.control.waiting);
            (control, std::mem::take(&mut state.ordinary.waiting))
        };
        self.filled.notify_all();
        drop(turned_away);
    }

    /// Closes the queue and answers everyone in it with the failure.
    pub(crate) fn fail(&self, failure: &LedgerError) {
        self.close();
        let (control, ordinary) = {
            let mut state = self.state.lock();
            let control = std::mem::take(&mut state.control.wishes);
            (control, std::mem::take(&mut state.ordinary.wishes))
        };
        for wish in control.into_iter().chain(ordinary) {
            wish.answer(Some(failure.clone()));
        }
    }
}

/// Room for one wish; given back when it is dropped unused.
#[derive(Debug)]
struct Place {
    queue: Option<Arc<Queue>>,
    lane: Lane,
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
            queue.release(self.lane, self.weight);
        }
    }
}

#[cfg(test)]
#[path = "queue_tests.rs"]
mod tests;
