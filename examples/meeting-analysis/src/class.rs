//! The task class `meeting-analysis-draft`: what a run over minutes does, under which limits.
//!
//! Contract values follow mission A26. Tickets are written only on policy evidence; everything
//! else of the draft is there for a person even when there is none.

use std::sync::Arc;

use mainstay::CostUnits;
use mainstay::class::{Budget, Builder, Class, Extend, Problems, Ref, Reserve, SoftRef, TaskClass};
use mainstay::class::{hours, ms, secs};
use mainstay::dispatch::{Read, Write};
use mainstay::graph::OnDowntime;

use crate::local::{LocalSpecialist, PolicySearch, PolicySnapshot, SNAPSHOT_AGE_MAX, Summariser};
use crate::minutes::Meeting;
use crate::policy::{Grade, PolicyEvidence};
use crate::report::{Parts, Report, TicketRef};
use crate::summarise::{ACTIONS_MAX, Draft};
use crate::text::utc;
use crate::tickets::{NewTicket, RelatedTicket};
use crate::wire::{
    DraftRequest, Outline, RelatedQuery, SpecialistReply, SpecialistRequest, TicketReply,
    TicketRequest,
};

/// The class's name.
pub const NAME: &str = "meeting-analysis-draft";
/// The version whose times move by up to an hour of downtime.
pub const VERSION_EXTEND: u32 = 1;
/// The version whose times are moments of the wall clock; alike in all else.
pub const VERSION_ABSOLUTE: u32 = 2;
/// What makes two tickets the same request. The rest of a ticket is evidence, which names when it
/// was retrieved: another run over the same minutes must still find the ticket that is there.
pub const TICKET_IDENTITY: [&str; 4] = ["/source", "/position", "/title", "/owner"];
/// What the report says when related tickets were not searched.
pub const RELATED_NOTICE: &str = "related tickets not searched";
/// What the report says when there is no summary by the specialist or its stand-in.
pub const SPECIALIST_NOTICE: &str = "no specialist summary";

/// Who answers.
pub struct Deps<R, S, T> {
    /// Policy retrieval.
    pub policy: Arc<PolicySearch>,
    /// Its approved snapshot.
    pub snapshot: Arc<PolicySnapshot>,
    /// The search for related tickets.
    pub related: R,
    /// The specialist.
    pub specialist: S,
    /// Its stand-in.
    pub local: Arc<LocalSpecialist>,
    /// The summariser.
    pub draft: Arc<Summariser>,
    /// The ticket service.
    pub tickets: T,
}

/// The digest of the minutes: the business id of their tickets.
#[must_use]
pub fn digest(meeting: &Meeting) -> String {
    blake3::hash(meeting.text.as_bytes()).to_hex().to_string()
}

/// The class over these dependencies.
///
/// # Errors
/// All problems of the class at once.
pub fn class<R, S, T>(
    deps: &Deps<R, S, T>,
    on_downtime: OnDowntime,
) -> Result<Class<Meeting, Report>, Problems>
where
    R: Read<Request = RelatedQuery, Reply = Vec<RelatedTicket>> + Clone,
    S: Read<Request = SpecialistRequest, Reply = SpecialistReply> + Clone,
    T: Write<Request = TicketRequest, Reply = TicketReply> + Clone,
{
    let mut g = TaskClass::<Meeting>::define(NAME, version_of(on_downtime));
    g.budget(
        Budget::new()
            .answer_by(secs(12))
            .retries(4)
            .concurrency(5)
            .cost(18),
    );
    g.reserve(
        Reserve::new()
            .synthesis(ms(1_800))
            .reconcile(ms(1_200))
            .deliver(ms(400)),
    );
    g.on_downtime(on_downtime);
    let (policy, related) = searches(&mut g, deps);
    let draft = draft(&mut g, deps, related);
    let items_max = u32::try_from(ACTIONS_MAX).unwrap_or(u32::MAX);
    let needs = (policy, draft);
    let tickets = g
        .each(
            "ticket_write",
            &deps.tickets,
            needs,
            items_max,
            |m, (policy, draft)| requests(m, policy, draft),
        )
        .effect("ticket")
        .business_id_from(digest)
        .significant(&TICKET_IDENTITY)
        .attempts(3)
        .cost(CostUnits::milli(100))
        .add();
    g.finish(
        (draft, policy, related, tickets),
        |_, (draft, policy, related, tickets)| report(draft, policy, related, tickets),
    )
}

