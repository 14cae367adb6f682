//! The budget: each part refused with its numbers, settled once, left to the hard path.

use mainstay_graph::Budget;
use mainstay_machine::BudgetState;
use mainstay_types::{CostUnits, Tokens};

use crate::scenario::check;

#[test]
fn concurrency_is_refused_with_its_numbers() {
    check(
        "
        read   a
        read   b
        result a b
        start  concurrency=1 -> out a
        may    b -> CONCURRENCY_EXHAUSTED in_flight=1 limit=1
        answer a -> out b
        answer b -> completed, budget peak=1
    ",
    );
}

/// F21: budget 1.00, ten calls of 0.30 at once.
#[test]
fn ten_calls_of_0_3_at_once_under_1_start_three_times() {
    check(
        "
        each   ticket_write cost=0.3
        list   ticket_write 10
        start  cost=1 concurrency=16 -> out ticket_write[0] ticket_write[1] ticket_write[2], \
               budget reserved=0.9
        may    ticket_write[3] -> COST_EXHAUSTED need_micros=300000 left_micros=100000
        answer ticket_write[0] cost=0 -> out ticket_write[1] ticket_write[2] ticket_write[3]
        answer ticket_write[1]
        answer ticket_write[2]
        answer ticket_write[3] -> CallFailed ticket_write[4] COST_EXHAUSTED, handed_off, \
               budget spent=0.9
    ",
    );
}

#[test]
fn each_part_of_the_budget_is_refused_with_its_numbers() {
    let limits = Budget {
        retry_tokens: Tokens::new(2),
        concurrency_tokens: Tokens::new(3),
        cost_units: CostUnits::units(5),
    };
    let state = BudgetState {
        retry_used: Tokens::new(2),
        in_flight: Tokens::new(2),
        spent: CostUnits::units(1),
        reserved: CostUnits::units(2),
        ..BudgetState::new(limits)
    };
    let (one, none, units) = (Tokens::new(1), Tokens::ZERO, CostUnits::units);
    let full = BudgetState {
        in_flight: Tokens::new(3),
        ..state
    };
    for (state, tokens, cost, kept, said) in [
        (
            state,
            one,
            units(1),
            units(0),
            "RETRY_TOKENS_EXHAUSTED need 1 left 0 limit 2",
        ),
        (
            full,
            none,
            units(1),
            units(0),
            "CONCURRENCY_EXHAUSTED in_flight 3 held 0 limit 3",
        ),
        (
            state,
            none,
            units(3),
            units(0),
            "COST_EXHAUSTED need_micros 3000000 kept_micros 0 left_micros 2000000",
        ),
        (
            state,
            none,
            units(1),
            units(2),
            "SOFT_YIELDS need_micros 1000000 kept_micros 2000000 left_micros 2000000",
        ),
        (state, none, units(2), units(0), "yes"),
        (state, none, units(1), units(1), "yes"),
    ] {
        let answer = state.check(tokens, Tokens::ZERO, (cost, kept)).map_or_else(
            |refusal| {
                let numbers = refusal
                    .numbers
                    .iter()
                    .map(|(name, n)| format!(" {name} {n}"));
                format!("{}{}", refusal.code, numbers.collect::<String>())
            },
            |()| "yes".to_owned(),
        );
        assert_eq!(answer, said);
    }
}

/// F23: three routes with ten retries each, five retry tokens.
#[test]
fn three_calls_with_ten_retries_each_make_five_of_five_tokens() {
    check(
        "
        soft   a attempts=11
        soft   b attempts=11
        soft   c attempts=11
        local  report needs=a,b,c
        start  retry=5 cost=100
        fail   a OVERLOADED -> budget retry=1
        fail   b OVERLOADED -> budget retry=2
        fail   c OVERLOADED -> budget retry=3
        fail   a OVERLOADED -> budget retry=4
        fail   b OVERLOADED -> budget retry=5
        fail   c OVERLOADED -> CallOmitted c RETRY_TOKENS_EXHAUSTED
        fail   a OVERLOADED -> CallOmitted a
        fail   b OVERLOADED -> CallOmitted b, degraded, \
               budget retry=5 spent=8, attempts a 3, attempts b 3, attempts c 2
    ",
    );
}

#[test]
fn a_calls_own_cap_of_retries_holds_within_the_runs() {
    check(
        "
        read   a attempts=9 cap=1
        start  retry=9 gates=closed
        dispatch a
        fail   a OVERLOADED
        dispatch a -> budget retry=1
        fail   a OVERLOADED -> CallFailed a RETRY_TOKENS_EXHAUSTED, handed_off
    ",
    );
}

