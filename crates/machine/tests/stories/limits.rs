//! Limits of a lap: caps beside the budget, what the class does at one, a budget that is raised.

use crate::scenario::check;

#[test]
fn attempts_and_branches_of_a_lap_are_capped_whatever_the_budget() {
    check(
        "
        soft   a attempts=9
        soft   b attempts=9
        local  report needs=a,b
        start  retry=9 cost=100 attempts_max=3 -> out a b
        fail   a OVERLOADED -> out a b
        fail   a OVERLOADED -> out b, no CallOmitted
        fail   b OVERLOADED -> CallOmitted a CAP_REACHED, degraded
    ",
    );
    check(
        "
        soft   a
        soft   b
        read   c
        result a b c
        start  branches_max=2 -> out a c
        may    b -> CAP_REACHED used=2 cap=2
        answer c
        answer a -> CallOmitted b CAP_REACHED, degraded
    ",
    );
}

#[test]
fn cost_at_once_is_capped_and_what_comes_back_lets_the_next_go() {
    check(
        "
        read   a cost=2
        read   b cost=2
        read   c cost=2
        result a b c
        start  cost=10 at_once=4 -> out a b, budget reserved=4
        may    c -> CAP_REACHED need_micros=2000000 used_micros=4000000 cap_micros=4000000
        answer a cost=1 -> out b c, budget spent=1 reserved=4
    ",
    );
}

#[test]
fn one_dependency_does_not_eat_what_others_need() {
    check(
        "
        read   a attempts=5
        read   b attempts=5
        result a b
        cap    a retries=1 at_once=1 cost=3
        start  retry=9 cost=50
        fail   a OVERLOADED -> budget retry=1
        fail   b OVERLOADED -> budget retry=2
        fail   a OVERLOADED -> CallFailed a CAP_REACHED
    ",
    );
}

#[test]
fn what_a_dependency_may_cost_is_settled_like_the_budget() {
    check(
        "
        read   a attempts=9 cost=2
        read   b cost=2
        result a b
        cap    a cost=5
        start  retry=9 cost=50
        fail   a OVERLOADED cost=1
        fail   a OVERLOADED cost=1 -> out a b
        fail   a OVERLOADED cost=2 -> out b, no CallFailed
        answer b -> CallFailed a CAP_REACHED, budget spent=6
    ",
    );
}

#[test]
fn a_class_that_pauses_waits_for_its_budget_to_be_raised_and_goes_on() {
    check(
        "
        read   a attempts=9
        start  retry=1 on_limit=pause -> out a
        fail   a OVERLOADED -> budget retry=1
        fail   a OVERLOADED -> paused, reason RETRY_TOKENS_EXHAUSTED, out, no CallFailed
        at     3s           -> paused
        raise  cost=5       -> paused, no AttemptStarted
        raise  retries=2    -> BudgetRaised retries=2, out a, running
        answer a            -> completed
    ",
    );
}

#[test]
fn a_pause_ends_with_the_time_that_is_left_and_never_makes_the_answer_late() {
    check(
        "
        read   a attempts=9 fallback=cache
        start  retry=0 on_limit=pause answer_by=12s
        fail   a OVERLOADED -> paused
        at     13s          -> handed_off
    ",
    );
    check(
        "
        read   a cost=3
        read   b needs=a cost=9
        start  cost=12 on_limit=pause answer_by=12s
        answer a cost=5     -> paused, reason COST_EXHAUSTED
        raise  cost=2       -> out b
        answer b            -> completed
    ",
    );
}

#[test]
fn a_soft_call_never_pauses_its_run() {
    check(
        "
        soft   a attempts=9
        local  report needs=a
        start  retry=0 on_limit=pause
        fail   a OVERLOADED -> CallOmitted a RETRY_TOKENS_EXHAUSTED, degraded
    ",
    );
}

#[test]
fn a_class_may_end_its_lap_at_a_limit_without_trying_anything_else() {
    check(
        "
        read   a attempts=9 fallback=cache
        start  retry=0 on_limit=fail
        fail   a OVERLOADED -> CallFailed a RETRY_TOKENS_EXHAUSTED, failed
    ",
    );
    check(
        "
        read   a attempts=9 fallback=cache
        start  retry=0 on_limit=hand_off on_failure=fail
        fail   a OVERLOADED -> CallFailed a RETRY_TOKENS_EXHAUSTED, handed_off
    ",
    );
    // By default what costs less is tried.
    check(
        "
        read   a attempts=9 fallback=cache
        start  retry=0
        fail   a OVERLOADED -> rung a 1, out a
    ",
    );
}

