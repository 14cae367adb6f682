//! A wish that the committer works on, and its answer in the making.
//!
//! No answer leaves before the group it rests on is durable, refusals included.

use mainstay_ledger::check::check;
use mainstay_ledger::{CommitRequest, LedgerError, Receipt, Verdict};
use mainstay_types::{Seq, limits};

use crate::commit::queue::{Wish, begins_something};
use crate::rows::{inbox, waits, write_part};
use crate::stage::Stage;

/// How much may still be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Room {
    /// As much as comes.
    Enough,
    /// Runs that exist go on, none begins.
    NoNewRuns,
    /// What is in flight is settled; neither runs nor attempts begin.
    OnlyWhatEnds,
}

/// A wish that the committer works on.
#[derive(Debug)]
pub(crate) struct Taken {
    pub(crate) wish: Wish,
    /// Of a commit: the verdicts so far.
    verdicts: Vec<Verdict>,
    /// How many of these are from earlier groups.
    began: usize,
    /// Whether its answer is known and may leave after the sync.
    pub(crate) done: bool,
}

impl Taken {
    pub(crate) fn new(wish: Wish) -> Self {
        Self {
            wish,
            verdicts: Vec::new(),
            began: 0,
            done: false,
        }
    }

    /// Stages the wish until it is done or the group is full, and keeps its answer with it.
    ///
    /// Bytes that cannot be read fail only the wish that needed them; nothing of the request that
    /// needed them is written, and none after it is looked at.
    pub(crate) fn stage(&mut self, stage: &mut Stage<'_>, room: Room) {
        self.done = match &mut self.wish {
            Wish::Commit(requests, looked, reply) => {
                stage.believe(looked);
                self.began = self.verdicts.len();
                let left = &requests[self.verdicts.len()..];
                let each = |request| settled(stage, |stage| commit(stage, room, request));
                let answer = left.iter().map_while(each).try_for_each(|verdict| {
                    self.verdicts.push(verdict?);
                    Ok(())
                });
                let done = answer.is_err() || self.verdicts.len() == requests.len();
                if done {
                    reply.set(answer.map(|()| std::mem::take(&mut self.verdicts)));
                }
                done
            }
            Wish::Enqueue(run, message, looked, reply) => {
                stage.believe(looked);
                let answer = settled(stage, |stage| inbox::enqueue(stage, *run, message));
                answer.map(|answer| reply.set(answer)).is_some()
            }
            Wish::Sweep(sweep, reply) => {
                let answer = settled(stage, |stage| {
                    let done = sweep.stage(stage)?;
                    match limits::REQUEST_BYTES_MAX < stage.bytes_tried() {
                        true => Err(LedgerError::Full {
                            detail: "this is more than can be appended at once".to_owned(),
                        }),
                        false => Ok(done),
                    }
                });
                answer.map(|answer| reply.set(answer)).is_some()
            }
        };
    }

    /// Whatever this wish was told in a group that was not written is not so: it is staged again.
    pub(crate) fn forget_group(&mut self) {
        if let Wish::Commit(_, _, reply) = &mut self.wish {
            reply.change(|answer| {
                if let Ok(verdicts) = answer {
                    self.verdicts = std::mem::take(verdicts);
                }
            });
        }
        self.verdicts.truncate(self.began);
        self.done = false;
    }

    /// The group this wish was part of could not be written for want of room, and nothing of it
    /// was: whatever it was told in this group is not so.
    pub(crate) fn found_no_room(&mut self) {
        // Refusals too: they may rest on what was not written. What earlier groups wrote is
        // durable.
        let began = self.began;
        let full = |verdicts: &mut [Verdict]| {
            let of_group = verdicts.get_mut(began..).unwrap_or_default();
            of_group
                .iter_mut()
                .for_each(|verdict| *verdict = Verdict::Full);
        };
        full(&mut self.verdicts);
        match &mut self.wish {
            Wish::Commit(_, _, reply) => reply.change(|answer| {
                if let Ok(verdicts) = answer {
                    full(verdicts);
                }
            }),
            Wish::Enqueue(_, _, _, reply) => {
                reply.change(|answer| *answer = Err(LedgerError::full()));
            }
            Wish::Sweep(_, reply) => reply.change(|answer| *answer = Err(LedgerError::full())),
        }
    }
}

/// What `work` says; what it staged is kept unless it failed. `None` when the group has no room for
/// it.
fn settled<T>(
    stage: &mut Stage<'_>,
    work: impl FnOnce(&mut Stage<'_>) -> Result<T, LedgerError>,
) -> Option<Result<T, LedgerError>> {
    let answer = work(stage);
    if answer.is_ok() && stage.fits() {
        stage.keep();
        return Some(answer);
    }
    stage.forget();
    answer.is_err().then_some(answer)
}

/// A request that another one refuses is told so even when the disk is full.
fn commit(
    stage: &mut Stage<'_>,
    room: Room,
    request: &CommitRequest,
) -> Result<Verdict, LedgerError> {
    if let Some(refused) = check(stage, request)? {
        return Ok(refused);
    }
    let is_refused = match room {
        Room::Enough => false,
        Room::NoNewRuns => request.parts.iter().any(|part| part.expected_seq == Seq(0)),
        Room::OnlyWhatEnds => begins_something(request),
    };
    if is_refused {
        return Ok(Verdict::Full);
    }
    let mut settled = Vec::new();
    let seqs: Result<Vec<_>, _> = request
        .parts
        .iter()
        .map(|part| write_part(stage, part, &mut settled))
        .collect();
    let seqs = seqs?;
    waits::wake(stage, settled)?;
    if limits::REQUEST_BYTES_MAX < stage.bytes_tried() {
        stage.forget();
        return Ok(Verdict::Full);
    }
    Ok(Verdict::Committed(Receipt { seqs }))
}
