//! Each code of a class's problems is triggered by a class that has it, with exact words.

use mainstay_graph::{FallbackKind, Problem, ScopeKind, TaskClass, validate};
use mainstay_types::{Code, CostUnits, Family, Millis, NodeId, Tokens};

use crate::sample::{
    capped, class, contract_of, each, effect_of, empty, fallback, local, meeting, ms, read, schema,
    soft, when, write,
};

/// The first lines of all problems, warnings included, are exactly these.
pub(crate) fn check(class: &TaskClass, expected: &[&str]) {
    let problems = validate(class);
    let shown: Vec<String> = problems.iter().map(first_line).collect();
    assert_eq!(shown, expected);
    assert!(
        problems.iter().all(|problem| !problem.hint.is_empty()),
        "each has a way out"
    );
}

fn first_line(problem: &Problem) -> String {
    problem
        .to_string()
        .lines()
        .next()
        .expect("a message")
        .to_owned()
}

/// A class with one problem, which the page of its code shows word for word.
pub(crate) fn check_with_page(class: &TaskClass, code: Code) {
    let problems = validate(class);
    assert_eq!(
        problems
            .iter()
            .map(|problem| problem.code)
            .collect::<Vec<_>>(),
        [code]
    );
    let shown = problems[0].to_string();
    assert!(
        code.page().contains(&shown),
        "the page of {code} should show:\n{shown}"
    );
}

fn changed(class: TaskClass, change: impl FnOnce(&mut TaskClass)) -> TaskClass {
    let mut class = class;
    change(&mut class);
    class
}

#[test]
fn a_sound_class_has_no_problems() {
    check(&class(vec![read("facts", &[]), write("ticket", &[0])]), &[]);
    check(&meeting(), &[]);
}

#[test]
fn a_class_needs_between_one_and_256_nodes() {
    let none = changed(empty(), |class| class.name = meeting().name);
    check_with_page(&none, Code::NoNodes);
    let many = class((0..300).map(|i| local(&format!("n{i}"), &[])).collect());
    check_with_page(&many, Code::TooManyNodes);
    check(
        &class((0..256).map(|i| local(&format!("n{i}"), &[])).collect()),
        &[],
    );
}

#[test]
fn a_class_far_beyond_every_id_is_refused_without_a_panic() {
    let mut huge = class(vec![read("same", &[])]);
    huge.nodes = vec![huge.nodes[0].clone(); 70_000];
    let problems = validate(&huge);
    assert_eq!(problems[0].code, Code::TooManyNodes);
    assert_eq!(
        problems.len(),
        70_000,
        "one for the size, one for each name but the first"
    );
}

#[test]
fn names_are_unique() {
    let nodes = [read("a", &[]), read("b", &[]), read("draft", &[])];
    let more = [read("c", &[]), read("d", &[]), read("draft", &[])];
    check_with_page(
        &class(nodes.into_iter().chain(more).collect()),
        Code::NameTaken,
    );
}

#[test]
fn refs_point_at_earlier_nodes_only() {
    let nodes = vec![
        read("a", &[]),
        read("b", &[]),
        read("draft", &[0, 4]),
        read("c", &[]),
    ];
    check_with_page(&class(nodes), Code::RefUnknown);
    check(
        &class(vec![read("a", &[0]), read("b", &[2])]),
        &[
            "error REF_UNKNOWN [a]: input 0 is node 0, but it is the first and may use none",
            "error REF_UNKNOWN [b]: input 0 is node 2, but b is node 1 and may only use node 0",
        ],
    );
    let result = changed(class(vec![read("a", &[])]), |class| {
        class.result = vec![NodeId(7)]
    });
    check(
        &result,
        &["error REF_UNKNOWN: part 0 of the result is node 7, but the class has 1 node"],
    );
}

