//! What is missing is said: related tickets, the specialist, the policies.

use mainstay_tests::meeting::Meeting;
use mainstay_tests::minutes;
use mainstay_tests::place::Place;
use mainstay_tests::service::Service;

#[test]
fn without_related_tickets_the_run_is_degraded_and_says_so() {
    let place = Place::new();
    let view = Meeting::new(minutes::example(), place.store())
        .with("--fault", "related_tickets=transient_transport")
        .view();
    assert_eq!(
        (view.outcome(), view.from.code),
        ("degraded", Some(0)),
        "{}",
        view.from
    );
    assert_eq!(
        view.texts("/notices"),
        ["related tickets not searched"],
        "{}",
        view.from
    );
    assert_eq!(
        view.call("related_tickets")["state"],
        "omitted",
        "{}",
        view.from
    );
    assert!(!view.tickets().is_empty(), "{}", view.from);
}

#[test]
fn the_ticket_service_failing_only_its_search_degrades_the_run_alike() {
    let place = Place::new();
    let fault = "unavailable,method=GET,path=/tickets";
    let service = Service::tickets(&place.path("tickets.db"), &[fault]);
    let view = Meeting::new(minutes::example(), place.store())
        .with("--tickets", service.url())
        .view();
    assert_eq!(view.outcome(), "degraded", "{}", view.from);
    assert_eq!(
        view.texts("/notices"),
        ["related tickets not searched"],
        "{}",
        view.from
    );
}

#[test]
fn without_the_specialist_its_local_stand_in_answers_and_the_run_says_so() {
    let place = Place::new();
    let view = Meeting::new(minutes::example(), place.store())
        .with("--fault", "specialist=overloaded")
        .view();
    assert_eq!(view.outcome(), "degraded", "{}", view.from);
    assert_eq!(
        view.call("specialist")["answered_by"],
        "local_summary",
        "{}",
        view.from
    );
    let notices = view.texts("/notices");
    assert!(
        notices
            .iter()
            .any(|notice| notice.starts_with("specialist")),
        "{}",
        view.from
    );
}

#[test]
fn without_policies_a_young_snapshot_stands_in_and_its_grade_is_in_the_report() {
    let place = Place::new();
    let file = minutes::example();
    let first = Meeting::new(&file, place.path("first")).view();
    assert_eq!(
        first.text("/result/policy/0/grade"),
        "live",
        "{}",
        first.from
    );
    // Another store with nothing but the snapshot: as after a night of failing retrieval.
    let snapshot = "policy-snapshot.json";
    std::fs::create_dir_all(place.store()).expect("a folder");
    std::fs::copy(
        place.path("first").join(snapshot),
        place.store().join(snapshot),
    )
    .expect("copied");
    let view = Meeting::new(&file, place.store())
        .with("--fault", "policy_rag=permanent_provider")
        .view();
    assert_eq!(
        (view.outcome(), view.from.code),
        ("degraded", Some(0)),
        "{}",
        view.from
    );
    assert_eq!(
        view.text("/result/policy/0/grade"),
        "approved_snapshot",
        "{}",
        view.from
    );
    assert_eq!(view.tickets().len(), first.tickets().len(), "{}", view.from);
    let [notice] = view.texts("/notices")[..] else {
        panic!("one notice\n{}", view.from);
    };
    assert!(
        notice.contains("snapshot") && notice.contains("20 min"),
        "{}",
        view.from
    );
}

#[test]
fn without_policies_and_snapshot_a_person_gets_the_draft_and_no_ticket_is_written() {
    let place = Place::new();
    let file = minutes::example();
    let command =
        Meeting::new(&file, place.store()).with("--fault", "policy_rag=permanent_provider");
    let view = command.view();
    assert_eq!(
        (view.outcome(), view.from.code),
        ("handed_off", Some(3)),
        "{}",
        view.from
    );
    assert!(
        !view.list("/package/draft/actions").is_empty(),
        "{}",
        view.from
    );
    assert!(
        view.at("/result").is_null() && view.tickets().is_empty(),
        "{}",
        view.from
    );
    assert!(view.events("EffectIntended").is_empty(), "{}", view.from);
    let service = Service::tickets(&place.store().join("tickets.db"), &[]);
    assert!(service.tickets_of(&minutes::source(&file)).is_empty());
    assert!(
        service
            .requests()
            .iter()
            .all(|entry| entry.subject.method != "POST")
    );
    // Asked for again it is the same run: a hand-off is an outcome, not an error to be retried.
    let again = command.view();
    assert_eq!(
        (again.run_id(), again.outcome()),
        (view.run_id(), "handed_off"),
        "{}",
        again.from
    );
}
