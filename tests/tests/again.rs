//! The same command again, another key, another input: what is a new run and what is not.

use mainstay_tests::meeting::Meeting;
use mainstay_tests::minutes;
use mainstay_tests::place::Place;
use mainstay_tests::service::{Service, specialist_requests};

#[test]
fn the_same_command_again_is_the_same_run_and_asks_no_service_anything() {
    let place = Place::new();
    let file = minutes::example();
    let command = Meeting::new(&file, place.store());
    let first = command.view();
    assert!(first.has_result() && !first.reused(), "{}", first.from);
    let db = place.store().join("tickets.db");
    let asked = || {
        (
            Service::tickets(&db, &[]).requests(),
            specialist_requests(&place.store()),
        )
    };
    let before = asked();
    assert!(!before.0.is_empty() && !before.1.is_empty(), "{before:?}");

    let again = command.view();
    assert!(again.reused(), "{}", again.from);
    for part in ["/run_id", "/outcome", "/result", "/tickets", "/timeline"] {
        assert_eq!(again.at(part), first.at(part), "{part}\n{}", again.from);
    }
    assert_eq!(asked(), before, "{}", again.from);

    // The file's name is no part of the input.
    let copy = place.file("renamed.md", std::fs::read(&file).expect("minutes"));
    let renamed = Meeting::new(copy, place.store()).view();
    assert_eq!(renamed.run_id(), first.run_id(), "{}", renamed.from);
    assert_eq!(asked(), before, "{}", renamed.from);
}

#[test]
fn a_fault_is_no_part_of_the_input_and_a_reused_run_says_so() {
    let place = Place::new();
    let command = Meeting::new(minutes::example(), place.store());
    let first = command.view();
    let again = command
        .with("--fault", "related_tickets=transient_transport")
        .view();
    assert_eq!(again.run_id(), first.run_id(), "{}", again.from);
    assert_eq!(again.outcome(), "completed", "{}", again.from);
    assert!(
        again
            .from
            .stderr
            .contains("--fault is no part of its input"),
        "{}",
        again.from
    );
}

#[test]
fn the_same_minutes_under_another_key_are_another_run_that_adopts_the_tickets() {
    let place = Place::new();
    let file = minutes::example();
    let command = Meeting::new(&file, place.store());
    let first = command.view();
    let other = command.with("--key", "another").view();
    assert_ne!(other.run_id(), first.run_id(), "{}", other.from);
    assert!(!other.reused() && other.has_result(), "{}", other.from);
    assert_eq!(
        (other.ticket_ids(), other.keys()),
        (first.ticket_ids(), first.keys())
    );
    let reused = |ticket: &serde_json::Value| ticket["reused"] == true;
    assert!(!first.tickets().iter().any(reused), "{}", first.from);
    assert!(other.tickets().iter().all(reused), "{}", other.from);

    let service = Service::tickets(&place.store().join("tickets.db"), &[]);
    assert_eq!(
        service.tickets_of(&minutes::source(&file)).len(),
        first.tickets().len()
    );
    let posts = service
        .requests()
        .into_iter()
        .filter(|entry| entry.subject.method == "POST");
    assert_eq!(posts.count(), first.tickets().len(), "{}", other.from);
}

#[test]
fn a_key_that_stands_for_other_minutes_is_refused_and_nothing_changes() {
    let place = Place::new();
    let mine = place.file("mine.md", minutes::with_actions("mine", 2));
    let other = place.file("other.md", minutes::with_actions("other", 2));
    let first = Meeting::new(mine, place.store()).with("--key", "K").view();
    let command = Meeting::new(&other, place.store()).with("--key", "K");
    for command in [command.clone(), command.as_text()] {
        let refused = command.run().with_code(1);
        assert_eq!(refused.stdout, "", "{refused}");
        assert!(refused.stderr.contains("START_KEY_MISMATCH"), "{refused}");
        assert!(refused.stderr.contains(first.run_id()), "{refused}");
    }
    let service = Service::tickets(&place.store().join("tickets.db"), &[]);
    assert_eq!(service.tickets_of(&minutes::source(&other)).len(), 0);
}

#[test]
fn absolute_times_are_another_version_of_the_class_in_the_same_store() {
    let place = Place::new();
    let file = |tag: &str| place.file(&format!("{tag}.md"), minutes::with_actions(tag, 2));
    let extend = Meeting::new(file("one"), place.store()).view();
    let absolute = Meeting::new(file("two"), place.store()).with("--on-downtime", "absolute");
    let absolute = absolute.view();
    for (view, rule) in [(&extend, "extend"), (&absolute, "absolute")] {
        assert_eq!(view.outcome(), "completed", "{}", view.from);
        assert_eq!(
            view.text("/class/name"),
            "meeting-analysis-draft",
            "{}",
            view.from
        );
        assert_eq!(
            view.text("/budget/times/on_downtime/kind"),
            rule,
            "{}",
            view.from
        );
    }
    assert_ne!(
        extend.number("/class/version"),
        absolute.number("/class/version")
    );
}
