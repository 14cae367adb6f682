//! The state of a run with something of everything in it: a call in each phase, an attempt in each
//! state, an effect in each status, two laps.
//!
//! No events make it: it is written and read back, never driven. The golden snapshot is made from
//! it, so that a change of the state's shape is noticed.

use mainstay_graph::{Budget, OnFailure};
use mainstay_machine::call::{Doubt, Item, Items};
use mainstay_machine::caps::{DependencyUse, Uses};
use mainstay_machine::run::{Held, Later};
use mainstay_machine::streak::Streak;
use mainstay_machine::{
    Asked, Attempt, AttemptState, BudgetState, Call, Effect, EffectStatus, Head, Lap, LapOutcome,
    LapTimes, Orphan, OutcomeKind, Phase, Prepared, Quarantine, Repair, RunParts, Seen, Stand,
};
use mainstay_types::{
    AttemptNo, CallId, Code, CostUnits, Digest, Epoch, Failure, FailureKind, LapNo, Millis, NodeId,
    Payload, Reason, Rung, Sent, Seq, Timestamp, Tokens, limits,
};

use super::events::{admission, raise};
use super::{at, class_ref, effect_key, run, start_key, tenant, worker};

/// The parts.
#[must_use]
pub fn state() -> RunParts {
    let calls = phases().into_iter().map(plain);
    RunParts {
        seq: Seq(4_711),
        head: head(),
        calls: calls.chain([each()]).chain(writes()).collect(),
    }
}

/// A payload that a snapshot does not hold in itself, of these letters.
#[must_use]
pub fn large_payload(letter: char) -> Payload {
    let text: String = std::iter::repeat_n(letter, limits::SNAPSHOT_INLINE_BYTES_MAX).collect();
    Payload::from(format!("\"{text}\""))
}

