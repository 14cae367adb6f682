//! The part of a request after its `?`: named values, each taken once.
//!
//! A name that nobody takes is refused: a filter that is misspelt must not show everything.

use std::fmt::Display;

use mainstay_types::Code;

use crate::failure::Failure;

/// Named values, in order.
#[derive(Debug, Default)]
pub(crate) struct Query {
    values: Vec<(String, String)>,
}

impl Query {
    /// Reads what stands after the `?`.
    pub(crate) fn of(text: &str) -> Result<Self, Failure> {
        match serde_urlencoded::from_str(text) {
            Ok(values) => Ok(Self { values }),
            Err(error) => Err(invalid(format!("the query cannot be read: {error}"))),
        }
    }

    /// Adds a value, when there is one.
    pub(crate) fn put(&mut self, name: &str, value: Option<impl Display>) {
        if let Some(value) = value {
            self.values.push((name.to_owned(), value.to_string()));
        }
    }

    /// The whole target: `path`, and the values after a `?` when there are some.
    pub(crate) fn after(&self, path: &str) -> String {
        let values = serde_urlencoded::to_string(&self.values).expect("pairs of texts are a query");
        match values.as_str() {
            "" => path.to_owned(),
            values => format!("{path}?{values}"),
        }
    }

    /// Takes the value of `name`; given twice, it is refused.
    pub(crate) fn take<T, E: Display>(
        &mut self,
        name: &str,
        read: impl FnOnce(&str) -> Result<T, E>,
    ) -> Result<Option<T>, Failure> {
        let at = self.values.iter().position(|(known, _)| known == name);
        let Some(at) = at else { return Ok(None) };
        let (_, text) = self.values.remove(at);
        match read(&text) {
            Ok(value) => Ok(Some(value)),
            Err(error) => Err(invalid(format!("`{name}`: {error}"))),
        }
    }

    /// Refuses what nobody took.
    pub(crate) fn end(self) -> Result<(), Failure> {
        match self.values.first() {
            None => Ok(()),
            Some((name, _)) => Err(invalid(format!("`{name}` is not asked for here, or twice"))),
        }
    }
}

fn invalid(message: String) -> Failure {
    Failure::new(Code::InvalidInput, message)
}