#[test]
fn predicates_decide_and_have_no_value() {
    let mut class = class(vec![
        when("asked", &[]),
        read("facts", &[0]),
        write("ticket", &[1]),
    ]);
    class.nodes[2].when = Some(NodeId(1));
    class.result = vec![NodeId(0)];
    check(
        &class,
        &[
            "error REF_UNKNOWN: part 0 of the result is node 0, but asked is a predicate",
            "error REF_UNKNOWN [facts]: input 0 is asked, a predicate, which has no value",
            "error REF_UNKNOWN [ticket]: its predicate is facts, whose kind is read",
        ],
    );
    class.nodes[2].when = Some(NodeId(2));
    let problem = validate(&class).pop().expect("a problem");
    assert_eq!(
        first_line(&problem),
        "error REF_UNKNOWN [ticket]: its predicate is node 2, but ticket is node 2 and may only \
         use nodes 0 to 1"
    );
}

#[test]
fn a_call_has_at_most_eight_fallbacks() {
    let mut class = class(vec![read("policy_rag", &[])]);
    contract_of(&mut class.nodes[0]).fallbacks = vec![fallback(FallbackKind::Provider); 9];
    check_with_page(&class, Code::TooManyFallbacks);
}

#[test]
fn attempts_are_counted_per_rung_and_together() {
    let mut draft = class(vec![read("draft", &[])]);
    contract_of(&mut draft.nodes[0]).max_attempts = 0;
    check_with_page(&draft, Code::AttemptsInvalid);
    let contract = contract_of(&mut draft.nodes[0]);
    contract.max_attempts = 65;
    contract.fallbacks = vec![fallback(FallbackKind::Cache), fallback(FallbackKind::Human)];
    contract.fallbacks[0].max_attempts = 0;
    contract.fallbacks[1].max_attempts = 0;
    check(
        &draft,
        &[
            "error ATTEMPTS_INVALID [draft]: max attempts is 65, at most 64 are allowed",
            "error ATTEMPTS_INVALID [draft]: max attempts of fallback 1 (cache) is 0, at least 1 \
             is needed",
        ],
    );
    let contract = contract_of(&mut draft.nodes[0]);
    (contract.max_attempts, contract.fallbacks[0].max_attempts) = (60, 5);
    check(
        &draft,
        &[
            "error ATTEMPTS_INVALID [draft]: 2 rungs have 65 attempts together, at most 64 are \
           allowed",
        ],
    );
}

#[test]
fn the_budget_is_neither_zero_nor_unbounded() {
    let sound = class(vec![read("a", &[])]);
    let change = |class: &mut TaskClass| class.budget.concurrency_tokens = Tokens::ZERO;
    check_with_page(&changed(sound.clone(), change), Code::BudgetInvalid);
    let beyond = changed(sound.clone(), |class| {
        class.budget.concurrency_tokens = Tokens::new(257);
        class.budget.retry_tokens = Tokens::new(1_001);
        class.budget.cost_units = CostUnits::ZERO;
    });
    check(
        &beyond,
        &[
            "error BUDGET_INVALID: concurrency is 257 tokens, at most 256 are allowed",
            "error BUDGET_INVALID: retries are 1001 tokens, at most 1000 are allowed",
            "error BUDGET_INVALID: cost is 0 units, but 1 node may cost something, a up to 1",
        ],
    );
    let free = changed(sound, |class| {
        class.budget.cost_units = CostUnits::ZERO;
        class.budget.retry_tokens = Tokens::ZERO;
        contract_of(&mut class.nodes[0]).cost = CostUnits::ZERO;
    });
    check(&free, &[]);
}

#[test]
fn the_budget_pays_for_the_hard_path_once() {
    let mut class = class(vec![
        read("policy_rag", &[]),
        soft("related_tickets", &[]),
        read("draft", &[0, 1]),
        each("ticket_write", &[2], 50),
    ]);
    let costs = [2_000, 50_000, 7_000, 100].map(CostUnits::milli);
    for (node, cost) in class.nodes.iter_mut().zip(costs) {
        contract_of(node).cost = cost;
    }
    class.budget.cost_units = CostUnits::units(8);
    check_with_page(&class, Code::BudgetTooSmall);
    class.budget.cost_units = CostUnits::milli(9_100);
    check(&class, &[]);
}

