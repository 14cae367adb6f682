//! The four ways in which every scenario runs: live, replayed whole, crashed at each append, each
//! command delivered twice.
//!
//! Live, replay and duplicate come to the same; a crash comes to what the table allows. Which way
//! is which must never change what is expected of a scenario.

use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

use crate::campaign::{Campaign, is_full};
use crate::failpoints::{Failpoint, Line, Point, journal};
use crate::process::Running;
use crate::scenario::Scenario;
use crate::seen::Seen;
use crate::stage::Stage;
use crate::view::View;

/// How often a case is tried whose run ended before it came to its append: appends fall together
/// when the machine stalls.
const TRIES: usize = 4;

/// Where the lives of one run end, in order; the last life runs to the run's end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deaths(pub Vec<Failpoint>);

impl fmt::Display for Deaths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let deaths: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&deaths.join(","))
    }
}

impl FromStr for Deaths {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.split(',')
            .map(str::parse)
            .collect::<Result<_, _>>()
            .map(Self)
    }
}

/// A run that nothing ended early.
pub struct Reference {
    /// What was printed of it.
    pub view: View,
    /// Its appends.
    pub appends: u64,
}

/// Runs the scenario all four ways.
///
/// # Panics
/// One of them does not come to what is expected; what failed says how to have it again.
pub fn four_ways(scenario: &Scenario) {
    let reference = live_and_replayed(scenario);
    std::thread::scope(|scope| {
        scope.spawn(|| twice(scenario, &reference));
        crashed_at_each_append(scenario, &reference);
    });
}

fn crashed_at_each_append(scenario: &Scenario, reference: &Reference) {
    let deaths = (1..=reference.appends).flat_map(|append| {
        let points = Point::ALL.into_iter().zip(1..);
        // Each append once, at the three points in turn; all three when everything is asked for.
        let turn = move |nth: u64| is_full() || append % 3 == nth % 3;
        points
            .filter(move |(_, nth)| turn(*nth))
            .map(move |(point, _)| Deaths(vec![Failpoint { append, point }]))
    });
    let campaign = Campaign::of(scenario.test).waiting(scenario.is_waiting);
    let reached = AtomicUsize::new(0);
    let ran = campaign.run(deaths.collect(), |deaths, told| {
        let lives = crashed(scenario, reference, deaths, told);
        reached.fetch_add(lives, Ordering::SeqCst);
    });
    let reached = reached.into_inner();
    println!("{}: {reached} crashes in {ran} runs", scenario.test);
    assert!(0 < reached, "{}: nothing crashed", scenario.test);
}

/// Live, and then from the log by a fresh process, and by the same command given again.
///
/// # Panics
/// They differ, or the run is not what is expected.
#[must_use]
pub fn live_and_replayed(scenario: &Scenario) -> Reference {
    let stage = Stage::set(scenario);
    let journal_file = stage.journal(0);
    let view = View::printed(stage.command.start_watched(&journal_file, None).wait());
    let seen = Seen::of(&stage, view, "live");
    (scenario.expect)(&seen);
    must_be_sound(&seen);
    seen.must_be_what_the_log_says();
    let appends = journal(&journal_file).last().map_or(0, |line| line.append);
    println!(
        "{}: {appends} appends, {} in {:?}",
        scenario.test,
        seen.outcome(),
        seen.view.from.took
    );
    Reference {
        view: seen.view,
        appends,
    }
}

/// The same command started twice at once, and once more after that.
fn twice(scenario: &Scenario, reference: &Reference) {
    let stage = Stage::set(scenario);
    let both = [stage.command.start(), stage.command.start()];
    let ended = both.map(Running::wait);
    let (told, late): (Vec<_>, Vec<_>) = ended.into_iter().partition(|end| end.code != Some(4));
    for refused in &late {
        assert!(refused.stderr.contains("STORE_LOCKED"), "{refused}");
    }
    let mut views: Vec<View> = told.into_iter().map(View::printed).collect();
    assert!(!views.is_empty(), "nobody drove the run: {late:?}");
    views.push(stage.command.view());
    for again in &views[1..] {
        for part in ["/run_id", "/outcome", "/result", "/timeline", "/calls"] {
            assert_eq!(again.at(part), views[0].at(part), "{part}\n{}", again.from);
        }
    }
    let seen = Seen::of(&stage, views.remove(0), "delivered twice");
    (scenario.expect)(&seen);
    must_be_sound(&seen);
    if !scenario.is_unsteady {
        assert_eq!(seen.outcome(), reference.view.outcome(), "{}", seen.told());
    }
    let starts = seen.view.events("RunStarted").len();
    assert_eq!(starts, 1, "{}", seen.told());
    let taken = seen.view.events("LeaseTaken").len();
    assert_eq!(taken, 0, "{}", seen.told());
}

