//! The stored form: read back equal, frozen by a golden file, sensitive to every field.

use std::collections::BTreeMap;

use mainstay_graph::{OnLate, TaskClass};
use mainstay_types::NodeId;
use mainstay_types::json::{self, Value};
use proptest::prelude::*;

use crate::sample::{
    capped, contract_of, effect_of, graphs, late, meeting, ms, patient, returns, shop,
};

const GOLDEN: &str = include_str!("../../golden/class-form-1.json");
const GOLDEN_2: &str = include_str!("../../golden/class-form-2.json");
const GOLDEN_3: &str = include_str!("../../golden/class-form-3.json");
const GOLDEN_4: &str = include_str!("../../golden/class-form-4.json");
const GOLDEN_5: &str = include_str!("../../golden/class-form-5.json");
const GOLDEN_5_LATE: &str = include_str!("../../golden/class-form-5-late.json");

type Change = fn(&mut TaskClass);

fn stored(class: &TaskClass) -> String {
    class.to_json().to_canonical()
}

fn read_back(text: &str) -> TaskClass {
    TaskClass::from_json(&json::parse(text).expect("JSON")).expect("form 1")
}

#[test]
fn the_form_is_frozen_byte_for_byte() {
    assert_eq!(
        stored(&meeting()),
        GOLDEN.trim_end(),
        "a changed form needs a new number"
    );
    assert_eq!(read_back(GOLDEN), meeting());
    assert_eq!(stored(&capped()), GOLDEN_2.trim_end());
    assert_eq!(read_back(GOLDEN_2), capped());
    assert_eq!(stored(&patient()), GOLDEN_3.trim_end());
    assert_eq!(read_back(GOLDEN_3), patient());
    assert_eq!(stored(&shop()), GOLDEN_4.trim_end());
    assert_eq!(read_back(GOLDEN_4), shop());
    assert_eq!(stored(&returns()), GOLDEN_5.trim_end());
    assert_eq!(read_back(GOLDEN_5), returns());
    assert_eq!(stored(&late()), GOLDEN_5_LATE.trim_end());
    assert_eq!(read_back(GOLDEN_5_LATE), late());
}

#[test]
fn a_class_is_written_in_the_lowest_form_that_can_say_all_of_it() {
    let form = |class: &TaskClass| class.to_json().as_object().expect("an object")["form"].clone();
    assert_eq!(form(&meeting()), Value::from(1));
    assert_eq!(form(&shop()), Value::from(4));
    assert_eq!(form(&returns()), Value::from(5));
    let changes: [(u32, Change); 8] = [
        (2, |class| class.on_limit = mainstay_graph::OnLimit::Fail),
        (2, |class| class.caps.depth = Some(6)),
        (2, |class| class.caps.attempts = Some(40)),
        (2, |class| {
            class.caps.dependencies = capped().caps.dependencies
        }),
        (3, |class| class.later = patient().later),
        (3, |class| contract_of(&mut class.nodes[0]).repair = true),
        (5, |class| {
            contract_of(&mut class.nodes[0]).on_late = Some(OnLate::Keep)
        }),
        (5, |class| {
            contract_of(&mut class.nodes[0]).orphan_ttl = Some(ms(1))
        }),
    ];
    for (number, change) in changes {
        let mut class = meeting();
        change(&mut class);
        assert_eq!(form(&class), Value::from(number));
        assert_eq!(read_back(&stored(&class)), class);
    }
}

#[test]
fn a_fingerprint_is_the_digest_of_the_stored_form() {
    assert_eq!(
        meeting().fingerprint().to_string(),
        "75012ad086a4eec41fe3b480028733f5a806c4e11ebea3fc8238543f92bb0a15",
        "stored classes are found by it"
    );
}

proptest! {
    #[test]
    fn a_class_read_back_is_equal(class in graphs()) {
        let again = read_back(&stored(&class));
        prop_assert_eq!(again.fingerprint(), class.fingerprint());
        prop_assert_eq!(again, class);
    }
}

#[test]
fn the_largest_numbers_survive() {
    let mut class = meeting();
    class.times.answer_by = ms(u64::MAX);
    contract_of(&mut class.nodes[0]).max_attempts = u32::MAX;
    class.result.push(NodeId(u16::MAX));
    assert_eq!(read_back(&stored(&class)), class);
}

/// Each scalar of the form with its pointer.
fn leaves(value: &Value, at: String, out: &mut BTreeMap<String, Value>) {
    match value {
        Value::Object(fields) => {
            for (key, field) in fields {
                leaves(field, format!("{at}/{key}"), out);
            }
        }
        Value::List(items) => {
            for (i, item) in items.iter().enumerate() {
                leaves(item, format!("{at}/{i}"), out);
            }
        }
        Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Big(_)
        | Value::Float(_)
        | Value::Text(_) => {
            out.insert(at, value.clone());
        }
    }
}

