//! What a class says of late answers: the defaults are said by nothing, and a write drops none.

use mainstay_class::*;
use mainstay_graph::{Contract, NodeKind};
use mainstay_types::Code;

use crate::meeting::{Asks, Meeting, NewTicket, Tickets};

fn one_read(on_late: Option<OnLate>, ttl: Option<u64>) -> Class<Meeting, String> {
    let mut g = TaskClass::<Meeting>::define("late", 1);
    let asked = Asks("search", |text: String| text);
    let mut read = g.read("facts", &asked, (), |m, ()| m.text.clone());
    if let Some(on_late) = on_late {
        read = read.on_late(on_late);
    }
    if let Some(ttl) = ttl {
        read = read.orphan_ttl(ms(ttl));
    }
    let facts = read.add();
    g.finish(facts, |_, facts| facts.clone())
        .unwrap_or_else(|problems| panic!("{problems}"))
}

fn contract(class: &Class<Meeting, String>) -> &Contract {
    let NodeKind::Read { contract } = &class.data().nodes[0].kind else {
        panic!("a read")
    };
    contract
}

#[test]
fn a_read_drops_late_answers_unless_it_says_otherwise() {
    let plain = one_read(None, None);
    assert_eq!(contract(&plain).late(), OnLate::Drop);
    for on_late in [OnLate::Keep, OnLate::Review] {
        let said = one_read(Some(on_late), None);
        assert_eq!(contract(&said).late(), on_late);
        assert_ne!(said.data().fingerprint(), plain.data().fingerprint());
    }
    let waits = one_read(None, Some(5));
    assert_eq!(contract(&waits).orphan_ttl, Some(ms(5)));
}

#[test]
fn who_says_the_default_says_nothing_and_keeps_the_fingerprint() {
    let (plain, said) = (one_read(None, None), one_read(Some(OnLate::Drop), None));
    assert_eq!(said.data().fingerprint(), plain.data().fingerprint());
}

#[test]
fn a_write_that_drops_what_it_did_is_a_problem_with_a_way_out() {
    let mut g = TaskClass::<Meeting>::define("late", 1);
    let ticket = |m: &Meeting, ()| NewTicket {
        title: m.text.clone(),
        note: None,
    };
    let order = g.write("order", &Tickets, (), ticket);
    let order = order.on_late(OnLate::Drop).orphan_ttl(days(8)).add();
    let problems = g.finish(order, |_, order| *order).expect_err("two");
    let errors = problems.all().iter().filter(|problem| problem.is_error());
    let codes: Vec<Code> = errors.map(|problem| problem.code).collect();
    assert_eq!(codes, [Code::ContractInvalid; 2]);
    let shown = problems.to_string();
    assert!(shown.contains("what a write did stays done"), "{shown}");
    assert!(
        shown.contains("hint: keep them, or let somebody review"),
        "{shown}"
    );
}