/// What holds of every run, however it went.
fn must_be_sound(seen: &Seen<'_>) {
    seen.must_have_one_ticket_per_action();
    seen.must_not_ask_what_was_settled();
    seen.must_ask_once_per_attempt();
}

/// Lets the lives of a run end where `deaths` says, and its last one go on to the run's end. Says
/// how many of them were reached: a later life may be over sooner, and an unsteady scenario's
/// first.
///
/// # Panics
/// The first is not reached, or the run is not what a crash may make of it.
pub fn crashed(scenario: &Scenario, reference: &Reference, deaths: &Deaths, told: &str) -> usize {
    let tries = if scenario.is_unsteady { 1 } else { TRIES };
    for _ in 0..tries {
        let stage = Stage::set(scenario);
        let reached = die(&stage, deaths);
        if reached.is_empty() {
            continue;
        }
        let seen = Seen::of(&stage, stage.command.view(), told);
        must_be_sound(&seen);
        for death in &reached {
            death.must_be_remembered(&seen);
        }
        if scenario.is_unsteady {
            (scenario.expect)(&seen);
        } else {
            seen.must_end_as_the_table_allows(&reference.view);
        }
        seen.must_be_what_the_log_says();
        return reached.len();
    }
    let appends = reference.appends;
    assert!(
        scenario.is_unsteady,
        "no run came to its append in {TRIES} tries, of {appends}"
    );
    0
}

/// Ends one life after the other; those that came to their failpoint.
fn die(stage: &Stage, deaths: &Deaths) -> Vec<Death> {
    let mut reached = Vec::new();
    for (life, failpoint) in deaths.0.iter().enumerate() {
        let journal_file = stage.journal(life);
        let ended = stage
            .command
            .start_watched(&journal_file, Some(*failpoint))
            .wait();
        let Some(line) = journal(&journal_file).last().copied() else {
            // The run had ended: this life had nothing to append.
            break;
        };
        if line.died.is_none() {
            break;
        }
        assert_eq!(ended.code, None, "a signal ends it\n{ended}");
        assert_eq!(ended.stdout, "", "it had no time to print\n{ended}");
        reached.push(Death::of(stage, line));
    }
    reached
}

/// What was durable when a life ended, and what the services had been asked by then.
struct Death {
    /// The log, as a fresh process reads it.
    timeline: Vec<Value>,
    /// Calls that were over, and how often their services had been asked.
    over: Vec<(String, usize)>,
}

impl Death {
    fn of(stage: &Stage, line: Line) -> Self {
        let Some(view) = stage.stored() else {
            assert_eq!(line.events_in_the_log(), 0, "{line:?}: nothing is stored");
            return Self {
                timeline: Vec::new(),
                over: Vec::new(),
            };
        };
        let timeline = view.list("/timeline").to_vec();
        let events = u64::try_from(timeline.len()).expect("few");
        let durable = line.events_in_the_log();
        assert_eq!(events, durable, "{line:?}\n{}", view.from);
        let seen = Seen::of(stage, view, "at a death");
        // A write that is given up in doubt is asked about for as long as the doubt lasts.
        let is_over = |call: &&Value| {
            let over = ["settled", "omitted", "skipped", "failed"];
            let is_over = over.iter().any(|state| call["state"] == *state);
            is_over && call["effect"]["state"] != "in_doubt"
        };
        let over = seen.view.list("/calls").iter().filter(is_over);
        let over = over.filter_map(|call| call["path"].as_str());
        let over = over.map(|call| (call.to_owned(), seen.asked_of(call).len()));
        Self {
            over: over.collect(),
            timeline,
        }
    }

    /// Every acknowledged fact is there, and what was over was asked no further time.
    fn must_be_remembered(&self, seen: &Seen<'_>) {
        let durable = self.timeline.len();
        let after = seen.view.list("/timeline");
        assert_eq!(
            after.get(..durable),
            Some(&*self.timeline),
            "the log of a killed process is not the beginning of the run's\n{}",
            seen.told()
        );
        for (call, asked) in &self.over {
            let now = seen.asked_of(call).len();
            assert_eq!(
                now,
                *asked,
                "{call} was over and asked again\n{}",
                seen.told()
            );
            let later = after[durable..].iter();
            let later = later.filter(|row| row["call"] == *call);
            let later: Vec<_> = later
                .filter(|row| row["event"] == "AttemptStarted" || row["event"] == "CallPrepared")
                .collect();
            assert!(later.is_empty(), "{call}: {later:?}\n{}", seen.told());
        }
    }
}