fn set(value: &mut Value, pointer: &str, new: Value) {
    let Some(path) = pointer.strip_prefix('/') else {
        *value = new;
        return;
    };
    let (key, rest) = path
        .split_once('/')
        .map_or((path, ""), |(key, rest)| (key, rest));
    let rest = if rest.is_empty() {
        String::new()
    } else {
        format!("/{rest}")
    };
    let child = match value {
        Value::Object(fields) => fields.get_mut(key).expect("a key of the form"),
        Value::List(items) => &mut items[key.parse::<usize>().expect("an index")],
        Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Big(_)
        | Value::Float(_)
        | Value::Text(_) => panic!("nothing below {pointer}"),
    };
    set(child, &rest, new);
}

/// Another value of the same kind, valid where the old one was.
fn other(pointer: &str, old: &Value) -> Option<Value> {
    let field = pointer.rsplit('/').next().expect("a field");
    let word = |words: &[&str]| {
        let next = words
            .iter()
            .find(|word| Some(**word) != old.as_str())
            .expect("two words");
        Some(Value::from(*next))
    };
    match (field, old) {
        ("form", _) => None,
        // Another kind has other fields: see `a_changed_kind_changes_the_fingerprint`.
        ("kind", _) => None,
        ("age_ms_max", Value::Null) => None,
        ("on_failure", _) => word(&["hand_off", "fail"]),
        ("on_limit", _) => word(&["pause", "fail"]),
        ("scope", _) => word(&["business", "run"]),
        ("rule", _) => word(&["per_run", "per_slot"]),
        ("resolution", _) => word(&["by_key", "by_status"]),
        ("cancel", _) => word(&["none", "confirmed"]),
        ("effect", Value::Text(_)) => word(&["read_only", "write_without_key"]),
        ("dependency", Value::Null) => Some(Value::from("somebody")),
        (_, Value::Null) => Some(Value::from(1)),
        (_, Value::Int(number)) => Some(Value::from(number + 1)),
        (_, Value::Text(text)) => Some(Value::from(format!("{text}x"))),
        (_, Value::Bool(_) | Value::Big(_) | Value::Float(_) | Value::List(_)) => None,
        (_, Value::Object(_)) => None,
    }
}

#[test]
fn any_changed_field_is_read_and_changes_the_fingerprint() {
    let (class, form) = (capped(), capped().to_json());
    let mut all = BTreeMap::new();
    leaves(&form, String::new(), &mut all);
    let mut fingerprints = std::collections::BTreeSet::from([class.fingerprint()]);
    let mut changed = 0;
    for (pointer, old) in &all {
        let Some(new) = other(pointer, old) else {
            continue;
        };
        let mut form = form.clone();
        set(&mut form, pointer, new);
        let mutant = TaskClass::from_json(&form).unwrap_or_else(|e| panic!("{pointer}: {e}"));
        assert_ne!(mutant, class, "{pointer} is not read");
        assert!(
            fingerprints.insert(mutant.fingerprint()),
            "{pointer} is not in the fingerprint"
        );
        changed += 1;
    }
    assert!(
        200 < changed,
        "only {changed} of {} fields were tried",
        all.len()
    );
}

#[test]
fn a_changed_kind_or_length_changes_the_fingerprint() {
    let changes: [fn(&mut TaskClass); 8] = [
        |class| class.caps.dependencies = capped().caps.dependencies,
        |class| class.on_downtime = mainstay_graph::OnDowntime::Absolute,
        |class| class.nodes[6].kind = mainstay_graph::NodeKind::When,
        |class| class.nodes[1].criticality = mainstay_graph::Criticality::Hard,
        |class| contract_of(&mut class.nodes[0]).fallbacks.truncate(1),
        |class| contract_of(&mut class.nodes[0]).fallbacks.swap(0, 1),
        |class| effect_of(&mut class.nodes[5]).significant.clear(),
        |class| class.nodes[3].inputs.swap(0, 1),
    ];
    let mut fingerprints = std::collections::BTreeSet::from([meeting().fingerprint()]);
    for (i, change) in changes.into_iter().enumerate() {
        let mut class = meeting();
        change(&mut class);
        assert!(fingerprints.insert(class.fingerprint()), "change {i}");
        assert_eq!(read_back(&stored(&class)), class);
    }
}

/// The meeting's form with one value replaced is refused there.
fn refused(pointer: &str, new: impl Into<Value>, expected: &str) {
    let mut form = meeting().to_json();
    set(&mut form, pointer, new.into());
    let error = TaskClass::from_json(&form).expect_err(pointer);
    let shown = format!("{}: {}", error.at, error.expected);
    assert_eq!(shown, expected);
    assert_eq!(error.code(), mainstay_types::Code::CorruptRecord);
}

