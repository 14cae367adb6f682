//! What is wrong with a class is told when it is finished, all at once.

use mainstay_class::*;
use mainstay_types::Code;

use crate::meeting::{Asks, Meeting, NewTicket, Tickets};

fn codes(problems: &Problems) -> Vec<Code> {
    problems
        .all()
        .iter()
        .filter(|problem| problem.is_error())
        .map(|problem| problem.code)
        .collect()
}

#[test]
fn a_ref_of_another_builder_is_named_with_its_user() {
    let mut other = TaskClass::<Meeting>::define("other", 1);
    let foreign = other.local("foreign", (), |_, ()| 1u8).add();
    let predicate = other.when("p", (), |_, ()| true);
    let mut g = TaskClass::<Meeting>::define("own", 1);
    let own = g.local("own", (), |_, ()| 1u8).add();
    let sum = g
        .local("sum", (own, foreign), |_, (a, b)| a + b)
        .when(&predicate)
        .add();
    let problems = g
        .finish((sum, foreign), |_, (s, f)| s.map(|s| s + f))
        .expect_err("foreign");
    assert_eq!(codes(&problems), [Code::ForeignRef; 3]);
    let shown = problems.to_string();
    assert!(
        shown.starts_with("the task class `own` has 3 problems"),
        "{shown}"
    );
    assert!(
        shown.contains("FOREIGN_REF [sum]: ref 2 that it uses is of another builder"),
        "{shown}"
    );
    assert!(
        shown.contains("hint: use refs that `.add()` of this builder returned"),
        "{shown}"
    );
}

#[test]
fn every_invalid_name_is_told_with_the_rule_it_broke() {
    let mut g = TaskClass::<Meeting>::define("my class", 1);
    let a = g.local("näme", (), |_, ()| 1u8).add();
    let asked = Asks("", |text: String| text);
    let b = g.read("b", &asked, (), |m, ()| m.text.clone()).add();
    let ticket = |m: &Meeting, ()| NewTicket {
        title: m.text.clone(),
        note: None,
    };
    let c = g.write("c", &Tickets, (), ticket).effect("an effect").add();
    let problems = g.finish((a, b, c), |_, (a, _, _)| *a).expect_err("names");
    assert_eq!(codes(&problems), [Code::NameInvalid; 4]);
    let shown = problems.to_string();
    for part in [
        "\"my class\" is not a valid class name: only ASCII letters",
        "\"näme\" is not a valid node name",
        "[b]: \"\" is not a valid dependency name: it is empty",
        "[c]: \"an effect\" is not a valid effect name",
    ] {
        assert!(shown.contains(part), "no `{part}` in {shown}");
    }
}

#[test]
fn problems_of_names_knobs_times_and_budget_come_together() {
    let mut g = TaskClass::<Meeting>::define("c", 1);
    g.budget(Budget::new().answer_by(ms(0)).concurrency(0));
    let a = g.local("same", (), |_, ()| 1u8).add();
    let b = g.local("same", (), |_, ()| 1u8).add();
    let asked = Asks("asked", |text: String| text);
    let c = g
        .read("-c", &asked, (), |m, ()| m.text.clone())
        .attempts(0)
        .soft("")
        .add();
    let d = g.each("d", &Tickets, (), 0, |_, ()| Vec::new()).add();
    let problems = g
        .finish((a, b, c, d), |_, (a, _, _, _)| *a)
        .expect_err("problems");
    let codes = codes(&problems);
    for code in [
        Code::NameInvalid,
        Code::NameTaken,
        Code::AttemptsInvalid,
        Code::ContractInvalid,
        Code::ListBoundInvalid,
        Code::BudgetInvalid,
        Code::TimesInvalid,
    ] {
        assert!(codes.contains(&code), "no {code} in {problems}");
    }
    assert!(
        problems
            .all()
            .iter()
            .all(|problem| !problem.hint.is_empty()),
        "{problems}"
    );
}

#[test]
fn a_class_with_far_too_many_nodes_is_a_problem_and_no_panic() {
    let mut g = TaskClass::<Meeting>::define("c", 1);
    for n in 0..70_000 {
        g.local(&format!("n{n}"), (), |_, ()| 1u8).add();
    }
    let problems = g.finish((), |_, ()| 1u8).expect_err("too many");
    assert_eq!(codes(&problems), [Code::TooManyNodes]);
}

#[test]
fn what_a_class_can_live_with_is_a_warning() {
    let mut g = TaskClass::<Meeting>::define("c", 1);
    let ticket = |m: &Meeting, ()| NewTicket {
        title: m.text.clone(),
        note: None,
    };
    let a = g
        .write("a", &Tickets, (), ticket)
        .receiver_bound(hours(1))
        .add();
    let class = g.finish(a, |_, a| *a).expect("usable");
    let codes: Vec<Code> = class
        .warnings()
        .iter()
        .map(|warning| warning.code)
        .collect();
    assert_eq!(codes, [Code::HorizonExceedsReserve]);
}
