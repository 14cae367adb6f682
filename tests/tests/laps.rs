//! Laps: a run that ended short of its goal is gone on from, on the same tickets; a run that was
//! told "later" is told the rest, whoever dies in between.
//!
//! Nothing here is scaled: times are the class's own, so these tests wait for them.

use std::collections::BTreeSet;
use std::process::Command;
use std::time::{Duration, Instant};

use mainstay_tests::binaries::program;
use mainstay_tests::meeting::Meeting;
use mainstay_tests::process::Ended;
use mainstay_tests::scenario::Scenario;
use mainstay_tests::service::Service;
use mainstay_tests::stage::Stage;
use mainstay_tests::view::View;
use mainstay_tests::wait::{until, until_or};

/// Actions of the minutes: more than there are concurrency tokens; where a kill falls between the
/// writes, enough for three rounds of them.
const ACTIONS: usize = 6;
const MANY: usize = 12;
/// When the process is killed, and when the next one starts, after the first one's start. The class
/// answers within 12 s.
const KILLED_AT: Duration = Duration::from_secs(3);
const STARTED_AT: Duration = Duration::from_secs(20);

/// Reads and writes that are so slow that the kill falls between the first and the last ticket.
fn slow() -> Scenario {
    Scenario::of(|| (), MANY, |_| ())
        .unpaced()
        .specialist(&["delay,delay_ms=1500"])
        .tickets(&["delay,delay_ms=900,method=POST"])
}

/// Exactly one ticket for each action, and the run that was printed last knows them all.
fn must_be_whole(stage: &Stage, service: &Service, view: &View) {
    let tickets = service.tickets_of(&stage.source);
    let positions: BTreeSet<u64> = tickets
        .iter()
        .filter_map(|ticket| ticket["position"].as_u64())
        .collect();
    assert_eq!(tickets.len(), stage.actions, "{}", view.from);
    assert_eq!(positions.len(), stage.actions, "{}", view.from);
    let ids = tickets.iter().filter_map(|ticket| ticket["id"].as_str());
    let ids: BTreeSet<&str> = ids.collect();
    let known: BTreeSet<&str> = view.ticket_ids().into_iter().collect();
    assert_eq!(known, ids, "{}", view.from);
}

/// Starts the command, kills it at 3 s, and lets the time until 20 s pass: nobody is there.
fn killed_and_away(command: &Meeting) {
    let mut running = command.start();
    running.until_age(KILLED_AT);
    assert!(!running.has_ended(), "it was over before it was killed");
    let back = Instant::now() + STARTED_AT - running.age();
    drop(running.kill());
    until_or(back, || None::<()>);
}

#[test]
fn killed_at_3_s_and_started_at_20_s_a_run_whose_times_move_finishes() {
    let stage = Stage::set(&slow());
    killed_and_away(&stage.command);
    let view = stage.command.view();
    let ended = (view.outcome(), view.number("/lap"), view.from.code);
    assert_eq!(ended, ("completed", 1, Some(0)), "{}", view.from);
    must_be_whole(&stage, stage.tickets.as_ref().expect("it is there"), &view);
}

#[test]
fn killed_at_3_s_and_started_at_20_s_a_run_whose_times_stay_hands_off_and_is_gone_on_from() {
    let stage = Stage::set(&slow().flag("--on-downtime", "absolute"));
    killed_and_away(&stage.command);
    let handed = stage.command.view();
    let ended = (handed.outcome(), handed.from.code);
    assert_eq!(ended, ("handed_off", Some(3)), "{}", handed.from);
    let drafted = handed.list("/package/draft/actions").len();
    assert_eq!(drafted, MANY, "the draft is there\n{}", handed.from);
    let unwritten = (0..MANY).filter(|item| {
        let path = format!("ticket_write[{item}]");
        handed.call(&path)["state"] != "settled"
    });
    let unwritten = unwritten.count();
    assert!(0 < unwritten, "everything was written\n{}", handed.from);

    let view = stage.command.clone().and("--continue").view();
    let ended = (view.outcome(), view.number("/lap"), view.from.code);
    assert_eq!(ended, ("completed", 2, Some(0)), "{}", view.from);
    assert_eq!(view.run_id(), handed.run_id(), "{}", view.from);
    must_be_whole(&stage, stage.tickets.as_ref().expect("it is there"), &view);
}

/// The newest alert of the store that a fresh process reads.
fn alert_kinds(stage: &Stage) -> Vec<String> {
    let mut command = Command::new(program("mainstay"));
    command.arg("--store").arg(stage.place.store());
    let listed = Ended::of(command.args(["alerts", "--json"])).with_code(0);
    let listed = View::printed(listed);
    let kinds = listed.list("/alerts").iter();
    kinds
        .filter_map(|alert| alert["kind"].as_str().map(str::to_owned))
        .collect()
}

