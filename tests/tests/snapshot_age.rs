//! How old an approved snapshot may be, to the second: the example's own class in virtual time.
//!
//! Only the outside is made up here; class, retrieval, snapshot file and engine are the real ones.

use std::path::Path;
use std::sync::Arc;

use mainstay::dispatch::{Answer, Promise, Resolution, Stack};
use mainstay::engine::{Engine, EngineBuilder, Outcome, Ports};
use mainstay::ledger::MemoryLedger;
use mainstay::types::{Clock, IdSource, Rng, Spawner, Timers};
use mainstay::{AttemptContext, Class, Failure, Found, Millis, OutcomeKind, Read, Write};
use mainstay_sim::Sim;
use mainstay_tests::minutes;
use mainstay_tests::place::Place;
use meeting_analysis::app::fault::{FaultSpec, Faults};
use meeting_analysis::class::{Deps, class, extend_default};
use meeting_analysis::local::{LocalSpecialist, PolicySearch, PolicySnapshot, Summariser};
use meeting_analysis::minutes::Meeting;
use meeting_analysis::policy::{Grade, PolicyIndex};
use meeting_analysis::report::Report;
use meeting_analysis::tickets::RelatedTicket;
use meeting_analysis::wire::{
    RelatedQuery, SpecialistReply, SpecialistRequest, TicketReply, TicketRequest,
};

const POLICIES: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../examples/meeting-analysis/policies"
);

#[derive(Clone)]
struct NoneRelated;

impl Read for NoneRelated {
    type Request = RelatedQuery;
    type Reply = Vec<RelatedTicket>;

    fn name(&self) -> &str {
        "related_tickets"
    }

    async fn call(
        &self,
        _: RelatedQuery,
        _: &AttemptContext,
    ) -> Result<Answer<Vec<RelatedTicket>>, Failure> {
        Ok(Vec::new().into())
    }
}

#[derive(Clone)]
struct Terse;

impl Read for Terse {
    type Request = SpecialistRequest;
    type Reply = SpecialistReply;

    fn name(&self) -> &str {
        "specialist"
    }

    async fn call(
        &self,
        asked: SpecialistRequest,
        _: &AttemptContext,
    ) -> Result<Answer<SpecialistReply>, Failure> {
        let summary = asked.minutes.lines().next().unwrap_or_default().to_owned();
        Ok(SpecialistReply {
            summary,
            method: "first line".to_owned(),
        }
        .into())
    }
}

#[derive(Clone)]
struct Tickets;

impl Write for Tickets {
    type Request = TicketRequest;
    type Reply = TicketReply;
    const RESOLUTION: Resolution = Resolution::ByKey;

    fn name(&self) -> &str {
        "ticket_service"
    }

    async fn send(
        &self,
        ticket: TicketRequest,
        _: &AttemptContext,
    ) -> Result<Answer<TicketReply>, Failure> {
        let id = format!("T-{}", ticket.position);
        Ok(TicketReply {
            id,
            title: ticket.title,
            owner: ticket.owner,
        }
        .into())
    }

    async fn find(
        &self,
        _: TicketRequest,
        _: &AttemptContext,
    ) -> Result<Found<TicketReply>, Failure> {
        Ok(Found::NotFound)
    }

    fn promise(&self) -> Promise {
        Promise::new()
            .honours_keys(Some(Millis::from_hours(24)))
            .receiver_bound(Millis::new(100))
    }
}

/// One day of virtual time, with the example's class over one snapshot file.
struct Day {
    sim: Sim,
    place: Place,
}

impl Day {
    fn new() -> Self {
        Self {
            sim: Sim::new(7),
            place: Place::new(),
        }
    }

    /// Runs the example's minutes in an engine of its own, its calls failing as `fault` says.
    fn run(&self, fault: Option<&str>) -> Outcome<Report> {
        let class = self.class(&self.place.path("policy-snapshot.json"));
        let specs: Vec<FaultSpec> = fault.iter().map(|f| f.parse().expect("a fault")).collect();
        let ports = self.ports();
        let stack = Stack::new(Arc::clone(&ports.timers)).layer(Faults::new(specs));
        let engine = EngineBuilder::new(Arc::new(MemoryLedger::new()), ports).stack(stack);
        self.sim.block_on(async {
            let engine: Engine = engine.register(&class).start().await.expect("it starts");
            let meeting = minutes::meeting(&minutes::example());
            let run = engine
                .start(&class, meeting)
                .key("K")
                .await
                .expect("it starts");
            let outcome = run.outcome().await.expect("it ends");
            engine.shutdown(Millis::from_secs(1)).await;
            outcome
        })
    }

