//! Remote work that was given up: what a person asks for in the storm, and the laws of it, from the
//! log alone.
//!
//! The laws know nothing of the core's state: a log that a bent core would write breaks them, which
//! the tests below show one by one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use mainstay_graph::{Contract, EffectSemantics, FallbackKind, OnLate, TaskClass};
use mainstay_machine::{
    AskOrphan, AttemptEnd, AttemptStarted, Command, CompensationWanted, Event, OrphanWish, Seen,
    ToolMade,
};
use mainstay_types::{
    AttemptNo, CallId, FailureKind, Millis, NodeId, Payload, Sent, Timestamp, limits,
};

use super::draw::Blow;
use crate::scenario::world::{Stamped, World};

type Request = (CallId, AttemptNo);

/// What a person wants done about some orphan, if there is one that is open.
pub(crate) fn wishes(world: &World, blow: Blow) -> Option<Command> {
    let made = world.run.calls().iter().flat_map(|(id, call)| {
        let attempts = call.attempts.iter();
        attempts.filter_map(move |made| Some((id, made.no, made.orphan()?)))
    });
    let open: Vec<_> = made.filter(|(.., it)| it.is_open(world.now)).collect();
    let &(call, attempt, orphan) = open.get(usize::from(blow.whom) % open.len().max(1))?;
    Some(Command::Orphan(AskOrphan {
        call,
        attempt,
        wish: match blow.how & 1 {
            0 => OrphanWish::Close,
            _ => OrphanWish::Adopt {
                until: world.now + Millis::new(u64::from(blow.how >> 16)),
            },
        },
        after: orphan.adoptions,
        by: ["bob", "eve"][usize::from(blow.whom >> 8) % 2].to_owned(),
        why: "storm".to_owned(),
    }))
}

/// A law.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Law {
    /// What is given up while it may have left has an owner and a time at once, and nothing else.
    Owned,
    /// What became of it is said once, and only while it is not known.
    Once,
    /// That nothing was heard is said when the time is over, of what somebody has to hear of.
    Told,
    /// A run is not closed while somebody waits for it.
    Held,
    /// A late answer goes where the class says.
    Policy,
    /// A call has one value.
    OneValue,
}

/// How an orphan stands, by the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stands {
    Left,
    Waited,
    Overdue,
    Known,
    Closed,
}

/// Follows a log.
#[derive(Clone)]
pub(crate) struct Orphans {
    class: Arc<TaskClass>,
    nodes: Vec<NodeId>,
    sent: BTreeMap<Request, AttemptStarted>,
    /// Attempts whose end somebody reported: those were not given up.
    reported: BTreeSet<Request>,
    cancel: Option<String>,
    known: BTreeMap<Request, (Timestamp, Stands)>,
    values: BTreeSet<CallId>,
    /// What has to be the next event.
    due: Option<(Request, Timestamp)>,
    last: Option<Event>,
    is_quarantined: bool,
}

type Holds = Result<(), Law>;

fn keep(holds: bool, law: Law) -> Holds {
    if holds { Ok(()) } else { Err(law) }
}

impl Orphans {
    pub(crate) fn of(class: &Arc<TaskClass>) -> Self {
        Self {
            class: Arc::clone(class),
            nodes: class.ids().map(|(id, _)| id).collect(),
            sent: BTreeMap::new(),
            reported: BTreeSet::new(),
            cancel: None,
            known: BTreeMap::new(),
            values: BTreeSet::new(),
            due: None,
            last: None,
            is_quarantined: false,
        }
    }

    /// The end of an attempt is reported, and so is nobody's doing here.
    pub(crate) fn report(&mut self, request: Request) {
        self.reported.insert(request);
    }