#[test]
fn retries_a_client_library_made_are_deducted() {
    check(
        "
        read   a attempts=9
        read   b attempts=9
        result a b
        start  retry=3
        fail   a OVERLOADED retries=2 -> budget retry=3
        answer a retries=4 -> budget retry=7
        fail   b OVERLOADED -> CallFailed b RETRY_TOKENS_EXHAUSTED
    ",
    );
}

#[test]
fn an_overshoot_is_recorded_and_nothing_more_starts() {
    check(
        "
        read   a cost=1
        read   b needs=a cost=1
        start  cost=2
        answer a cost=5 -> budget spent=5, CallFailed b COST_EXHAUSTED, handed_off
    ",
    );
}

#[test]
fn what_was_not_spent_comes_back_once() {
    check(
        "
        read   a cost=4
        read   b needs=a cost=4
        start  cost=8
        answer a cost=1 -> budget spent=1 reserved=4
        answer b cost=0 -> budget spent=1 reserved=0, completed
    ",
    );
}

#[test]
fn a_soft_call_leaves_the_cost_that_hard_calls_need() {
    check(
        "
        read   policy cost=2
        soft   related cost=2
        read   draft needs=policy cost=4
        start  cost=7 -> out policy
        may    related -> SOFT_YIELDS need_micros=2000000 kept_micros=4000000 left_micros=5000000
        answer policy cost=1 -> out related draft
        answer related
        answer draft -> completed, budget spent=7
    ",
    );
}

#[test]
fn a_soft_call_its_hard_call_waits_for_is_omitted_at_once_when_it_would_take_its_cost() {
    check(
        "
        soft   related cost=2 notice='related tickets not searched'
        read   draft needs=related cost=4
        start  cost=5 -> CallOmitted related SOFT_YIELDS, out draft
        answer draft -> degraded, notice related tickets not searched
    ",
    );
}

#[test]
fn a_soft_call_yields_to_a_hard_call_that_waits_for_its_retry() {
    check(
        "
        read   policy attempts=2 backoff=1s/1s
        soft   related
        result policy
        start  concurrency=1
        fail   policy OVERLOADED draw=2147483648 -> out
        may    related -> SOFT_YIELDS hard_waiting=1 left=1
        at 500ms -> out policy
        answer policy -> out related
        answer related -> completed
    ",
    );
}

#[test]
fn a_soft_call_leaves_the_retry_token_that_a_hard_call_waits_to_use() {
    check(
        "
        read   policy attempts=2 backoff=2s/2s
        soft   related attempts=2
        result policy
        start  retry=1 answer_by=12s -> out policy related
        fail   policy OVERLOADED draw=2147483648 -> CallRescheduled policy RETRY_ALLOWED
        fail   related OVERLOADED -> CallOmitted related RETRY_TOKENS_EXHAUSTED
        at 1s  -> out policy, budget retry=1
        answer policy -> degraded
    ",
    );
}

#[test]
fn a_soft_call_that_waits_as_well_leaves_a_hard_call_the_last_retry_token() {
    check(
        "
        read   policy attempts=2 backoff=4s/4s
        soft   related attempts=2 backoff=2s/2s
        result policy
        start  retry=1 answer_by=12s -> out policy related
        fail   related OVERLOADED draw=2147483648 -> CallRescheduled related RETRY_ALLOWED
        fail   policy OVERLOADED draw=2147483648 -> CallRescheduled policy RETRY_ALLOWED
        at 1s  -> related ready
        may    related -> SOFT_YIELDS need=1 kept=1 left=1
        at 2s  -> out policy, CallOmitted related RETRY_TOKENS_EXHAUSTED
        answer policy -> degraded
    ",
    );
}

#[test]
fn a_soft_call_yields_to_the_hard_call_that_code_is_about_to_make_ready() {
    check(
        "
        read   policy
        soft   related
        local  merged needs=policy
        read   draft needs=merged
        result draft
        start  concurrency=1 -> out policy
        answer policy -> out draft, related ready
        answer draft -> out related
        answer related -> completed
    ",
    );
}

#[test]
fn soft_calls_yield_nothing_to_a_hard_path_that_is_lost() {
    check(
        "
        read   history
        read   policy
        soft   related needs=history
        write  note needs=history
        write  mail needs=history
        result policy note
        start  concurrency=2 gates=closed
        dispatch history
        dispatch policy
        answer history -> related ready, note ready
        fail   policy PERMANENT_PROVIDER -> HardPathLost policy, no LapEnded
        gates  open -> out related
        answer related -> handed_off, closed, attempts note 0
    ",
    );
}

#[test]
fn attempts_of_one_rung_are_refused_beyond_their_number() {
    check(
        "
        write  order attempts=1 timeout=2s bound=0ms
        start  retry=4 gates=closed answer_by=60s
        dispatch order
        lose   order
        at 3s
        find   order absent -> CallFailed order ATTEMPTS_EXHAUSTED, handed_off
    ",
    );
}
