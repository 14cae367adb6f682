//! The committer as its callers see it: a queue, a thread, and a short cut for a lone caller.
//!
//! A caller that nobody else competes with commits on its own thread: handing the request over and
//! back would cost as much again as the sync of a fast disk. As soon as callers come together the
//! thread takes over, since groups are what makes many of them fast; callers that share one thread
//! count as coming together, although they never ask at once while it commits.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;

use mainstay_ledger::LedgerError;
use parking_lot::Mutex;

use crate::blocking;
use crate::commit::committer::Committer;
use crate::commit::company::Company;
use crate::commit::progress::Progress;
use crate::commit::queue::{Answer, Queue, Reply, Served, Wish};
use crate::commit::taken::Taken;
use crate::fault::io_error;
use crate::retention::Sweep;
use crate::standing::Standing;

/// The committer and its queue.
pub(crate) struct Shared {
    committer: Mutex<Committer>,
    pub(crate) queue: Arc<Queue>,
    pub(crate) progress: Arc<Progress>,
    standing: Arc<Standing>,
    /// Callers that have asked and have no answer yet.
    asking: AtomicUsize,
    company: Company,
    /// Held by whoever frees segments, and by an import, whose records lie in some before their run
    /// has a row.
    pub(crate) housekeeping: Mutex<()>,
}

impl Shared {
    pub(crate) fn new(committer: Committer, queue: Arc<Queue>) -> Arc<Self> {
        Arc::new(Self {
            progress: Arc::clone(&committer.progress),
            standing: Arc::clone(&committer.reader.standing),
            committer: Mutex::new(committer),
            queue,
            asking: AtomicUsize::new(0),
            company: Company::default(),
            housekeeping: Mutex::new(()),
        })
    }

    /// Starts the committer's thread.
    pub(crate) fn spawn(
        self: &Arc<Self>,
        folder: &std::path::Path,
    ) -> Result<JoinHandle<()>, LedgerError> {
        let shared = Arc::clone(self);
        std::thread::Builder::new()
            .name("mainstay-commit".to_owned())
            .spawn(move || shared.run())
            .map_err(|error| io_error("starting the committer of", folder, &error))
    }

    /// Works until the queue is closed and empty, or until something fails.
    fn run(&self) {
        let mut taken: Vec<Taken> = Vec::new();
        loop {
            if taken.is_empty() {
                let Some(wish) = self.queue.next(|| self.served()) else {
                    return;
                };
                taken.push(Taken::new(wish));
            }
            if !self.committer.lock().serve(&self.queue, &mut taken) {
                return;
            }
        }
    }

    fn served(&self) -> Served {
        Served::now(&self.standing)
    }

    /// Hands a wish to the committer and waits for its answer.
    ///
    /// Cancel-safe: a dropped future may still take effect.
    pub(crate) async fn ask<T>(&self, wish: Wish, answer: Answer<T>) -> Result<T, LedgerError> {
        self.progress.check()?;
        // Rows would only gather in memory; opening again makes the table anew.
        self.standing.check()?;
        let asking = Asking::enter(&self.asking);
        let handed_over = self.company.wish(asking.is_alone());
        let left = match handed_over {
            None => self.serve_alone(wish),
            Some(_) => Some(wish),
        };
        if let Some(wish) = left {
            self.queue
                .push(wish)
                .await
                .map_err(|_| self.progress.gone())?;
        }
        let answer = answer.await;
        if let Some(handed_over) = handed_over {
            handed_over.answered();
        }
        answer.unwrap_or_else(|_| Err(self.progress.gone()))
    }

    /// Asks for housekeeping and blocks until it is durable.
    pub(crate) fn sweep(&self, sweep: Sweep) -> Result<u64, LedgerError> {
        let (reply, answer) = Reply::new();
        blocking::wait(self.ask(Wish::Sweep(sweep, reply), answer))
    }

    /// Serves a wish on this thread, when nobody is before it; gives it back otherwise.
    fn serve_alone(&self, wish: Wish) -> Option<Wish> {
        if !self.queue.is_empty() || self.served() != Served::Both {
            return Some(wish);
        }
        let Some(mut committer) = self.committer.try_lock() else {
            return Some(wish);
        };
        let mut taken = vec![Taken::new(wish)];
        // A large call goes on until it is done; whoever comes meanwhile gets into its groups.
        while !taken.is_empty() && committer.serve(&self.queue, &mut taken) {}
        None
    }
}

/// One caller that waits for its answer.
struct Asking<'a> {
    all: &'a AtomicUsize,
    before: usize,
}

impl<'a> Asking<'a> {
    fn enter(all: &'a AtomicUsize) -> Self {
        let before = all.fetch_add(1, Ordering::Relaxed);
        Self { all, before }
    }

    fn is_alone(&self) -> bool {
        self.before == 0
    }
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        self.all.fetch_sub(1, Ordering::Relaxed);
    }
}