#[test]
fn a_service_that_was_down_gets_each_ticket_once_in_the_next_lap() {
    let stage = Stage::set(&Scenario::of(|| (), ACTIONS, |_| ()).unpaced().away());
    let handed = stage.command.view();
    let ended = (handed.outcome(), handed.from.code);
    assert_eq!(ended, ("handed_off", Some(3)), "{}", handed.from);
    let took = handed.number("/took_ms");
    assert!(
        took <= 12_000,
        "within answer_by: {took} ms\n{}",
        handed.from
    );
    assert_eq!(handed.list("/package/draft/actions").len(), ACTIONS);
    assert_eq!(alert_kinds(&stage), ["handed_off"]);

    // It is back, at another address.
    let service = Service::tickets(&stage.place.path("tickets.db"), &[]);
    let again = Meeting::new(stage.place.path("minutes.md"), stage.place.store())
        .with("--tickets", service.url());
    let idle = again.view();
    assert_eq!(idle.outcome(), "handed_off", "nobody asked for more");
    let view = again.and("--continue").view();
    // The service is searched for related tickets as well: the draft of the first lap was made
    // without them, and the result says so.
    let ended = (view.outcome(), view.number("/lap"));
    assert_eq!(ended, ("degraded", 2), "{}", view.from);
    assert_eq!(view.texts("/notices"), ["related tickets not searched"]);
    must_be_whole(&stage, &service, &view);
    let made = view.events("CallPrepared").len();
    assert_eq!(made, handed.events("CallPrepared").len(), "{}", view.from);
}

#[test]
fn a_reply_that_was_lost_in_the_first_lap_is_adopted_and_not_sent_again() {
    // Item 1 is written and its reply lost; item 2 is refused for good, so that the lap is lost.
    let scenario = Scenario::of(|| (), ACTIONS, |_| ()).unpaced().tickets(&[
        "commit_then_drop:1@1,method=POST",
        "unavailable@2,method=POST",
    ]);
    let stage = Stage::set(&scenario);
    let service = stage.tickets.as_ref().expect("it is there");
    let handed = stage.command.view();
    assert_eq!(handed.outcome(), "handed_off", "{}", handed.from);
    let lost = handed.call("ticket_write[1]");
    let key = lost["effect"]["key"].as_str().expect("a key").to_owned();
    service.clear();

    let view = stage.command.clone().and("--continue").view();
    assert_eq!(view.outcome(), "completed", "{}", view.from);
    must_be_whole(&stage, service, &view);
    let sends = service.requests();
    let sends = sends.iter().filter(|entry| {
        entry.subject.method == "POST" && entry.subject.key.as_deref() == Some(key.as_str())
    });
    assert_eq!(sends.count(), 1, "it was sent again\n{}", view.from);
}

/// What the caller was told, as it was printed.
fn answer(view: &View) -> String {
    view.at("/answer").to_string()
}

#[test]
fn f34_a_write_in_doubt_at_answer_by_is_later_with_its_key_and_completed_once_it_is_found() {
    // Item 0 is written and its reply lost, and nobody can be asked about it for a while.
    let scenario = Scenario::of(|| (), 2, |_| ()).unpaced().tickets(&[
        "commit_then_drop:1@0,method=POST",
        "unavailable,method=GET,path=/tickets/by-key",
    ]);
    let stage = Stage::set(&scenario);
    let service = stage.tickets.as_ref().expect("it is there");
    let first = stage.command.view();
    assert_eq!(first.text("/answer/kind"), "later", "{}", first.from);
    let key = first.call("ticket_write[0]")["effect"]["key"].clone();
    assert_eq!(first.at("/answer/keys/0"), &key, "{}", first.from);
    assert_eq!(alert_kinds(&stage), ["in_doubt"]);

    // Twice somebody waits for the outcome and is killed.
    for _ in 0..2 {
        let asked = service.requests().len();
        let mut waiting = stage.command.start();
        until("a look-up of the next life", || {
            (asked < service.requests().len() || waiting.has_ended()).then_some(())
        });
        assert!(!waiting.has_ended(), "it waits for the outcome");
        drop(waiting.kill());
    }
    let told = stage.stored().expect("the run is in the store");
    assert_eq!(answer(&told), answer(&first), "{}", told.from);

    service.clear();
    let view = until("the outcome", || {
        let view = stage.command.view();
        (!view.outcome().is_empty()).then_some(view)
    });
    assert_eq!(view.outcome(), "completed", "{}", view.from);
    assert_eq!(answer(&view), answer(&first), "{}", view.from);
    assert_eq!(service.tickets_of(&stage.source).len(), 2, "{}", view.from);
    let again = stage.command.view();
    assert_eq!(answer(&again), answer(&first), "{}", again.from);
    assert_eq!(alert_kinds(&stage), ["in_doubt", "ended_late"]);
}
