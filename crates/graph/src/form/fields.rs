//! Values of a stored form with their places, so that every error can say where.
//!
//! It knows types, ranges and bounds, never what a field means.

use std::sync::Arc;

use mainstay_types::json::{Object, Value};
use mainstay_types::{CostUnits, Millis, NameError, NodeId, Tokens, limits};

use super::{FORMS, FormError};
use crate::class::Schema;

pub(super) type Read<T> = Result<T, FormError>;

/// One value of the form and its place.
pub(super) struct Item<'v> {
    at: String,
    value: &'v Value,
}

/// An object whose keys were checked.
pub(super) struct Fields<'v> {
    at: String,
    object: &'v Object,
}

impl<'v> Fields<'v> {
    pub(super) fn get(&self, key: &str) -> Item<'v> {
        let value = self
            .object
            .get(key)
            .expect("`fields` checked that each key is there");
        Item {
            at: format!("{}/{key}", self.at),
            value,
        }
    }
}

impl<'v> Item<'v> {
    /// The whole form.
    pub(super) const fn root(value: &'v Value) -> Self {
        Self {
            at: String::new(),
            value,
        }
    }

    pub(super) fn expected<T>(&self, what: impl Into<String>) -> Read<T> {
        Err(FormError {
            at: self.at.clone(),
            expected: what.into(),
        })
    }

    fn object(&self) -> Read<&'v Object> {
        self.value
            .as_object()
            .map_or_else(|| self.expected("an object"), Ok)
    }

    /// The form's number first: of another form nothing else can be said.
    pub(super) fn form_number(&self) -> Read<u32> {
        let number = self.object()?.get("form").unwrap_or(&Value::Null);
        let known = FORMS
            .into_iter()
            .find(|form| number.as_u64() == Some(u64::from(*form)));
        let [first, .., newest] = FORMS;
        known.ok_or_else(|| FormError {
            at: "/form".to_owned(),
            expected: format!("{first} to {newest}, found {number}"),
        })
    }

    /// The object's fields, which must be exactly these.
    pub(super) fn fields(&self, keys: &[&str]) -> Read<Fields<'v>> {
        let object = self.object()?;
        if let Some(missing) = keys.iter().find(|&&key| !object.contains_key(key)) {
            return self.expected(format!("a field {missing}"));
        }
        let unknown = object.keys().find(|key| !keys.contains(&key.as_str()));
        if let Some(unknown) = unknown {
            let shown: String = unknown.chars().take(limits::NAME_BYTES_MAX).collect();
            return self.expected(format!("no field {shown:?}"));
        }
        Ok(Fields {
            at: self.at.clone(),
            object,
        })
    }

    /// The word under `kind`, which decides which other fields there are.
    pub(super) fn kind(&self) -> Read<&'v str> {
        let kind = self.object()?.get("kind").and_then(Value::as_str);
        kind.map_or_else(|| self.expected("an object with a kind"), Ok)
    }

    pub(super) fn expected_kind<T>(&self, words: &str) -> Read<T> {
        Err(FormError {
            at: format!("{}/kind", self.at),
            expected: words.to_owned(),
        })
    }

    pub(super) fn text(&self, bytes_max: usize) -> Read<String> {
        match self.value.as_str() {
            Some(text) if text.len() <= bytes_max => Ok(text.to_owned()),
            Some(_) | None => self.expected(format!("a text of at most {bytes_max} bytes")),
        }
    }

    pub(super) fn schema(&self) -> Read<Schema> {
        self.text(limits::PAYLOAD_BYTES_MAX)
            .map(|text| Schema(Arc::from(text)))
    }

    pub(super) fn name<T>(&self, new: impl FnOnce(String) -> Result<T, NameError>) -> Read<T> {
        let text = self.text(limits::NAME_BYTES_MAX)?;
        new(text).or_else(|error| self.expected(format!("a {} ({})", error.what, error.rule)))
    }

    pub(super) fn word<T>(&self, from: impl FnOnce(&str) -> Option<T>, expected: &str) -> Read<T> {
        self.value
            .as_str()
            .and_then(from)
            .map_or_else(|| self.expected(expected), Ok)
    }

    pub(super) fn number(&self) -> Read<u32> {
        let number = self.value.as_u64().and_then(|n| u32::try_from(n).ok());
        number.map_or_else(
            || self.expected(format!("an integer from 0 to {}", u32::MAX)),
            Ok,
        )
    }

    fn wide(&self) -> Read<u64> {
        let number = self.value.as_u64();
        number.map_or_else(
            || self.expected(format!("an integer from 0 to {}", u64::MAX)),
            Ok,
        )
    }

    pub(super) fn tokens(&self) -> Read<Tokens> {
        self.number().map(Tokens::new)
    }

    pub(super) fn millis(&self) -> Read<Millis> {
        self.wide().map(Millis::new)
    }

    pub(super) fn cost(&self) -> Read<CostUnits> {
        self.wide().map(CostUnits::micros)
    }

    pub(super) fn node_id(&self) -> Read<NodeId> {
        let id = self.value.as_u64().and_then(|n| u16::try_from(n).ok());
        id.map_or_else(|| self.expected("the place of a node"), |id| Ok(NodeId(id)))
    }

    pub(super) fn refs(&self) -> Read<Vec<NodeId>> {
        self.list(limits::CLASS_NODES_MAX, Item::node_id)
    }

    /// Nothing may be set here.
    pub(super) fn none(&self) -> Read<()> {
        if self.value.is_null() {
            Ok(())
        } else {
            self.expected("null for this kind")
        }
    }

    pub(super) fn optional<T>(&self, read: impl FnOnce(&Self) -> Read<T>) -> Read<Option<T>> {
        if self.value.is_null() {
            Ok(None)
        } else {
            read(self).map(Some)
        }
    }

    pub(super) fn list<T>(&self, max: usize, read: impl Fn(&Item<'v>) -> Read<T>) -> Read<Vec<T>> {
        let items = match self.value.as_list() {
            Some(items) if items.len() <= max => items,
            Some(_) | None => return self.expected(format!("a list of at most {max} items")),
        };
        let item = |(i, value)| {
            read(&Item {
                at: format!("{}/{i}", self.at),
                value,
            })
        };
        items.iter().enumerate().map(item).collect()
    }
}
