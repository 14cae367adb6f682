//! What callers of the service may rely on, also across its end.

use reqwest::StatusCode;
use rustix::process::Signal;
use serde_json::json;
use tempfile::TempDir;

use crate::program::{Program, Reply};
use crate::shop::Shop;

const ASYNC: (&str, &str) = ("Prefer", "respond-async");

async fn desk(settings: &[(&str, &str)]) -> (TempDir, Shop, Program) {
    let (store, shop) = (tempfile::tempdir().unwrap(), Shop::start().await);
    let program = Program::start(store.path(), &shop.url(), settings);
    (store, shop, program)
}

fn place(reply: &Reply) -> String {
    let place = reply.location.clone();
    place.unwrap_or_else(|| panic!("{} {}", reply.status, reply.body))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_answered_in_time_and_its_key_finds_it_again() {
    let (_store, shop, program) = desk(&[]).await;
    let first = program.post("\"case-17\"", "A-17", &[]).await;
    assert_eq!(first.status, StatusCode::OK, "{}", first.body);
    assert_eq!(first.body["outcome"], "completed");
    assert_eq!(first.body["result"], json!({"refund": "R-1", "cents": 900}));

    let again = program.post("case-17", "A-17", &[]).await;
    assert_eq!((again.status, again.body), (StatusCode::OK, first.body));
    assert_eq!(shop.paid(), 1);

    let other = program.post("case-17", "B-2", &[]).await;
    assert_eq!(other.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(other.code(), "START_KEY_MISMATCH");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_does_not_want_to_wait_gets_the_place_of_the_run() {
    let (_store, shop, program) = desk(&[]).await;
    shop.close();
    let started = program.post("case-1", "A-1", &[ASYNC]).await;
    assert_eq!(started.status, StatusCode::ACCEPTED);
    let open = program.get(&place(&started)).await;
    assert_eq!(
        (&open.body["answer"], &open.body["state"]),
        (&json!("open"), &json!("running"))
    );
    shop.open();
    let body = program.outcome(&place(&started)).await;
    assert_eq!(body["result"]["refund"], "R-1");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_reply_is_asked_about_and_the_refund_is_paid_once() {
    let (_store, shop, program) = desk(&[]).await;
    shop.lose_a_reply();
    let reply = program.post("case-2", "A-2", &[]).await;
    assert_eq!(reply.status, StatusCode::OK, "{}", reply.body);
    assert_eq!(reply.body["result"]["refund"], "R-1");
    assert_eq!(shop.paid(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_can_be_canceled_once_and_an_outcome_cannot() {
    let (_store, shop, program) = desk(&[]).await;
    shop.close();
    let started = program.post("case-3", "A-3", &[ASYNC]).await;
    shop.asked(1).await;
    let place = place(&started);
    assert_eq!(program.cancel(&place).await.status, StatusCode::ACCEPTED);
    assert_eq!(program.outcome(&place).await["outcome"], "canceled");
    assert_eq!(shop.paid(), 0);

    let late = program.cancel(&place).await;
    assert_eq!(
        (late.status, late.code()),
        (StatusCode::CONFLICT, "RUN_ENDED")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn every_mistake_of_a_caller_has_its_code() {
    let (_store, _shop, program) = desk(&[]).await;
    let nowhere = "/runs/0197d0a0-0000-7000-8000-000000000000";
    let body = r#"{"order":"A","cents":1,"why":"","more":1}"#;
    for (reply, status, code) in [
        (program.get(nowhere).await, 404, "RUN_UNKNOWN"),
        (program.cancel(nowhere).await, 404, "RUN_UNKNOWN"),
        (program.get("/runs/17").await, 400, "INVALID_INPUT"),
        (program.post_raw("/runs", "{").await, 400, "INVALID_INPUT"),
        (program.post_raw("/runs", body).await, 400, "INVALID_INPUT"),
        (program.post("\"\"", "A-1", &[]).await, 400, "INVALID_INPUT"),
    ] {
        assert_eq!((reply.status.as_u16(), reply.code()), (status, code));
        assert_eq!(reply.retry_after, None);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn beyond_its_bound_the_engine_says_when_to_come_back() {
    let (_store, shop, program) = desk(&[("RUNS_MAX", "1")]).await;
    shop.close();
    let first = program.post("case-4", "A-4", &[ASYNC]).await;
    let refused = program.post("case-5", "A-5", &[]).await;
    assert_eq!(refused.status, StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(refused.code(), "ENGINE_FULL");
    let wait = refused.retry_after.expect("it says when");
    assert!(1 <= wait.parse::<u64>().unwrap());

    shop.open();
    program.outcome(&place(&first)).await;
    let now = program.post("case-5", "A-5", &[]).await;
    assert_eq!(now.status, StatusCode::OK, "{}", now.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_tells_who_waits_where_the_run_is_and_the_next_process_finishes_it() {
    let (store, shop, mut program) = desk(&[("DRAIN_SECS", "1")]).await;
    shop.close();
    let waiting = async { program.post("case-6", "A-6", &[]).await };
    let stopping = async {
        shop.asked(1).await;
        program.signal(Signal::TERM);
    };
    let (told, ()) = tokio::join!(waiting, stopping);
    assert_eq!(told.status, StatusCode::ACCEPTED, "{}", told.body);
    assert!(program.ended().await.success());
    drop(program);

    shop.open();
    let next = Program::start(store.path(), &shop.url(), &[]);
    let body = next.outcome(&place(&told)).await;
    assert_eq!(body["result"]["refund"], "R-1", "{body}");
    let again = next.post("case-6", "A-6", &[]).await;
    assert_eq!((again.status, again.body), (StatusCode::OK, body));
    assert_eq!(shop.paid(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_process_loses_no_run_and_pays_no_refund_twice() {
    let (store, shop, mut program) = desk(&[]).await;
    shop.close();
    let started = program.post("case-7", "A-7", &[ASYNC]).await;
    shop.asked(1).await;
    program.signal(Signal::KILL);
    assert!(!program.ended().await.success());
    drop(program);

    shop.open();
    let next = Program::start(store.path(), &shop.url(), &[]);
    let body = next.outcome(&place(&started)).await;
    assert_eq!(body["result"]["refund"], "R-1", "{body}");
    assert_eq!(shop.paid(), 1);
}
