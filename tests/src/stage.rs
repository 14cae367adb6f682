//! A run over minutes of its own, and the services that see it live and die.
//!
//! The services are the test's own processes and outlive every kill, so that their logs tell what
//! all lives of the run asked together. It must never decide what is right: `seen` does.

use std::net::TcpListener;
use std::path::PathBuf;
use std::process::Command;

use crate::binaries::program;
use crate::meeting::Meeting;
use crate::minutes;
use crate::place::Place;
use crate::process::Ended;
use crate::scenario::Scenario;
use crate::service::Service;
use crate::view::View;

/// Between the ends of two requests that leave together, in milliseconds: far more than an append
/// takes, so that each end is an append of its own.
pub const GAP_MS: u64 = 60;
/// Writes that can be out at once: the class's concurrency tokens.
const AT_ONCE: usize = 5;

/// The surroundings of one run.
pub struct Stage {
    /// Its folder.
    pub place: Place,
    /// The ticket service; `None` where the scenario has nobody listen.
    pub tickets: Option<Service>,
    /// Found by its pid file, and stopped at the run's end.
    _specialist: Service,
    /// The command that starts it, and goes on with it.
    pub command: Meeting,
    /// The source of its tickets.
    pub source: String,
    /// Actions in its minutes.
    pub actions: usize,
}

impl Stage {
    /// The surroundings that a scenario wants, for a run that has not begun.
    #[must_use]
    pub fn set(scenario: &Scenario) -> Self {
        let place = Place::new();
        let text = minutes::with_actions("scenario", scenario.actions);
        let file = place.file("minutes.md", text);
        std::fs::create_dir_all(place.store()).expect("the store's folder");
        for (name, content) in &scenario.files {
            std::fs::write(place.store().join(name), content).expect("a file of the store");
        }
        let pace = Pace::of(scenario);
        let tickets = (!scenario.is_away).then(|| {
            let faults = with(&scenario.tickets, &pace.tickets);
            Service::tickets(&place.path("tickets.db"), &faults)
        });
        let url = tickets.as_ref().map_or_else(nobody, Service::url);
        let faults = with(&scenario.specialist, &pace.specialist);
        let specialist = Service::specialist(&place.store(), &faults);
        let command = Meeting::new(&file, place.store()).with("--tickets", url);
        let flags = scenario.flags.iter();
        Self {
            command: flags.fold(command, |command, (flag, value)| command.with(flag, value)),
            source: minutes::source(&file),
            actions: scenario.actions,
            _specialist: specialist,
            tickets,
            place,
        }
    }

    /// Where a life of the run writes its appends down.
    #[must_use]
    pub fn journal(&self, life: usize) -> PathBuf {
        self.place.path(&format!("life-{life}.jsonl"))
    }

    /// The only run of the store as a fresh process reads it from the log; `None` before its first
    /// append.
    ///
    /// # Panics
    /// The store cannot be read, or holds more than one run.
    #[must_use]
    pub fn stored(&self) -> Option<View> {
        let listed = View::printed(self.look(&["runs", "--json"]));
        let ids: Vec<&str> = listed
            .list("/runs")
            .iter()
            .filter_map(|run| run["run_id"].as_str())
            .collect();
        assert!(ids.len() < 2, "one command, one run\n{}", listed.from);
        let id = ids.first()?;
        Some(View::printed(self.look(&[
            "run",
            "show",
            id,
            "--json",
            "--payloads",
        ])))
    }

    fn look(&self, words: &[&str]) -> Ended {
        let mut command = Command::new(program("mainstay"));
        command.arg("--store").arg(self.place.store()).args(words);
        Ended::of(&mut command).with_code(0)
    }
}

/// Faults that let every request take its time, so that no two end together.
struct Pace {
    tickets: Vec<String>,
    specialist: Vec<String>,
}

impl Pace {
    fn of(scenario: &Scenario) -> Self {
        if !scenario.is_paced {
            return Self {
                tickets: Vec::new(),
                specialist: Vec::new(),
            };
        }
        let write = |item: usize| {
            let gaps = u64::try_from(item.min(AT_ONCE - 1) + 1).expect("few");
            format!("delay@{item},delay_ms={},method=POST", gaps * GAP_MS)
        };
        let search = format!("delay,delay_ms={GAP_MS},method=GET,path=/tickets");
        Self {
            tickets: (0..scenario.actions).map(write).chain([search]).collect(),
            specialist: vec![format!("delay,delay_ms={}", 2 * GAP_MS)],
        }
    }
}

/// The first of these that concerns a request strikes, so the scenario's own come first.
fn with<'a>(own: &'a [String], pace: &'a [String]) -> Vec<&'a str> {
    own.iter().chain(pace).map(String::as_str).collect()
}

/// An address where nobody listens: a port that was free a moment ago.
fn nobody() -> String {
    let free = TcpListener::bind("127.0.0.1:0").and_then(|bound| bound.local_addr());
    format!("http://{}", free.expect("a free port"))
}
