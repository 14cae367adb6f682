//! The design's one run, event by event: nothing goes wrong, a reply is lost, a kill, an hour of
//! downtime, a soft call that yields. (Its model that calls tools needs agent bodies.)

use crate::scenario::check;

#[test]
fn a_nothing_goes_wrong() {
    check(
        "
        class meeting
        list   ticket_write 3
        start  retry=4 concurrency=5 cost=18 answer_by=12s -> RunStarted, CallPrepared policy, \
               CallPrepared related, out policy related, timeout policy 3100ms, running, \
               budget reserved=2 in_flight=2, times work_by=11.6s
        answer related cost=1 -> AttemptSettled related/1, CallSettled related, no AttemptStarted
        answer policy cost=1  -> CallSettled policy, CallPrepared specialist, out specialist
        answer specialist     -> out draft, budget reserved=4 spent=3
        answer draft cost=3   -> CallSettled draft, ListRecorded ticket_write, \
               EffectIntended ticket_write[0], key ticket_write[0] acme/ticket/id:mtg-4711/item:0, \
               out ticket_write[0] ticket_write[1] ticket_write[2], budget spent=6 reserved=0.3
        answer ticket_write[1] -> EffectApplied ticket_write[1] ANSWERED, no answer
        answer ticket_write[0] -> running
        answer ticket_write[2] -> ticket_write settled, completed ALL_SETTLED, RunClosed, closed, \
               budget spent=6.3 reserved=0 retry=0 in_flight=0 peak=3, notices 0
    ",
    );
}

#[test]
fn b_the_reply_of_item_1_is_lost_after_the_service_wrote_it() {
    check(
        "
        class meeting
        list   ticket_write 3
        start  retry=4 cost=18 answer_by=12s
        answer policy
        answer related
        answer specialist
        answer draft
        lose   ticket_write[1] -> AttemptSettled ticket_write[1]/1, \
               EffectInDoubt ticket_write[1] WRITE_RESPONSE_LOST, lookup ticket_write[1] 0ms, \
               out ticket_write[0] ticket_write[2]
        answer ticket_write[0]
        find   ticket_write[1] applied -> EffectApplied ticket_write[1] FOUND_APPLIED
        answer ticket_write[2] -> completed, closed, attempts ticket_write[1] 1, budget retry=0
    ",
    );
}

#[test]
fn c_killed_with_three_writes_out_asks_before_it_sends_again() {
    check(
        "
        class meeting
        list   ticket_write 3
        start  retry=4 cost=18 answer_by=12s
        answer policy
        answer related
        answer specialist
        answer draft
        crash  -> LeaseTaken epoch=2, AttemptInterrupted ticket_write[0]/1, \
               EffectInDoubt ticket_write[2] OWNER_LOST, out, lookup ticket_write[0] 0ms, \
               budget in_flight=0 reserved=0 assumed=0.3, epoch 2
        find   ticket_write[0] applied -> effect ticket_write[0] applied FOUND_APPLIED
        find   ticket_write[1] absent  -> ControlSettled ticket_write[1] NOT_FOUND_INSIDE_HORIZON, \
               lookup ticket_write[1] 3200ms, no AttemptStarted
        answer ticket_write[2]/1 -> LateResult ticket_write[2]/1, EffectApplied ticket_write[2], \
               budget assumed=0.2
        at 3200ms
        find   ticket_write[1] absent  -> EffectAbsent ticket_write[1] ABSENT_AFTER_HORIZON, \
               AttemptStarted ticket_write[1]/2, budget retry=0, \
               key ticket_write[1] acme/ticket/id:mtg-4711/item:1
        answer ticket_write[1] -> completed, closed
    ",
    );
}

#[test]
fn d_an_hour_of_downtime_is_added_to_the_times_of_a_class_that_extends() {
    check(
        "
        class meeting
        start  downtime=extend:1h answer_by=12s
        at 3s
        answer policy
        down 1h -> LeaseTaken extended=3600000ms, times answer_by=3612s work_by=3611.6s, \
               AttemptInterrupted specialist/1, AttemptInterrupted related/1, out related specialist, \
               budget retry=2
        answer related
        answer specialist
        answer draft
        answer ticket_write[0] -> completed
    ",
    );
}

#[test]
fn d_an_hour_of_downtime_ends_the_work_of_a_class_with_absolute_times() {
    check(
        "
        class meeting
        list   ticket_write 2
        start  answer_by=12s
        answer policy
        answer related
        answer specialist
        answer draft
        answer ticket_write[0]
        down 1h -> EffectInDoubt ticket_write[1], later ticket_write[1], out, no answer_by
        find   ticket_write[1] absent -> EffectAbsent ticket_write[1] ABSENT_AFTER_HORIZON, \
               CallFailed ticket_write[1] DEADLINE_EXHAUSTED, HardPathLost ticket_write, \
               handed_off HARD_CALL_FAILED, closed, draft settled, ticket_write[0] settled, \
               no AttemptStarted
    ",
    );
}

#[test]
fn f_a_soft_call_yields_the_last_token_and_is_omitted_when_its_time_has_passed() {
    check(
        "
        soft  related timeout=1s min=500ms notice='related tickets not searched'
        read  policy timeout=11s attempts=2 estimate=1s backoff=9s/9s
        start concurrency=1 -> out policy
        may   related -> CONCURRENCY_EXHAUSTED in_flight=1 limit=1
        fail  policy OVERLOADED draw=4000000000 -> CallRescheduled policy RETRY_ALLOWED, out
        may   related -> SOFT_YIELDS hard_waiting=1 left=1
        at 8500ms -> out policy
        at 11500ms -> out policy
        at 11501ms -> CallOmitted related DEADLINE_EXHAUSTED, notice related tickets not searched
        answer policy -> degraded ALL_SETTLED, closed, attempts related 0
    ",
    );
}
