//! The text of a map's key.
//!
//! It must never give a text to a key that could have several, as a float could, or to one that
//! is no scalar.

use std::fmt::Display;

use serde::ser::{Impossible, Serialize, Serializer};

use super::error::{JsonError, Place};
use super::ser::display_text;

/// The text of `key`; [`JsonError::KeyNotText`] when it has none.
pub(super) fn key_text<T: Serialize + ?Sized>(key: &T) -> Result<String, JsonError> {
    key.serialize(ToKey)
}

struct ToKey;

type Never = Impossible<String, JsonError>;

fn no_text<O>(found: &'static str) -> Result<O, JsonError> {
    Err(JsonError::KeyNotText {
        at: Place::root(),
        found,
    })
}

macro_rules! printed {
    ($($method:ident: $type:ty,)*) => {$(
        fn $method(self, key: $type) -> Result<String, JsonError> {
            Ok(key.to_string())
        }
    )*};
}

impl Serializer for ToKey {
    type Ok = String;
    type Error = JsonError;
    type SerializeSeq = Never;
    type SerializeTuple = Never;
    type SerializeTupleStruct = Never;
    type SerializeTupleVariant = Never;
    type SerializeMap = Never;
    type SerializeStruct = Never;
    type SerializeStructVariant = Never;

    printed! {
        serialize_bool: bool,
        serialize_i8: i8,
        serialize_i16: i16,
        serialize_i32: i32,
        serialize_i64: i64,
        serialize_i128: i128,
        serialize_u8: u8,
        serialize_u16: u16,
        serialize_u32: u32,
        serialize_u64: u64,
        serialize_u128: u128,
        serialize_char: char,
        serialize_str: &str,
    }

    fn serialize_f32(self, _key: f32) -> Result<String, JsonError> {
        no_text("a float")
    }

    fn serialize_f64(self, _key: f64) -> Result<String, JsonError> {
        no_text("a float")
    }

    fn serialize_bytes(self, _key: &[u8]) -> Result<String, JsonError> {
        no_text("bytes")
    }

    fn serialize_none(self) -> Result<String, JsonError> {
        no_text("an option")
    }

    fn serialize_some<T: Serialize + ?Sized>(self, _key: &T) -> Result<String, JsonError> {
        no_text("an option")
    }

    fn serialize_unit(self) -> Result<String, JsonError> {
        no_text("a unit")
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Result<String, JsonError> {
        no_text("a unit struct")
    }

    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
    ) -> Result<String, JsonError> {
        Ok(variant.to_owned())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        key: &T,
    ) -> Result<String, JsonError> {
        key.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        _variant: &'static str,
        _key: &T,
    ) -> Result<String, JsonError> {
        no_text("a variant with content")
    }

    fn serialize_seq(self, _len: Option<usize>) -> Result<Never, JsonError> {
        no_text("a list")
    }

    fn serialize_tuple(self, _len: usize) -> Result<Never, JsonError> {
        no_text("a tuple")
    }

    fn serialize_tuple_struct(self, _name: &'static str, _len: usize) -> Result<Never, JsonError> {
        no_text("a tuple struct")
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        _variant: &'static str,
        _len: usize,
    ) -> Result<Never, JsonError> {
        no_text("a variant with content")
    }

    fn serialize_map(self, _len: Option<usize>) -> Result<Never, JsonError> {
        no_text("a map")
    }

    fn serialize_struct(self, _name: &'static str, _len: usize) -> Result<Never, JsonError> {
        no_text("a struct")
    }

    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        _variant: &'static str,
        _len: usize,
    ) -> Result<Never, JsonError> {
        no_text("a variant with content")
    }

    fn collect_str<T: Display + ?Sized>(self, key: &T) -> Result<String, JsonError> {
        display_text(key)
    }
}
