//! `kill -9` at random moments inside a run, then the same command: it goes on, asks nothing twice
//! that was answered, and every action has exactly one ticket.
//!
//! The seed is printed; `MAINSTAY_SEED` draws the same moments again.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use mainstay_tests::campaign::{SIDE_BY_SIDE, side_by_side};
use mainstay_tests::process::Ended;
use mainstay_tests::scenario::Scenario;
use mainstay_tests::seed::Draw;
use mainstay_tests::seen::Seen;
use mainstay_tests::service::specialist_requests;
use mainstay_tests::stage::Stage;
use mainstay_tests::view::View;
use mainstay_tests::wait::{until, until_or};

/// Actions of the minutes: more than there are concurrency tokens, so that some wait.
const ACTIONS: usize = 8;
/// How long the specialist takes, and each write, in milliseconds. A run lasts their sum and a
/// second write, most of it with requests in flight.
const SPECIALIST_MS: u64 = 250;
const WRITE_MS: u64 = 200;
const RUN_MS: u64 = SPECIALIST_MS + 2 * WRITE_MS;
/// The kills of one test, and how many must fall between a run's first event and its last.
const KILLS: usize = 20;
const KILLS_INSIDE_MIN: usize = 15;

/// A run to be killed from outside.
struct Round {
    stage: Stage,
    told: String,
}

impl Round {
    fn new(told: String, faults: &[&str]) -> Self {
        Self::of(told, faults, &[])
    }

    fn of(told: String, faults: &[&str], flags: &[(&'static str, &'static str)]) -> Self {
        let write = format!("delay,delay_ms={WRITE_MS},method=POST");
        let slow = format!("delay,delay_ms={SPECIALIST_MS}");
        let scenario = Scenario::of(|| (), ACTIONS, |_| ())
            .unpaced()
            .tickets(faults)
            .tickets(&[&write])
            .specialist(&[&slow]);
        let flags = flags.iter();
        let scenario = flags.fold(scenario, |scenario, (flag, value)| {
            scenario.flag(flag, value)
        });
        let stage = Stage::set(&scenario);
        Self { stage, told }
    }

    /// Starts the command, waits until `has_begun` says so, lets `more` pass and kills it.
    fn kill(&self, has_begun: impl Fn(&Self) -> bool, more: Duration) -> Ended {
        let mut running = self.stage.command.start();
        until("a sign of the run", || {
            (has_begun(self) || running.has_ended()).then_some(())
        });
        until_or(Instant::now() + more, || running.has_ended().then_some(()));
        running.kill()
    }

    /// The specialist is asked in a run's first turn.
    fn has_asked(&self) -> bool {
        !specialist_requests(&self.stage.place.store()).is_empty()
    }

    fn has_written(&self) -> bool {
        let service = self.stage.tickets.as_ref().expect("it is there");
        let requests = service.requests();
        requests.iter().any(|entry| entry.subject.method == "POST")
    }

    /// The same command, to its end; the run must be what it would have been without a kill.
    fn go_on(&self) -> View {
        let seen = Seen::of(&self.stage, self.stage.command.view(), &self.told);
        seen.must_have_one_ticket_per_action();
        // Each crash has to find spare retry tokens for the reads it undid; a write that never
        // arrived needs none.
        let limit = seen.view.number("/budget/retry_tokens/limit");
        if limit < seen.tokens_needed() {
            let needed = seen.tokens_needed();
            println!("{}: {needed} retries needed, {}", self.told, seen.outcome());
        } else {
            assert!(seen.view.has_result(), "{}", seen.told());
        }
        seen.must_not_ask_what_was_settled();
        seen.must_ask_once_per_attempt();
        seen.must_re_ask_no_more_than_was_in_flight();
        seen.view
    }
}