    /// Enters one event; says which law it breaks.
    // One line per arm: a table that is read down.
    #[rustfmt::skip]
    pub(crate) fn enter(&mut self, Stamped { at, event }: &Stamped) -> Holds {
        let due = self.due.take();
        let is_orphaned = matches!(event, Event::AttemptOrphaned { .. });
        keep(due.is_some() == is_orphaned, Law::Owned)?;
        match event {
            Event::ListRecorded { call, items } => self.listed(*call, items.len()),
            Event::ToolCalled(called) => self.asked(&called.made),
            Event::CompensationWanted(wanted) => self.wanted(wanted),
            Event::AttemptStarted(sent) => drop(self.sent.insert((sent.call, sent.attempt), *sent)),
            Event::AttemptSettled { call, attempt, end, .. } =>
                self.settled((*call, *attempt), end),
            Event::AttemptOrphaned { call, attempt, owner, until } =>
                self.orphaned(due, (*call, *attempt), owner, *until)?,
            Event::OrphanObserved { call, attempt, seen } =>
                self.observed((*call, *attempt), *seen, *at)?,
            Event::OrphanAdopted { call, attempt, until, .. } =>
                self.adopted((*call, *attempt), *until)?,
            Event::OrphanClosed { call, attempt, .. } => self.closed((*call, *attempt))?,
            Event::LateValueRecorded { call, attempt, policy, value } =>
                self.late((*call, *attempt), *policy, value.as_ref())?,
            Event::CallSettled { call, .. } | Event::EffectApplied { call, .. } =>
                keep(self.values.insert(*call), Law::OneValue)?,
            Event::RunClosed => keep(!self.known.values().any(waits), Law::Held)?,
            Event::CancelRequested { by, .. } => self.cancel = Some(by.clone()),
            Event::LapStarted(_) => self.cancel = None,
            Event::RunQuarantined(_) => self.is_quarantined = true,
            Event::QuarantineLifted { .. } | Event::RunTerminated { .. } =>
                self.is_quarantined = false,
            Event::RunStarted(_)
            | Event::AdmissionDecided(_)
            | Event::LeaseTaken(_)
            | Event::CallPrepared { .. }
            | Event::AttemptInterrupted { .. }
            | Event::CallRescheduled { .. }
            | Event::NextDecided(_)
            | Event::RepairWanted { .. }
            | Event::CallOmitted { .. }
            | Event::CallSkipped { .. }
            | Event::CallFailed { .. }
            | Event::CodeFailed { .. }
            | Event::EffectIntended { .. }
            | Event::EffectInDoubt { .. }
            | Event::EffectAbsent { .. }
            | Event::EffectPartlyApplied { .. }
            | Event::EffectCompensated { .. }
            | Event::KeyTakenOver { .. }
            | Event::EffectSettledByHand(_)
            | Event::ToolsDone { .. }
            | Event::ControlSettled { .. }
            | Event::KeyAwaited { .. }
            | Event::LateResult { .. }
            | Event::HardPathLost { .. }
            | Event::AnsweredLater { .. }
            | Event::LapEnded { .. }
            | Event::AddendumRecorded { .. }
            | Event::BudgetRaised(_) => {}
        }
        self.last = Some(event.clone());
        Ok(())
    }

    fn listed(&mut self, call: CallId, items: usize) {
        let node = self.node(call);
        self.nodes.extend(std::iter::repeat_n(node, items));
    }

    /// What undoes an effect is a call of its own from the first time that it is wanted.
    fn wanted(&mut self, wanted: &CompensationWanted) {
        if wanted.wanted == 1 {
            let undo = self.class.compensation_of(self.node(wanted.call));
            self.nodes
                .push(undo.expect("the class says how it is undone"));
        }
    }

    fn asked(&mut self, made: &ToolMade) {
        match made {
            ToolMade::New { node, .. } => self.nodes.push(*node),
            ToolMade::Joined(_) => {}
        }
    }

    /// After a turn at `now`: whoever had to hear of something by now has heard.
    pub(crate) fn is_told(&self, now: Timestamp) -> Holds {
        let late = |(until, stands): &(Timestamp, Stands)| {
            *stands == Stands::Waited && *until <= now && !self.is_quarantined
        };
        keep(!self.known.values().any(late), Law::Told)
    }

    fn node(&self, call: CallId) -> NodeId {
        self.nodes[usize::try_from(call.get()).expect("few calls")]
    }

    fn contract(&self, call: CallId) -> &Contract {
        let node = self.class.node(self.node(call));
        node.contract().expect("it is attempted")
    }

    fn settled(&mut self, request: Request, end: &AttemptEnd) {
        let AttemptEnd::Failed(failure) = end else {
            return;
        };
        let is_stop = failure.kind == FailureKind::Canceled && failure.sent == Sent::MaybeSent;
        if !is_stop || self.reported.contains(&request) {
            return;
        }
        let (contract, sent) = (self.contract(request.0), &self.sent[&request]);
        let below = usize::from(sent.rung.get()).checked_sub(1);
        let is_local =
            below.is_some_and(|at| contract.fallbacks[at].kind == FallbackKind::LocalCompute);
        let ttl = contract.orphan_ttl.unwrap_or(Millis::ZERO);
        let own = sent.at + sent.timeout + ttl;
        let until = match contract.effect {
            EffectSemantics::ReadOnly if is_local => None,
            EffectSemantics::WriteIdempotentWithKey => None,
            EffectSemantics::ReadOnly => Some(own),
            EffectSemantics::WriteWithoutKey => {
                let effect = self.class.node(self.node(request.0)).effect();
                let bound = effect.expect("it writes").receiver_bound;
                let horizon = Millis::new(limits::SEND_WINDOW_MS) + sent.timeout + bound;
                Some(own.max(sent.at + horizon))
            }
        };
        self.due = until.map(|until| (request, until));
    }

