//! Strategies for property tests: any event and any stored value the domain allows.
//!
//! Texts stay within their bound: a longer one is cut by design and has a test of its own.

mod decision;
mod leaf;
mod state;
mod values;

pub(super) use state::parts;
pub(super) use values::{alert, command, entry, summary, waiters};

use mainstay_graph::{Budget, OnFailure, OnLate};
use mainstay_machine::{
    AttemptEnd, AttemptStarted, ClassRef, CompensationWanted, Event, LapStarted, LapTimes,
    LeaseTaken, OutcomeKind, Prepared, Raise, RunStarted, SettledByHand, ToolCalled, ToolMade,
};
use mainstay_types::{
    ClassName, ClassVersion, EffectKey, EffectName, Epoch, Failure, LapNo, NodeId, Position, Scope,
    Sent,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use leaf::*;

/// Any event.
pub(super) fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        of_runs(),
        of_calls(),
        of_attempts(),
        of_effects(),
        of_ends(),
        of_orphans(),
        decision::of_decisions()
    ]
}

fn of_runs() -> impl Strategy<Value = Event> {
    let taken = (any::<u32>(), worker(), at(), millis(), millis()).prop_map(
        |(epoch, worker, at, downtime, extended)| {
            let epoch = Epoch(epoch);
            Event::LeaseTaken(LeaseTaken {
                epoch,
                worker,
                at,
                downtime,
                extended,
            })
        },
    );
    prop_oneof![
        started().prop_map(|started| Event::RunStarted(Box::new(started))),
        taken,
        (text(), text()).prop_map(|(by, why)| Event::CancelRequested { by, why }),
        quarantine().prop_map(Event::RunQuarantined),
        (text(), text()).prop_map(|(by, why)| Event::QuarantineLifted { by, why }),
        (text(), text()).prop_map(|(by, why)| Event::RunTerminated { by, why }),
        (option::of(call()), kind(), text()).prop_map(|(call, kind, message)| {
            Event::CodeFailed {
                call,
                kind,
                message,
            }
        }),
        lap_started(),
        raise().prop_map(Event::BudgetRaised),
        by_hand(),
        Just(Event::RunClosed),
    ]
}

fn tool_called() -> impl Strategy<Value = Event> {
    let new = (any::<u16>(), any::<u32>(), prepared()).prop_map(|(node, slot, prepared)| {
        let node = NodeId(node);
        ToolMade::New {
            node,
            slot,
            prepared,
        }
    });
    let made = prop_oneof![new, call().prop_map(ToolMade::Joined)];
    let told = vec(tool_call_id(), 0..4);
    (call(), tool_call_id(), made, told).prop_map(|(tools, id, made, told)| {
        Event::ToolCalled(Box::new(ToolCalled {
            tools,
            id,
            made,
            told,
        }))
    })
}

fn by_hand() -> impl Strategy<Value = Event> {
    (call(), attempt(), ruling(), text(), text(), at()).prop_map(
        |(call, attempt, ruling, by, why, at)| {
            Event::EffectSettledByHand(Box::new(SettledByHand {
                call,
                attempt,
                ruling,
                by,
                why,
                at,
            }))
        },
    )
}

fn wanted() -> impl Strategy<Value = Event> {
    let who = (text(), text(), at());
    (call(), any::<u32>(), who, cost(), tokens()).prop_map(
        |(call, wanted, (by, why, at), cost, retry_tokens)| {
            Event::CompensationWanted(Box::new(CompensationWanted {
                call,
                wanted,
                by,
                why,
                at,
                cost,
                retry_tokens,
            }))
        },
    )
}

fn raise() -> impl Strategy<Value = Raise> {
    (text(), text(), at(), budget()).prop_map(|(by, why, at, more)| Raise { by, why, at, more })
}

fn lap_started() -> impl Strategy<Value = Event> {
    (any::<u32>(), text(), text(), at(), times(), budget()).prop_map(
        |(lap, by, why, at, times, budget)| {
            let lap = LapNo(lap);
            Event::LapStarted(LapStarted {
                lap,
                by,
                why,
                at,
                times,
                budget,
            })
        },
    )
}