/// Kills that many runs once each, anywhere, and lets each go on.
fn kill_everywhere(purpose: &str, faults: &[&str]) {
    let draw = Draw::new(purpose);
    let moments: Vec<u64> = (0..KILLS).map(|_| draw.below(RUN_MS)).collect();
    let (inside, cut_off) = (AtomicUsize::new(0), AtomicUsize::new(0));
    side_by_side(SIDE_BY_SIDE, KILLS, |number| {
        let more = moments[number];
        let told = format!(
            "MAINSTAY_SEED={} round {number}, killed after {more} ms",
            draw.seed()
        );
        let round = Round::new(told, faults);
        drop(round.kill(Round::has_asked, Duration::from_millis(more)));
        let view = round.go_on();
        // A run that had begun and had not ended is taken over in the next epoch.
        inside.fetch_add(usize::from(1 < view.number("/epoch")), Ordering::SeqCst);
        cut_off.fetch_add(view.attempts_in("interrupted"), Ordering::SeqCst);
    });
    let (inside, cut_off) = (inside.into_inner(), cut_off.into_inner());
    println!("{inside} of {KILLS} kills inside of a run, {cut_off} attempts cut off");
    assert!(
        KILLS_INSIDE_MIN <= inside,
        "seed {}: only {inside} kills inside",
        draw.seed()
    );
    assert!(
        KILLS_INSIDE_MIN <= cut_off,
        "seed {}: only {cut_off} attempts cut off",
        draw.seed()
    );
}

#[test]
fn a_run_that_nobody_kills_asks_each_service_once_per_call() {
    let round = Round::new("no kill".to_owned(), &[]);
    let view = round.go_on();
    assert_eq!(
        (view.outcome(), view.number("/epoch")),
        ("completed", 1),
        "{}",
        view.from
    );
    let seen = Seen::of(&round.stage, view, &round.told);
    for call in seen.calls() {
        assert_eq!(seen.requests(&call).len(), 1, "{call}\n{}", seen.told());
    }
}

#[test]
fn killed_at_random_moments_a_run_goes_on_with_one_ticket_per_action() {
    kill_everywhere("kills", &[]);
}

#[test]
fn killed_at_random_moments_a_run_writes_once_even_where_keys_are_ignored() {
    kill_everywhere("kills without dedupe", &["no_dedupe"]);
}

#[test]
fn killed_three_times_in_a_row_a_run_still_goes_on_with_one_ticket_per_action() {
    let draw = Draw::new("three kills");
    let rounds = 4;
    let moments: Vec<[u64; 3]> = (0..rounds)
        .map(|_| [draw.below(RUN_MS), draw.below(500), draw.below(500)])
        .collect();
    side_by_side(SIDE_BY_SIDE, rounds, |number| {
        let [first, second, third] = moments[number];
        let told = format!(
            "MAINSTAY_SEED={} round {number}: {:?}",
            draw.seed(),
            moments[number]
        );
        let faults: &[&str] = if number % 2 == 0 { &[] } else { &["no_dedupe"] };
        let round = Round::new(told, faults);
        drop(round.kill(Round::has_asked, Duration::from_millis(first)));
        drop(round.kill(Round::has_asked, Duration::from_millis(second)));
        drop(round.kill(Round::has_asked, Duration::from_millis(third)));
        drop(round.go_on());
    });
}

#[test]
fn killed_while_every_reply_is_lost_a_run_still_writes_once() {
    let draw = Draw::new("kills and lost replies");
    let moments: Vec<u64> = (0..4).map(|_| draw.below(2 * WRITE_MS)).collect();
    side_by_side(SIDE_BY_SIDE, moments.len(), |number| {
        let told = format!("MAINSTAY_SEED={} round {number}", draw.seed());
        let round = Round::new(told, &["commit_then_drop"]);
        drop(round.kill(Round::has_written, Duration::from_millis(moments[number])));
        let view = round.go_on();
        let found = view.events("EffectApplied").into_iter();
        let found = found.filter(|row| row["text"].to_string().contains("FOUND_APPLIED"));
        assert_eq!(found.count(), ACTIONS, "{}", view.from);
    });
}

#[test]
fn downtime_moves_the_times_of_a_run_only_where_its_class_says_so() {
    for (rule, moves) in [("extend", true), ("absolute", false)] {
        let round = Round::of(rule.to_owned(), &[], &[("--on-downtime", rule)]);
        drop(round.kill(Round::has_written, Duration::ZERO));
        let view = round.go_on();
        assert_eq!(view.number("/epoch"), 2, "{}", view.from);
        let extended = view.number("/budget/times/extended_ms");
        assert_eq!(0 < extended, moves, "{extended}\n{}", view.from);
        let [taken] = view.events("LeaseTaken")[..] else {
            panic!("one take-over\n{}", view.from);
        };
        let says = if moves {
            "its times move by"
        } else {
            "its times stay"
        };
        assert!(
            taken["text"].to_string().contains(says),
            "{taken}\n{}",
            view.from
        );
    }
}