    fn orphaned(
        &mut self,
        due: Option<(Request, Timestamp)>,
        request: Request,
        owner: &str,
        until: Timestamp,
    ) -> Holds {
        let named = self.cancel.as_deref().unwrap_or("mainstay");
        let is_right = due == Some((request, until)) && owner == named;
        keep(is_right, Law::Owned)?;
        let stands = match policy(self.contract(request.0)) {
            OnLate::Drop | OnLate::Keep => Stands::Left,
            OnLate::Review => Stands::Waited,
        };
        let before = self.known.insert(request, (until, stands));
        keep(before.is_none(), Law::Owned)
    }

    fn observed(&mut self, request: Request, seen: Seen, at: Timestamp) -> Holds {
        let is_reported = match &self.last {
            Some(
                Event::LateResult { call, attempt, .. }
                | Event::LateValueRecorded { call, attempt, .. },
            ) => (*call, *attempt) == request,
            Some(_) | None => false,
        };
        let known = self.known.get_mut(&request).ok_or(Law::Owned)?;
        let (until, stands) = *known;
        known.1 = match (seen, stands) {
            (_, Stands::Known) => return Err(Law::Once),
            (Seen::StillRunning, Stands::Waited) if until <= at => Stands::Overdue,
            (Seen::StillRunning, _) => return Err(Law::Told),
            (Seen::Canceled | Seen::CompletedLate | Seen::Failed, _) => Stands::Known,
        };
        keep(is_reported || seen == Seen::StillRunning, Law::Once)
    }

    fn adopted(&mut self, request: Request, until: Timestamp) -> Holds {
        let known = self.known.get_mut(&request).ok_or(Law::Owned)?;
        let is_open = !matches!(known.1, Stands::Known | Stands::Closed);
        *known = (until, Stands::Waited);
        keep(is_open, Law::Once)
    }

    fn closed(&mut self, request: Request) -> Holds {
        let known = self.known.get_mut(&request).ok_or(Law::Owned)?;
        let is_open = !matches!(known.1, Stands::Known | Stands::Closed);
        known.1 = Stands::Closed;
        keep(is_open, Law::Once)
    }

    fn late(&self, request: Request, said: OnLate, value: Option<&Payload>) -> Holds {
        let contract = self.contract(request.0);
        let has_value = self.values.contains(&request.0);
        let is_there = match (policy(contract), contract.effect) {
            (OnLate::Drop, _) => false,
            (OnLate::Review, _) => true,
            (OnLate::Keep, EffectSemantics::ReadOnly) => !has_value,
            (OnLate::Keep, EffectSemantics::WriteIdempotentWithKey) => false,
            (OnLate::Keep, EffectSemantics::WriteWithoutKey) => true,
        };
        let is_right = said == policy(contract) && value.is_some() == is_there;
        keep(is_right, Law::Policy)
    }
}

const fn waits((_, stands): &(Timestamp, Stands)) -> bool {
    matches!(stands, Stands::Waited | Stands::Overdue)
}

