//! A small class and a hand that drives its runs: what is told to the core, at which moment.
//!
//! The core decides every event, so a story can only be one that may happen. It uses no engine,
//! no clock and no user code.

use std::sync::Arc;

use mainstay_graph::{
    Backoff, Budget, CancelSemantics, Caps, Contract, Criticality, EffectContract, EffectSemantics,
    Fallback, FallbackKind, Node, NodeKind, OnDowntime, OnFailure, OnLimit, Reserve, Resolution,
    SameRequestRule, Schema, ScopeKind, TaskClass, Times,
};
use mainstay_ledger::Recorded;
use mainstay_machine::{
    ClassRef, Command, Evidence, Finding, LookedUp, Prepared, Run, RunStarted, Settle, SettleEnd,
    apply, decide, start,
};
use mainstay_types::{
    AttemptNo, BusinessId, CallId, ClassName, ClassVersion, CostUnits, DependencyName, Digest,
    EffectName, Epoch, Failure, LapNo, Millis, NodeId, NodeName, Payload, RunId, Seq, StartKey,
    Tenant, Timestamp, Tokens, WorkerId,
};

/// The calls of the class, by their place.
pub(crate) const POLICY: CallId = CallId(0);
pub(crate) const RELATED: CallId = CallId(1);
pub(crate) const DRAFT: CallId = CallId(2);
pub(crate) const TICKETS: CallId = CallId(3);
/// The first item of the tickets.
pub(crate) const ITEM: CallId = CallId(4);

/// 2026-11-30T09:38:20.000Z.
pub(crate) const START_MS: i64 = 1_796_031_500_000;

/// The id of the `n`-th run, all within one minute.
pub(crate) fn run_id(n: u8) -> RunId {
    let mut bytes = [0; 16];
    bytes[..6].copy_from_slice(&START_MS.to_be_bytes()[2..]);
    (bytes[6], bytes[8], bytes[15]) = (0x70, 0x80, n);
    RunId::from_bytes(bytes)
}

/// Two reads, a draft from them, and a ticket for each of its actions.
pub(crate) fn class() -> TaskClass {
    TaskClass {
        name: ClassName::new("minutes").unwrap(),
        version: ClassVersion(3),
        input: schema(),
        output: schema(),
        budget: Budget {
            retry_tokens: Tokens::new(4),
            concurrency_tokens: Tokens::new(5),
            cost_units: CostUnits::units(18),
        },
        times: Times::answer_by(Millis::from_secs(12)),
        reserve: Reserve {
            deliver: Millis::new(400),
            ..Reserve::default()
        },
        on_downtime: OnDowntime::Extend {
            max: Millis::from_hours(1),
        },
        on_failure: OnFailure::HandOff,
        on_limit: OnLimit::default(),
        caps: Caps::default(),
        later: None,
        nodes: vec![policy(), related(), draft(), tickets()],
        result: vec![NodeId(2), NodeId(3)],
    }
}

fn schema() -> Schema {
    Schema(Arc::from("true"))
}

fn node(name: &str, kind: NodeKind, inputs: &[u16]) -> Node {
    Node {
        name: NodeName::new(name).unwrap(),
        kind,
        criticality: Criticality::Hard,
        inputs: inputs.iter().copied().map(NodeId).collect(),
        when: None,
        output: schema(),
        tool: None,
        undoes: None,
    }
}

fn contract(dependency: &str, effect: EffectSemantics, cost: CostUnits) -> Contract {
    Contract {
        dependency: DependencyName::new(dependency).unwrap(),
        operation: "ask".to_owned(),
        effect,
        cancel: CancelSemantics::BestEffort,
        max_attempts: 2,
        timeout: Millis::from_secs(3),
        estimate: Millis::new(400),
        min_useful: Millis::new(100),
        cost,
        deadline_reserve: Millis::ZERO,
        backoff: Backoff {
            base: Millis::new(100),
            max: Millis::from_secs(2),
        },
        on_late: None,
        orphan_ttl: None,
        repair: false,
        retry_cap: None,
        fallbacks: Vec::new(),
        request: schema(),
        reply: schema(),
    }
}

