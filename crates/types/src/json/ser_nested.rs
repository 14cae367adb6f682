//! Lists and objects while serde fills them.
//!
//! It must never let a second entry replace one with the same key, and never believe a length
//! that a `Serialize` claims.

use serde::ser::{self, Error as _, Serialize};

use super::error::{JsonError, Place};
use super::parse::parse_at_depth;
use super::ser::Level;
use super::ser_key::key_text;
use super::value::{Object, Value};

/// Items reserved on a claimed length; the list grows beyond it as usual.
const RESERVED_ITEMS_MAX: usize = 4096;

/// What the finished list or object is.
#[derive(Clone, Copy)]
enum Frame {
    /// The value itself.
    Plain,
    /// The content of an enum's variant: `{"variant": value}`.
    Variant(&'static str),
    /// One field of this name whose text is JSON already.
    RawJson(&'static str),
}

impl Frame {
    /// The error seen from outside the frame.
    fn locate(self, error: JsonError) -> JsonError {
        match self {
            Self::Plain | Self::RawJson(_) => error,
            Self::Variant(variant) => error.within_key(variant),
        }
    }

    fn close(self, value: Value) -> Value {
        match self {
            Self::Plain | Self::RawJson(_) => value,
            Self::Variant(variant) => Value::object([(variant, value)]),
        }
    }
}

/// A list that grows item by item.
pub(super) struct ListBuilder {
    level: Level,
    frame: Frame,
    items: Vec<Value>,
}

impl ListBuilder {
    /// An empty list whose items lie at `level`.
    pub(super) fn new(level: Level, claimed: usize) -> Self {
        let items = Vec::with_capacity(claimed.min(RESERVED_ITEMS_MAX));
        Self {
            level,
            frame: Frame::Plain,
            items,
        }
    }

    pub(super) fn of_variant(self, variant: &'static str) -> Self {
        Self {
            frame: Frame::Variant(variant),
            ..self
        }
    }

    fn push<T: Serialize + ?Sized>(&mut self, item: &T) -> Result<(), JsonError> {
        let index = self.items.len();
        let item = self
            .level
            .value(item)
            .map_err(|error| self.frame.locate(error.within_index(index)))?;
        self.items.push(item);
        Ok(())
    }

    fn finish(self) -> Value {
        self.frame.close(Value::List(self.items))
    }
}

/// An object that grows entry by entry.
pub(super) struct ObjectBuilder {
    level: Level,
    frame: Frame,
    object: Object,
    /// A key that waits for its value.
    key: Option<String>,
}

impl ObjectBuilder {
    /// An empty object whose values lie at `level`.
    pub(super) fn new(level: Level) -> Self {
        Self {
            level,
            frame: Frame::Plain,
            object: Object::new(),
            key: None,
        }
    }

    pub(super) fn of_variant(self, variant: &'static str) -> Self {
        Self {
            frame: Frame::Variant(variant),
            ..self
        }
    }

    pub(super) fn of_raw_json(self, field: &'static str) -> Self {
        Self {
            frame: Frame::RawJson(field),
            ..self
        }
    }

    fn insert<T: Serialize + ?Sized>(&mut self, key: String, value: &T) -> Result<(), JsonError> {
        if self.object.contains_key(&key) {
            let twice = JsonError::DuplicateKey {
                at: Place::root(),
                key,
            };
            return Err(self.frame.locate(twice));
        }
        let value = self
            .level
            .value(value)
            .map_err(|error| self.frame.locate(error.within_key(&key)))?;
        self.object.insert(key, value);
        Ok(())
    }

    fn finish(self) -> Result<Value, JsonError> {
        if self.key.is_some() {
            let pending = JsonError::custom("a map ended with a key that has no value");
            return Err(self.frame.locate(pending));
        }
        match self.frame {
            Frame::Plain | Frame::Variant(_) => Ok(self.frame.close(Value::Object(self.object))),
            Frame::RawJson(field) => self.raw_json(field),
        }
    }

    /// Raw JSON is read, not copied: otherwise its key order and spacing would reach the digest.
    fn raw_json(self, field: &str) -> Result<Value, JsonError> {
        let text = self.object.get(field).and_then(Value::as_str);
        let text = text.ok_or_else(|| JsonError::custom("raw JSON came without its text"))?;
        parse_at_depth(text, self.level.nested()).map_err(JsonError::custom)
    }
}

macro_rules! list_parts {
    ($($trait:ident::$method:ident,)*) => {$(
        impl ser::$trait for ListBuilder {
            type Ok = Value;
            type Error = JsonError;

            fn $method<T: Serialize + ?Sized>(&mut self, item: &T) -> Result<(), JsonError> {
                self.push(item)
            }

            fn end(self) -> Result<Value, JsonError> {
                Ok(self.finish())
            }
        }
    )*};
}

list_parts! {
    SerializeSeq::serialize_element,
    SerializeTuple::serialize_element,
    SerializeTupleStruct::serialize_field,
    SerializeTupleVariant::serialize_field,
}

macro_rules! struct_parts {
    ($($trait:ident)*) => {$(
        impl ser::$trait for ObjectBuilder {
            type Ok = Value;
            type Error = JsonError;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                key: &'static str,
                value: &T,
            ) -> Result<(), JsonError> {
                self.insert(key.to_owned(), value)
            }

            fn end(self) -> Result<Value, JsonError> {
                self.finish()
            }
        }
    )*};
}

struct_parts!(SerializeStruct SerializeStructVariant);

impl ser::SerializeMap for ObjectBuilder {
    type Ok = Value;
    type Error = JsonError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), JsonError> {
        if self.key.is_some() {
            return Err(JsonError::custom("a map gave two keys in a row"));
        }
        self.key = Some(key_text(key)?);
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), JsonError> {
        let key = self.key.take();
        let key = key.ok_or_else(|| JsonError::custom("a map gave a value before its key"))?;
        self.insert(key, value)
    }

    fn end(self) -> Result<Value, JsonError> {
        self.finish()
    }
}