#[test]
fn caps_let_the_hard_path_through_and_name_what_there_is() {
    check(&capped(), &[]);
    let class = changed(capped(), |class| {
        (class.caps.attempts, class.caps.branches, class.caps.depth) = (Some(2), Some(3), Some(2));
        let dependencies = &mut class.caps.dependencies;
        dependencies.push(dependencies[0].clone());
        dependencies[1].concurrency_tokens = Some(Tokens::ZERO);
        dependencies[0].dependency = mainstay_types::DependencyName::new("nobody").unwrap();
    });
    check(
        &class,
        &[
            "error BUDGET_INVALID [ticket_write]: ticket_write is call 4 in a row, and the cap of \
             depth is 2",
            "error BUDGET_INVALID: the cap of 2 attempts is below the 4 hard calls",
            "error BUDGET_INVALID: the cap of 3 branches is below the 4 hard calls",
            "error BUDGET_INVALID: dependency nobody has a cap, and no call asks it",
            "error BUDGET_INVALID: dependency policy_rag may have 0 attempts at once, so it is \
             never asked",
        ],
    );
    let twice = changed(capped(), |class| {
        let dependencies = &mut class.caps.dependencies;
        dependencies.push(dependencies[0].clone());
    });
    check(
        &twice,
        &["error BUDGET_INVALID: dependency draft has two caps"],
    );
    let many = changed(capped(), |class| {
        class.caps.dependencies = vec![class.caps.dependencies[0].clone(); 65];
    });
    let problems = validate(&many);
    assert!(
        problems[0]
            .to_string()
            .contains("65 dependencies have caps, at most 64 may")
    );
}

#[test]
fn branches_that_may_exclude_each_other_are_paid_for_one_at_a_time() {
    let mut class = class(vec![
        when("big", &[]),
        when("small", &[]),
        write("a", &[]),
        write("b", &[]),
    ]);
    (class.nodes[2].when, class.nodes[3].when) = (Some(NodeId(0)), Some(NodeId(1)));
    for (node, cost) in class.nodes[2..].iter_mut().zip([6, 10]) {
        contract_of(node).cost = CostUnits::units(cost);
    }
    class.budget.cost_units = CostUnits::units(10);
    check(&class, &[]);
    class.budget.cost_units = CostUnits::units(9);
    check(
        &class,
        &[
            "error BUDGET_TOO_SMALL: when b happens, the hard path costs 10 units (b 10), the \
           limit is 9",
        ],
    );
}

#[test]
fn the_times_are_in_order() {
    let sound = class(vec![read("a", &[])]);
    let change = |class: &mut TaskClass| class.times.expires_at = Some(Millis::from_secs(10));
    check_with_page(&changed(sound.clone(), change), Code::TimesInvalid);
    let change = |class: &mut TaskClass| class.times.answer_by = Millis::ZERO;
    check(
        &changed(sound.clone(), change),
        &["error TIMES_INVALID: answer_by is 0 ms, so every run would be late when it starts"],
    );
    let beyond = changed(sound.clone(), |class| {
        class.times.answer_by = Millis::from_days(367);
        class.times.work_by = Some(Millis::from_days(368));
    });
    check(
        &beyond,
        &[
            "error TIMES_INVALID: answer_by is 367 d, at most 366 d are allowed",
            "error TIMES_INVALID: work_by is 368 d, at most 366 d are allowed",
        ],
    );
    let never = changed(sound, |class| class.times.work_by = Some(Millis::ZERO));
    assert_eq!(
        first_line(&validate(&never)[0]),
        "error TIMES_INVALID: work_by is 0 ms, so no attempt could ever start"
    );
}

