//! How long the core takes for one settled attempt of a run with 50 open calls, and whether that
//! depends on what the run has seen.
//!
//! A turn is what the runtime makes of one report: decide, apply, then pending until nothing moves.
//! It ends with `undo`, which costs no less than `keep`, so that every turn begins in one state.
//! Nothing here may wait, and no figure may be asserted: a machine's speed is no property of code.

use std::hint::black_box;
use std::sync::Arc;

use criterion::{BenchmarkId, Criterion};
use mainstay_graph::{
    Backoff, Budget, CancelSemantics, Caps, Contract, Criticality, DependencyCap, EffectContract,
    EffectSemantics, Node, NodeKind, OnDowntime, OnFailure, OnLimit, Reserve, Resolution,
    SameRequestRule, Schema, ScopeKind, TaskClass, Times,
};
use mainstay_machine::{
    Action, AskStart, ClassRef, Command, Evidence, Forecast, Prepared, Run, RunStarted, Settle,
    SettleEnd, apply, decide, may_start, pending, start,
};
use mainstay_types::{
    CallId, ClassName, ClassVersion, CostUnits, DependencyName, Digest, EffectName, Failure,
    FailureKind, LapNo, Millis, NodeId, NodeName, Payload, RunId, Rung, Sent, Tenant, Timestamp,
    Tokens, WorkerId,
};

/// Events before the turn that is measured, about.
const HISTORIES: [usize; 2] = [100, 10_000];

/// Events of a written item: intended, started, settled, applied.
const ITEM_EVENTS: usize = 4;
const LISTS: u16 = 3;

/// The 50 calls that are open: what is out, then what may not start yet, then what waits for what
/// is out.
const READS_OUT: u16 = 16;
const WRITES_OUT: u16 = 4;
const BACKING_OFF: u16 = 4;
const READY_HARD: u16 = 10;
const READY_SOFT: u16 = 6;
const WAITING: u16 = 10;
const OPEN: usize = 50;

const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    for has_caps in [false, true] {
        let class = Arc::new(class(has_caps));
        for (name, end) in [("answered", answered()), ("failed", failed())] {
            let suffix = if has_caps { "_capped" } else { "" };
            let mut group = criterion.benchmark_group(format!("turn/{name}{suffix}"));
            for history in HISTORIES {
                let mut run = opened(&class, history);
                let report = settle(&run, READS_OUT_FROM, end.clone());
                group.bench_function(BenchmarkId::from_parameter(history), |bencher| {
                    bencher.iter(|| turn(&mut run, black_box(&report)));
                });
            }
            group.finish();
        }
    }
    criterion.final_summary();
}

/// One turn of the runtime, undone; how many events it had.
fn turn(run: &mut Run, report: &Command) -> usize {
    run.begin();
    let mut events = take(run, report.clone());
    loop {
        let moved = advance(run);
        events += moved;
        if moved == 0 {
            run.undo();
            return events;
        }
    }
}

/// What the runtime's turn does at once, in its order: code first, then what may leave.
fn advance(run: &mut Run) -> usize {
    let actions = pending(run, NOW);
    let mut moved = 0;
    for &action in &actions {
        moved += match action {
            Action::Advance => take(run, Command::Advance),
            Action::Prepare { call } => take(run, prepared(call)),
            Action::Assemble
            | Action::Start { .. }
            | Action::Attempt { .. }
            | Action::LookUp { .. }
            | Action::WakeAt(_) => 0,
        };
    }
    if 0 < moved {
        return moved;
    }
    for action in actions {
        if let Action::Start { call, .. } = action
            && may_start(run, call, NOW).is_ok()
        {
            moved += take(run, authorize(call));
        }
    }
    moved
}

/// Decides and applies one command; how many events followed.
fn take(run: &mut Run, command: Command) -> usize {
    let events = decide(run, command, NOW).unwrap_or_default();
    for event in &events {
        apply(run, event).expect("decided on this state");
    }
    events.len()
}

