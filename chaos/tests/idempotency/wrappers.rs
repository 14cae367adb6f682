//! Wrappers by themselves: what they make of one model's calls.

use std::sync::Arc;
use std::time::Duration;

use mainstay_chaos::experiment::idempotency::strategies::{KeyFromArguments, KeyFromRun, Mainstay};
use mainstay_chaos::experiment::idempotency::{
    Arguments, Draws, Faults, Intent, Keys, Line, Receiver, RunContext, Seed, Strategy, ToolAnswer,
    ToolCall, ToolClient, Way,
};

const FIRST: Intent = Intent {
    session: 0,
    order: 0,
};

async fn calm_receiver() -> Receiver {
    calm_receiver_of(Keys::Honoured).await
}

async fn calm_receiver_of(keys: Keys) -> Receiver {
    let mut faults = Faults::of_the_experiment();
    let calm = Way {
        lost: 0.0,
        late: 0.0,
        late_in_slow_spell: 0.0,
    };
    (faults.send, faults.look_up) = (calm, calm);
    let draws = Draws::new(Seed(1), faults);
    Receiver::start(faults, draws, keys).await.unwrap()
}

fn line(receiver: &Receiver) -> Line {
    let client = ToolClient::new(Duration::from_secs(5), 0).unwrap();
    Line::new(receiver.base(FIRST), Arc::new(client))
}

fn call(call_id: &str, qty: u32, memo: &str) -> ToolCall {
    ToolCall {
        tool: "create_purchase_order",
        call_id: call_id.to_owned(),
        arguments: Arguments {
            item: "filter".to_owned(),
            qty,
            memo: memo.to_owned(),
        },
    }
}

fn run() -> RunContext {
    RunContext {
        session: 0,
        request_no: "PR-0-1".to_owned(),
    }
}

#[tokio::test]
async fn a_key_from_the_run_gives_the_saved_result_and_refuses_other_arguments() {
    let receiver = calm_receiver().await;
    let line = line(&receiver);
    let mut wrapper = KeyFromRun.wrap(run());
    let first = wrapper.call(&call("c1", 3, ""), &line).await;
    assert!(matches!(first, ToolAnswer::Done { .. }), "{first:?}");
    let again = call("c2", 3, "urgent (retry 1)");
    assert_eq!(wrapper.call(&again, &line).await, first);
    let mismatch = ToolAnswer::Error {
        error_code: "IDEMPOTENCY_MISMATCH",
    };
    assert_eq!(wrapper.call(&call("c3", 4, ""), &line).await, mismatch);
    // The receiver keeps what a wrapper that lost its memory does not know.
    let mut restarted = KeyFromRun.wrap(run());
    assert_eq!(restarted.call(&call("c4", 3, ""), &line).await, first);
    assert_eq!(restarted.call(&call("c5", 4, ""), &line).await, mismatch);
    let mut forgetful = KeyFromRun.wrap(run());
    assert_eq!(forgetful.call(&call("c6", 4, ""), &line).await, mismatch);
    assert_eq!(receiver.settled().await.applied.len(), 1);
}

#[tokio::test]
async fn a_second_order_in_the_same_run_would_be_swallowed_by_the_runs_key() {
    let receiver = calm_receiver().await;
    let line = line(&receiver);
    let mut wrapper = KeyFromRun.wrap(run());
    let first = wrapper.call(&call("c1", 3, ""), &line).await;
    assert_eq!(wrapper.call(&call("c2", 3, ""), &line).await, first);
    assert_eq!(receiver.settled().await.applied.len(), 1);
}

#[tokio::test]
async fn a_key_from_the_arguments_is_another_one_for_another_memo() {
    let receiver = calm_receiver().await;
    let line = line(&receiver);
    let mut wrapper = KeyFromArguments.wrap(run());
    for (call_id, memo) in [("c1", ""), ("c2", ""), ("c3", "urgent (retry 1)")] {
        wrapper.call(&call(call_id, 3, memo), &line).await;
    }
    assert_eq!(receiver.settled().await.applied.len(), 2);
}

fn ours() -> [Mainstay; 3] {
    [
        Mainstay::with_business_id(),
        Mainstay::without_business_id(),
        Mainstay::with_search_alone(),
    ]
}

#[tokio::test]
async fn mainstay_places_a_second_order_only_after_the_first_was_told() {
    for strategy in ours() {
        let receiver = calm_receiver_of(strategy.receiver()).await;
        let line = line(&receiver);
        let faults = Faults::of_the_experiment();
        strategy.open(&faults).await.unwrap();
        let mut wrapper = strategy.wrap(run());
        let (first, again) = (call("c1", 3, ""), call("c1", 3, ""));
        let told = wrapper.call(&first, &line).await;
        assert!(matches!(told, ToolAnswer::Done { .. }), "{told:?}");
        // The same call of the model, whatever became of its answer.
        assert_eq!(wrapper.call(&again, &line).await, told);
        let second = wrapper.call(&call("c2", 3, ""), &line).await;
        assert!(matches!(second, ToolAnswer::Done { .. }), "{second:?}");
        assert_ne!(second, told);
        drop(wrapper);
        strategy.close().await.unwrap();
        let truth = receiver.settled().await;
        assert_eq!((truth.applied.len(), truth.sends), (2, 2));
    }
}

#[tokio::test]
async fn a_run_of_mainstay_that_is_asked_for_again_is_the_same_run() {
    for strategy in ours() {
        let receiver = calm_receiver_of(strategy.receiver()).await;
        let line = line(&receiver);
        strategy.open(&Faults::of_the_experiment()).await.unwrap();
        let mut wrapper = strategy.wrap(run());
        let told = wrapper.call(&call("c1", 3, ""), &line).await;
        // A second process for the same request knows nothing of what the model was told.
        let mut other = strategy.wrap(run());
        let memo = "urgent (retry 1)";
        assert_eq!(other.call(&call("c2", 3, memo), &line).await, told);
        let mismatch = ToolAnswer::Error {
            error_code: "IDEMPOTENCY_MISMATCH",
        };
        let mut third = strategy.wrap(run());
        assert_eq!(third.call(&call("c3", 4, ""), &line).await, mismatch);
        drop((wrapper, other, third));
        strategy.close().await.unwrap();
        assert_eq!(receiver.settled().await.applied.len(), 1);
    }
}