#[test]
fn work_may_end_before_the_delivery_reserve_or_go_on_behind_the_answer() {
    let with = |work_by| {
        changed(class(vec![read("a", &[])]), |class| {
            class.times.work_by = Some(ms(work_by))
        })
    };
    check(&with(11_600), &[]);
    check(&with(60_000), &[]);
    check(
        &with(11_800),
        &[
            "warning TIMES_INVALID: work_by is 11.8 s, which leaves 200 ms of the delivery \
           reserve of 400 ms before answer_by at 12 s",
        ],
    );
    let expired = changed(with(60_000), |class| {
        class.times.expires_at = Some(ms(30_000))
    });
    check(
        &expired,
        &["error TIMES_INVALID: expires_at is 30 s, before work_by at 1 min"],
    );
}

#[test]
fn a_chosen_doubt_wait_that_expiry_cuts_is_said() {
    let mut class = class(vec![write("ticket", &[])]);
    class.times.expires_at = Some(Millis::from_mins(10));
    check(&class, &[]);
    class.times.doubt_wait = Millis::from_mins(30);
    check(
        &class,
        &[
            "warning TIMES_INVALID: doubt_wait would end at 1812 s (answer_by 12 s and 30 min), it \
           is cut at expires_at, 10 min",
        ],
    );
}

#[test]
fn the_reserves_leave_time_to_work() {
    let mut writes = class(vec![local("a", &[]), local("b", &[])]);
    writes.reserve.synthesis = ms(11_600);
    check(
        &writes,
        &["error RESERVES_EXCEED_TIME: synthesis 11.6 s are kept back, work_by is 11.6 s"],
    );
    let change = |class: &mut TaskClass| class.reserve.deliver = ms(12_000);
    let problems = validate(&changed(class(vec![local("a", &[])]), change));
    assert_eq!(
        first_line(&problems[0]),
        "error RESERVES_EXCEED_TIME: delivery keeps back 12 s, answer_by is 12 s"
    );
    let mut class = class(vec![write("ticket", &[])]);
    class.reserve.synthesis = Millis::from_secs(1_800);
    let problem = &validate(&class)[0];
    assert!(
        Code::ReservesExceedTime
            .page()
            .contains(&problem.to_string()),
        "{problem}"
    );
}

#[test]
fn the_hard_path_fits_before_work_by() {
    let nodes = [
        read("policy_rag", &[]),
        soft("slow", &[]),
        read("draft", &[0, 1]),
    ];
    let mut class = class(
        nodes
            .into_iter()
            .chain([write("ticket_write", &[2])])
            .collect(),
    );
    for (node, estimate) in class.nodes.iter_mut().zip([4_000, 60_000, 4_600, 1_000]) {
        let contract = contract_of(node);
        (contract.estimate, contract.timeout) = (ms(estimate), ms(estimate));
    }
    check_with_page(&class, Code::CriticalPathTooLong);
    class.times.work_by = Some(ms(12_600));
    class.times.answer_by = ms(13_000);
    check(&class, &[]);
}

#[test]
fn a_deadline_reserve_counts_against_the_time() {
    let mut class = class(vec![read("a", &[]), read("b", &[0])]);
    contract_of(&mut class.nodes[0]).deadline_reserve = ms(9_000);
    check(
        &class,
        &[
            "error CRITICAL_PATH_TOO_LONG: a needs 11.8 s (estimates 1 s, kept back 10.8 s), \
           work_by is 11.6 s",
        ],
    );
}

