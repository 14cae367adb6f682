//! A value of every kind that users have and that is easy to get wrong: hash maps, floats, numbers
//! beyond 2^53, flattened structs, tagged enums, fields that are left out.
//!
//! It must never be made from chance: two processes compare its digest.

use std::collections::{BTreeMap, HashMap, HashSet};

use mainstay::types::Digest;
use mainstay::types::json;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Everything {
    /// Iterated in another order by every process.
    pub weights: HashMap<String, f64>,
    /// As well, and written as a list.
    pub words: HashSet<char>,
    /// Keys that are numbers.
    pub by_number: BTreeMap<u64, Option<i64>>,
    /// Beyond what a double holds.
    pub largest: u64,
    /// The other end.
    pub smallest: i64,
    /// Not exact in decimal.
    pub third: f64,
    /// Two zeros that are equal.
    pub zeros: [f64; 2],
    /// A struct without a name of its own in the JSON.
    #[serde(flatten)]
    pub more: More,
    /// Whatever else there is.
    #[serde(flatten)]
    pub rest: HashMap<String, String>,
    /// Enums in three forms.
    pub shapes: Vec<Shape>,
    /// Left out when it is nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub absent: Option<String>,
    /// Characters that JSON escapes, and some that it does not.
    pub text: String,
}

/// Flattened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct More {
    /// A field.
    pub owner: String,
    /// Another.
    pub sizes: HashMap<String, u64>,
}

/// Tagged inside.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Shape {
    /// Without fields.
    Point,
    /// With one.
    Circle {
        /// A float.
        radius: f64,
    },
    /// With a map.
    Named {
        /// Whose order differs.
        sides: HashMap<String, f64>,
    },
}

impl Everything {
    /// Always the same.
    #[must_use]
    pub fn sample() -> Self {
        let weights = (0..40)
            .map(|n| (format!("w{n}"), f64::from(n) / 7.0))
            .collect();
        let sizes = (0..20).map(|n| (format!("s{n}"), u64::MAX - n)).collect();
        let sides = (0..20)
            .map(|n| (format!("side {n}"), 1.0 / f64::from(n + 1)))
            .collect();
        let rest = (0..20)
            .map(|n| (format!("extra{n}"), format!("{n}")))
            .collect();
        Self {
            weights,
            words: ['b'].into(),
            by_number: [(10, Some(-1)), (9, None), (u64::MAX, Some(i64::MIN))].into(),
            largest: u64::MAX,
            smallest: i64::MIN,
            third: 1.0 / 3.0,
            zeros: [0.0, -0.0],
            more: More {
                owner: "Ægir \u{1F30A}".to_owned(),
                sizes,
            },
            rest,
            shapes: vec![
                Shape::Point,
                Shape::Circle { radius: 1e21 },
                Shape::Named { sides },
            ],
            absent: None,
            text: "\" \\ \n \u{1} \u{7f} \u{2028} é".to_owned(),
        }
    }

    /// The digest under which Mainstay would know it.
    ///
    /// # Panics
    /// It has no canonical form.
    #[must_use]
    pub fn digest(&self) -> String {
        let text = json::to_canonical(self).expect("it has a canonical form");
        Digest::of(text.as_bytes()).to_string()
    }
}
