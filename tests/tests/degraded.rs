//! What is missing is said: related tickets, the specialist, the policies.
//!
//! Each scenario runs four ways.

use mainstay_tests::scenario::Scenario;
use mainstay_tests::seen::Seen;
use mainstay_tests::stage::Stage;
use mainstay_tests::ways::four_ways;

/// Actions of the minutes.
const ACTIONS: usize = 2;
/// The file in a store that holds what retrieval found last.
const SNAPSHOT: &str = "policy-snapshot.json";

/// How it ended, and with which exit code.
fn must_have_ended(seen: &Seen<'_>, outcome: &str, code: i32) {
    assert_eq!(
        (seen.outcome(), seen.view.from.code),
        (outcome, Some(code)),
        "{}",
        seen.told()
    );
}

fn must_lack_related_tickets(seen: &Seen<'_>) {
    must_have_ended(seen, "degraded", 0);
    let notices = seen.view.texts("/notices");
    assert_eq!(notices, ["related tickets not searched"], "{}", seen.told());
    let state = &seen.view.call("related_tickets")["state"];
    assert_eq!(state, "omitted", "{}", seen.told());
    assert_eq!(seen.view.tickets().len(), ACTIONS, "{}", seen.told());
}

#[test]
fn without_related_tickets_the_run_is_degraded_and_says_so() {
    let test = without_related_tickets_the_run_is_degraded_and_says_so;
    four_ways(
        &Scenario::of(test, ACTIONS, must_lack_related_tickets)
            .flag("--fault", "related_tickets=transient_transport"),
    );
}

#[test]
fn the_ticket_service_failing_only_its_search_degrades_the_run_alike() {
    let test = the_ticket_service_failing_only_its_search_degrades_the_run_alike;
    four_ways(
        &Scenario::of(test, ACTIONS, must_lack_related_tickets)
            .tickets(&["unavailable,method=GET,path=/tickets"]),
    );
}

#[test]
fn without_the_specialist_its_local_stand_in_answers_and_the_run_says_so() {
    let test = without_the_specialist_its_local_stand_in_answers_and_the_run_says_so;
    let expect = |seen: &Seen<'_>| {
        must_have_ended(seen, "degraded", 0);
        let answered_by = &seen.view.call("specialist")["answered_by"];
        assert_eq!(answered_by, "local_summary", "{}", seen.told());
        let notices = seen.view.texts("/notices");
        let mut notices = notices.iter();
        let is_said = notices.any(|notice| notice.starts_with("specialist"));
        assert!(is_said, "{}", seen.told());
    };
    four_ways(&Scenario::of(test, ACTIONS, expect).flag("--fault", "specialist=overloaded"));
}

/// The snapshot that a run over the same minutes leaves; as after a night of failing retrieval it
/// is all that the next store has.
fn snapshot(scenario: &Scenario) -> Vec<u8> {
    let stage = Stage::set(scenario);
    let first = stage.command.view();
    let grade = first.text("/result/policy/0/grade");
    assert_eq!(grade, "live", "{}", first.from);
    std::fs::read(stage.place.store().join(SNAPSHOT)).expect("the run left it")
}

#[test]
fn without_policies_a_young_snapshot_stands_in_and_its_grade_is_in_the_report() {
    let test = without_policies_a_young_snapshot_stands_in_and_its_grade_is_in_the_report;
    let expect = |seen: &Seen<'_>| {
        must_have_ended(seen, "degraded", 0);
        let grade = seen.view.text("/result/policy/0/grade");
        assert_eq!(grade, "approved_snapshot", "{}", seen.told());
        let [notice] = seen.view.texts("/notices")[..] else {
            panic!("one notice\n{}", seen.told());
        };
        let is_said = notice.contains("snapshot") && notice.contains("20 min");
        assert!(is_said, "{}", seen.told());
    };
    let scenario = Scenario::of(test, ACTIONS, expect);
    let snapshot = snapshot(&scenario);
    four_ways(
        &scenario
            .flag("--fault", "policy_rag=permanent_provider")
            .file(SNAPSHOT, snapshot),
    );
}

#[test]
fn without_policies_and_snapshot_a_person_gets_the_draft_and_no_ticket_is_written() {
    let test = without_policies_and_snapshot_a_person_gets_the_draft_and_no_ticket_is_written;
    let expect = |seen: &Seen<'_>| {
        must_have_ended(seen, "handed_off", 3);
        let actions = seen.view.list("/package/draft/actions");
        assert_eq!(actions.len(), ACTIONS, "{}", seen.told());
        let result = seen.view.at("/result");
        assert!(result.is_null(), "{}", seen.told());
        assert!(seen.view.tickets().is_empty(), "{}", seen.told());
        let intended = seen.view.events("EffectIntended");
        assert!(intended.is_empty(), "{}", seen.told());
        assert!(seen.tickets().is_empty(), "{}", seen.told());
    };
    four_ways(
        &Scenario::of(test, ACTIONS, expect).flag("--fault", "policy_rag=permanent_provider"),
    );
}
