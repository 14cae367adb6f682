//! What every ledger has to do, as one suite that each backend runs in its own tests.
//!
//! A check is a sentence about the `Ledger` trait and nothing else: none may know which backend it
//! speaks to, sleep, or pass without having seen what its name says.
//!
//! ```ignore
//! mainstay_ledger::conformance_tests!(MyStore::in_a_new_folder());
//! ```

mod alerts;
mod commits;
mod concurrent;
mod draw;
mod driving;
mod inbox;
mod keys;
mod knocks;
mod reads;
mod retention;
mod snapshots;
mod waits;
mod waits_model;

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use mainstay_machine::{Event, Summary};
use mainstay_types::{AlertSeq, RunId, Seq, Timestamp};

use crate::alert::StoredAlert;
use crate::commit::{CommitRequest, Receipt, Verdict};
use crate::drive::Driving;
use crate::error::LedgerError;
use crate::inbox::{Enqueued, InboxCommand, InboxMessage};
use crate::query::{Loaded, Page, RunFilter};
use crate::{Ledger, sample};

use alerts::*;
use commits::*;
use concurrent::*;
use driving::*;
use inbox::*;
use keys::*;
use knocks::*;
use reads::*;
use retention::*;
use snapshots::*;
use waits::*;
use waits_model::*;

/// A backend under test, fresh and empty.
pub trait Subject {
    /// The open ledger.
    fn ledger(&self) -> &dyn Ledger;

    /// Closes the ledger and opens the same store again. A backend that lives in memory only
    /// keeps the ledger as it is.
    fn reopen(&mut self);

    /// Bytes that it holds of the states it was given, from above: what else lies with them may be
    /// counted too, events not. `None` for a backend that keeps no states.
    fn kept_bytes(&self) -> Option<u64>;

    /// Forgets at once all that it may forget at `now`; whether it ever forgets anything.
    fn forget(&mut self, now: Timestamp) -> bool;
}

