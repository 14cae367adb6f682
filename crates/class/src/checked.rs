//! Names and schemas, checked where they enter a class.
//!
//! It never gives up: what is not valid becomes a problem, and the caller goes on with a stand-in.

use mainstay_dispatch::Value;
use mainstay_graph::{Problem, Schema};
use mainstay_types::{Code, DependencyName, EffectName, NameError, NodeName};

use crate::draft::Names;
use crate::schema::schema_of;

/// Names of dependencies and effects, checked at one node.
pub(crate) struct Naming<'a> {
    pub(crate) node: &'a NodeName,
    pub(crate) problems: &'a mut Vec<Problem>,
}

impl Names for Naming<'_> {
    fn dependency(&mut self, name: &str) -> DependencyName {
        stand_in(
            DependencyName::new(name),
            name,
            self.problems,
            Some(self.node),
        )
        .unwrap_or_else(|| DependencyName::new("invalid-name").expect("a valid name"))
    }

    fn effect(&mut self, name: &str) -> EffectName {
        stand_in(EffectName::new(name), name, self.problems, Some(self.node))
            .unwrap_or_else(|| EffectName::new("invalid-name").expect("a valid name"))
    }
}

/// The name, or `None` and a problem.
pub(crate) fn stand_in<T>(
    checked: Result<T, NameError>,
    text: &str,
    problems: &mut Vec<Problem>,
    node: Option<&NodeName>,
) -> Option<T> {
    let NameError { what, rule } = match checked {
        Ok(name) => return Some(name),
        Err(error) => error,
    };
    let problem = Problem::error(
        Code::NameInvalid,
        format!("{text:?} is not a valid {what}: {rule}"),
    )
    .hint("use 1 to 64 ASCII letters, digits, `_`, `-` and `.`, starting with a letter or digit");
    problems.push(match node {
        Some(node) => problem.at(node),
        None => problem,
    });
    None
}

/// The schema of `T`, or `true` and a problem.
pub(crate) fn schema<T: Value>(
    what: &str,
    node: Option<&str>,
    problems: &mut Vec<Problem>,
) -> Schema {
    schema_of::<T>().unwrap_or_else(|error| {
        let of = node.map_or_else(String::new, |node| format!(" of node {node}"));
        let message = format!("the {what} schema{of} has no canonical JSON: {error}");
        problems.push(
            Problem::error(Code::SchemaInvalid, message)
                .hint("look at the type's own implementation of `JsonSchema`"),
        );
        Schema("true".into())
    })
}
