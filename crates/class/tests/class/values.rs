//! Types as users really have them: their values have one text in every process, and come back.

use std::collections::HashMap;

use mainstay_class::*;
use mainstay_types::{NodeId, Payload};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Mixed {
    counts: HashMap<String, f64>,
    by_number: HashMap<u32, bool>,
    biggest: u64,
    smallest: i64,
    #[serde(flatten)]
    more: More,
    shape: Shape,
    loose: Loose,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    absent: Option<String>,
    unit: Side,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct More {
    a_float: f64,
    #[serde(flatten)]
    rest: HashMap<String, Vec<u8>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind")]
enum Shape {
    Circle { radius: f64 },
    Point,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Loose {
    Number(u64),
    Text(String),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
enum Side {
    Left,
    Right(u8),
}

const TEXT: &str = concat!(
    r#"{"a_float":0.30000000000000004,"biggest":18446744073709551615,"#,
    r#""by_number":{"10":true,"9":false},"#,
    r#""counts":{"a":1,"b":1e-7,"c":1e+21,"é":-0.5},"loose":18446744073709551615,"#,
    r#""shape":{"kind":"Circle","radius":2.5},"smallest":-9223372036854775808,"#,
    r#""unit":{"Right":7},"x":[1,2],"y":[]}"#,
);

fn mixed() -> Mixed {
    let counts = [("é", -0.5), ("c", 1e21), ("a", 1.0), ("b", 1e-7)];
    Mixed {
        counts: counts.map(|(key, count)| (key.to_owned(), count)).into(),
        by_number: [(9, false), (10, true)].into(),
        biggest: u64::MAX,
        smallest: i64::MIN,
        more: More {
            a_float: 0.1 + 0.2,
            rest: [("y".to_owned(), vec![]), ("x".to_owned(), vec![1, 2])].into(),
        },
        shape: Shape::Circle { radius: 2.5 },
        loose: Loose::Number(u64::MAX),
        absent: None,
        unit: Side::Right(7),
    }
}

/// A class that passes its input through a local, a predicate and its result.
fn echo() -> Class<Mixed, Mixed> {
    let mut g = TaskClass::<Mixed>::define("echo", 1);
    let same = g.local("same", (), |m, ()| m.clone()).add();
    let there = g.when("there", same, |m, same| m == same);
    let twice = g
        .local("twice", same, |_, same| same.clone())
        .when(&there)
        .add();
    let class = g.finish((same, twice), |_, (same, twice)| {
        twice.unwrap_or(same).clone()
    });
    class.unwrap_or_else(|problems| panic!("{problems}"))
}

#[test]
fn a_value_has_one_text_whatever_order_its_maps_are_in() {
    let class = echo();
    for _ in 0..32 {
        // Each map has its own hash order.
        let payload = class.encode_input(&mixed()).expect("representable");
        assert_eq!(std::str::from_utf8(payload.as_bytes()), Ok(TEXT));
    }
}

#[test]
fn a_value_goes_through_closures_without_losing_a_digit() {
    let class = echo();
    let erased = class.erased();
    let input = Payload::from(TEXT);
    erased.check_input(&input).expect("an input");
    let same = erased.prepare(NodeId(0), &input, &[]).expect("a value");
    assert_eq!(same, PreparedValue::Value(input.clone()));
    let values = [Some(input.clone())];
    let there = erased
        .prepare(NodeId(1), &input, &values)
        .expect("a predicate");
    assert_eq!(there, PreparedValue::Value(Payload::from("true")));
    let result = erased
        .assemble(&input, &[Some(input.clone()), None])
        .expect("a result");
    assert_eq!(result, input);
    assert_eq!(class.decode_output(&result).expect("an output"), mixed());
    assert_ne!(mixed().shape, Shape::Point);
    assert_ne!(
        (mixed().loose, mixed().unit),
        (Loose::Text(String::new()), Side::Left)
    );
}

#[test]
fn a_value_without_json_is_refused_with_its_path() {
    let mut g = TaskClass::<Mixed>::define("nan", 1);
    let broken = g
        .local("broken", (), |m, ()| {
            let mut broken = m.clone();
            broken.counts.insert("zero by zero".into(), f64::NAN);
            broken
        })
        .add();
    let class = g
        .finish(broken, |_, b| b.clone())
        .expect("no problems")
        .erased();
    let failure = class
        .prepare(NodeId(0), &Payload::from(TEXT), &[])
        .expect_err("no JSON");
    let message = failure.message.expect("a message");
    assert!(
        message.starts_with("node `broken`: the value cannot be kept"),
        "{message}"
    );
    assert!(message.contains(r#"$.counts["zero by zero"]"#), "{message}");
}