/// One check of the suite.
pub struct Check {
    /// What must hold.
    pub name: &'static str,
    /// Panics when it does not.
    run: fn(&mut Bench<'_>),
}

/// The list of all checks, and what is made of it: a table here, tests in a backend's crate.
#[macro_export]
macro_rules! conformance_tests {
    ($subject:expr) => { $crate::conformance_tests! { @list tests $subject } };
    (@tests $subject:expr; $($name:ident)*) => {$(
        #[test]
        fn $name() {
            $crate::conformance::run(stringify!($name), &mut $subject);
        }
    )*};
    (@table $none:expr; $($name:ident)*) => {
        &[$(Check { name: stringify!($name), run: $name },)*]
    };
    (@list $what:ident $arg:expr) => { $crate::conformance_tests! { @$what $arg;
        a_commit_is_there_after_reopening
        a_new_run_begins_with_its_start_in_epoch_one
        a_stale_sequence_is_refused_and_writes_nothing
        an_old_or_skipped_epoch_is_refused
        a_take_over_must_begin_with_lease_taken
        a_lease_of_another_epoch_is_no_ordinary_append
        a_run_begins_once
        after_a_take_over_the_old_owner_is_refused
        a_request_is_written_as_a_whole_or_not_at_all
        requests_of_one_group_see_each_other_in_order
        a_refused_request_leaves_the_rest_of_its_group_alone
        a_run_twice_in_one_request_is_stale
        a_commit_of_nothing_changes_nothing
        two_hundred_events_of_one_append_come_back_in_order
        payloads_of_one_and_four_mebibytes_come_back_whole
        an_event_larger_than_a_record_is_answered_full
        appends_are_counted_by_parts_that_write_events
        of_two_runs_wanting_one_effect_key_in_one_group_the_first_holds_it
        an_effect_key_is_held_whatever_its_entry_knows_but_not_applied
        an_entry_proven_not_applied_can_be_taken_by_another_run
        an_entry_that_nobody_settled_can_be_taken_over_as_it_stands
        an_entry_that_is_settled_is_taken_over_by_nobody
        the_same_run_and_call_may_change_its_entry
        another_call_of_the_same_run_does_not_get_the_key
        effect_keys_are_compared_in_full
        an_entry_is_read_by_its_key_as_a_verdict_tells_it
        a_start_key_stands_for_one_run_of_one_tenant
        of_two_runs_starting_with_one_key_in_one_group_the_first_gets_it
        a_request_sees_the_keys_it_takes_itself
        a_held_key_writes_nothing
        a_command_waits_until_it_is_acknowledged_with_its_events
        a_message_id_is_known_while_it_waits_and_after_its_acknowledgement
        a_refused_commit_acknowledges_nothing
        a_command_that_caused_no_event_is_acknowledged_in_the_run_s_own_epoch
        commands_come_back_in_the_order_of_arrival
        an_inbox_is_bounded
        a_command_for_an_unknown_run_is_refused
        every_kind_of_command_comes_back_as_it_was
        the_result_of_a_lost_attempt_comes_back_whole_up_to_its_bound
        runs_with_a_waiting_inbox_are_found_however_they_are_driven
        a_run_that_does_not_exist_loads_as_nothing
        a_run_is_driven_until_it_is_said_not_to_be
        driven_runs_come_in_pages_in_the_order_of_their_ids
        a_worker_that_gave_up_its_lease_is_gone
        a_parked_run_wakes_at_its_newest_moment_and_is_not_driven
        a_refused_commit_parks_nothing
        what_wakes_comes_in_pages_in_the_order_of_its_moments
        rows_of_driven_and_parked_runs_follow_any_sequence_of_changes
        those_who_wait_are_told_once_in_the_commit_that_settles
        a_wait_for_an_older_version_is_answered_with_the_entry
        nobody_waits_for_a_key_that_has_no_entry
        a_refused_commit_neither_waits_nor_wakes
        of_too_many_waiting_runs_the_first_are_told
        one_commit_wakes_a_bounded_number_and_the_rest_go_on_waiting
        a_full_inbox_does_not_hold_up_the_commit_that_settles
        no_settling_falls_between_looking_and_waiting
        those_who_wait_are_told_exactly_once_whatever_the_order
        alerts_are_numbered_in_the_order_of_their_commits
        alerts_come_in_pages_after_a_number
        alerts_of_many_threads_have_each_number_once_and_keep_their_order
        a_message_knocks_for_its_run_once_it_is_there
        alerts_knock_when_they_are_committed
        a_settled_key_knocks_for_those_who_waited
        knocks_that_nobody_takes_are_bounded
        a_run_has_the_row_that_was_written_last
        runs_are_listed_newest_first_as_they_stand_now
        a_listing_shows_only_what_its_filter_lets_pass
        a_listing_goes_on_before_its_cursor
        a_class_is_stored_once_and_found_again
        classes_are_listed_by_name_and_version
        the_newest_time_is_remembered
        a_snapshot_and_the_events_after_it_make_what_all_events_make
        a_snapshot_of_another_event_than_the_newest_is_dropped
        the_newest_snapshot_is_the_one_that_is_given
        nothing_is_kept_of_a_closed_run_until_it_goes_on
        a_large_state_and_its_payloads_come_back_whole
        a_payload_is_stored_once_however_many_snapshots_have_it
        a_history_is_whole_whatever_is_kept
        a_page_of_a_history_is_bounded_in_bytes
        a_key_whose_outcome_is_known_is_remembered_for_its_time
        a_key_that_is_settled_again_is_remembered_from_then_on
        a_key_that_is_open_or_in_doubt_is_never_forgotten
        an_open_run_and_its_start_key_are_never_forgotten
        commits_of_many_threads_are_all_kept
        of_many_threads_starting_with_one_key_exactly_one_gets_it
    } };
}

/// Every check.
pub const CHECKS: &[Check] = conformance_tests! { @list table () };

/// Runs the check of this name on a fresh subject; panics when it fails or is unknown.
pub fn run(name: &str, subject: &mut dyn Subject) {
    let check = CHECKS
        .iter()
        .find(|check| check.name == name)
        .expect("a check of this name");
    (check.run)(&mut Bench { subject });
}

/// The subject with its methods made blocking and its answers unwrapped.
pub(crate) struct Bench<'a> {
    subject: &'a mut dyn Subject,
}

