//! Strategies for a run's state: any parts, also such as no log makes.

use mainstay_graph::OnFailure;
use mainstay_machine::call::{Doubt, Item, Items, Undoes};
use mainstay_machine::caps::{DependencyUse, Uses};
use mainstay_machine::run::{Held, Later};
use mainstay_machine::streak::Streak;
use mainstay_machine::{
    Asked, Attempt, AttemptState, BudgetState, Call, Effect, EffectStatus, Head, Lap, LapOutcome,
    Orphan, OutcomeKind, Phase, Repair, RunParts, Stand, ToolsAsked,
};
use mainstay_types::{Epoch, LapNo, NodeId, Payload, Seq, limits};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use super::decision::admission;
use super::leaf::*;
use super::{budget, class, effect_key, failure, prepared, raise, times};

/// Any parts of a run.
pub(in crate::codec) fn parts() -> impl Strategy<Value = RunParts> {
    (any::<u64>(), head(), vec(call_state(), 0..6)).prop_map(|(seq, head, calls)| RunParts {
        seq: Seq(seq),
        head,
        calls,
    })
}

/// Around the size at which a payload is kept apart.
fn kept() -> impl Strategy<Value = Payload> {
    let edge = limits::SNAPSHOT_INLINE_BYTES_MAX;
    let sized = (any::<u8>(), edge - 2..edge + 3);
    let near = sized.prop_map(|(byte, len)| Payload::new(vec![byte; len]));
    prop_oneof![payload(), near]
}

fn head() -> impl Strategy<Value = Head> {
    let who = (run(), class(), tenant(), option::of(start_key()), worker());
    let what = (kept(), at(), option::of(text()), any::<u32>());
    let laps = (lap(), vec(lap(), 0..3));
    let ends = (
        option::of(asked()),
        option::of(asked()),
        any::<bool>(),
        option::of(quarantine()),
        vec(held(), 0..3),
    );
    (who, what, laps, ends).prop_map(|(who, what, (lap, past), ends)| {
        let (run, class, tenant, start_key, worker) = who;
        let (input, started_at, traceparent, epoch) = what;
        let (cancel, terminated, closed, quarantined, held) = ends;
        Head {
            run,
            class,
            tenant,
            start_key,
            input,
            started_at,
            traceparent,
            epoch: Epoch(epoch),
            worker,
            lap,
            past,
            cancel,
            terminated,
            closed,
            quarantined,
            held,
        }
    })
}

fn held() -> impl Strategy<Value = Held> {
    (at(), option::of(any::<u32>())).prop_map(|(until, place)| Held { until, place })
}

fn asked() -> impl Strategy<Value = Asked> {
    (text(), text()).prop_map(|(by, why)| Asked { by, why })
}

fn lap() -> impl Strategy<Value = Lap> {
    let begun = (any::<u32>(), at(), option::of(asked()), times(), millis());
    let later = (vec(call(), 0..4), at()).prop_map(|(doubts, expected_by)| Later {
        doubts,
        expected_by,
    });
    let how = (
        (
            budget_state(),
            uses(),
            vec(raise(), 0..3),
            option::of(admission()),
        ),
        select(&[OnFailure::HandOff, OnFailure::Fail][..]),
        option::of(call()),
        option::of(later),
    );
    let ends = (option::of(outcome()), vec((call(), reason()), 0..3));
    (begun, how, ends).prop_map(|(begun, how, (outcome, addenda))| {
        let (no, started_at, continued, times, extended) = begun;
        let ((budget, uses, raises, admission), on_failure, lost, later) = how;
        Lap {
            no: LapNo(no),
            started_at,
            continued,
            times,
            extended,
            admission,
            budget,
            uses,
            raises,
            on_failure,
            lost,
            later,
            outcome,
            addenda,
        }
    })
}

fn uses() -> impl Strategy<Value = Uses> {
    let dependency = (tokens(), tokens(), cost(), cost()).prop_map(
        |(retry_used, in_flight, reserved, spent)| DependencyUse {
            retry_used,
            in_flight,
            reserved,
            spent,
        },
    );
    (any::<u32>(), any::<u32>(), vec(dependency, 0..4)).prop_map(
        |(attempts, branches, dependencies)| Uses {
            attempts,
            branches,
            dependencies,
        },
    )
}

fn outcome() -> impl Strategy<Value = LapOutcome> {
    let kind = select(&OutcomeKind::ALL[..]);
    (kind, reason(), option::of(kept()), at()).prop_map(|(kind, reason, result, at)| LapOutcome {
        kind,
        reason,
        result,
        at,
    })
}

fn budget_state() -> impl Strategy<Value = BudgetState> {
    let used = (tokens(), tokens(), tokens());
    (budget(), used, cost(), cost(), cost()).prop_map(
        |(limits, (retry_used, in_flight, in_flight_peak), reserved, spent, assumed)| BudgetState {
            limits,
            retry_used,
            in_flight,
            in_flight_peak,
            reserved,
            spent,
            assumed,
        },
    )
}

