//! The class with doubles behind its dependencies, for the tests and for the program that tries it.
//!
//! It must never say what is to go wrong, nor what has to hold.

use std::path::Path;
use std::sync::Arc;

use mainstay::Millis;
use mainstay::chaos::{self, Campaign, SimModel, SimReceiver};
use mainstay::class::Class;
use mainstay::types::{Clock, Timestamp};
use meeting_analysis::app::remote;
use meeting_analysis::class::{Deps, class, extend_default};
use meeting_analysis::local::{LocalSpecialist, PolicySearch, PolicySnapshot, Summariser};
use meeting_analysis::minutes::{INPUT_BYTES_MAX, Meeting};
use meeting_analysis::policy::{Grade, PolicyEvidence, PolicyIndex, PolicyQuery};
use meeting_analysis::report::Report;
use meeting_analysis::tickets::RelatedTicket;
use meeting_analysis::wire::{RelatedQuery, SpecialistReply, SpecialistRequest};
use meeting_analysis::wire::{TicketReply, TicketRequest};

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

/// From an index that is behind, and says so by its time alone.
fn a_day_old(evidence: PolicyEvidence) -> PolicyEvidence {
    PolicyEvidence {
        retrieved_at_ms: evidence.retrieved_at_ms - 86_400_000,
        ..evidence
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

/// The campaign; `folder` is for what the class keeps in files.
pub(crate) fn campaign(folder: &Path) -> Campaign<Meeting, Report> {
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
                .answers_with(evidence(Grade::Live))
                .stale_to(a_day_old),
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