fn started() -> impl Strategy<Value = RunStarted> {
    let who = (
        run(),
        class(),
        tenant(),
        option::of(start_key()),
        payload(),
        at(),
    );
    let limits = (
        times(),
        budget(),
        select(&[OnFailure::HandOff, OnFailure::Fail][..]),
    );
    (who, limits, any::<u32>(), worker(), option::of(text())).prop_map(
        |(who, (times, budget, on_failure), lap, worker, traceparent)| {
            let (run, class, tenant, start_key, input, at) = who;
            RunStarted {
                run,
                class,
                tenant,
                start_key,
                input,
                at,
                lap: LapNo(lap),
                times,
                budget,
                on_failure,
                worker,
                traceparent,
            }
        },
    )
}

fn of_calls() -> impl Strategy<Value = Event> {
    prop_oneof![
        (call(), prepared()).prop_map(|(call, prepared)| Event::CallPrepared { call, prepared }),
        tool_called(),
        call().prop_map(|call| Event::ToolsDone { call }),
        wanted(),
        call().prop_map(|call| Event::EffectCompensated { call }),
        (call(), vec(prepared(), 0..5))
            .prop_map(|(call, items)| Event::ListRecorded { call, items }),
        (call(), rung(), payload()).prop_map(|(call, rung, result)| Event::CallSettled {
            call,
            rung,
            result
        }),
        (call(), rung(), at(), reason()).prop_map(|(call, rung, not_before, reason)| {
            Event::CallRescheduled {
                call,
                rung,
                not_before,
                reason,
            }
        }),
        (call(), reason()).prop_map(|(call, reason)| Event::CallOmitted { call, reason }),
        call().prop_map(|call| Event::CallSkipped { call }),
        (call(), kind(), reason()).prop_map(|(call, kind, reason)| Event::CallFailed {
            call,
            kind,
            reason
        }),
    ]
}

fn of_attempts() -> impl Strategy<Value = Event> {
    let end = prop_oneof![
        Just(AttemptEnd::Answered),
        failure().prop_map(AttemptEnd::Failed)
    ];
    prop_oneof![
        attempt_started().prop_map(Event::AttemptStarted),
        (call(), attempt(), end, cost(), any::<u32>()).prop_map(
            |(call, attempt, end, cost, client_retries)| Event::AttemptSettled {
                call,
                attempt,
                end,
                cost,
                client_retries,
            },
        ),
        (call(), attempt(), cost()).prop_map(|(call, attempt, cost)| Event::AttemptInterrupted {
            call,
            attempt,
            cost
        }),
        (call(), attempt(), cost(), any::<u32>()).prop_map(
            |(call, attempt, cost, client_retries)| {
                Event::LateResult {
                    call,
                    attempt,
                    cost,
                    client_retries,
                }
            }
        ),
    ]
}

fn attempt_started() -> impl Strategy<Value = AttemptStarted> {
    (call(), attempt(), rung(), at(), millis(), cost(), tokens()).prop_map(
        |(call, attempt, rung, at, timeout, cost, retry_tokens)| AttemptStarted {
            call,
            attempt,
            rung,
            at,
            timeout,
            cost,
            retry_tokens,
        },
    )
}

fn of_effects() -> impl Strategy<Value = Event> {
    prop_oneof![
        (call(), effect_key()).prop_map(|(call, key)| Event::EffectIntended { call, key }),
        (call(), payload(), reason()).prop_map(|(call, result, reason)| Event::EffectApplied {
            call,
            result,
            reason
        }),
        (call(), reason(), at(), at()).prop_map(|(call, reason, lookup_at, absent_after)| {
            Event::EffectInDoubt {
                call,
                reason,
                lookup_at,
                absent_after,
            }
        }),
        (call(), reason()).prop_map(|(call, reason)| Event::EffectAbsent { call, reason }),
        call().prop_map(|call| Event::EffectPartlyApplied { call }),
        (call(), any::<u32>(), reason(), at()).prop_map(|(call, number, reason, next_at)| {
            Event::ControlSettled {
                call,
                number,
                reason,
                next_at,
            }
        }),
        (call(), run(), at(), at(), at()).prop_map(
            |(call, holder, sent_at, lookup_at, absent_after)| Event::KeyTakenOver {
                call,
                holder,
                sent_at,
                lookup_at,
                absent_after,
            }
        ),
        (call(), run(), at()).prop_map(|(call, holder, until)| Event::KeyAwaited {
            call,
            holder,
            until
        }),
    ]
}