fn call_state() -> impl Strategy<Value = Call> {
    let item = (call(), any::<u32>()).prop_map(|(parent, position)| Item { parent, position });
    let items = (call(), any::<u32>(), any::<u32>()).prop_map(|(first, count, open)| Items {
        first,
        count,
        open,
    });
    let late = option::of((attempt(), kept()));
    let place = (any::<u16>(), option::of(item), phase(), any::<u32>(), late);
    let asked = (
        option::of(prepared()),
        (rung(), any::<u32>(), streak(), option::of(repair())),
        vec(an_attempt(), 0..4),
    );
    let rest = (
        option::of(an_effect()),
        option::of(items),
        option::of(run()),
        (
            any::<u32>(),
            option::of(tools_asked()),
            option::of(undoes()),
        ),
    );
    (place, asked, rest).prop_map(|(place, asked, (effect, items, key_holder, tool))| {
        let (slot, model, undoes) = tool;
        let (node, item, phase, needs_open, kept) = place;
        let (prepared, (rung, rung_attempts, streak, repair), attempts) = asked;
        Call {
            node: NodeId(node),
            item,
            phase,
            needs_open,
            prepared,
            rung,
            rung_attempts,
            streak,
            repair,
            attempts,
            effect,
            items,
            key_holder,
            slot,
            asked: model,
            undoes,
            kept,
        }
    })
}

fn undoes() -> impl Strategy<Value = Undoes> {
    (call(), any::<u32>(), any::<u32>()).prop_map(|(call, wanted, asked)| Undoes {
        call,
        wanted,
        asked,
    })
}

fn tools_asked() -> impl Strategy<Value = ToolsAsked> {
    let calls = vec((tool_call_id(), call()), 0..5);
    (calls, vec(call(), 0..5), any::<bool>()).prop_map(|(calls, told, done)| ToolsAsked {
        calls,
        told,
        done,
    })
}

fn streak() -> impl Strategy<Value = Streak> {
    let counts = (any::<u32>(), any::<u32>());
    (option::of(kind()), counts).prop_map(|(kind, (length, forfeited))| Streak {
        kind,
        length,
        forfeited,
    })
}

fn repair() -> impl Strategy<Value = Repair> {
    (attempt(), option::of(prepared())).prop_map(|(of, prepared)| Repair { of, prepared })
}

fn phase() -> impl Strategy<Value = Phase> {
    prop_oneof![
        Just(Phase::Waiting),
        Just(Phase::Preparing),
        at().prop_map(|not_before| Phase::Ready { not_before }),
        attempt().prop_map(Phase::InFlight),
        Just(Phase::InDoubt),
        Just(Phase::Items),
        (kept(), rung()).prop_map(|(result, rung)| Phase::Settled { result, rung }),
        reason().prop_map(|reason| Phase::Omitted { reason }),
        Just(Phase::Skipped),
        (kind(), reason()).prop_map(|(kind, reason)| Phase::Failed { kind, reason }),
    ]
}

fn an_attempt() -> impl Strategy<Value = Attempt> {
    let state = prop_oneof![
        Just(AttemptState::InFlight),
        cost().prop_map(|cost| AttemptState::Answered { cost }),
        (failure(), cost()).prop_map(|(failure, cost)| AttemptState::Failed { failure, cost }),
        cost().prop_map(|cost| AttemptState::Interrupted { cost }),
        cost().prop_map(|cost| AttemptState::Late { cost }),
    ];
    let place = (attempt(), rung(), any::<u32>(), any::<u32>());
    let ends = (state, option::of(an_orphan()));
    (place, at(), millis(), cost(), tokens(), ends).prop_map(
        |((no, rung, lap, epoch), at, timeout, reserved, retry_tokens, (state, orphan))| Attempt {
            no,
            rung,
            lap: LapNo(lap),
            epoch: Epoch(epoch),
            at,
            timeout,
            reserved,
            retry_tokens,
            state,
            orphan: orphan.map(Box::new),
        },
    )
}

fn an_orphan() -> impl Strategy<Value = Orphan> {
    let stand = prop_oneof![
        Just(Stand::Left),
        Just(Stand::Watched),
        Just(Stand::Adopted),
        Just(Stand::Overdue),
        seen().prop_map(Stand::Observed),
        Just(Stand::Closed),
    ];
    (text(), at(), stand, any::<u32>()).prop_map(|(owner, until, stand, adoptions)| Orphan {
        owner,
        until,
        stand,
        adoptions,
    })
}

fn an_effect() -> impl Strategy<Value = Effect> {
    let doubt = (reason(), at(), at(), any::<u32>(), any::<bool>()).prop_map(
        |(reason, lookup_at, absent_after, asked, of_other)| {
            EffectStatus::InDoubt(Doubt {
                reason,
                lookup_at,
                absent_after,
                asked,
                of_other,
            })
        },
    );
    let status = prop_oneof![
        Just(EffectStatus::Intended),
        Just(EffectStatus::Dispatched),
        doubt,
        reason().prop_map(EffectStatus::Applied),
        Just(EffectStatus::PartlyApplied),
        reason().prop_map(EffectStatus::Absent),
        Just(EffectStatus::Compensated),
    ];
    (effect_key(), status, option::of(at()), any::<u32>()).prop_map(
        |(key, status, first_sent_at, lookups)| Effect {
            key,
            status,
            first_sent_at,
            lookups,
        },
    )
}