/// A run with its open calls, after about so many events.
fn opened(class: &Arc<TaskClass>, history: usize) -> Run {
    let mut run = Run::unborn(Arc::clone(class));
    must(&mut run, begin(class));
    write_lists(&mut run, history / ITEM_EVENTS / usize::from(LISTS));
    for call in calls(READS_OUT_FROM, AFTER_READY) {
        must(&mut run, prepared(call));
    }
    for call in calls(BACKING_OFF_FROM, READY_FROM) {
        must(&mut run, authorize(call));
        let failure = Failure::new(FailureKind::RateLimited, Sent::Answered);
        let later = SettleEnd::Failed(failure.retry_after(Millis::from_secs(5)));
        let report = settle(
            &run,
            u16::try_from(call.get()).expect("a node's call"),
            later,
        );
        must(&mut run, report);
    }
    for call in calls(READS_OUT_FROM, BACKING_OFF_FROM) {
        must(&mut run, authorize(call));
    }
    assert_eq!(run.calls().open(), OPEN);
    assert_eq!(
        run.calls().in_flight().count(),
        usize::from(READS_OUT + WRITES_OUT)
    );
    assert_eq!(advance(&mut run), 0, "what could move has moved");
    run
}

/// Lists of so many items each, all written.
fn write_lists(run: &mut Run, items: usize) {
    for call in calls(0, LISTS) {
        let items = (0..items).map(|_| request()).collect();
        must(run, Command::Listed { call, items });
        let ready: Vec<CallId> = run.calls().ready().map(|(id, _)| id).collect();
        for call in ready {
            must(run, authorize(call));
            must(run, settle_first(call, answered()));
        }
        must(run, Command::Advance);
    }
}

fn must(run: &mut Run, command: Command) {
    let told = format!("{command:?}");
    assert_ne!(take(run, command), 0, "{told}");
}

fn calls(from: u16, to: u16) -> impl Iterator<Item = CallId> {
    (u32::from(from)..u32::from(to)).map(CallId)
}

// Nodes, and so the calls of them, in the order in which the class has them.
const READS_OUT_FROM: u16 = LISTS;
const WRITES_OUT_FROM: u16 = READS_OUT_FROM + READS_OUT;
const BACKING_OFF_FROM: u16 = WRITES_OUT_FROM + WRITES_OUT;
const READY_FROM: u16 = BACKING_OFF_FROM + BACKING_OFF;
const SOFT_FROM: u16 = READY_FROM + READY_HARD;
const AFTER_READY: u16 = SOFT_FROM + READY_SOFT;
const NODES: u16 = AFTER_READY + WAITING;

fn authorize(call: CallId) -> Command {
    Command::Authorize {
        call,
        rung: Rung(0),
        evidence: Evidence::default(),
    }
}

fn begin(class: &Arc<TaskClass>) -> Command {
    let started = RunStarted {
        run: RunId::from_bytes([7; 16]),
        class: ClassRef {
            name: class.name.clone(),
            version: class.version,
            fingerprint: Digest::of(b"class"),
        },
        tenant: Tenant::new("acme").expect("a valid tenant"),
        start_key: None,
        input: Payload::from("{}"),
        at: NOW,
        lap: LapNo(1),
        times: start::lap_times(class, NOW, None),
        budget: class.budget,
        on_failure: class.on_failure,
        worker: WorkerId::from_bytes([1; 16]),
        traceparent: None,
    };
    Command::Start(Box::new(AskStart {
        started,
        forecast: Forecast::default(),
    }))
}

fn prepared(call: CallId) -> Command {
    let prepared = request();
    Command::Prepared { call, prepared }
}

fn request() -> Prepared {
    Prepared {
        request: Payload::from("{}"),
        fingerprint: Digest::from_bytes([9; 32]),
        business_id: None,
    }
}

fn answered() -> SettleEnd {
    SettleEnd::Answered {
        result: Payload::from("{}"),
        cost: None,
        client_retries: 0,
    }
}

fn failed() -> SettleEnd {
    let failure = Failure::new(FailureKind::Overloaded, Sent::Answered);
    SettleEnd::Failed(failure.message("no worker is free"))
}

/// The report of the attempt that is out.
fn settle(run: &Run, call: u16, end: SettleEnd) -> Command {
    let call = CallId(u32::from(call));
    let made = run.calls().get(call).expect("a node's call");
    Command::Settle(Settle {
        call,
        attempt: made.in_flight().expect("it is out").no,
        end,
        evidence: Evidence::default(),
    })
}

fn settle_first(call: CallId, end: SettleEnd) -> Command {
    Command::Settle(Settle {
        call,
        attempt: mainstay_types::AttemptNo(1),
        end,
        evidence: Evidence::default(),
    })
}

