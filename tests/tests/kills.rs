//! `kill -9` at random moments inside a run, then the same command: it goes on, asks nothing twice
//! that was answered, and every action has exactly one ticket.
//!
//! The seed is printed; `MAINSTAY_SEED` draws the same moments again.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use mainstay_tests::meeting::Meeting;
use mainstay_tests::minutes;
use mainstay_tests::place::Place;
use mainstay_tests::process::Ended;
use mainstay_tests::seed::Draw;
use mainstay_tests::service::{Service, specialist_requests};
use mainstay_tests::view::View;
use mainstay_tests::wait::{until, until_or};
use service_kit::Entry;

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
/// Runs that are killed side by side.
const SIDE_BY_SIDE: usize = 2;
/// Milliseconds by which two clocks of one machine may seem to differ: both are rounded.
const ROUNDING_MS: u64 = 20;

/// A run over minutes of its own, and the services that see it live and die.
struct Round {
    place: Place,
    tickets: Service,
    /// Found by its pid file, and stopped at the run's end.
    _specialist: Service,
    command: Meeting,
    source: String,
    told: String,
}

impl Round {
    fn new(told: String, faults: &[&str]) -> Self {
        let place = Place::new();
        let file = place.file("minutes.md", minutes::with_actions("kills", ACTIONS));
        let write = format!("delay,delay_ms={WRITE_MS},method=POST");
        let faults: Vec<&str> = faults.iter().copied().chain([write.as_str()]).collect();
        let tickets = Service::tickets(&place.path("tickets.db"), &faults);
        let slow = format!("delay,delay_ms={SPECIALIST_MS}");
        let specialist = Service::specialist(&place.store(), &[&slow]);
        let command = Meeting::new(&file, place.store()).with("--tickets", tickets.url());
        let source = minutes::source(&file);
        Self {
            place,
            tickets,
            _specialist: specialist,
            command,
            source,
            told,
        }
    }

    /// Starts the command, waits until `has_begun` says so, lets `more` pass and kills it.
    fn kill(&self, has_begun: impl Fn(&Self) -> bool, more: Duration) -> Ended {
        let mut running = self.command.start();
        until("a sign of the run", || {
            (has_begun(self) || running.has_ended()).then_some(())
        });
        until_or(Instant::now() + more, || running.has_ended().then_some(()));
        running.kill()
    }

    /// The specialist is asked in a run's first turn.
    fn has_asked(&self) -> bool {
        !specialist_requests(&self.place.store()).is_empty()
    }

    fn has_written(&self) -> bool {
        self.tickets
            .requests()
            .iter()
            .any(|entry| entry.subject.method == "POST")
    }

    /// The same command, to its end; the run must be what it would have been without a kill.
    fn go_on(&self) -> View {
        let view = self.command.view();
        let seen = Seen::of(self, view);
        seen.must_have_one_ticket_per_action();
        seen.must_not_ask_what_was_settled();
        seen.must_re_ask_no_more_than_was_in_flight();
        seen.view
    }
}

/// A run after its end, and what the services saw of it.
struct Seen<'a> {
    round: &'a Round,
    view: View,
    tickets: Vec<Entry>,
    specialist: Vec<Entry>,
}

impl<'a> Seen<'a> {
    fn of(round: &'a Round, view: View) -> Self {
        let mut tickets = round.tickets.requests();
        tickets.retain(|entry| entry.subject.client == "meeting-analysis");
        Self {
            tickets,
            specialist: specialist_requests(&round.place.store()),
            round,
            view,
        }
    }

    fn told(&self) -> String {
        format!("{}\n{}", self.round.told, self.view.from)
    }

    fn must_have_one_ticket_per_action(&self) {
        let tickets = self.round.tickets.tickets_of(&self.round.source);
        let positions: BTreeSet<u64> = tickets
            .iter()
            .filter_map(|t| t["position"].as_u64())
            .collect();
        assert_eq!(
            positions.len(),
            tickets.len(),
            "two tickets for one action\n{}",
            self.told()
        );
        // Each crash has to find spare retry tokens for the reads it undid; a write that never
        // arrived needs none.
        let needed = self.interrupted_reads();
        let limit = self.view.number("/budget/retry_tokens/limit");
        if limit < u64::try_from(needed).unwrap_or(u64::MAX) {
            println!(
                "{}: {needed} retries needed, {}",
                self.round.told,
                self.view.outcome()
            );
            return;
        }
        assert!(self.view.has_result(), "{}", self.told());
        assert_eq!(tickets.len(), ACTIONS, "{}", self.told());
        assert_eq!(self.view.ticket_ids().len(), ACTIONS, "{}", self.told());
    }

