//! 64 runs at once in one process over the embedded store: how many appends they take, and that a
//! kill at any moment costs none of them its end nor an effect twice.

use std::collections::BTreeSet;
use std::process::Command;
use std::time::{Duration, Instant};

use mainstay_tests::crowd::{CALLS, ITEMS, RUNS, written};
use mainstay_tests::place::Place;
use mainstay_tests::process::{Ended, Running};
use mainstay_tests::seed::Draw;
use mainstay_tests::wait::{until, until_or};
use serde_json::Value;

/// How long the crowd takes from its first write to its last, about.
const CROWD_MS: u64 = 250;

struct Said {
    json: Value,
    from: Ended,
}

impl Said {
    fn of(ended: Ended) -> Self {
        let mut ended = ended.with_code(0);
        let json = serde_json::from_str(&ended.stdout);
        let json = json.unwrap_or_else(|error| panic!("{error}\n{ended}"));
        // 64 views help nobody.
        ended.stdout = String::new();
        Self { json, from: ended }
    }

    fn number(&self, key: &str) -> usize {
        let found = self.json[key]
            .as_u64()
            .and_then(|n| usize::try_from(n).ok());
        found.unwrap_or_else(|| panic!("no {key}\n{}", self.from))
    }

    fn runs(&self) -> &[Value] {
        self.json["runs"].as_array().map_or(&[], Vec::as_slice)
    }

    /// Events of all runs that `is_meant` names by their kind and text.
    fn events(&self, is_meant: impl Fn(&str, &str, u64) -> bool) -> usize {
        let rows = self
            .runs()
            .iter()
            .filter_map(|run| run["timeline"].as_array())
            .flatten();
        let meant = rows.filter(|row| {
            let text = |key: &str| row[key].as_str().unwrap_or_default();
            is_meant(
                text("event"),
                text("text"),
                row["epoch"].as_u64().unwrap_or(0),
            )
        });
        meant.count()
    }

    /// Attempts beyond the first of their call, and waits for one.
    fn retries(&self) -> usize {
        self.events(|event, _, _| event == "CallRescheduled")
    }

    /// Control attempts that changed something.
    fn controls(&self) -> usize {
        self.events(|event, text, _| {
            let found = text.contains("FOUND_APPLIED") || text.contains("ABSENT_AFTER_HORIZON");
            event == "ControlSettled" || found
        })
    }

    /// Runs that were open when the process ended.
    fn taken_over(&self) -> usize {
        self.events(|event, _, _| event == "LeaseTaken")
    }

    fn must_be_complete(&self, place: &Place, told: &str) {
        assert_eq!(self.runs().len(), RUNS, "{told}\n{}", self.from);
        for run in self.runs() {
            assert_eq!(
                run["outcome"], "completed",
                "{told}: {} {}",
                run["run_id"], run["notices"]
            );
        }
        let keys = written(&place.path("written"));
        let distinct: BTreeSet<&String> = keys.iter().collect();
        let items = usize::try_from(ITEMS).expect("few");
        assert_eq!(
            (keys.len(), distinct.len()),
            (RUNS * items, RUNS * items),
            "{told}"
        );
    }
}

fn crowd(place: &Place) -> Running {
    let mut command = Command::new(env!("CARGO_BIN_EXE_crowd"));
    Running::start(command.arg(place.store()).arg(place.path("written")))
}

/// The bound of a whole life without a kill.
fn appends_max() -> usize {
    RUNS * (CALLS + usize::try_from(ITEMS).expect("few") + 1)
}

#[test]
fn sixty_four_runs_take_an_append_per_call_item_run_and_retry_at_most() {
    let place = Place::new();
    let said = Said::of(crowd(&place).wait());
    said.must_be_complete(&place, "no kill");
    let bound = appends_max() + said.retries() + said.controls();
    let appends = said.number("appends");
    println!("{appends} appends, bound {bound}, {:?}", said.from.took);
    assert!(
        appends <= bound,
        "{appends} appends, bound {bound}\n{}",
        said.from
    );
    assert_eq!(
        (said.number("reused"), said.taken_over()),
        (0, 0),
        "{}",
        said.from
    );
}

#[test]
fn killed_once_and_started_again_all_runs_finish_with_few_appends_more() {
    let draw = Draw::new("crowd");
    let mut open = 0;
    for round in 0..4 {
        let more = draw.below(CROWD_MS);
        let told = format!(
            "MAINSTAY_SEED={} round {round}, killed after {more} ms",
            draw.seed()
        );
        let place = Place::new();
        let mut running = crowd(&place);
        until("the first write", || {
            (running.has_ended() || !written(&place.path("written")).is_empty()).then_some(())
        });
        let moment = Instant::now() + Duration::from_millis(more);
        until_or(moment, || running.has_ended().then_some(()));
        drop(running.kill());

        let said = Said::of(crowd(&place).wait());
        said.must_be_complete(&place, &told);
        // The second life's appends: what it took over, and what it then did itself.
        let (taken, epoch) = (said.taken_over(), 2);
        let settled = said.events(|event, _, by| event == "AttemptSettled" && epoch <= by);
        let started = (RUNS - said.number("reused")) * appends_max() / RUNS;
        let bound = taken + settled + started + said.retries() + said.controls();
        let appends = said.number("appends");
        println!("{told}: {taken} taken over, {appends} appends, bound {bound}");
        assert!(
            appends <= bound,
            "{told}: {appends} appends, bound {bound}\n{}",
            said.from
        );
        open += taken;
    }
    assert!(0 < open, "seed {}: no kill met an open run", draw.seed());
}
