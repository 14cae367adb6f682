//! What a lap has taken of its class's caps, and whether a cap stops an attempt.
//!
//! Caps lie beside the budget: how many attempts and branches in all, how much cost at once, how
//! much of the budget one dependency may take. What is out counts against the lap that is driven,
//! what it costs against the lap that sent it, as in the budget.

use mainstay_graph::{DependencyCap, OnLimit, TaskClass};
use mainstay_types::{Code, CostUnits, NodeId, Reason, Refusal, Rung, Tokens};

use crate::attempt::Used;
use crate::guard::Site;
use crate::run::{Lap, Run};
use crate::rung::RungSpec;
use crate::yields;

/// What a lap has taken of its caps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Uses {
    /// Attempts of all calls.
    pub attempts: u32,
    /// Calls that have attempts.
    pub branches: u32,
    /// What each dependency with a cap has taken, in the order of the class's caps.
    pub dependencies: Vec<DependencyUse>,
}

/// What one dependency has taken of a lap's budget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DependencyUse {
    /// Retry tokens used, those included that its client library took without asking.
    pub retry_used: Tokens,
    /// Attempts in flight.
    pub in_flight: Tokens,
    /// Cost reserved for attempts in flight.
    pub reserved: CostUnits,
    /// Cost of attempts that are over.
    pub spent: CostUnits,
}

impl Uses {
    /// Nothing taken yet.
    pub(crate) fn of(class: &TaskClass) -> Self {
        let dependencies = vec![DependencyUse::default(); class.caps.dependencies.len()];
        Self {
            dependencies,
            ..Self::default()
        }
    }

    /// What follows it in the next lap: what is out keeps its places.
    pub(crate) fn next(&mut self) -> Self {
        let dependencies = self.dependencies.iter_mut().map(|taken| DependencyUse {
            in_flight: std::mem::replace(&mut taken.in_flight, Tokens::ZERO),
            ..DependencyUse::default()
        });
        Self {
            dependencies: dependencies.collect(),
            ..Self::default()
        }
    }

    /// An attempt was authorised; `is_branch`: the call's first of the lap.
    pub(crate) fn begin(&mut self, place: Place, (tokens, cost): (Tokens, CostUnits)) {
        self.attempts = self.attempts.saturating_add(1);
        self.branches = self.branches.saturating_add(u32::from(place.is_branch));
        if let Some(taken) = self.dependency(place.dependency) {
            taken.retry_used = taken.retry_used + tokens;
            taken.in_flight = taken.in_flight + Tokens::new(1);
            taken.reserved = taken.reserved + cost;
        }
    }

    /// What a dependency has taken, when it has a cap.
    pub(crate) fn dependency(&mut self, place: Option<usize>) -> Option<&mut DependencyUse> {
        self.dependencies.get_mut(place?)
    }
}

impl DependencyUse {
    /// An attempt is not out any more.
    pub(crate) fn came_back(&mut self) {
        self.in_flight = self.in_flight.less(Tokens::new(1));
    }

    /// An attempt is over.
    pub(crate) fn settle(&mut self, reserved: CostUnits, cost: CostUnits, client_retries: u32) {
        self.reserved = self.reserved.less(reserved);
        self.spent = self.spent + cost;
        self.retry_used = self.retry_used + Tokens::new(client_retries);
    }

    /// What an attempt used became known after it was settled at `counted`.
    pub(crate) fn correct(&mut self, counted: CostUnits, used: Used) {
        self.spent = self.spent.less(counted) + used.cost;
        self.retry_used = self.retry_used + Tokens::new(used.client_retries);
    }
}

/// What an attempt counts as.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// The cap of its dependency, by its place in the class.
    pub(crate) dependency: Option<usize>,
    /// Whether it is the first of its call in the lap.
    pub(crate) is_branch: bool,
}

