//! Strategies for what is stored as the value of a key: rows, entries, alerts, commands, waits.

use mainstay_machine::{
    Alert, AlertKind, AskCompensate, AskOrphan, AskRaise, AskSettle, AskTool, EffectEntry,
    EntryState, FoundByOther, OrphanWish, OutcomeKind, RunState, SettleEnd, StateReason, Summary,
};
use mainstay_types::{Code, EffectKey, LapNo, NodeId};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use super::leaf::*;
use super::{budget, class, effect_key, failure, prepared};
use crate::inbox::InboxCommand;
use crate::wait::{Waiter, Waiters};

/// Any effect entry.
pub(in crate::codec) fn entry() -> impl Strategy<Value = EffectEntry> {
    let state = prop_oneof![
        Just(EntryState::Open),
        Just(EntryState::InDoubt),
        payload().prop_map(EntryState::Applied),
        Just(EntryState::PartlyApplied),
        Just(EntryState::NotApplied),
        Just(EntryState::Compensated),
    ];
    (effect_key(), run(), call(), digest(), state, at()).prop_map(
        |(key, run, call, fingerprint, state, at)| EffectEntry {
            key,
            run,
            call,
            fingerprint,
            state,
            at,
        },
    )
}

/// Any summary.
pub(in crate::codec) fn summary() -> impl Strategy<Value = Summary> {
    let who = (run(), class(), tenant(), option::of(start_key()));
    let outcome = option::of(select(&OutcomeKind::ALL[..]));
    let how = (
        select(&RunState::ALL[..]),
        any::<u32>(),
        outcome,
        any::<u32>(),
    );
    let ends = (at(), option::of(at()), option::of(state_reason()));
    (who, how, ends).prop_map(
        |(
            (run, class, tenant, start_key),
            (state, lap, outcome, in_doubt),
            (started_at, ended_at, reason),
        )| {
            let lap = LapNo(lap);
            Summary {
                run,
                class,
                tenant,
                start_key,
                state,
                lap,
                outcome,
                in_doubt,
                started_at,
                ended_at,
                reason,
            }
        },
    )
}

/// Two codes are reasons to wait and never stand for themselves.
fn state_reason() -> impl Strategy<Value = StateReason> {
    let waiting = [Code::EffectInDoubt, Code::KeyHeld];
    let codes = Code::ALL.iter().filter(|code| !waiting.contains(code));
    let codes = codes.map(|code| StateReason::Code(*code));
    let reasons = [
        StateReason::EffectInDoubt,
        StateReason::KeyHeld,
        StateReason::Backoff,
    ];
    select(reasons.into_iter().chain(codes).collect::<Vec<_>>())
}

/// Any alert.
pub(in crate::codec) fn alert() -> impl Strategy<Value = Alert> {
    let whose = (at(), run(), tenant(), class(), any::<u32>());
    let what = (
        select(&AlertKind::ALL[..]),
        option::of(text()),
        option::of(effect_key()),
        text(),
    );
    (whose, what).prop_map(
        |((at, run, tenant, class, lap), (kind, call, key, reason))| Alert {
            at,
            run,
            tenant,
            class,
            lap: LapNo(lap),
            kind,
            call,
            key,
            reason,
        },
    )
}

/// Any inbox command.
pub(in crate::codec) fn command() -> impl Strategy<Value = InboxCommand> {
    let answered =
        (payload(), option::of(cost()), any::<u32>()).prop_map(|(result, cost, client_retries)| {
            SettleEnd::Answered {
                result,
                cost,
                client_retries,
            }
        });
    let end = prop_oneof![answered, failure().prop_map(SettleEnd::Failed)];
    prop_oneof![
        (text(), text()).prop_map(|(by, why)| InboxCommand::Cancel { by, why }),
        (text(), text()).prop_map(|(by, why)| InboxCommand::Terminate { by, why }),
        (any::<u32>(), text(), text()).prop_map(|(lap, by, why)| {
            let from = LapNo(lap);
            InboxCommand::Continue { from, by, why }
        }),
        (call(), attempt(), end).prop_map(|(call, attempt, end)| InboxCommand::Settle {
            call,
            attempt,
            end
        }),
        effect_key().prop_map(|key| InboxCommand::KeySettled { key }),
        tool_call().prop_map(|ask| InboxCommand::ToolCall(Box::new(ask))),
        call().prop_map(|call| InboxCommand::ToolsDone { call }),
        found().prop_map(|found| InboxCommand::FoundByOther(Box::new(found))),
        by_people(),
    ]
}

/// What another run was answered.
fn found() -> impl Strategy<Value = FoundByOther> {
    (effect_key(), digest(), payload(), run(), call(), attempt()).prop_map(
        |(key, fingerprint, result, run, call, attempt)| FoundByOther {
            key,
            fingerprint,
            result,
            run,
            call,
            attempt,
        },
    )
}

/// What people say of effects and budgets.
fn by_people() -> impl Strategy<Value = InboxCommand> {
    prop_oneof![
        (call(), any::<u32>(), text(), text()).prop_map(|(call, after, by, why)| {
            InboxCommand::Compensate(AskCompensate {
                call,
                after,
                by,
                why,
            })
        }),
        (call(), attempt(), ruling(), payload(), text(), text()).prop_map(
            |(call, attempt, ruling, result, by, why)| {
                InboxCommand::SettleByHand(AskSettle {
                    call,
                    attempt,
                    ruling,
                    result,
                    by,
                    why,
                })
            }
        ),
        orphan().prop_map(InboxCommand::Orphan),
        (any::<u32>(), any::<u32>(), budget(), text(), text()).prop_map(
            |(lap, after, more, by, why)| {
                let lap = LapNo(lap);
                InboxCommand::Raise(AskRaise {
                    lap,
                    after,
                    more,
                    by,
                    why,
                })
            }
        ),
    ]
}

fn tool_call() -> impl Strategy<Value = AskTool> {
    let told = vec(tool_call_id(), 0..4);
    (call(), tool_call_id(), any::<u16>(), prepared(), told).prop_map(
        |(tools, id, tool, prepared, told)| AskTool {
            tools,
            id,
            tool: NodeId(tool),
            prepared,
            told,
        },
    )
}

fn orphan() -> impl Strategy<Value = AskOrphan> {
    let adopt = |until| OrphanWish::Adopt { until };
    let wish = option::of(at()).prop_map(move |until| until.map_or(OrphanWish::Close, adopt));
    (call(), attempt(), wish, any::<u32>(), text(), text()).prop_map(
        |(call, attempt, wish, after, by, why)| AskOrphan {
            call,
            attempt,
            wish,
            after,
            by,
            why,
        },
    )
}

/// Any runs that wait for a key.
pub(in crate::codec) fn waiters() -> impl Strategy<Value = (EffectKey, Waiters)> {
    let waiter = (run(), any::<u64>()).prop_map(|(run, version)| Waiter { run, version });
    (
        effect_key(),
        vec(waiter, 0..40).prop_map(Waiters::from_list),
    )
}