fn policy() -> Node {
    let max_age = Millis::from_mins(20);
    let snapshot = Fallback {
        kind: FallbackKind::ApprovedSnapshot { max_age },
        dependency: Some(DependencyName::new("snapshot").unwrap()),
        max_attempts: 1,
        timeout: Millis::new(200),
        estimate: Millis::new(20),
        min_useful: Millis::new(10),
        cost: CostUnits::ZERO,
    };
    let contract = Contract {
        fallbacks: vec![snapshot],
        ..contract("policy", EffectSemantics::ReadOnly, CostUnits::units(1))
    };
    node("policy_rag", NodeKind::Read { contract }, &[])
}

fn related() -> Node {
    let contract = contract("search", EffectSemantics::ReadOnly, CostUnits::units(1));
    let notice = "related tickets not searched".to_owned();
    let read = node("related_tickets", NodeKind::Read { contract }, &[]);
    Node {
        criticality: Criticality::Soft { notice },
        ..read
    }
}

fn draft() -> Node {
    node("draft", NodeKind::Local, &[0])
}

fn tickets() -> Node {
    let idempotent = EffectSemantics::WriteIdempotentWithKey;
    let effect = EffectContract {
        name: EffectName::new("ticket").unwrap(),
        scope: ScopeKind::Business,
        rule: SameRequestRule::PerItem,
        resolution: Resolution::ByKey,
        receiver_bound: Millis::from_secs(2),
        receiver_key_ttl: Some(Millis::from_days(30)),
        key_memory: Millis::from_days(400),
        significant: Vec::new(),
    };
    let contract = contract("tickets", idempotent, CostUnits::milli(100));
    node(
        "ticket_write",
        NodeKind::Each {
            contract,
            effect,
            items_max: 50,
        },
        &[2],
    )
}

/// A run and what has happened to it.
pub(crate) struct Story {
    pub(crate) run: Run,
    pub(crate) recorded: Vec<Recorded>,
    pub(crate) at: Timestamp,
}

impl Story {
    /// The `n`-th run, started at 0 ms.
    pub(crate) fn begin(n: u8) -> Self {
        Self::begin_of(n, class())
    }

    /// The same of another class with these calls.
    pub(crate) fn begin_of(n: u8, class: TaskClass) -> Self {
        let class = Arc::new(class);
        let at = Timestamp::from_millis(START_MS);
        let started = RunStarted {
            run: run_id(n),
            class: ClassRef {
                name: class.name.clone(),
                version: class.version,
                fingerprint: class.fingerprint(),
            },
            tenant: Tenant::new("acme").unwrap(),
            start_key: Some(StartKey::new(format!("mtg-{n}")).unwrap()),
            input: Payload::from("\"minutes\""),
            at,
            lap: LapNo(1),
            times: start::lap_times(&class, at, None),
            budget: class.budget,
            on_failure: class.on_failure,
            worker: WorkerId::from_bytes([1; 16]),
            traceparent: None,
        };
        let mut story = Self {
            run: Run::unborn(class),
            recorded: Vec::new(),
            at,
        };
        story.tell(0, Command::Start(Box::new(started.into())));
        story
    }

    /// Tells the core `command` at `ms` after the start, then that time has passed.
    pub(crate) fn tell(&mut self, ms: u64, command: Command) {
        self.at = Timestamp::from_millis(START_MS) + Millis::new(ms);
        self.apply(command);
        let mut seen = usize::MAX;
        while self.recorded.len() != seen {
            seen = self.recorded.len();
            self.apply(Command::Advance);
        }
    }

    fn apply(&mut self, command: Command) {
        let quarantined = self
            .run
            .head()
            .is_some_and(|head| head.quarantined.is_some());
        let closed = self.run.head().is_some_and(|head| head.closed);
        if (quarantined || closed) && command == Command::Advance {
            return;
        }
        let shown = format!("{command:?}");
        let events = decide(&self.run, command, self.at).unwrap_or_else(|no| {
            panic!("{shown} is refused: {no}");
        });
        for event in events {
            apply(&mut self.run, &event).expect("what was decided can be applied");
            let epoch = self.run.head().map_or(Epoch(0), |head| head.epoch);
            let seq = Seq(self.recorded.len() as u64).next();
            self.recorded.push(Recorded {
                seq,
                at: self.at,
                epoch,
                event,
            });
        }
    }