/// The place of the cap of the dependency that a rung of a node asks, when it has one.
pub(crate) fn place_of(run: &Run, node: NodeId, rung: Rung) -> Option<usize> {
    let caps = &run.class().caps.dependencies;
    // What undoes an effect has no cap, and takes nothing of another's.
    if caps.is_empty() || run.class().node(node).undoes.is_some() {
        return None;
    }
    let asked = run.class().node(node).contract()?.asked(rung)?;
    caps.iter().position(|cap| cap.dependency == *asked)
}

/// The cap of the dependency that the call's rung asks, and what was taken of it.
fn capped(site: Site<'_>) -> Option<(&DependencyCap, &DependencyUse)> {
    let place = place_of(site.run, site.call.node, site.call.rung)?;
    let cap = site.run.class().caps.dependencies.get(place)?;
    Some((cap, site.head.lap.uses.dependencies.get(place)?))
}

/// Whether the caps let an attempt of the call pass.
pub(crate) fn check(site: Site<'_>, spec: &RungSpec, tokens: Tokens) -> Result<(), Refusal> {
    let (caps, lap) = (&site.run.class().caps, &site.head.lap);
    // Counted only when there is a cap, and once: it looks at every open node.
    let cap = caps.attempts.or(caps.branches);
    let kept = cap.map_or(0, |_| yields::calls_kept(site.run, site.call));
    let counts = |what: &str, used: u32, cap: Option<u32>| match cap {
        Some(cap) if cap <= used => Err(refusal(site, what).with("used", used).with("cap", cap)),
        Some(most) if most <= used + kept => Err(yielded(site, what)
            .with("used", used)
            .with("kept", kept)
            .with("cap", most)),
        Some(_) | None => Ok(()),
    };
    counts("attempts", lap.uses.attempts, caps.attempts)?;
    if is_branch(site, lap) {
        counts("branches", lap.uses.branches, caps.branches)?;
    }
    if let Some(cap) = caps.parallel_cost {
        let (reserved, kept) = (lap.budget.reserved, yields::kept_at_once(site));
        costs(site, "cost at once", (reserved, spec.cost, kept), cap)?;
    }
    match capped(site) {
        Some(capped) => check_dependency(site, capped, spec, tokens),
        None => Ok(()),
    }
}

/// Cost that the caps leave, without what a soft call leaves in them.
pub(crate) fn cost_left(site: Site<'_>) -> CostUnits {
    let (caps, lap) = (&site.run.class().caps, &site.head.lap);
    let at_once = caps
        .parallel_cost
        .map(|cap| cap.less(lap.budget.reserved + yields::kept_at_once(site)));
    let of_dependency = capped(site).and_then(|(cap, taken)| {
        let kept = yields::kept_of(site, &cap.dependency);
        Some(
            cap.cost_units?
                .less(taken.spent + taken.reserved + kept.cost),
        )
    });
    let both = [at_once, of_dependency].into_iter().flatten();
    both.fold(CostUnits::micros(u64::MAX), CostUnits::min)
}

/// Retry tokens that the cap of the call's dependency leaves, when it has one.
pub(crate) fn retries_of_dependency(site: Site<'_>) -> Option<Tokens> {
    let (cap, taken) = capped(site)?;
    Some(cap.retry_tokens?.less(taken.retry_used))
}

/// Whether the cap of the call's dependency leaves it so many retry tokens.
pub(crate) fn check_retries(site: Site<'_>, tokens: Tokens) -> Result<(), Refusal> {
    let Some((cap, taken)) = capped(site).filter(|_| tokens != Tokens::ZERO) else {
        return Ok(());
    };
    let kept = yields::kept_of(site, &cap.dependency).retry_tokens;
    let used = [taken.retry_used, tokens, kept];
    counted(site, ("retries", cap), used, cap.retry_tokens)
}

/// Whether so many more are within a dependency's cap, beside what was used and is kept.
fn counted(
    site: Site<'_>,
    (what, cap): (&str, &DependencyCap),
    [used, more, kept]: [Tokens; 3],
    most: Option<Tokens>,
) -> Result<(), Refusal> {
    let what = format!("{what} of {}", cap.dependency);
    let numbers = |refusal: Refusal| refusal.with("used", used.get());
    match most {
        Some(most) if most < used + more => {
            Err(numbers(refusal(site, &what)).with("cap", most.get()))
        }
        Some(most) if most < used + more + kept => Err(numbers(yielded(site, &what))
            .with("kept", kept.get())
            .with("cap", most.get())),
        Some(_) | None => Ok(()),
    }
}

