//! A write whose reply is lost: in doubt, found, applied; it holds up nothing and writes nothing
//! twice.

use mainstay_tests::meeting::Meeting;
use mainstay_tests::minutes;
use mainstay_tests::place::Place;
use mainstay_tests::service::Service;
use mainstay_tests::view::View;

/// The item whose reply is lost.
const LOST: &str = "ticket_write[3]";
const ACTIONS: usize = 10;

/// Item 3 was sent once, in doubt, looked up and found; every other item just answered.
fn must_be_found(view: &View, service: &Service, source: &str) {
    let said = &view.from;
    assert_eq!(
        (view.outcome(), view.tickets().len()),
        ("completed", ACTIONS),
        "{said}"
    );
    let call = view.call(LOST);
    assert_eq!(
        (&call["state"], &call["effect"]["state"]),
        (&"settled".into(), &"applied".into())
    );
    assert_eq!(call["effect"]["reason"], "FOUND_APPLIED", "{said}");
    let attempts = view.attempts(LOST);
    assert_eq!(attempts.len(), 1, "{said}");
    assert_eq!(
        (&attempts[0]["state"], &attempts[0]["sent"]),
        (&"failed".into(), &"MAYBE_SENT".into())
    );
    let order: Vec<_> = [
        "AttemptStarted",
        "AttemptSettled",
        "EffectInDoubt",
        "EffectApplied",
    ]
    .iter()
    .map(|event| {
        view.events_of(event, LOST)
            .iter()
            .filter_map(|e| e["seq"].as_u64())
            .collect()
    })
    .collect::<Vec<Vec<u64>>>();
    assert!(
        order.iter().all(|seqs| seqs.len() == 1) && order.is_sorted(),
        "{order:?}\n{said}"
    );
    assert_eq!(view.events("EffectInDoubt").len(), 1, "{said}");

    assert_eq!(service.tickets_of(source).len(), ACTIONS, "{said}");
    let key = call["effect"]["key"].as_str().expect("an effect has a key");
    let asked = service
        .requests()
        .into_iter()
        .filter(|entry| entry.subject.key.as_deref() == Some(key));
    let asked: Vec<String> = asked.map(|entry| entry.subject.method).collect();
    assert_eq!(
        asked.iter().filter(|method| *method == "POST").count(),
        1,
        "{asked:?}\n{said}"
    );
    assert!(
        asked.iter().any(|method| method == "GET"),
        "{asked:?}\n{said}"
    );
    let posts = service
        .requests()
        .into_iter()
        .filter(|entry| entry.subject.method == "POST");
    assert_eq!(posts.count(), ACTIONS, "{said}");
}

/// Every item behind item 3 was settled while item 3 was still in doubt.
fn must_not_be_held_up(view: &View) {
    let found = view
        .moment("EffectApplied", LOST)
        .expect("item 3 is settled");
    for item in 4..ACTIONS {
        let settled = view.moment("EffectApplied", &format!("ticket_write[{item}]"));
        let settled = settled.unwrap_or_else(|| panic!("item {item}\n{}", view.from));
        assert!(
            settled < found,
            "item {item} at {settled}, item 3 at {found}\n{}",
            view.from
        );
    }
}

#[test]
fn a_reply_dropped_after_the_commit_is_found_and_holds_up_no_other_item() {
    let place = Place::new();
    let file = place.file("ten.md", minutes::with_actions("ten", ACTIONS));
    // The first two look-ups get no answer either, so that the doubt lasts.
    let service = Service::tickets(
        &place.path("tickets.db"),
        &[
            "commit_then_drop:1@3",
            "drop:2,method=GET,path=/tickets/by-key",
        ],
    );
    let view = Meeting::new(&file, place.store())
        .with("--tickets", service.url())
        .view();
    must_be_found(&view, &service, &minutes::source(&file));
    must_not_be_held_up(&view);
}

#[test]
fn a_reply_lost_by_the_fault_flag_is_found_by_its_key() {
    let place = Place::new();
    let file = place.file("ten.md", minutes::with_actions("ten", ACTIONS));
    let service = Service::tickets(&place.path("tickets.db"), &[]);
    let view = Meeting::new(&file, place.store())
        .with("--tickets", service.url())
        .with("--fault", "ticket_write[3]=effect_unknown:1")
        .view();
    must_be_found(&view, &service, &minutes::source(&file));
}

#[test]
fn a_reply_dropped_before_the_commit_is_proven_absent_and_the_same_key_is_sent_again() {
    let place = Place::new();
    let file = place.file("ten.md", minutes::with_actions("ten", ACTIONS));
    let service = Service::tickets(&place.path("tickets.db"), &["drop_before_commit:1@3"]);
    let view = Meeting::new(&file, place.store())
        .with("--tickets", service.url())
        .view();
    let said = &view.from;
    assert_eq!(
        (view.outcome(), view.tickets().len()),
        ("completed", ACTIONS),
        "{said}"
    );
    assert_eq!(view.attempts(LOST).len(), 2, "{said}");
    let [in_doubt] = view.events_of("EffectInDoubt", LOST)[..] else {
        panic!("one doubt\n{said}");
    };
    let [absent] = view.events_of("EffectAbsent", LOST)[..] else {
        panic!("one proof\n{said}");
    };
    // Send window, timeout and the receiver's bound have passed before it is believed.
    let waited = absent["at_ms"]
        .as_u64()
        .zip(view.attempts(LOST)[0]["at_ms"].as_u64());
    let waited = waited
        .map(|(absent, sent)| absent - sent)
        .expect("both have a time");
    assert!(
        4_500 <= waited,
        "{waited} ms between {in_doubt} and {absent}\n{said}"
    );
    assert_eq!(
        service.tickets_of(&minutes::source(&file)).len(),
        ACTIONS,
        "{said}"
    );
    must_not_be_held_up(&view);
}