#[test]
fn a_budget_is_raised_while_its_lap_is_open_and_within_the_bounds_of_every_class() {
    check(
        "
        read   a
        start
        raise  concurrency=300 -> RAISE_REFUSED wanted=305 limit=256
        raise  retries=1000    -> RAISE_REFUSED wanted=1004 limit=1000
        raise                  -> RAISE_REFUSED
        answer a               -> completed
        raise  cost=1          -> RUN_ENDED
    ",
    );
}

#[test]
fn a_raised_budget_is_the_laps_own_and_the_next_one_begins_with_the_class_s() {
    check(
        "
        read   a attempts=9
        start  retry=0
        raise  retries=1
        fail   a OVERLOADED -> budget retry=1
        fail   a OVERLOADED -> handed_off
        continue            -> lap 2, out a
        fail   a OVERLOADED -> handed_off
    ",
    );
}

#[test]
fn a_soft_call_leaves_what_hard_calls_need_of_their_dependency() {
    check(
        "
        soft   s asks=model cost=3
        read   c
        read   d needs=c asks=model cost=3
        result s d
        cap    model cost=5
        start  cost=50 -> out c
        may    s -> SOFT_YIELDS need_micros=3000000 used_micros=0 cap_micros=5000000 \
               kept_micros=3000000
        answer c -> out d
        answer d cost=1 -> out s
    ",
    );
    check(
        "
        soft   s asks=model attempts=3
        read   d asks=model attempts=3 backoff=2s/2s
        result s d
        cap    model retries=1
        start  retry=9 -> out s d
        fail   d OVERLOADED draw=4294967295 -> out s
        fail   s OVERLOADED -> NextDecided s omit CAP_REACHED SOFT_YIELDS, out
        at     2s -> out d
        answer d -> degraded
    ",
    );
}

#[test]
fn a_soft_call_leaves_a_place_to_hard_calls_that_wait_for_one() {
    check(
        "
        soft   s asks=model
        read   c asks=model
        read   d asks=model
        result s c d
        cap    model at_once=2
        start  -> out c d
        may    s -> CAP_REACHED used=2 cap=2
        answer c -> out s d
        answer d
        answer s -> completed
    ",
    );
    check(
        "
        soft   s cost=2
        read   c cost=3 attempts=2 backoff=1s/1s
        result s c
        start  cost=20 at_once=4 -> out c
        fail   c OVERLOADED draw=4294967295 -> out
        may    s -> SOFT_YIELDS need_micros=2000000 used_micros=0 cap_micros=4000000 \
               kept_micros=3000000
        at     1s -> out c
        answer c -> out s
        answer s -> completed
    ",
    );
}

#[test]
fn nobody_waits_for_a_cap_that_cannot_be_raised() {
    check(
        "
        read   a attempts=9 cap=1 fallback=cache
        start  retry=9 on_limit=pause -> out a
        fail   a OVERLOADED -> out a
        fail   a OVERLOADED -> rung a 1, NextDecided a fallback RETRY_TOKENS_EXHAUSTED cap=1
        answer a -> degraded
    ",
    );
    check(
        "
        read   a attempts=9 fallback=local
        start  retry=9 on_limit=pause attempts_max=1 -> out a
        fail   a OVERLOADED -> handed_off HARD_CALL_FAILED, NextDecided a fail CAP_REACHED
    ",
    );
}

#[test]
fn a_pause_that_nobody_ended_ends_with_the_limit_as_its_reason() {
    check(
        "
        read   a attempts=3 cost=2
        start  retry=9 cost=3 on_limit=pause -> out a
        fail   a OVERLOADED cost=2 -> paused, reason COST_EXHAUSTED
        at     12s -> handed_off HARD_CALL_FAILED, \
               NextDecided a fail COST_EXHAUSTED need_micros=2000000 left_micros=1000000
    ",
    );
}

#[test]
fn a_retry_that_its_wait_makes_too_late_is_told_with_that_wait() {
    check(
        "
        read   a attempts=3 backoff=60s/60s
        start  retry=9 answer_by=8s
        fail   a OVERLOADED draw=4294967295 \
               -> NextDecided a fail DEADLINE_EXHAUSTED wait=59999 wait_max=60000
    ",
    );
}
