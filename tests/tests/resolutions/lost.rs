//! A reply that is lost: after the deed, before it, while it is under way. At every kind that a
//! machine can ask, the deed is done once.

use mainstay::OutcomeKind;
use mainstay_tests::http::block_on;
use mainstay_tests::place::Place;
use mainstay_tests::receivers::{BOUND_MS, Fate, Kind, Receiver, Told};

use super::{Ended, HORIZON_MS, Stand, each, order, soon};

#[test]
fn a_reply_lost_after_the_deed_is_found_and_nothing_is_sent_again() {
    each(&Kind::ASKABLE, |kind| {
        let ended = order(kind, &[Fate::CommitThenDrop]);
        ended.must_be_done_once(kind, 1);
    });
}

#[test]
fn a_reply_lost_before_the_deed_is_sent_again_only_after_the_horizon_and_under_the_same_name() {
    each(&Kind::ASKABLE, |kind| {
        let ended = order(kind, &[Fate::Drop]);
        ended.must_be_done_once(kind, 2);
        let [first, second] = &ended.truth.sent[..] else {
            panic!("{kind:?}: {:#?}", ended.truth);
        };
        let apart = second.at.duration_since(first.at).as_millis();
        // The receiver sees a request a moment after the run authorised it, and this only narrows.
        assert!(HORIZON_MS - 100 <= apart, "{kind:?}: {apart} ms");
    });
}

#[test]
fn not_found_while_the_request_is_in_flight_is_not_believed_and_it_lands_once() {
    each(&Kind::ASKABLE, |kind| {
        let ended = order(kind, &[Fate::DropThenCommit(BOUND_MS)]);
        ended.must_be_done_once(kind, 1);
        assert_eq!(ended.truth.told[0], Told::NotFound, "{kind:?}");
        assert_eq!(ended.truth.told.last(), Some(&Told::Applied), "{kind:?}");
    });
}

#[test]
fn a_receiver_that_says_it_is_in_progress_is_waited_for() {
    each(&Kind::ASKABLE, |kind| {
        // Longer than the horizon: whoever says so is believed for as long.
        let ended = order(kind, &[Fate::DropThenCommitSeen(3_000)]);
        ended.must_be_done_once(kind, 1);
        let told = &ended.truth.told;
        let before = &told[..told.len() - 1];
        assert!(!before.is_empty() && before.iter().all(|said| *said == Told::InProgress));
    });
}

#[test]
fn a_receiver_that_did_it_and_cannot_be_asked_for_a_while_is_asked_until_it_can() {
    each(&Kind::ASKABLE, |kind| {
        let place = Place::new();
        let receiver = Receiver::start(kind, &[Fate::CommitThenDrop]);
        receiver.tells(false);
        let ended = block_on(async {
            let stand = Stand::start(&place, receiver, kind).await;
            soon(async || (3 <= stand.receiver.truth().unanswered).then_some(())).await;
            stand.receiver.tells(true);
            stand.end().await
        });
        ended.must_be_done_once(kind, 1);
    });
}

#[test]
fn a_receiver_that_hangs_up_on_everybody_for_a_while_does_it_once_when_it_is_back() {
    each(&Kind::ASKABLE, |kind| {
        let place = Place::new();
        let receiver = Receiver::start(kind, &[]);
        receiver.away_for(3);
        let ended = block_on(async {
            let stand = Stand::start(&place, receiver, kind).await;
            stand.end().await
        });
        let done = (ended.outcome.kind, ended.truth.applied.len());
        assert_eq!(
            done,
            (OutcomeKind::Completed, 1),
            "{kind:?}: {}",
            ended.told
        );
        assert_eq!(ended.truth.sent.len(), 1, "it saw one: {}", ended.told);
    });
}

#[test]
fn a_write_that_was_done_in_part_is_a_person_s_where_the_receiver_can_say_so() {
    each(&[Kind::Status, Kind::Ledger], |kind| {
        let ended = order(kind, &[Fate::PartThenDrop]);
        must_be_handed_off(&ended, "PARTLY_APPLIED");
        assert_eq!(ended.truth.told, [Told::Partly]);
    });
}

#[test]
fn a_refusal_is_an_answer_and_nobody_is_asked_about_it() {
    each(&Kind::ASKABLE, |kind| {
        let ended = order(kind, &[Fate::Refuse]);
        must_be_handed_off(&ended, "SAME_INPUT_FAILS");
        assert_eq!(ended.truth.told, [], "{kind:?}");
    });
}

fn must_be_handed_off(ended: &Ended, reason: &str) {
    let done = (ended.outcome.kind, ended.truth.sent.len());
    assert_eq!(done, (OutcomeKind::HandedOff, 1), "{}", ended.told);
    assert!(ended.told.contains(reason), "{}", ended.told);
    assert_eq!(ended.truth.applied, [] as [&str; 0]);
}
