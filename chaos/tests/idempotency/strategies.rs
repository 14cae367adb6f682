//! What each strategy does to orders, with checks that fail when it does otherwise.
//!
//! The machine may be busy: a send that was drawn to be in time may come late. No check is about a
//! count that such a send could turn.

use std::sync::Arc;

use mainstay_chaos::experiment::idempotency::strategies::{
    KeyFromArguments, KeyFromRun, KeyPerCallId, Mainstay, NoRetries, RetriesWithoutKeys, all,
};
use mainstay_chaos::experiment::idempotency::{
    self as experiment, Faults, Options, Report, Score, Seed, Strategy,
};

const SESSIONS: u32 = 150;

/// Faults so frequent that few sessions show them all.
fn many_faults() -> Faults {
    let mut faults = Faults::of_the_experiment();
    faults.spell.share_of_sessions = 0.4;
    faults.model.wants_second = 0.3;
    faults
}

async fn tried(faults: Faults, strategies: &[Arc<dyn Strategy>]) -> Report {
    let options = Options {
        sessions: SESSIONS,
        seed: Seed(5),
        faults,
    };
    let hears: experiment::Hears = Arc::new(|_, _, _| {});
    experiment::run(&options, strategies, &hears).await.unwrap()
}

async fn score(faults: Faults, strategy: impl Strategy + 'static) -> Score {
    tried(faults, &[Arc::new(strategy)]).await.rows.remove(0)
}

#[tokio::test]
async fn without_retries_nothing_is_doubled_and_much_is_reported_failed() {
    let score = score(many_faults(), NoRetries).await;
    assert_eq!(score.duplicates, 0, "{score:?}");
    assert!(0 < score.never_placed, "{score:?}");
    assert!(20 < score.placed_but_reported_failed, "{score:?}");
    // One send for each order, of which some sessions have two.
    assert!(score.sends_per_session < 1.3, "{score:?}");
}

#[tokio::test]
async fn a_key_per_call_id_stops_the_clients_resends_and_not_the_models() {
    let strategies: [Arc<dyn Strategy>; 2] = [Arc::new(RetriesWithoutKeys), Arc::new(KeyPerCallId)];
    let rows = tried(many_faults(), &strategies).await.rows;
    assert!(rows[1].duplicates < rows[0].duplicates, "{rows:?}");
    assert!(0 < rows[1].duplicates, "{rows:?}");
    assert_eq!(rows[1].real_orders_swallowed, 0, "{rows:?}");
}

#[tokio::test]
async fn a_key_from_the_arguments_is_pierced_by_a_memo_and_swallows_second_orders() {
    let score = score(many_faults(), KeyFromArguments).await;
    assert!(0 < score.duplicates, "{score:?}");
    assert!(20 < score.real_orders_swallowed, "{score:?}");
    let mut same_memo = many_faults();
    same_memo.model.changes_memo = 0.0;
    same_memo.model.wants_second = 0.0;
    let score = self::score(same_memo, KeyFromArguments).await;
    assert_eq!((score.duplicates, score.real_orders_swallowed), (0, 0));
}

#[tokio::test]
async fn a_key_from_the_run_doubles_and_swallows_nothing_and_still_reports_failures() {
    let score = score(many_faults(), KeyFromRun).await;
    assert_eq!((score.duplicates, score.real_orders_swallowed), (0, 0));
    assert!(0 < score.placed_but_reported_failed, "{score:?}");
}

#[tokio::test]
async fn who_calls_again_after_a_confirmation_orders_again_unless_the_key_is_the_runs() {
    let mut faults = many_faults();
    faults.model.calls_again_after_done = 0.5;
    let [per_call, from_run] = [
        score(faults, KeyPerCallId).await,
        score(faults, KeyFromRun).await,
    ];
    assert!(20 < per_call.reordered_after_confirmation, "{per_call:?}");
    assert!(per_call.reordered_after_confirmation <= per_call.duplicates);
    assert_eq!(from_run.reordered_after_confirmation, 0, "{from_run:?}");
}

#[tokio::test]
async fn mainstay_doubles_loses_and_misreports_nothing_where_most_sends_go_wrong() {
    let mut faults = many_faults();
    faults.send.lost = 0.3;
    let strategies: [Arc<dyn Strategy>; 3] = [
        Arc::new(Mainstay::with_business_id()),
        Arc::new(Mainstay::without_business_id()),
        Arc::new(Mainstay::with_search_alone()),
    ];
    for row in tried(faults, &strategies).await.rows {
        let wrong = [
            row.duplicates,
            row.never_placed,
            row.placed_but_reported_failed,
            row.real_orders_swallowed,
        ];
        assert_eq!(wrong, [0; 4], "{row:?}");
        assert!(row.handed_to_people <= 2, "{row:?}");
    }
}

#[tokio::test]
async fn without_faults_every_strategy_sends_once_per_order() {
    let mut faults = many_faults();
    faults.send.lost = 0.0;
    faults.send.late = 0.0;
    faults.send.late_in_slow_spell = 0.0;
    faults.model.wants_second = 0.0;
    let report = tried(faults, &all()).await;
    // A busy machine may make some late: as many as it says, and no others.
    let late = report.late_by_load as f64 / f64::from(SESSIONS);
    for row in report.rows {
        assert!(1.0 <= row.sends_per_session, "{row:?}");
        assert!(
            row.sends_per_session <= 1.0 + late + 0.001,
            "{row:?} {late}"
        );
        assert_eq!((row.never_placed, row.handed_to_people), (0, 0), "{row:?}");
    }
}

#[tokio::test]
async fn every_session_is_heard_of() {
    let heard = Arc::new(std::sync::atomic::AtomicU32::new(0));
    let counts = Arc::clone(&heard);
    let hears: experiment::Hears = Arc::new(move |name, done, total| {
        assert_eq!((name, total), ("A", 70));
        counts.fetch_max(done, std::sync::atomic::Ordering::Relaxed);
    });
    let options = Options {
        sessions: 70,
        seed: Seed(1),
        faults: Faults::of_the_experiment(),
    };
    let strategies: [Arc<dyn Strategy>; 1] = [Arc::new(NoRetries)];
    experiment::run(&options, &strategies, &hears)
        .await
        .unwrap();
    assert_eq!(heard.load(std::sync::atomic::Ordering::Relaxed), 70);
}
