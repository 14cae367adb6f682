//! A receiver that only a person can ask, behind the wrapper that looks before it sends: what a
//! person says ends the doubt, and what the wrapper can and cannot catch.

use std::fs;

use mainstay::types::Payload;
use mainstay::{Code, OutcomeKind, Ruling};
use mainstay_tests::http::block_on;
use mainstay_tests::place::Place;
use mainstay_tests::receivers::{Fate, Kind, Receiver, Told};

use super::{Ended, Stand, soon};

const ANNA: (&str, &str) = ("anna (uid:1000)", "looked at their list");

/// What a person says, as soon as it is taken: "not applied" only once nothing may land any more.
async fn says(stand: &Stand, ruling: Ruling) {
    let key = soon(async || stand.in_doubt().await).await;
    let result = (ruling == Ruling::Applied).then(|| Payload::from(r#"{"number":"R-1"}"#));
    let said = soon(async || {
        let said = stand
            .engine
            .settle_effect(&key, (ruling, result.clone()), ANNA);
        match said.await {
            Ok(status) => Some(status),
            Err(error) if error.code() == Code::SettleRefused => None,
            Err(error) => panic!("{error}"),
        }
    });
    let _settled = said.await;
}

/// One order whose doubt a person settles like this.
fn settled(receiver: Receiver, ruling: Ruling) -> Ended {
    let place = Place::new();
    block_on(async {
        let stand = Stand::start(&place, receiver, Kind::Human).await;
        says(&stand, ruling).await;
        stand.end().await
    })
}

#[test]
fn a_lost_reply_stays_in_doubt_and_nobody_is_asked_until_a_person_says_applied() {
    let receiver = Receiver::start(Kind::Human, &[Fate::CommitThenDrop]);
    let ended = settled(receiver, Ruling::Applied);
    ended.must_be_done_once(Kind::Human, 1);
    // The wrapper's look before the send is all that was ever asked.
    assert_eq!(ended.truth.told, [Told::NotFound]);
}

#[test]
fn not_applied_is_taken_once_nothing_can_land_any_more_and_the_order_is_sent_again() {
    let receiver = Receiver::start(Kind::Human, &[Fate::Drop]);
    let ended = settled(receiver, Ruling::NotApplied);
    ended.must_be_done_once(Kind::Human, 2);
}

#[test]
fn a_person_who_is_wrong_makes_no_duplicate_once_the_export_has_caught_up() {
    let receiver = Receiver::start(Kind::Human, &[Fate::CommitThenDrop]);
    let ended = settled(receiver, Ruling::NotApplied);
    let told = &ended.told;
    assert_eq!(ended.outcome.kind, OutcomeKind::Completed, "{told}");
    assert_eq!(ended.attempts, 2, "{told}");
    let (sent, applied) = (ended.truth.sent.len(), ended.truth.applied.len());
    assert_eq!(
        (sent, applied),
        (1, 1),
        "the second attempt found it: {told}"
    );
}

/// The gap of such a receiver, as the page says it: nothing but the person stands in it.
#[test]
fn the_gap_that_stays_is_a_wrong_word_while_the_export_is_late() {
    let receiver = Receiver::start(Kind::Human, &[Fate::CommitThenDrop]);
    receiver.tells(false);
    let ended = settled(receiver, Ruling::NotApplied);
    assert_eq!(ended.truth.applied.len(), 2, "{}", ended.told);
}

/// The engine's record is lost, the wrapper's is not.
#[test]
fn what_the_wrapper_has_stored_is_not_sent_again_whoever_asks() {
    let place = Place::new();
    let first = block_on(async {
        let receiver = Receiver::start(Kind::Human, &[]);
        let stand = Stand::start(&place, receiver, Kind::Human).await;
        stand.end().await
    });
    first.must_be_done_once(Kind::Human, 1);
    let table = fs::read_to_string(place.path("table")).expect("the wrapper's table");
    assert_eq!(table.lines().count(), 1, "{table}");
    let again = block_on(async {
        let receiver = Receiver::start(Kind::Human, &[]);
        let stand = Stand::start(&place, receiver, Kind::Human).await;
        stand.end().await
    });
    assert_eq!(again.outcome.result, first.outcome.result);
    assert!(again.truth.sent.is_empty(), "{}", again.told);
}

#[test]
fn while_the_wrapper_cannot_look_nothing_is_sent() {
    let place = Place::new();
    let receiver = Receiver::start(Kind::Human, &[]);
    receiver.away_for(1);
    let ended = block_on(async {
        let stand = Stand::start(&place, receiver, Kind::Human).await;
        stand.end().await
    });
    assert_eq!(ended.outcome.kind, OutcomeKind::Completed, "{}", ended.told);
    let (sent, attempts) = (ended.truth.sent.len(), ended.attempts);
    assert_eq!((sent, attempts), (1, 2), "{}", ended.told);
}