fn of_orphans() -> impl Strategy<Value = Event> {
    let policy = select(OnLate::ALL);
    prop_oneof![
        (call(), attempt(), policy, option::of(payload())).prop_map(
            |(call, attempt, policy, value)| Event::LateValueRecorded {
                call,
                attempt,
                policy,
                value,
            },
        ),
        (call(), attempt(), text(), at()).prop_map(|(call, attempt, owner, until)| {
            Event::AttemptOrphaned {
                call,
                attempt,
                owner,
                until,
            }
        }),
        (call(), attempt(), seen()).prop_map(|(call, attempt, seen)| Event::OrphanObserved {
            call,
            attempt,
            seen,
        }),
        (call(), attempt(), text(), text(), at()).prop_map(|(call, attempt, by, why, until)| {
            Event::OrphanAdopted {
                call,
                attempt,
                by,
                why,
                until,
            }
        }),
        (call(), attempt(), text(), text()).prop_map(|(call, attempt, by, why)| {
            Event::OrphanClosed {
                call,
                attempt,
                by,
                why,
            }
        }),
    ]
}

fn of_ends() -> impl Strategy<Value = Event> {
    let outcome = select(&OutcomeKind::ALL[..]);
    prop_oneof![
        call().prop_map(|call| Event::HardPathLost { call }),
        (vec(call(), 0..9), at()).prop_map(|(doubts, expected_by)| Event::AnsweredLater {
            doubts,
            expected_by
        }),
        (outcome, reason(), option::of(payload()), at()).prop_map(
            |(outcome, reason, result, at)| Event::LapEnded {
                outcome,
                reason,
                result,
                at
            },
        ),
        (call(), reason()).prop_map(|(call, reason)| Event::AddendumRecorded { call, reason }),
    ]
}

fn times() -> impl Strategy<Value = LapTimes> {
    (at(), at(), option::of(at()), at()).prop_map(
        |(answer_by, work_by, expires_at, doubt_until)| LapTimes {
            answer_by,
            work_by,
            expires_at,
            doubt_until,
        },
    )
}

fn budget() -> impl Strategy<Value = Budget> {
    (tokens(), tokens(), cost()).prop_map(|(retry_tokens, concurrency_tokens, cost_units)| Budget {
        retry_tokens,
        concurrency_tokens,
        cost_units,
    })
}

fn class() -> impl Strategy<Value = ClassRef> {
    (identifier(), any::<u32>(), digest()).prop_map(|(name, version, fingerprint)| ClassRef {
        name: ClassName::new(name).expect("the strategy makes valid names"),
        version: ClassVersion(version),
        fingerprint,
    })
}

fn prepared() -> impl Strategy<Value = Prepared> {
    (payload(), digest(), option::of(business_id())).prop_map(
        |(request, fingerprint, business_id)| Prepared {
            request,
            fingerprint,
            business_id,
        },
    )
}

fn failure() -> impl Strategy<Value = Failure> {
    let sent = select(&[Sent::NotSent, Sent::MaybeSent, Sent::Answered][..]);
    let texts = (option::of(text()), option::of(text()));
    (
        kind(),
        sent,
        texts,
        option::of(millis()),
        any::<u32>(),
        option::of(cost()),
    )
        .prop_map(
            |(kind, sent, (provider_code, message), retry_after, client_retries, cost)| Failure {
                kind,
                sent,
                provider_code,
                message,
                retry_after,
                client_retries,
                cost,
            },
        )
}

fn effect_key() -> impl Strategy<Value = EffectKey> {
    let scope = prop_oneof![
        business_id().prop_map(Scope::Business),
        (run(), key_text()).prop_map(|(run, path)| Scope::Run { run, path }),
    ];
    let position = prop_oneof![
        any::<u32>().prop_map(Position::Slot),
        any::<u32>().prop_map(Position::Item),
    ];
    (tenant(), identifier(), scope, position).prop_map(|(tenant, effect, scope, position)| {
        let effect = EffectName::new(effect).expect("the strategy makes valid names");
        EffectKey {
            tenant,
            effect,
            scope,
            position,
        }
    })
}