    /// Another process takes the run over.
    pub(crate) fn take_over(&mut self, ms: u64) {
        let (worker, downtime) = (WorkerId::from_bytes([2; 16]), Millis::ZERO);
        self.tell(ms, Command::TakeOver { worker, downtime });
    }

    /// Fixes a read's request.
    pub(crate) fn prepare(&mut self, ms: u64, call: CallId) {
        let prepared = prepared("{}");
        self.tell(ms, Command::Prepared { call, prepared });
    }

    /// Fixes a read's request and lets its attempt leave.
    pub(crate) fn ask(&mut self, ms: u64, call: CallId) {
        self.prepare(ms, call);
        self.leave(ms, call);
    }

    /// Lets the next attempt of a call leave.
    pub(crate) fn leave(&mut self, ms: u64, call: CallId) {
        let rung = self.run.calls().get(call).expect("a call").rung;
        self.tell(
            ms,
            Command::Authorize {
                call,
                rung,
                evidence: Evidence::default(),
            },
        );
    }

    /// An attempt answers.
    pub(crate) fn answer(&mut self, ms: u64, (call, attempt): (CallId, u32), result: &str) {
        let end = SettleEnd::Answered {
            result: Payload::from(result),
            cost: None,
            client_retries: 0,
        };
        self.settle(ms, (call, attempt), end);
    }

    /// An attempt fails.
    pub(crate) fn fail(&mut self, ms: u64, attempt: (CallId, u32), failure: Failure) {
        self.settle(ms, attempt, SettleEnd::Failed(failure));
    }

    fn settle(&mut self, ms: u64, (call, attempt): (CallId, u32), end: SettleEnd) {
        let attempt = AttemptNo(attempt);
        let evidence = Evidence::default();
        self.tell(
            ms,
            Command::Settle(Settle {
                call,
                attempt,
                end,
                evidence,
            }),
        );
    }

    /// Both reads answer and the draft is made.
    pub(crate) fn draft(&mut self) {
        self.ask(10, POLICY);
        self.ask(10, RELATED);
        self.answer(200, (RELATED, 1), "[]");
        self.answer(322, (POLICY, 1), "{\"rule\":7}");
        self.tell(
            400,
            Command::Computed {
                call: DRAFT,
                result: Payload::from("{\"actions\":2}"),
            },
        );
    }

    /// The list is fixed and the first attempt of both items leaves.
    pub(crate) fn send_tickets(&mut self) {
        let items = vec![prepared("{\"title\":\"a\"}"), prepared("{\"title\":\"b\"}")];
        self.tell(
            500,
            Command::Listed {
                call: TICKETS,
                items,
            },
        );
        self.leave(510, ITEM);
        self.leave(510, CallId(5));
    }

    /// The receiver was asked about an item and says this.
    pub(crate) fn look_up(&mut self, ms: u64, number: u32, finding: Finding) {
        let asked_at = Timestamp::from_millis(START_MS) + Millis::new(ms);
        let evidence = Evidence::default();
        let report = LookedUp {
            call: ITEM,
            number,
            asked_at,
            finding,
            evidence,
        };
        self.tell(ms, Command::LookedUp(report));
    }

    /// A whole run in which nothing goes wrong.
    pub(crate) fn completed(n: u8, result: &str) -> Self {
        let mut story = Self::begin(n);
        story.draft();
        story.send_tickets();
        story.answer(700, (CallId(5), 1), "\"T-18\"");
        story.answer(800, (ITEM, 1), "\"T-17\"");
        story.tell(
            900,
            Command::Assembled {
                result: Ok(Payload::from(result)),
            },
        );
        story
    }
}

fn prepared(request: &str) -> Prepared {
    Prepared {
        request: Payload::from(request),
        fingerprint: Digest::of(request.as_bytes()),
        business_id: Some(BusinessId::new("mtg").unwrap()),
    }
}
