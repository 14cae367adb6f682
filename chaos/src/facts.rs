//! What is known of a world once it is over: the log, the receivers' tables, what callers heard.
//!
//! Nothing here was said by the code under test but what it wrote and what it told.

use std::sync::Arc;

use mainstay_graph::TaskClass;
use mainstay_ledger::codec::encode_event;
use mainstay_machine::{Run, Summary, apply};
use mainstay_sim::ledger::Append;
use mainstay_sim::provider::{Applied, Arrival};
use mainstay_types::{Millis, RunId, Seq};

use crate::fault::Kind;
use crate::world::Stage;
use crate::world::book::Line;
use crate::world::disturbance::Disturbances;
use crate::world::injector::Hit;
use crate::world::witness::Acked;

/// A dependency's side of it.
#[derive(Clone, Debug)]
pub(crate) struct Outside {
    pub(crate) name: String,
    pub(crate) arrivals: Vec<Arrival>,
    pub(crate) applied: Vec<Applied>,
    pub(crate) is_write: bool,
    /// Whether it says what each attempt costs.
    pub(crate) names_its_price: bool,
}

/// Everything of one world.
pub(crate) struct Facts {
    pub(crate) seed: u64,
    /// Whether all runs ended and owe nothing.
    pub(crate) ended: bool,
    /// Why the world did not go on.
    pub(crate) stuck: Option<String>,
    pub(crate) class: Arc<TaskClass>,
    pub(crate) appends: Vec<Append>,
    pub(crate) acked: Vec<Acked>,
    pub(crate) lines: Vec<Line>,
    pub(crate) outside: Vec<Outside>,
    pub(crate) hits: Vec<Hit>,
    /// The kinds of the schedule's faults, in order.
    pub(crate) kinds: Vec<Kind>,
    /// When an engine was not alive with a disk that answers.
    pub(crate) disturbances: Disturbances,
    /// When a process began.
    pub(crate) lives: Vec<Millis>,
    /// Why a fresh run did not complete in time once the faults were over.
    pub(crate) gate: Option<String>,
    /// Per run that has begun: its row and how far its log has come, as the ledger says in the end.
    pub(crate) rows: Vec<(RunId, Option<Summary>, Seq)>,
}

impl Facts {
    pub(crate) fn of(
        stage: &Stage,
        (seed, ended, stuck): (u64, bool, Option<String>),
        (disturbances, gate): (Disturbances, Option<String>),
    ) -> Self {
        let appends = stage.disk.appends();
        let mut runs: Vec<RunId> = appends.iter().map(|append| append.run).collect();
        runs.sort();
        runs.dedup();
        let row = |run: RunId| {
            let ledger = stage.disk.memory();
            let row = crate::world::ready(mainstay_ledger::Ledger::summary(ledger, run));
            (run, row.ok().flatten(), stage.disk.durable(run))
        };
        let outside = stage.doubles.iter().map(|double| Outside {
            name: double.name().to_owned(),
            arrivals: double.arrivals(),
            applied: double.applied(),
            is_write: double.is_write(),
            names_its_price: double.names_its_price(),
        });
        Self {
            seed,
            ended,
            stuck,
            class: Arc::clone(&stage.class.data),
            acked: stage.witness.acked(),
            lives: stage.lives.lock().clone(),
            lines: stage.book.lines(),
            outside: outside.collect(),
            hits: stage.injector.hits(),
            kinds: stage.injector.kinds(),
            disturbances,
            gate,
            rows: runs.into_iter().map(row).collect(),
            appends,
        }
    }

    /// The runs that have begun.
    pub(crate) fn runs(&self) -> impl Iterator<Item = RunId> {
        self.rows.iter().map(|(run, ..)| *run)
    }

    /// What faults of these kinds changed.
    pub(crate) fn hits_of(&self, kinds: &[Kind]) -> impl Iterator<Item = &Hit> {
        let is_of = |hit: &&Hit| {
            let kind = self.kinds.get(hit.fault);
            kind.is_some_and(|kind| kinds.contains(kind))
        };
        self.hits.iter().filter(is_of)
    }

    /// Requests that arrived, look-ups not counted.
    pub(crate) fn attempts(&self) -> usize {
        let arrivals = self.outside.iter().flat_map(|outside| &outside.arrivals);
        arrivals.filter(|arrival| !arrival.is_look_up).count()
    }

    /// What the log comes to: every event's stored form, with whose it is, in the order of commits.
    pub(crate) fn log_hash(&self) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new();
        let mut bytes = Vec::new();
        for append in &self.appends {
            hasher.update(append.run.as_bytes());
            hasher.update(&append.last.get().to_le_bytes());
            hasher.update(&append.epoch.get().to_le_bytes());
            for stamped in &append.events {
                bytes.clear();
                encode_event(&stamped.event, &mut bytes);
                hasher.update(&stamped.at.as_millis().to_le_bytes());
                hasher.update(&bytes);
            }
        }
        hasher.finalize()
    }
}

/// How the first run of a world stands that owes something, in words for a table; `ended` when none
/// does.
pub(crate) fn standing(stage: &Stage) -> &'static str {
    let orders = stage.orders.iter();
    let mut stands = orders.map(|order| match stage.book.run_of(order.no) {
        Some(run) => stand(stage, run),
        None => "before its start",
    });
    stands.find(|stand| *stand != ENDED).unwrap_or(ENDED)
}

/// What owes nothing.
pub(crate) const ENDED: &str = "ended";

fn stand(stage: &Stage, id: RunId) -> &'static str {
    let mut run = Run::unborn(Arc::clone(&stage.class.data));
    stage.disk.with_appends(|appends| {
        let own = appends.iter().filter(|append| append.run == id);
        for stamped in own.flat_map(|append| &append.events) {
            if apply(&mut run, &stamped.event).is_err() {
                break;
            }
        }
    });
    let Some(head) = run.head() else {
        return "before its start";
    };
    match () {
        () if head.closed => ENDED,
        () if run.calls().in_doubt().next().is_some() => "in doubt",
        () if head.lap.outcome.is_some() => "answered",
        () if run.calls().in_flight().next().is_some() => "calls out",
        () => "between calls",
    }
}