    fn ports(&self) -> Ports {
        Ports {
            clock: Arc::new(self.sim.clock()),
            timers: Arc::new(self.sim.timers()) as Arc<dyn Timers>,
            spawner: Arc::new(self.sim.spawner()) as Arc<dyn Spawner>,
            rng: self.sim.rng() as Arc<dyn Rng>,
            ids: self.sim.ids() as Arc<dyn IdSource>,
        }
    }

    fn class(&self, snapshot: &Path) -> Class<Meeting, Report> {
        let clock: Arc<dyn Clock> = Arc::new(self.sim.clock());
        let index = PolicyIndex::open(Path::new(POLICIES)).expect("the example's policies");
        let deps = Deps {
            policy: Arc::new(PolicySearch::new(index, snapshot, Arc::clone(&clock))),
            snapshot: Arc::new(PolicySnapshot::new(snapshot, clock)),
            related: NoneRelated,
            specialist: Terse,
            local: Arc::new(LocalSpecialist),
            draft: Arc::new(Summariser),
            tickets: Tickets,
        };
        class(&deps, extend_default()).expect("the class has no problem")
    }
}

/// Retrieves once, lets `age` pass, and runs again with retrieval failing.
fn with_a_snapshot_of(age: Millis) -> Outcome<Report> {
    let day = Day::new();
    let first = day.run(None);
    assert_eq!(first.kind, OutcomeKind::Completed, "{:?}", first.notices);
    day.sim.run_for(age);
    day.run(Some("policy_rag=permanent_provider"))
}

#[test]
fn a_snapshot_of_19_59_stands_in_and_the_result_says_so() {
    for age in [Millis::from_secs(19 * 60 + 59), Millis::from_mins(20)] {
        let outcome = with_a_snapshot_of(age);
        assert_eq!(
            outcome.kind,
            OutcomeKind::Degraded,
            "{age}: {:?}",
            outcome.notices
        );
        let report = outcome.result.expect("a degraded run has a result");
        let grades: Vec<Grade> = report.policy.iter().map(|note| note.grade).collect();
        assert!(!grades.is_empty() && grades.iter().all(|g| *g == Grade::ApprovedSnapshot));
        assert_eq!(report.tickets.len(), minutes::actions(&minutes::example()));
        assert_eq!(outcome.notices.len(), 1, "{:?}", outcome.notices);
    }
}

#[test]
fn a_snapshot_of_20_01_is_too_old_and_a_person_gets_the_draft() {
    let outcome = with_a_snapshot_of(Millis::from_secs(20 * 60 + 1));
    assert_eq!(
        outcome.kind,
        OutcomeKind::HandedOff,
        "{:?}",
        outcome.notices
    );
    assert!(outcome.result.is_none(), "no result without evidence");
    assert!(
        outcome.package.contains_key("draft"),
        "{:?}",
        outcome.package.keys()
    );
    let written = outcome
        .package
        .keys()
        .any(|path| path.starts_with("ticket_write"));
    assert!(!written, "{:?}", outcome.package.keys());
}

#[test]
fn a_run_that_answers_from_a_snapshot_does_not_make_it_younger() {
    let day = Day::new();
    assert_eq!(day.run(None).kind, OutcomeKind::Completed);
    for _ in 0..2 {
        day.sim.run_for(Millis::from_secs(9 * 60 + 50));
        assert_eq!(
            day.run(Some("policy_rag=permanent_provider")).kind,
            OutcomeKind::Degraded
        );
    }
    day.sim.run_for(Millis::from_secs(30));
    assert_eq!(
        day.run(Some("policy_rag=permanent_provider")).kind,
        OutcomeKind::HandedOff
    );
}
