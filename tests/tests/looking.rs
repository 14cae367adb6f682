//! The command line `mainstay` on the store that a run left.

use std::process::Command;

use mainstay_tests::binaries::program;
use mainstay_tests::meeting::Meeting;
use mainstay_tests::minutes;
use mainstay_tests::place::Place;
use mainstay_tests::process::Ended;
use mainstay_tests::service::{Service, slow_writes};
use mainstay_tests::view::View;
use mainstay_tests::wait::until_true;

fn look(place: &Place, words: &[&str]) -> Ended {
    let mut command = Command::new(program("mainstay"));
    Ended::of(command.arg("--store").arg(place.store()).args(words))
}

#[test]
fn the_run_shown_from_the_store_is_the_run_that_was_printed() {
    let place = Place::new();
    let printed = Meeting::new(minutes::example(), place.store()).view();
    let args = ["run", "show", printed.run_id(), "--json", "--payloads"];
    let shown = View::printed(look(&place, &args));
    for part in [
        "/run_id",
        "/outcome",
        "/result",
        "/budget",
        "/calls",
        "/timeline",
        "/notices",
    ] {
        assert_eq!(shown.at(part), printed.at(part), "{part}\n{}", shown.from);
    }
    let text = look(&place, &["run", "show", printed.run_id()]).with_code(0);
    for call in printed.list("/calls") {
        let path = call["path"].as_str().expect("a call has a path");
        assert!(text.stdout.contains(path), "{path}\n{text}");
    }
}

#[test]
fn runs_are_listed_newest_first_with_outcome_and_key() {
    let place = Place::new();
    let command = Meeting::new(minutes::example(), place.store());
    let (first, second) = (command.view(), command.with("--key", "second").view());
    let listed = View::printed(look(&place, &["runs", "--json"]).with_code(0));
    let ids: Vec<_> = listed
        .list("/runs")
        .iter()
        .map(|run| &run["run_id"])
        .collect();
    assert_eq!(ids, [second.run_id(), first.run_id()], "{}", listed.from);
    assert_eq!(
        listed.text("/runs/0/start_key"),
        "second",
        "{}",
        listed.from
    );
    assert_eq!(
        listed.text("/runs/0/outcome"),
        "completed",
        "{}",
        listed.from
    );
    let text = look(&place, &["runs"]).with_code(0);
    assert!(text.stdout.contains(first.run_id()), "{text}");
}

#[test]
fn the_stored_class_is_drawn_in_every_form() {
    let place = Place::new();
    drop(Meeting::new(minutes::example(), place.store()).view());
    let graph = |form: &str| {
        let words = ["graph", "meeting-analysis-draft", "--format", form];
        look(&place, &words).with_code(0).stdout
    };
    for node in [
        "policy_rag",
        "related_tickets",
        "specialist",
        "draft",
        "ticket_write",
    ] {
        for form in ["text", "mermaid", "dot", "json"] {
            assert!(
                graph(form).contains(node),
                "{node} in {form}:\n{}",
                graph(form)
            );
        }
    }
    assert!(
        graph("mermaid").contains("\nflowchart"),
        "{}",
        graph("mermaid")
    );
    assert!(graph("dot").starts_with("digraph"), "{}", graph("dot"));
}

#[test]
fn a_store_that_is_not_there_is_not_made() {
    let place = Place::new();
    let refused = look(&place, &["runs"]).with_code(3);
    assert!(refused.stderr.contains("STORE_MISSING"), "{refused}");
    assert!(!place.store().exists(), "{refused}");
}

#[test]
fn a_killed_run_is_shown_as_it_stands_and_looking_at_it_is_no_harm() {
    let place = Place::new();
    let file = place.file("four.md", minutes::with_actions("four", 4));
    let service = Service::tickets(&place.path("tickets.db"), &[]);
    service.arm(&slow_writes(500));
    let command = Meeting::new(&file, place.store()).with("--tickets", service.url());
    let running = command.start();
    until_true("a write", || {
        service
            .requests()
            .iter()
            .any(|entry| entry.subject.method == "POST")
    });
    drop(running.kill());

    let listed = View::printed(look(&place, &["runs", "--json"]).with_code(0));
    let id = listed.text("/runs/0/run_id").to_owned();
    assert_eq!(listed.text("/runs/0/state"), "running", "{}", listed.from);
    for _ in 0..2 {
        let shown = View::printed(look(&place, &["run", "show", &id, "--json"]).with_code(0));
        assert!(shown.at("/outcome").is_null(), "{}", shown.from);
        assert_eq!(shown.attempts_in("in_flight"), 4, "{}", shown.from);
        assert_eq!(shown.list("/waiting_for").len(), 4, "{}", shown.from);
    }
    service.clear();
    let view = command.view();
    assert_eq!(
        (view.run_id(), view.outcome()),
        (id.as_str(), "completed"),
        "{}",
        view.from
    );
    assert_eq!(view.attempts_in("interrupted"), 4, "{}", view.from);
    assert_eq!(
        service.tickets_of(&minutes::source(&file)).len(),
        4,
        "{}",
        view.from
    );
}