    fn interrupted_reads(&self) -> usize {
        let reads = ["policy_rag", "related_tickets", "specialist", "draft"];
        reads.iter().map(|read| self.interrupted(read)).sum()
    }

    /// Attempts of a call that were in flight at a kill.
    fn interrupted(&self, call: &str) -> usize {
        let attempts = self.view.attempts(call);
        attempts
            .iter()
            .filter(|attempt| attempt["state"] == "interrupted")
            .count()
    }

    /// Requests of a call that are no look-ups.
    fn requests(&self, call: &str) -> Vec<&Entry> {
        match call {
            "specialist" => self.specialist.iter().collect(),
            "related_tickets" => self
                .tickets
                .iter()
                .filter(|entry| entry.subject.path == "/tickets" && entry.subject.method == "GET")
                .collect(),
            item => {
                let key = self.view.call(item)["effect"]["key"].as_str();
                let is_its = |entry: &&Entry| {
                    entry.subject.method == "POST" && entry.subject.key.as_deref() == key
                };
                self.tickets.iter().filter(is_its).collect()
            }
        }
    }

    fn calls(&self) -> Vec<String> {
        let items = (0..ACTIONS).map(|n| format!("ticket_write[{n}]"));
        ["specialist", "related_tickets"]
            .map(str::to_owned)
            .into_iter()
            .chain(items)
            .collect()
    }

    /// Nothing was sent for a call, look-ups included, once the log held its value.
    fn must_not_ask_what_was_settled(&self) {
        for call in self.calls() {
            let settled = self.view.moment("CallSettled", &call);
            let Some(settled) = settled.or_else(|| self.view.moment("EffectApplied", &call)) else {
                continue;
            };
            let settled = self.view.started_ms() + settled + ROUNDING_MS;
            let late: Vec<_> = self
                .requests(&call)
                .into_iter()
                .filter(|e| settled < e.at_ms)
                .collect();
            assert!(
                late.is_empty(),
                "{call} was asked again: {late:?}\n{}",
                self.told()
            );
        }
    }

    /// One request per attempt; those beyond the first only for attempts that a kill cut off.
    fn must_re_ask_no_more_than_was_in_flight(&self) {
        for call in self.calls() {
            let (asked, attempts) = (self.requests(&call).len(), self.view.attempts(&call).len());
            let cut_off = self.interrupted(&call);
            let told = || format!("{call}: {asked} requests\n{}", self.told());
            assert!(
                asked <= attempts,
                "more requests than attempts for {}",
                told()
            );
            assert!(
                asked <= 1 + cut_off,
                "more requests than were cut off for {}",
                told()
            );
        }
        let re_asked: usize = self
            .calls()
            .iter()
            .map(|call| self.requests(call).len().saturating_sub(1))
            .sum();
        let in_flight = self.view.attempts_in("interrupted");
        assert!(
            re_asked <= in_flight,
            "{re_asked} of {in_flight}\n{}",
            self.told()
        );
    }
}

/// Runs `round` for every number below `rounds`, a few side by side.
fn side_by_side(rounds: usize, round: impl Fn(usize) + Sync) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..SIDE_BY_SIDE {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::SeqCst);
                    if rounds <= number {
                        break;
                    }
                    round(number);
                }
            });
        }
    });
}

/// Kills that many runs once each, anywhere, and lets each go on.
fn kill_everywhere(purpose: &str, faults: &[&str]) {
    let draw = Draw::new(purpose);
    let moments: Vec<u64> = (0..KILLS).map(|_| draw.below(RUN_MS)).collect();
    let (inside, cut_off) = (AtomicUsize::new(0), AtomicUsize::new(0));
    side_by_side(KILLS, |number| {
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
    let seen = Seen::of(&round, view);
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
    side_by_side(rounds, |number| {
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
    side_by_side(moments.len(), |number| {
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
        let mut round = Round::new(rule.to_owned(), &[]);
        round.command = round.command.with("--on-downtime", rule);
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
