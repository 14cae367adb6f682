//! Limits in an explanation: the least number that lets a call start is named, with the command
//! that raises it, and none that would be refused.

use mainstay_graph::{Criticality, DependencyCap, TaskClass};
use mainstay_machine::command::AskRaise;
use mainstay_machine::{Command, may_start};
use mainstay_types::{
    CallId, CostUnits, DependencyName, Failure, FailureKind, LapNo, NodeId, Sent, Tokens, limits,
};
use serde_json::{Value, json};

use super::story::{POLICY, RELATED, Story, class};
use super::why::{change, contract, overloaded, pausing, row, seen, without_related};

/// What the command of a row raises.
fn raised(command: &str) -> mainstay_graph::Budget {
    let words: Vec<&str> = command.split(' ').collect();
    let value = |flag: &str| {
        let at = words.iter().position(|word| *word == flag);
        at.map(|at| words[at + 1])
    };
    let tokens = |flag| value(flag).map_or(Tokens::ZERO, |n| Tokens::new(n.parse().unwrap()));
    mainstay_graph::Budget {
        retry_tokens: tokens("--retries"),
        concurrency_tokens: tokens("--concurrency"),
        cost_units: value("--cost").map_or(CostUnits::ZERO, |units| units.parse().unwrap()),
    }
}

/// Does what a row says and asks whether the call may start then.
fn raise_by(story: &mut Story, ms: u64, (number, call): (&str, CallId)) {
    assert!(may_start(&story.run, call, story.at).is_err());
    let named = seen(story);
    let row = change(&named, number);
    let command = row["command"].as_str().unwrap_or_else(|| panic!("{row:#}"));
    assert!(command.starts_with("mainstay run raise "), "{command}");
    let after = story.run.head().unwrap().lap.raises.len();
    story.tell(
        ms,
        Command::Raise(AskRaise {
            lap: LapNo(1),
            after: u32::try_from(after).unwrap(),
            more: raised(command),
            by: "anna".to_owned(),
            why: "the customer waits".to_owned(),
        }),
    );
}

#[test]
fn a_limit_is_named_with_the_least_that_lets_the_call_start() {
    type Limit = fn(&mut TaskClass);
    let limits: [(&str, &str, Limit); 2] = [
        ("retry_tokens", "RETRY_TOKENS_EXHAUSTED", |class| {
            class.budget.retry_tokens = Tokens::ZERO;
        }),
        ("cost_units", "COST_EXHAUSTED", |class| {
            class.budget.cost_units = CostUnits::milli(2_250);
        }),
    ];
    for (number, code, limit) in limits {
        let mut story = Story::begin_of(1, pausing(limit));
        without_related(&mut story);
        story.ask(20, POLICY);
        story.fail(
            30,
            (POLICY, 1),
            Failure::new(FailureKind::Overloaded, Sent::Answered),
        );
        story.tell(2_500, Command::Advance);
        let told = seen(&story);
        assert_eq!(
            (&told["state"], &told["state_reason"]),
            (&json!("paused"), &json!(code)),
            "{told:#}"
        );
        let policy = row(&told, "blocked", "policy_rag");
        assert_eq!(
            (&policy["code"], &policy["page"]),
            (&json!(code), &json!(format!("mainstay error {code}")))
        );
        assert!(
            !policy["numbers"].as_object().unwrap().is_empty(),
            "{policy}"
        );
        raise_by(&mut story, 2_600, (number, POLICY));
        assert_eq!(may_start(&story.run, POLICY, story.at), Ok(()), "{number}");
    }
}

#[test]
fn a_soft_call_that_yields_is_told_by_how_much_there_is_too_little_for_both() {
    let mut story = Story::begin_of(
        1,
        pausing(|class| {
            class.budget.concurrency_tokens = Tokens::new(1);
        }),
    );
    story.prepare(10, POLICY);
    story.prepare(10, RELATED);
    let told = seen(&story);
    let related = row(&told, "blocked", "related_tickets");
    assert_eq!(
        (&related["code"], &related["on_hard_path"]),
        (&json!("SOFT_YIELDS"), &json!(false))
    );
    raise_by(&mut story, 20, ("concurrency_tokens", RELATED));
    assert_eq!(may_start(&story.run, RELATED, story.at), Ok(()));
}