const fn version_of(on_downtime: OnDowntime) -> u32 {
    match on_downtime {
        OnDowntime::Extend { .. } => VERSION_EXTEND,
        OnDowntime::Absolute => VERSION_ABSOLUTE,
    }
}

/// What bears on the minutes: policies, without which no ticket is written, and related tickets.
fn searches<R, S, T>(
    g: &mut Builder<Meeting>,
    deps: &Deps<R, S, T>,
) -> (Ref<PolicyEvidence>, SoftRef<Vec<RelatedTicket>>)
where
    R: Read<Request = RelatedQuery, Reply = Vec<RelatedTicket>> + Clone,
{
    let outline = g.local("outline", (), |m, ()| Outline::of(m)).add();
    let policy = g
        .read("policy_rag", &deps.policy, outline, |_, outline| {
            outline.policy.clone()
        })
        .attempts(2)
        .fallback(&deps.snapshot, SNAPSHOT_AGE_MAX)
        .add();
    let related = g
        .read("related_tickets", &deps.related, outline, |m, outline| {
            RelatedQuery {
                query: outline.tickets.clone(),
                exclude_source: digest(m),
            }
        })
        .attempts(2)
        .soft(RELATED_NOTICE)
        .add();
    (policy, related)
}

/// The draft, with the specialist's summary when there is one.
fn draft<R, S, T>(
    g: &mut Builder<Meeting>,
    deps: &Deps<R, S, T>,
    related: SoftRef<Vec<RelatedTicket>>,
) -> Ref<Draft>
where
    S: Read<Request = SpecialistRequest, Reply = SpecialistReply> + Clone,
{
    let specialist = g
        .read("specialist", &deps.specialist, (), |m, ()| {
            SpecialistRequest {
                minutes: m.text.clone(),
                focus: None,
            }
        })
        .attempts(2)
        .soft(SPECIALIST_NOTICE)
        .fallback_local(&deps.local)
        .add();
    let needs = (related, specialist);
    g.read("draft", &deps.draft, needs, |m, (related, specialist)| {
        DraftRequest {
            meeting: m.clone(),
            related: related.cloned().unwrap_or_default(),
            specialist: specialist.cloned(),
        }
    })
    .attempts(2)
    .add()
}

/// The default: times move by up to an hour of downtime.
#[must_use]
pub fn extend_default() -> OnDowntime {
    Extend(hours(1)).into()
}

fn requests(m: &Meeting, policy: &PolicyEvidence, draft: &Draft) -> Vec<TicketRequest> {
    let source = digest(m);
    let tickets = (0u32..).zip(&draft.actions);
    tickets
        .map(|(i, action)| NewTicket::from_action(&source, i, action, policy).into())
        .collect()
}

fn report(
    draft: &Draft,
    policy: &PolicyEvidence,
    related: Option<&Vec<RelatedTicket>>,
    tickets: &[TicketReply],
) -> Report {
    let mut missing = Vec::new();
    if related.is_none() {
        missing.push(RELATED_NOTICE.to_owned());
    }
    if policy.grade == Grade::ApprovedSnapshot {
        missing.push(format!(
            "policies are from an approved snapshot of {}",
            utc(policy.retrieved_at_ms)
        ));
    }
    if 0 < draft.actions_left_out {
        missing.push(format!(
            "{} more actions have no ticket",
            draft.actions_left_out
        ));
    }
    let ticket = |reply: &TicketReply| TicketRef {
        id: reply.id.clone(),
        title: reply.title.clone(),
        owner: reply.owner.clone(),
    };
    let tickets: Vec<TicketRef> = tickets.iter().map(ticket).collect();
    let related = related.map_or(&[][..], Vec::as_slice);
    Report::new(
        draft,
        Parts {
            policy,
            tickets: &tickets,
            related,
            missing: &missing,
        },
    )
}
