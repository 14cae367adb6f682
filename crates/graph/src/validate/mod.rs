//! Whether a task class can be kept as it is written: all problems at once, each with a way out.
//!
//! Validation never stops at the first problem and never panics, whatever the class holds: it
//! also guards against stored forms and classes put together by hand. It repairs nothing.

mod budget;
mod caps;
mod contracts;
mod effects;
mod nodes;
mod times;
mod tools;
mod undo;

use mainstay_types::{Code, json, limits};

use crate::class::{Schema, TaskClass};
use crate::problem::Problem;

/// All problems of the class: of the class as a whole, of each node in order, of its times.
///
/// Empty when there is nothing to say. The class is usable when none of them
/// [is an error](Problem::is_error). What needs sound refs (the critical path, the cost of the hard
/// path) is only checked when there are no REF_UNKNOWN and not too many nodes.
#[must_use]
pub fn validate(class: &TaskClass) -> Vec<Problem> {
    let mut problems = Vec::new();
    nodes::check(class, &mut problems);
    for (place, node) in class.nodes.iter().enumerate() {
        nodes::check_node(class, place, &mut problems);
        contracts::check(node, &mut problems);
        effects::check(class, node, &mut problems);
    }
    effects::check_names(class, &mut problems);
    tools::check(class, &mut problems);
    undo::check(class, &mut problems);
    check_class_schemas(class, &mut problems);
    budget::check(class, &mut problems);
    times::check(class, &mut problems);
    if nodes::has_sound_refs(class) {
        budget::check_hard_path(class, &mut problems);
        caps::check(class, &mut problems);
        times::check_critical_path(class, &mut problems);
    }
    problems
}

fn check_class_schemas(class: &TaskClass, problems: &mut Vec<Problem>) {
    for (what, schema) in [("input", &class.input), ("output", &class.output)] {
        problems.extend(schema_problem(what, schema));
    }
}

/// SCHEMA_INVALID unless the text is canonical JSON, small enough, and can be a schema at all.
fn schema_problem(what: &str, schema: &Schema) -> Option<Problem> {
    let text = &*schema.0;
    let (reason, hint) = match json::parse_within(text, limits::PAYLOAD_BYTES_MAX) {
        Err(error) => (format!("is not JSON: {error}"), CANONICAL_HINT),
        Ok(value) => {
            let canonical = value.to_canonical();
            if canonical != text {
                (differs(text, &canonical), CANONICAL_HINT)
            } else if value.as_object().is_none() && value.as_bool().is_none() {
                let start: String = text.chars().take(20).collect();
                (
                    format!("is {start}, which is no schema"),
                    "a schema is an object, true or false",
                )
            } else {
                return None;
            }
        }
    };
    Some(Problem::error(Code::SchemaInvalid, format!("the {what} schema {reason}")).hint(hint))
}

const CANONICAL_HINT: &str = "write it as canonical JSON: keys sorted, no spaces";

/// Where a text leaves its canonical form.
fn differs(text: &str, canonical: &str) -> String {
    let same = text
        .bytes()
        .zip(canonical.bytes())
        .take_while(|(a, b)| a == b)
        .count();
    format!("is not canonical JSON: it differs from its canonical text from byte {same} on")
}

/// `1 node`, `2 nodes`.
fn count(n: usize, what: &str) -> String {
    if n == 1 {
        format!("1 {what}")
    } else {
        format!("{n} {what}s")
    }
}