impl Bench<'_> {
    fn ledger(&self) -> &dyn Ledger {
        self.subject.ledger()
    }

    fn reopen(&mut self) {
        self.subject.reopen();
    }

    fn forget(&mut self, now: Timestamp) -> bool {
        self.subject.forget(now)
    }

    /// One group.
    fn group(&self, requests: Vec<CommitRequest>) -> Vec<Verdict> {
        let count = requests.len();
        let verdicts = block_on(self.ledger().commit(requests)).expect("a ledger that commits");
        assert_eq!(verdicts.len(), count, "one verdict per request");
        verdicts
    }

    /// A group of one.
    fn commit(&self, request: impl Into<CommitRequest>) -> Verdict {
        self.group(vec![request.into()]).remove(0)
    }

    /// A group of one that must be written.
    fn must(&self, request: impl Into<CommitRequest>) -> Receipt {
        match self.commit(request) {
            Verdict::Committed(receipt) => receipt,
            refused @ (Verdict::Stale { .. } | Verdict::KeyHeld(_) | Verdict::Full) => {
                panic!("it should have been committed: {refused:?}")
            }
        }
    }

    fn enqueue(&self, n: u32, message: u32) -> Result<Enqueued, LedgerError> {
        block_on(
            self.ledger()
                .enqueue(sample::run(n), sample::message(message), cancel(message)),
        )
    }

    /// Puts one message into the inbox of each run, many at once.
    fn enqueue_all(&self, runs: impl IntoIterator<Item = u32>) {
        let one = |n| {
            let (run, id) = (sample::run(n), sample::message(1));
            self.ledger().enqueue(run, id, cancel(1))
        };
        let mut waiting: Vec<_> = runs.into_iter().map(one).collect();
        let mut context = Context::from_waker(Waker::noop());
        // Polled once, each is on its way; then its answer is waited for.
        let first = waiting
            .iter_mut()
            .map(|one| one.as_mut().poll(&mut context));
        let first: Vec<_> = first.collect();
        for (one, first) in waiting.into_iter().zip(first) {
            let answer = match first {
                Poll::Ready(answer) => answer,
                Poll::Pending => block_on(one),
            };
            assert_eq!(answer, Ok(Enqueued::New));
        }
    }

    fn load(&self, n: u32) -> Option<Loaded> {
        block_on(self.ledger().load(sample::run(n))).expect("a run that can be read")
    }

    /// The newest sequence number of a run; 0 when there is none.
    fn seq(&self, n: u32) -> Seq {
        let last = self
            .load(n)
            .and_then(|loaded| loaded.events.last().map(|e| e.seq));
        last.unwrap_or_default()
    }

    fn events(&self, n: u32) -> Vec<Event> {
        let loaded = self.load(n).expect("a run of this id");
        loaded
            .events
            .into_iter()
            .map(|recorded| recorded.event)
            .collect()
    }

    fn inbox(&self, n: u32) -> Vec<InboxMessage> {
        let inbox = self.load(n).expect("a run of this id").inbox;
        let alone = block_on(self.ledger().inbox(sample::run(n)));
        assert_eq!(alone.as_ref(), Ok(&inbox), "read with its run and alone");
        inbox
    }

    fn driven(&self, cursor: Option<RunId>) -> Page<Driving> {
        block_on(self.ledger().driven(cursor)).expect("an index that can be read")
    }

    fn driving(&self, run: RunId) -> Option<Driving> {
        block_on(self.ledger().driving(run)).expect("a row that can be read")
    }

    /// The runs on the first page of those that are driven.
    fn driven_ids(&self) -> Vec<RunId> {
        let page = self.driven(None);
        page.rows.iter().map(|driving| driving.run).collect()
    }

    fn wakes(&self, cursor: Option<(Timestamp, RunId)>) -> Page<(Timestamp, RunId)> {
        block_on(self.ledger().wakes(cursor)).expect("an index that can be read")
    }

    fn inboxes(&self, cursor: Option<RunId>) -> Page<RunId> {
        block_on(self.ledger().inboxes(cursor)).expect("an index that can be read")
    }

    fn alerts(&self, after: AlertSeq) -> Page<StoredAlert> {
        block_on(self.ledger().alerts(after)).expect("alerts that can be read")
    }

    fn runs(&self, filter: RunFilter, cursor: Option<RunId>) -> Page<Summary> {
        block_on(self.ledger().runs(filter, cursor)).expect("a listing that can be read")
    }
}

fn cancel(message: u32) -> InboxCommand {
    InboxCommand::Cancel {
        by: "uid 1000".to_owned(),
        why: format!("reason {message}"),
    }
}

fn committed(seqs: impl IntoIterator<Item = u64>) -> Verdict {
    Verdict::Committed(Receipt {
        seqs: seqs.into_iter().map(Seq).collect(),
    })
}

/// How long a ledger may take for one answer before the check fails.
const ANSWER_MAX: Duration = Duration::from_secs(60);

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Drives `future` on this thread until it is ready. Panics after a minute.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let waker = Arc::new(Unpark(thread::current())).into();
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    let begun = Instant::now();
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
        let left = ANSWER_MAX.saturating_sub(begun.elapsed());
        assert!(
            !left.is_zero(),
            "the ledger did not answer within {ANSWER_MAX:?}"
        );
        thread::park_timeout(left);
    }
}