fn class(has_caps: bool) -> TaskClass {
    let mut class = TaskClass {
        name: ClassName::new("turns").expect("a valid name"),
        version: ClassVersion(1),
        input: schema(),
        output: schema(),
        budget: Budget {
            retry_tokens: Tokens::new(1_000),
            concurrency_tokens: Tokens::new(u32::from(READS_OUT + WRITES_OUT)),
            cost_units: CostUnits::units(1_000_000),
        },
        times: Times::answer_by(Millis::from_hours(1)),
        reserve: Reserve::default(),
        on_downtime: OnDowntime::Absolute,
        on_failure: OnFailure::HandOff,
        on_limit: OnLimit::default(),
        caps: if has_caps { caps() } else { Caps::default() },
        later: None,
        nodes: (0..NODES).map(node).collect(),
        result: Vec::new(),
    };
    let hard = |id: &NodeId| class.node(*id).criticality == Criticality::Hard;
    class.result = (0..NODES).map(NodeId).filter(hard).collect();
    class
}

/// Caps that nothing here comes near.
fn caps() -> Caps {
    let cap = |place| DependencyCap {
        dependency: DependencyName::new(format!("d{place}")).expect("a valid name"),
        retry_tokens: Some(Tokens::new(1_000)),
        concurrency_tokens: Some(Tokens::new(1_000)),
        cost_units: Some(CostUnits::units(1_000_000)),
    };
    Caps {
        attempts: Some(1_000_000),
        branches: Some(1_000_000),
        parallel_cost: Some(CostUnits::units(1_000_000)),
        dependencies: (0..8).map(cap).collect(),
        ..Caps::default()
    }
}

fn schema() -> Schema {
    Schema(Arc::from("true"))
}

fn node(place: u16) -> Node {
    let is_soft = (SOFT_FROM..AFTER_READY).contains(&place);
    let notice = || format!("no n{place}");
    Node {
        name: NodeName::new(format!("n{place}")).expect("a valid name"),
        kind: kind(place),
        criticality: match is_soft {
            true => Criticality::Soft { notice: notice() },
            false => Criticality::Hard,
        },
        // Each of those that wait has a read of its own that is out.
        inputs: place
            .checked_sub(AFTER_READY)
            .map(|waiting| NodeId(READS_OUT_FROM + waiting))
            .into_iter()
            .collect(),
        when: None,
        output: schema(),
        tool: None,
        undoes: None,
    }
}

fn kind(place: u16) -> NodeKind {
    let read = EffectSemantics::ReadOnly;
    let write = EffectSemantics::WriteIdempotentWithKey;
    if place < LISTS {
        return NodeKind::Each {
            contract: contract(place, write),
            effect: effect(place, SameRequestRule::PerItem),
            items_max: 1_000,
        };
    }
    if (WRITES_OUT_FROM..BACKING_OFF_FROM).contains(&place) {
        return NodeKind::Write {
            contract: contract(place, write),
            effect: effect(place, SameRequestRule::PerSlot),
        };
    }
    NodeKind::Read {
        contract: contract(place, read),
    }
}

fn contract(place: u16, effect: EffectSemantics) -> Contract {
    Contract {
        dependency: DependencyName::new(format!("d{}", place % 10)).expect("a valid name"),
        operation: format!("ask_n{place}"),
        effect,
        cancel: CancelSemantics::BestEffort,
        max_attempts: 3,
        timeout: Millis::from_secs(2),
        estimate: Millis::new(500),
        min_useful: Millis::new(100),
        cost: CostUnits::units(1),
        deadline_reserve: Millis::ZERO,
        backoff: Backoff {
            base: Millis::new(100),
            max: Millis::from_secs(1),
        },
        on_late: None,
        orphan_ttl: None,
        repair: false,
        retry_cap: Some(Tokens::new(8)),
        fallbacks: Vec::new(),
        request: schema(),
        reply: schema(),
    }
}

fn effect(place: u16, rule: SameRequestRule) -> EffectContract {
    EffectContract {
        name: EffectName::new(format!("e{place}")).expect("a valid name"),
        scope: ScopeKind::Run,
        rule,
        resolution: Resolution::ByKey,
        receiver_bound: Millis::new(200),
        receiver_key_ttl: None,
        key_memory: Millis::from_days(1),
        significant: Vec::new(),
    }
}