/// As the class says, else by what an attempt does to the world.
fn policy(contract: &Contract) -> OnLate {
    contract.on_late.unwrap_or(match contract.effect {
        EffectSemantics::ReadOnly => OnLate::Drop,
        EffectSemantics::WriteIdempotentWithKey => OnLate::Keep,
        EffectSemantics::WriteWithoutKey => OnLate::Review,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::sample;
    use crate::random::storm::Storm;
    use crate::scenario::fair;

    /// A core that breaks one law, as the log it would write.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Bent {
        /// It stops attempts and says nothing of whose they are.
        Forgets,
        /// It gives them to nobody.
        NamesNobody,
        /// It believes a report that comes twice.
        HearsTwice,
        /// It tells of what is left to its time.
        TellsOfAll,
        /// It never tells.
        NeverTells,
        /// It closes runs whatever is waited for.
        ClosesAlways,
        /// It keeps what is to be thrown away.
        KeepsAll,
        /// It takes a late answer for the value of a call that has one.
        DeliversTwice,
    }

    const BENT: [(Bent, Law); 8] = [
        (Bent::Forgets, Law::Owned),
        (Bent::NamesNobody, Law::Owned),
        (Bent::HearsTwice, Law::Once),
        (Bent::TellsOfAll, Law::Told),
        (Bent::NeverTells, Law::Told),
        (Bent::ClosesAlways, Law::Held),
        (Bent::KeepsAll, Law::Policy),
        (Bent::DeliversTwice, Law::OneValue),
    ];

    impl Bent {
        /// What it writes in the place of `stamped`.
        fn writes(self, stamped: &Stamped) -> Vec<Stamped> {
            let with = |event: Event| Stamped {
                event,
                ..stamped.clone()
            };
            let unheard = |call: CallId, attempt: AttemptNo| Event::OrphanObserved {
                call,
                attempt,
                seen: Seen::StillRunning,
            };
            match (self, &stamped.event) {
                (Self::Forgets, Event::AttemptOrphaned { .. }) => Vec::new(),
                (Self::NamesNobody, Event::AttemptOrphaned { .. }) => {
                    let mut nobodys = stamped.clone();
                    if let Event::AttemptOrphaned { owner, .. } = &mut nobodys.event {
                        owner.clear();
                    }
                    vec![nobodys]
                }
                (Self::HearsTwice, Event::OrphanObserved { .. }) => {
                    vec![stamped.clone(), stamped.clone()]
                }
                (Self::TellsOfAll, Event::AttemptOrphaned { call, attempt, .. }) => {
                    vec![stamped.clone(), with(unheard(*call, *attempt))]
                }
                (
                    Self::NeverTells,
                    Event::OrphanObserved {
                        seen: Seen::StillRunning,
                        ..
                    },
                ) => Vec::new(),
                (Self::ClosesAlways, Event::AttemptOrphaned { .. }) => {
                    vec![stamped.clone(), with(Event::RunClosed)]
                }
                (Self::KeepsAll, Event::LateValueRecorded { .. }) => {
                    let mut kept = stamped.clone();
                    if let Event::LateValueRecorded { value, .. } = &mut kept.event {
                        value.get_or_insert_with(|| Payload::from("1"));
                    }
                    vec![kept]
                }
                (Self::DeliversTwice, Event::LateValueRecorded { call, attempt, .. }) => {
                    let value = Event::CallSettled {
                        call: *call,
                        rung: mainstay_types::Rung(0),
                        result: Payload::from(attempt.get().to_string()),
                    };
                    vec![stamped.clone(), with(value)]
                }
                (
                    Self::Forgets
                    | Self::NamesNobody
                    | Self::HearsTwice
                    | Self::TellsOfAll
                    | Self::NeverTells
                    | Self::ClosesAlways
                    | Self::KeepsAll
                    | Self::DeliversTwice,
                    _,
                ) => vec![stamped.clone()],
            }
        }
    }

    /// The first law that the log of a core breaks; turns end where the clock moves.
    fn broken(mut orphans: Orphans, log: &[Stamped]) -> Option<Law> {
        let mut now = None;
        for stamped in log {
            if now.is_some_and(|now| now < stamped.at)
                && let Some(Err(law)) = now.map(|now| orphans.is_told(now))
            {
                return Some(law);
            }
            now = Some(stamped.at);
            if let Err(law) = orphans.enter(stamped) {
                return Some(law);
            }
        }
        None
    }

    #[test]
    fn each_law_of_orphans_is_broken_by_a_core_that_is_bent_against_it() {
        let mut unseen = BENT.to_vec();
        for draw in sample(3_000) {
            let mut storm = Storm::begin(&draw);
            draw.blows.iter().for_each(|&blow| storm.blow(blow));
            let (mut world, mut receiver, watch) = storm.calm();
            fair::drive(&mut world, &mut receiver);
            let reported = watch.orphans().reported.clone();
            let fresh = || Orphans {
                reported: reported.clone(),
                ..Orphans::of(world.run.class())
            };
            assert_eq!(broken(fresh(), &world.log), None, "the core itself");
            unseen.retain(|&(bent, law)| {
                let log: Vec<Stamped> = world
                    .log
                    .iter()
                    .flat_map(|stamped| bent.writes(stamped))
                    .collect();
                broken(fresh(), &log) != Some(law)
            });
            if unseen.is_empty() {
                return;
            }
        }
        panic!("not seen: {unseen:?}");
    }
}