fn check_dependency(
    site: Site<'_>,
    (cap, taken): (&DependencyCap, &DependencyUse),
    spec: &RungSpec,
    tokens: Tokens,
) -> Result<(), Refusal> {
    check_retries(site, tokens)?;
    let kept = yields::kept_of(site, &cap.dependency);
    let out = taken.in_flight + held_for(site, cap);
    let used = [out, Tokens::new(1), kept.places];
    counted(
        site,
        ("attempts at once", cap),
        used,
        cap.concurrency_tokens,
    )?;
    let Some(most) = cap.cost_units else {
        return Ok(());
    };
    let used = (taken.spent + taken.reserved, spec.cost, kept.cost);
    costs(site, &format!("cost of {}", cap.dependency), used, most)
}

/// Concurrency tokens of the dependency that are held for attempts whose process is gone.
fn held_for(site: Site<'_>, cap: &DependencyCap) -> Tokens {
    let caps = &site.run.class().caps.dependencies;
    let of_it = |place: u32| {
        let of = usize::try_from(place)
            .ok()
            .and_then(|place| caps.get(place));
        of.is_some_and(|of| of == cap)
    };
    let held = site.head.held.iter();
    let held = held.filter(|held| site.now < held.until && held.place.is_some_and(of_it));
    Tokens::new(u32::try_from(held.count()).unwrap_or(u32::MAX))
}

fn costs(
    site: Site<'_>,
    what: &str,
    (used, need, kept): (CostUnits, CostUnits, CostUnits),
    cap: CostUnits,
) -> Result<(), Refusal> {
    let numbers = |refusal: Refusal| {
        refusal
            .with("need_micros", need.as_micros())
            .with("used_micros", used.as_micros())
            .with("cap_micros", cap.as_micros())
    };
    if cap < used + need {
        return Err(numbers(refusal(site, what)));
    }
    if cap < used + need + kept {
        return Err(numbers(yielded(site, what)).with("kept_micros", kept.as_micros()));
    }
    Ok(())
}

fn refusal(site: Site<'_>, what: &str) -> Refusal {
    Refusal::new(Code::CapReached).about(format!("{}: {what}", site.run.path(site.id)))
}

/// A soft call would take what the hard path needs of the cap.
fn yielded(site: Site<'_>, what: &str) -> Refusal {
    Refusal::new(Code::SoftYields).about(format!("{}: {what}", site.run.path(site.id)))
}

/// Whether the call has no attempt in this lap yet.
pub(crate) fn is_branch(site: Site<'_>, lap: &Lap) -> bool {
    !site.call.attempts.iter().any(|made| made.lap == lap.no)
}

/// What follows when a limit of the lap stops the call: the class's rule for the hard path, and
/// for soft calls what always follows.
pub(crate) fn rule(site: Site<'_>) -> OnLimit {
    match site.run.is_on_hard_path(site.call.node) {
        true => site.run.class().on_limit,
        false => OnLimit::Degrade,
    }
}

/// Whether somebody can raise what refuses: the budget of the lap can be raised, a cap of the class
/// or of a contract cannot, so that nobody has to wait for that.
pub(crate) fn is_raisable(refusal: &Refusal) -> bool {
    let is_cap = refusal.numbers.iter().any(|(name, _)| *name == "cap");
    matches!(
        refusal.code,
        Code::RetryTokensExhausted | Code::CostExhausted
    ) && !is_cap
}

/// Whether a call that ended for this reason was stopped by a limit of the lap.
pub(crate) const fn is_limit(reason: Reason) -> bool {
    matches!(
        reason,
        Reason::RetryTokensExhausted | Reason::CostExhausted | Reason::CapReached
    )
}