#[test]
fn schemas_are_canonical_json() {
    let mut draft = class(vec![read("draft", &[])]);
    contract_of(&mut draft.nodes[0]).reply = schema(r#"{"type": "object"}"#);
    check_with_page(&draft, Code::SchemaInvalid);
    draft.input = schema("{");
    draft.output = schema("7");
    draft.nodes[0].output = schema(r#"{"b":1,"a":2}"#);
    contract_of(&mut draft.nodes[0]).request = schema("");
    let problems = validate(&draft);
    let codes: Vec<Code> = problems.iter().map(|problem| problem.code).collect();
    assert_eq!(codes, [Code::SchemaInvalid; 5]);
    let output = problems.last().expect("five problems");
    assert_eq!(
        first_line(output),
        "error SCHEMA_INVALID: the output schema is 7, which is no schema"
    );
}

/// One class with everything wrong at once.
fn wreck() -> TaskClass {
    let mut class = class(vec![
        read("twice", &[5]),
        read("twice", &[]),
        write("order", &[]),
        write("order2", &[]),
        each("items", &[], 0),
        when("asked", &[]),
    ]);
    class.input = schema("{ }");
    class.result = vec![NodeId(5)];
    class.budget.concurrency_tokens = Tokens::ZERO;
    class.times.expires_at = Some(ms(1));
    class.reserve.synthesis = Millis::from_secs(60);
    let contract = contract_of(&mut class.nodes[1]);
    contract.max_attempts = 0;
    contract.estimate = ms(9_999);
    contract.fallbacks = vec![fallback(FallbackKind::OmitWithNotice); 9];
    for node in &mut class.nodes[2..4] {
        let effect = effect_of(node);
        effect.scope = ScopeKind::Business;
        effect.name = mainstay_types::EffectName::new("order").expect("a valid name");
        effect.receiver_bound = ms(5_000);
    }
    class
}

#[test]
fn all_problems_are_reported_at_once() {
    let problems = validate(&wreck());
    let has = |code| problems.iter().any(|problem| problem.code == code);
    for code in [
        Code::RefUnknown,
        Code::NameTaken,
        Code::AttemptsInvalid,
        Code::ContractInvalid,
        Code::TooManyFallbacks,
        Code::FallbackNotAllowed,
        Code::ListBoundInvalid,
        Code::EffectNameTaken,
        Code::HorizonExceedsReserve,
        Code::SchemaInvalid,
        Code::BudgetInvalid,
        Code::TimesInvalid,
        Code::ReservesExceedTime,
    ] {
        assert!(has(code), "{code} is missing");
    }
    assert_eq!(problems.len(), 23, "{problems:#?}");
}

#[test]
fn every_code_used_is_of_the_family_of_problems_and_prints_its_hint() {
    for problem in validate(&wreck()) {
        assert_eq!(problem.code.family(), Family::Problem);
        assert!(problem.to_string().contains("\n\nhint: "), "{problem}");
    }
}

#[test]
fn a_node_of_each_kind_with_a_value_can_stand_alone() {
    for node in [
        read("a", &[]),
        write("a", &[]),
        each("a", &[], 1),
        local("a", &[]),
    ] {
        check(&class(vec![node]), &[]);
    }
}

#[test]
fn a_cap_that_keeps_a_hard_call_from_ever_starting_is_named() {
    let told = |class: &TaskClass| -> Vec<String> {
        let problems = validate(class).into_iter();
        let of_caps = problems.filter(|problem| problem.code == Code::BudgetInvalid);
        of_caps.map(|problem| problem.message).collect()
    };
    let costs = |n: usize| meeting().nodes[n].contract().unwrap().cost;
    let dearest = (0..meeting().nodes.len()).filter(|&n| meeting().nodes[n].contract().is_some());
    let dearest = dearest.max_by_key(|&n| costs(n)).unwrap();
    let (name, cost) = (meeting().nodes[dearest].name.clone(), costs(dearest));
    let least = cost.less(CostUnits::micros(1));
    let at_once = |cap| {
        let mut class = meeting();
        class.caps.parallel_cost = Some(cap);
        told(&class)
    };
    assert_eq!(at_once(cost), [""; 0]);
    let all = at_once(least);
    let expected = format!("{name} costs {cost}, and the cap on cost at once is {least}");
    assert!(all.contains(&expected), "{all:?}");
    let of_dependency = |cap| {
        let mut class = meeting();
        let dependency = class.nodes[dearest].contract().unwrap().dependency.clone();
        class.caps.dependencies = vec![mainstay_graph::DependencyCap {
            dependency,
            retry_tokens: None,
            concurrency_tokens: None,
            cost_units: Some(cap),
        }];
        told(&class)
    };
    assert_eq!(of_dependency(cost), [""; 0]);
    let expected = format!("{name} costs {cost}, and the cap on its dependency is {least}");
    assert_eq!(of_dependency(least), [expected]);
}
