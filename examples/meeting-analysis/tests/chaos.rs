//! The class under fault schedules: what the program runs, with doubles behind its dependencies.
//!
//! `MAINSTAY_SEED=n` tries one world alone; with `MAINSTAY_CAMPAIGN` set 10,000 are tried.

use std::path::Path;
use std::sync::Arc;

use mainstay::chaos::{self, Campaign, Faults, Guarantees, SimModel, SimReceiver, World};
use mainstay::class::Class;
use mainstay::types::{Clock, Timestamp};
use mainstay::{Millis, OutcomeKind};
use meeting_analysis::app::remote;
use meeting_analysis::class::{Deps, class, extend_default};
use meeting_analysis::local::{LocalSpecialist, PolicySearch, PolicySnapshot, Summariser};
use meeting_analysis::minutes::{INPUT_BYTES_MAX, Meeting};
use meeting_analysis::policy::{Grade, PolicyEvidence, PolicyIndex, PolicyQuery};
use meeting_analysis::report::Report;
use meeting_analysis::tickets::RelatedTicket;
use meeting_analysis::wire::{RelatedQuery, SpecialistReply, SpecialistRequest};
use meeting_analysis::wire::{TicketReply, TicketRequest};

/// Seeds in CI: some seconds of a debug build.
const SEEDS: u64 = 120;

/// How many worlds are tried.
fn seeds() -> u64 {
    match std::env::var_os("MAINSTAY_CAMPAIGN") {
        Some(_) => 10_000,
        None => SEEDS,
    }
}

/// The doubles answer; nothing asks what time it is.
struct Never;

impl Clock for Never {
    fn wall(&self) -> Timestamp {
        unreachable!("a double answers")
    }

    fn monotonic(&self) -> Millis {
        unreachable!("a double answers")
    }
}

/// The class as the program has it; nobody listens at the services' address.
fn meeting_analysis(folder: &Path) -> Class<Meeting, Report> {
    let service = remote::client("http://127.0.0.1:9").expect("an address");
    let policies = Path::new(env!("CARGO_MANIFEST_DIR")).join("policies");
    let index = PolicyIndex::open(&policies).expect("the policies are there");
    let clock: Arc<dyn Clock> = Arc::new(Never);
    let snapshot = folder.join("snapshot.json");
    let deps = Deps {
        policy: Arc::new(PolicySearch::new(index, &snapshot, Arc::clone(&clock))),
        snapshot: Arc::new(PolicySnapshot::new(&snapshot, clock)),
        related: remote::related(&service),
        specialist: remote::specialist(&service),
        local: Arc::new(LocalSpecialist),
        draft: Arc::new(Summariser),
        tickets: remote::tickets(&service),
    };
    class(&deps, extend_default()).expect("a valid class")
}

fn evidence(grade: Grade) -> impl Fn(PolicyQuery) -> PolicyEvidence + Send + Sync + 'static {
    move |_| PolicyEvidence {
        passages: Vec::new(),
        retrieved_at_ms: 1_798_761_600_000,
        source_digest: "d".repeat(64),
        grade,
    }
}

/// Minutes with some actions; now and then two runs are over the same ones.
fn sample_meeting(rng: &chaos::Rng) -> Meeting {
    let people = ["Avery", "Kai", "Noor", "Sam"];
    let mut text = format!("# Sync {}\n\n## Present\n", rng.below(40));
    for person in people {
        text += &format!("* {person} @{}\n", person.to_lowercase());
    }
    text += "\n## Actions\n";
    for number in 0..2 + rng.below(8) {
        let who = rng.one_of(&people).expect("somebody is there");
        text += &format!("* {who} will write part {number} of the plan by Friday.\n");
    }
    Meeting::read("minutes.md", text.as_bytes(), INPUT_BYTES_MAX).expect("it is short")
}

fn campaign(folder: &Path) -> Campaign<Meeting, Report> {
    let related = |_: RelatedQuery| Vec::<RelatedTicket>::new();
    let summary = |asked: SpecialistRequest| SpecialistReply {
        summary: asked.minutes.lines().take(2).collect::<Vec<_>>().join("\n"),
        method: "double".to_owned(),
    };
    let ticket = |asked: TicketRequest| TicketReply {
        id: format!("T-{}", asked.position),
        title: asked.title,
        owner: asked.owner,
    };
    chaos::campaign(meeting_analysis(folder))
        .dependency(
            "policy_search",
            SimModel::new()
                .p50(300)
                .p95(900)
                .answers_with(evidence(Grade::Live)),
        )
        .dependency(
            "policy_snapshot",
            SimModel::new()
                .p50(20)
                .p95(60)
                .answers_with(evidence(Grade::ApprovedSnapshot)),
        )
        .dependency(
            "related_tickets",
            SimModel::new()
                .p50(150)
                .p95(600)
                .answers_with(related)
                .cut_to(|tickets: Vec<RelatedTicket>| {
                    tickets.into_iter().take(1).collect::<Vec<_>>()
                }),
        )
        .dependency(
            "specialist",
            SimModel::new().p50(600).p95(1_800).answers_with(summary),
        )
        .dependency("summariser", SimModel::new().p50(800).p95(2_000))
        .dependency(
            "ticket_service",
            SimReceiver::new().p50(120).p95(400).answers_with(ticket),
        )
        .runs(2)
        .workload(sample_meeting)
}

/// A complete report lacks nothing.
fn a_complete_report_lacks_nothing(world: &World<'_>) -> Result<(), String> {
    for run in world.runs() {
        let (Some(kind), Some(result)) = (run.outcome, &run.result) else {
            continue;
        };
        let report: Report =
            serde_json::from_slice(result.as_bytes()).map_err(|e| e.to_string())?;
        if kind == OutcomeKind::Completed && !report.missing.is_empty() {
            return Err(format!(
                "complete, and these are missing: {:?}",
                report.missing
            ));
        }
    }
    Ok(())
}

#[test]
fn the_class_keeps_every_guarantee_under_every_fault() {
    let folder = tempfile::tempdir().expect("a folder");
    let report = campaign(folder.path())
        .faults(Faults::all())
        .seeds(seeds())
        .check(Guarantees::all())
        .check(|world: &World<'_>| world.receiver("ticket_service").applied_per_key_at_most(1))
        .check(a_complete_report_lacks_nothing)
        .run();
    println!("{report}");
}

#[test]
fn it_recovers_at_once_when_its_services_do() {
    let folder = tempfile::tempdir().expect("a folder");
    campaign(folder.path())
        .faults(Faults::all())
        .from(10_000)
        .seeds(SEEDS / 4)
        .check(Guarantees::all())
        .recovers_within(12_000)
        .run();
}