fn head() -> Head {
    let asked = |why: &str| Asked {
        by: "uid 1000".to_owned(),
        why: why.to_owned(),
    };
    let handed_off = Lap {
        later: Some(Later {
            doubts: vec![CallId(12), CallId(13)],
            expected_by: at(90_000),
        }),
        outcome: Some(LapOutcome {
            kind: OutcomeKind::HandedOff,
            reason: Reason::AnswerTimeReached,
            result: None,
            at: at(12_000),
        }),
        addenda: vec![(CallId(12), Reason::FoundApplied)],
        ..lap(1)
    };
    let degraded = Lap {
        continued: Some(asked("the mail server is back")),
        extended: Millis::from_secs(48),
        lost: Some(CallId(9)),
        on_failure: OnFailure::Fail,
        outcome: Some(LapOutcome {
            kind: OutcomeKind::Degraded,
            reason: Reason::AllSettled,
            result: Some(large_payload('r')),
            at: at(24_000),
        }),
        ..lap(2)
    };
    Head {
        run: run(1),
        class: class_ref("meeting-analysis", 3),
        tenant: tenant("acme"),
        start_key: Some(start_key("mtg-4711")),
        input: Payload::from(r#"{"minutes":"회의록"}"#),
        started_at: at(1),
        traceparent: Some("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01".to_owned()),
        epoch: Epoch(3),
        worker: worker(2),
        lap: degraded,
        past: vec![handed_off],
        cancel: Some(asked("wrong minutes")),
        terminated: Some(asked("stop it")),
        closed: true,
        quarantined: Some(Quarantine {
            code: Code::TurnPanicked,
            message: "index out of bounds".to_owned(),
        }),
        held: vec![Held {
            until: at(9_000),
            place: Some(0),
        }],
    }
}

fn lap(no: u32) -> Lap {
    let begun = at(u64::from(no));
    let limits = Budget {
        retry_tokens: Tokens::new(4),
        concurrency_tokens: Tokens::new(5),
        cost_units: CostUnits::units(18),
    };
    Lap {
        no: LapNo(no),
        started_at: begun,
        continued: None,
        times: LapTimes {
            answer_by: begun + Millis::from_secs(12),
            work_by: begun + Millis::new(11_600),
            expires_at: Some(begun + Millis::from_days(7)),
            doubt_until: begun + Millis::from_hours(24),
        },
        extended: Millis::ZERO,
        admission: Some(admission()),
        budget: BudgetState {
            limits,
            retry_used: Tokens::new(3),
            in_flight: Tokens::new(2),
            in_flight_peak: Tokens::new(4),
            reserved: CostUnits::units(2),
            spent: CostUnits::micros(1_500_000),
            assumed: CostUnits::micros(250_000),
        },
        uses: Uses {
            attempts: 9,
            branches: 6,
            dependencies: vec![DependencyUse {
                retry_used: Tokens::new(1),
                in_flight: Tokens::new(2),
                reserved: CostUnits::units(2),
                spent: CostUnits::micros(750_000),
            }],
        },
        raises: vec![raise()],
        on_failure: OnFailure::HandOff,
        lost: None,
        later: None,
        outcome: None,
        addenda: Vec::new(),
    }
}

/// Every phase.
fn phases() -> [Phase; 10] {
    [
        Phase::Waiting,
        Phase::Preparing,
        Phase::Ready { not_before: at(7) },
        Phase::InFlight(AttemptNo(2)),
        Phase::InDoubt,
        Phase::Items,
        Phase::Settled {
            result: Payload::from("[1,2]"),
            rung: Rung(1),
        },
        Phase::Omitted {
            reason: Reason::SoftYields,
        },
        Phase::Skipped,
        Phase::Failed {
            kind: FailureKind::PermanentProvider,
            reason: Reason::SameInputFails,
        },
    ]
}

fn plain(phase: Phase) -> Call {
    Call {
        prepared: Some(prepared(Payload::from(r#"{"q":"policy"}"#))),
        rung: Rung(1),
        rung_attempts: 2,
        streak: Streak {
            kind: Some(FailureKind::RateLimited),
            length: 2,
            forfeited: 1,
        },
        repair: Some(Repair {
            of: AttemptNo(1),
            prepared: Some(prepared(Payload::from(
                r#"{"q":"policy","wrong":"no date"}"#,
            ))),
        }),
        attempts: attempts(),
        key_holder: Some(run(9)),
        ..Call::new(NodeId(1), None, 2, phase)
    }
}

fn prepared(request: Payload) -> Prepared {
    Prepared {
        fingerprint: Digest::of(request.as_bytes()),
        request,
        business_id: None,
    }
}

/// An attempt in every state.
fn attempts() -> Vec<Attempt> {
    let cost = CostUnits::micros(40);
    let failure = Failure {
        kind: FailureKind::RateLimited,
        sent: Sent::Answered,
        provider_code: Some("429".to_owned()),
        message: Some("slow down".to_owned()),
        retry_after: Some(Millis::from_secs(2)),
        client_retries: 1,
        cost: Some(cost),
    };
    let states = [
        AttemptState::Interrupted { cost },
        AttemptState::InFlight,
        AttemptState::Answered { cost },
        AttemptState::Failed { failure, cost },
        AttemptState::Late { cost },
    ];
    let numbered = (1..).map(AttemptNo).zip(states);
    let attempt = |(no, state)| Attempt {
        no,
        rung: Rung(1),
        lap: LapNo(2),
        epoch: Epoch(3),
        at: at(600),
        timeout: Millis::new(2_900),
        reserved: CostUnits::units(2),
        retry_tokens: Tokens::new(1),
        state,
        orphan: None,
    };
    numbered.map(attempt).collect()
}

/// One that was given up for each way an orphan may stand.
fn orphans() -> impl Iterator<Item = Attempt> {
    let stands = [
        Stand::Left,
        Stand::Watched,
        Stand::Adopted,
        Stand::Overdue,
        Stand::Observed(Seen::CompletedLate),
        Stand::Closed,
    ];
    let orphan = |(no, stand)| Attempt {
        no,
        rung: Rung(1),
        lap: LapNo(2),
        epoch: Epoch(3),
        at: at(600),
        timeout: Millis::new(2_900),
        reserved: CostUnits::units(2),
        retry_tokens: Tokens::ZERO,
        state: AttemptState::Failed {
            failure: Failure::new(FailureKind::Canceled, Sent::MaybeSent),
            cost: CostUnits::units(2),
        },
        orphan: Some(Box::new(Orphan {
            owner: "anna (uid:1000)".to_owned(),
            until: at(63_500),
            stand,
            adoptions: 1,
        })),
    };
    (1..).map(AttemptNo).zip(stands).map(orphan)
}

fn each() -> Call {
    Call {
        items: Some(Items {
            first: CallId(11),
            count: 6,
            open: 3,
        }),
        attempts: orphans().collect(),
        kept: Some((AttemptNo(5), Payload::from(r#"{"late":1}"#))),
        ..Call::new(NodeId(2), None, 0, Phase::Items)
    }
}

/// An item with an effect in every status. Two of them have the same large request.
fn writes() -> Vec<Call> {
    let doubt = Doubt {
        reason: Reason::WriteResponseLost,
        lookup_at: at(8_000),
        absent_after: Timestamp::from_millis(i64::MAX),
        asked: 2,
        of_other: false,
    };
    let statuses = [
        EffectStatus::Intended,
        EffectStatus::Dispatched,
        EffectStatus::InDoubt(doubt),
        EffectStatus::Applied(Reason::Answered),
        EffectStatus::PartlyApplied,
        EffectStatus::Absent(Reason::AbsentAfterHorizon),
    ];
    let write = |(position, status): (u32, EffectStatus)| {
        let letter = if position % 2 == 0 { 'a' } else { 'b' };
        let parent = CallId(10);
        Call {
            prepared: Some(prepared(large_payload(letter))),
            effect: Some(Effect {
                key: effect_key("mtg-4711", position),
                first_sent_at: (0 < position).then(|| at(650)),
                lookups: position,
                status,
            }),
            ..Call::new(
                NodeId(2),
                Some(Item { parent, position }),
                0,
                Phase::InDoubt,
            )
        }
    };
    (0..).zip(statuses).map(write).collect()
}
