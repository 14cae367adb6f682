//! The services beside the run: stopped at its end, found again after a kill, never two.

use std::collections::BTreeSet;
use std::time::Duration;

use mainstay_tests::meeting::Meeting;
use mainstay_tests::minutes;
use mainstay_tests::place::{Place, SERVICES};
use mainstay_tests::process::runs;
use mainstay_tests::seed::Draw;
use mainstay_tests::service::{Service, requests_at, slow_writes};
use mainstay_tests::view::View;
use mainstay_tests::wait::{until, until_true};
use mainstay_tests::{http, process};
use rustix::process::Signal;

/// The pids in the store's pid files, once both are there.
fn both_pids(place: &Place) -> Option<[u32; 2]> {
    let [tickets, specialist] = SERVICES.map(|service| place.announced(service));
    Some([tickets?.pid, specialist?.pid])
}

/// No process of the store is left, and no pid file.
fn must_be_gone(place: &Place) {
    for service in SERVICES {
        assert_eq!(place.pids(service), [0; 0], "{service} is left behind");
        assert_eq!(
            place.announced(service),
            None,
            "{service} left its pid file"
        );
    }
}

/// Arms a delay of every write at the store's own ticket service.
fn make_slow(place: &Place, delay_ms: u64) -> String {
    let service = place.announced("ticket-service").expect("it runs");
    let url = format!("http://{}", service.listening);
    http::post(&format!("{url}/faults"), &slow_writes(delay_ms)).expect("it answers");
    url
}

/// Waits until a ticket is being written.
fn until_a_write(url: &str) {
    until_true("a write at the ticket service", || {
        requests_at(url)
            .iter()
            .any(|entry| entry.subject.method == "POST")
    });
}

fn must_have_one_ticket_per_action(place: &Place, view: &View, file: &std::path::Path) {
    assert!(view.has_result(), "{}", view.from);
    let service = Service::tickets(&place.store().join("tickets.db"), &[]);
    let tickets = service.tickets_of(&minutes::source(file));
    let positions: BTreeSet<u64> = tickets
        .iter()
        .filter_map(|t| t["position"].as_u64())
        .collect();
    assert_eq!(
        (tickets.len(), positions.len()),
        (view.tickets().len(), view.tickets().len())
    );
}

#[test]
fn services_that_a_run_started_are_gone_at_its_end() {
    let place = Place::new();
    let mut running = Meeting::new(minutes::example(), place.store()).start();
    let mut seen = BTreeSet::new();
    until_true("the run's end", || {
        let ended = running.has_ended();
        seen.extend(SERVICES.iter().flat_map(|service| place.pids(service)));
        ended
    });
    let view = View::printed(running.wait());
    assert!(view.has_result(), "{}", view.from);
    assert_eq!(
        seen.len(),
        2,
        "one process per service was there\n{}",
        view.from
    );
    assert!(!seen.iter().any(|&pid| runs(pid)), "{seen:?}");
    must_be_gone(&place);
}

#[test]
fn services_are_found_again_after_a_kill_and_there_are_never_two() {
    let place = Place::new();
    let file = minutes::example();
    let command = Meeting::new(&file, place.store());
    let starting = command.start();
    let pids = until("both services", || both_pids(&place));
    let killed = starting.kill();
    assert!(
        pids.iter().all(|&pid| runs(pid)),
        "they outlive the run\n{killed}"
    );

    let url = make_slow(&place, 300);
    let writing = command.start();
    until_a_write(&url);
    assert_eq!(
        both_pids(&place),
        Some(pids),
        "the same processes serve the next run"
    );
    let killed = writing.kill();
    assert!(
        pids.iter().all(|&pid| runs(pid)),
        "they outlive the run\n{killed}"
    );
    for (service, pid) in SERVICES.iter().zip(pids) {
        assert_eq!(place.pids(service), [pid], "{service}");
    }

    let view = command.view();
    assert!(view.reused(), "{}", view.from);
    must_be_gone(&place);
    must_have_one_ticket_per_action(&place, &view, &file);
}

#[test]
fn a_kill_while_the_services_start_leaves_no_second_one() {
    let draw = Draw::new("kills at start");
    let place = Place::new();
    let file = minutes::example();
    let command = Meeting::new(&file, place.store());
    for _ in 0..6 {
        let mut running = command.start();
        // Opening a store and starting two services takes some tens of milliseconds.
        running.until_age(Duration::from_millis(draw.below(120)));
        let killed = running.kill();
        for service in SERVICES {
            assert!(place.pids(service).len() <= 1, "two of {service}\n{killed}");
        }
    }
    let view = command.view();
    must_have_one_ticket_per_action(&place, &view, &file);
    must_be_gone(&place);
}

#[test]
fn a_service_left_behind_by_a_run_that_had_ended_is_stopped_by_the_next_command() {
    let place = Place::new();
    let command = Meeting::new(minutes::example(), place.store());
    let first = command.view();
    let specialist = Service::specialist(&place.store(), &[]);
    let again = command.view();
    assert_eq!(again.run_id(), first.run_id(), "{}", again.from);
    until_true("the end of what was left behind", || {
        !runs(specialist.pid())
    });
}

#[test]
fn an_interrupted_run_stops_cleanly_and_the_same_command_goes_on() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let place = Place::new();
        let file = place.file("six.md", minutes::with_actions("six", 6));
        let service = Service::tickets(&place.path("tickets.db"), &[]);
        service.arm(&slow_writes(400));
        let command = Meeting::new(&file, place.store()).with("--tickets", service.url());
        let running = command.start();
        until_a_write(&service.url());
        running.signal(signal);
        let ended = running.wait().with_code(code);
        assert!(ended.stderr.contains("the same command goes on"), "{ended}");
        assert!(place.pids("specialist-service").is_empty(), "{ended}");

        service.clear();
        let view = command.view();
        assert!(view.reused() && view.has_result(), "{}", view.from);
        assert_eq!(
            service.tickets_of(&minutes::source(&file)).len(),
            6,
            "{}",
            view.from
        );
        // What was out when the signal came was waited for, so nothing was in doubt.
        assert!(
            view.events("AttemptInterrupted").is_empty(),
            "{}",
            view.from
        );
        assert!(
            runs(service.pid()),
            "a service that somebody else runs is left alone"
        );
    }
}

#[test]
fn ctrl_c_reaches_the_run_and_not_its_services() {
    let place = Place::new();
    let command = Meeting::new(minutes::example(), place.store());
    let starting = command.start();
    let pids = until("both services", || both_pids(&place));
    drop(starting.kill());
    let url = make_slow(&place, 400);
    let writing = command.start();
    until_a_write(&url);
    for pid in pids {
        assert_ne!(
            process::group_of(pid),
            process::group_of(writing.pid()),
            "its own group"
        );
    }
    writing.signal(Signal::INT);
    let ended = writing.wait().with_code(130);
    assert!(ended.stderr.contains("the same command goes on"), "{ended}");
    must_be_gone(&place);
    let view = command.view();
    assert!(
        view.has_result() && view.events("AttemptInterrupted").is_empty(),
        "{}",
        view.from
    );
}