#[test]
fn what_does_not_fit_is_refused_with_its_place() {
    refused("", 7, ": an object");
    refused("/form", 6, "/form: 1 to 5, found 6");
    refused("/form", 2, ": a field on_limit");
    refused(
        "/name",
        "no spaces",
        "/name: a class name (only ASCII letters, digits, '_', '-' and '.' are allowed)",
    );
    refused("/version", -1, "/version: an integer from 0 to 4294967295");
    refused(
        "/times/work_by_ms",
        "soon",
        "/times/work_by_ms: an integer from 0 to 18446744073709551615",
    );
    refused(
        "/on_downtime/kind",
        "stop",
        "/on_downtime/kind: absolute or extend",
    );
    refused(
        "/nodes/0/call/kind",
        "agent",
        "/nodes/0/call/kind: read, write, each, tools, local or when",
    );
    refused("/nodes/0/call", Value::Null, "/nodes/0/call: an object");
    refused(
        "/nodes/3/inputs/0",
        70_000,
        "/nodes/3/inputs/0: the place of a node",
    );
    refused(
        "/nodes/1/criticality/kind",
        "hard",
        "/nodes/1/criticality: no field \"notice\"",
    );
    refused(
        "/nodes/0/call/contract/fallbacks/1/age_ms_max",
        5,
        "/nodes/0/call/contract/fallbacks/1/age_ms_max: null for this kind",
    );
    refused(
        "/nodes/5/call/effect/scope",
        "world",
        "/nodes/5/call/effect/scope: business or run",
    );
    refused(
        "/input",
        "x".repeat(4_194_305),
        "/input: a text of at most 4194304 bytes",
    );
    refused(
        "/result",
        Value::List(vec![Value::from(0); 257]),
        "/result: a list of at most 256 items",
    );
}

#[test]
fn what_is_said_of_late_answers_stands_once_for_nodes_that_make_attempts_in_order() {
    let with = |change: &dyn Fn(&mut Vec<Value>)| {
        let mut form = late().to_json();
        if let Value::Object(fields) = &mut form
            && let Some(Value::List(said)) = fields.get_mut("late")
        {
            change(said);
        }
        TaskClass::from_json(&form)
    };
    assert_eq!(with(&|_| {}), Ok(late()));
    let refused = |change: &dyn Fn(&mut Vec<Value>)| {
        let error = with(change).expect_err("it must not pass");
        format!("{}: {}", error.at, error.expected)
    };
    let order = "/late: nodes that make attempts, each once, in order";
    assert_eq!(refused(&|said| said.swap(0, 1)), order);
    assert_eq!(refused(&|said| said.push(said[1].clone())), order);
    let to = |key: &'static str, new: Value| {
        move |said: &mut Vec<Value>| set(&mut said[0], &format!("/{key}"), new.clone())
    };
    assert_eq!(refused(&to("node", Value::from(200))), order);
    assert_eq!(
        refused(&|said| {
            set(&mut said[0], "/on_late", Value::Null);
            set(&mut said[0], "/orphan_ttl_ms", Value::Null);
        }),
        order,
        "what says nothing does not stand there"
    );
    assert_eq!(
        refused(&to("on_late", Value::from("forget"))),
        "/late/0/on_late: drop, keep or review"
    );
    let mut mutants = std::collections::BTreeSet::from([late().fingerprint()]);
    for (key, new) in [("on_late", "drop".into()), ("orphan_ttl_ms", 7.into())] {
        let mutant = with(&to(key, new)).expect("it says something else");
        assert!(mutants.insert(mutant.fingerprint()), "{key}");
    }
}

#[test]
fn missing_and_unknown_fields_are_refused() {
    let form = meeting().to_json();
    let mut fields = form.as_object().expect("an object").clone();
    fields.insert("colour".to_owned(), Value::Null);
    let error = TaskClass::from_json(&Value::Object(fields.clone())).expect_err("unknown");
    assert_eq!(
        error.to_string(),
        "the stored class cannot be read: at its root, expected no field \"colour\""
    );
    fields.remove("colour");
    fields.remove("reserve");
    let error = TaskClass::from_json(&Value::Object(fields)).expect_err("missing");
    assert_eq!(error.expected, "a field reserve");
}

proptest! {
    #[test]
    fn reading_any_json_in_any_place_never_panics(
        pick in any::<prop::sample::Index>(),
        new in prop_oneof![
            Just(Value::Null),
            any::<i64>().prop_map(Value::from),
            ".{0,70}".prop_map(Value::from),
            Just(Value::List(Vec::new())),
            Just(Value::Object(json::Object::new())),
        ],
    ) {
        let mut form = meeting().to_json();
        let mut all = BTreeMap::new();
        leaves(&form, String::new(), &mut all);
        let pointer = all.keys().nth(pick.index(all.len())).expect("a leaf").clone();
        set(&mut form, &pointer, new);
        if let Ok(class) = TaskClass::from_json(&form) {
            prop_assert_eq!(class.to_json(), form, "what is read is written back as it was");
            let _any = mainstay_graph::validate(&class);
        }
    }
}