#[test]
fn a_cap_is_named_as_what_only_another_version_of_the_class_changes() {
    let mut story = Story::begin_of(
        1,
        pausing(|class| {
            class.caps.dependencies = vec![DependencyCap {
                dependency: DependencyName::new("policy").unwrap(),
                retry_tokens: None,
                concurrency_tokens: None,
                cost_units: Some(CostUnits::milli(1_500)),
            }];
            contract(class, 0).fallbacks.clear();
        }),
    );
    without_related(&mut story);
    story.ask(20, POLICY);
    story.fail(30, (POLICY, 1), overloaded());
    story.tell(2_500, Command::Advance);
    let told = seen(&story);
    // Nobody can raise it, so that nobody is waited for.
    assert_eq!(told["outcome"], "handed_off");
    assert_eq!(row(&told, "blocked", "policy_rag")["code"], "CAP_REACHED");
    let cap = change(&told, "the cap that policy_rag met");
    assert_eq!((&cap["is"], &cap["needs"]), (&json!(1.5), &json!(2)));
    assert_eq!(cap["command"], Value::Null);
    assert_eq!(
        told["spent"]["caps"],
        json!([{"what": "cost_units", "dependency": "policy", "limit": 1.5, "used": 1}])
    );
}

#[test]
fn what_the_budget_lacks_is_added_up_from_what_was_really_used() {
    // Its client library took more than there was.
    let mut story = Story::begin_of(
        1,
        pausing(|class| class.budget.retry_tokens = Tokens::new(2)),
    );
    without_related(&mut story);
    story.ask(20, POLICY);
    story.fail(30, (POLICY, 1), overloaded().client_retries(5));
    story.tell(2_500, Command::Advance);
    let told = seen(&story);
    let tokens = change(&told, "retry_tokens");
    assert_eq!((&tokens["is"], &tokens["needs"]), (&json!(2), &json!(6)));
    raise_by(&mut story, 2_600, ("retry_tokens", POLICY));
    assert_eq!(may_start(&story.run, POLICY, story.at), Ok(()));
}

#[test]
fn two_calls_that_lack_the_same_are_one_row_with_enough_for_both() {
    let mut story = Story::begin_of(
        1,
        pausing(|class| {
            class.budget.retry_tokens = Tokens::ZERO;
            class.nodes[1].criticality = Criticality::Hard;
            class.result.insert(0, NodeId(1));
        }),
    );
    for call in [POLICY, RELATED] {
        story.ask(10, call);
        story.fail(20, (call, 1), overloaded());
    }
    story.tell(2_500, Command::Advance);
    let told = seen(&story);
    let tokens = change(&told, "retry_tokens");
    assert_eq!((&tokens["is"], &tokens["needs"]), (&json!(0), &json!(2)));
    assert_eq!(tokens["calls"], json!(["policy_rag", "related_tickets"]));
    raise_by(&mut story, 2_600, ("retry_tokens", RELATED));
    assert_eq!(may_start(&story.run, POLICY, story.at), Ok(()));
    story.leave(2_600, POLICY);
    assert_eq!(may_start(&story.run, RELATED, story.at), Ok(()));
}

#[test]
fn no_command_is_named_that_would_be_refused() {
    let most = Tokens::new(limits::RUN_RETRIES_MAX);
    let mut story = Story::begin_of(1, pausing(|class| class.budget.retry_tokens = most));
    without_related(&mut story);
    story.ask(20, POLICY);
    story.fail(
        30,
        (POLICY, 1),
        overloaded().client_retries(limits::RUN_RETRIES_MAX),
    );
    story.tell(2_500, Command::Advance);
    let told = seen(&story);
    let tokens = change(&told, "retry_tokens");
    assert_eq!(tokens["command"], Value::Null);
    assert!(
        tokens["how"]
            .as_str()
            .unwrap()
            .contains("not raised any more")
    );
}

#[test]
fn a_soft_call_that_leaves_a_cap_to_hard_ones_names_the_cap() {
    let mut story = Story::begin_of(1, {
        let mut class = class();
        class.caps.parallel_cost = Some(CostUnits::milli(1_500));
        class
    });
    story.prepare(10, POLICY);
    story.prepare(10, RELATED);
    let told = seen(&story);
    let related = row(&told, "blocked", "related_tickets");
    assert_eq!(related["code"], "SOFT_YIELDS", "{told:#}");
    let cap = change(&told, "cap on cost at once");
    assert_eq!((&cap["is"], &cap["needs"]), (&json!(1.5), &json!(2)));
    assert_eq!(cap["calls"], json!(["related_tickets"]));
}
