//! Canonical JSON of any serde value, in serde_json's data model.
//!
//! It must never let a map's iteration order, a NaN or a key seen twice into the text. What
//! serde_json would write twice (a flattened field that repeats a key) is refused here, because
//! with a hash map behind it the winner would be random.

use std::fmt::{self, Display, Write as _};

use serde::ser::{Error as _, Serialize, Serializer};

use super::error::{JsonError, Place};
use super::ser_nested::{ListBuilder, ObjectBuilder};
use super::value::Value;
use super::write::shortest;
use super::{BYTES_MAX, DEPTH_MAX};

/// Options and newtypes that may wrap each other on the way down to one value.
///
/// They leave no level in the JSON, so [`DEPTH_MAX`] does not count them, but they use stack.
const WRAPPERS_MAX: usize = 4 * DEPTH_MAX;

/// How serde_json passes a number (`arbitrary_precision`) and raw JSON through foreign serializers.
const PASS_THROUGH: [&str; 2] = [
    "$serde_json::private::Number",
    "$serde_json::private::RawValue",
];

/// The canonical JSON of a serde value, at most [`BYTES_MAX`] bytes and [`DEPTH_MAX`] levels.
///
/// The same value gives the same bytes in every process. Structs, enums in every tagging,
/// `flatten`, maps with keys of integers, truth values, characters or unit variants, bytes (a list
/// of integers) and `i128` look as serde_json writes them. Errors: [`JsonError`] with the path of
/// the value; float keys and keys seen twice are refused.
pub fn to_canonical<T: Serialize + ?Sized>(value: &T) -> Result<String, JsonError> {
    let text = to_value(value)?.to_canonical();
    if BYTES_MAX < text.len() {
        return Err(JsonError::TooLarge {
            bytes: text.len(),
            max: BYTES_MAX,
        });
    }
    Ok(text)
}

/// The [`Value`] of a serde value, at most [`DEPTH_MAX`] levels. Errors as in [`to_canonical`].
pub fn to_value<T: Serialize + ?Sized>(value: &T) -> Result<Value, JsonError> {
    value.serialize(ToValue {
        level: Level {
            nested: 0,
            wrappers: 0,
        },
    })
}

/// How deep serialization is, in both things that use stack.
#[derive(Clone, Copy)]
pub(super) struct Level {
    nested: usize,
    wrappers: usize,
}

impl Level {
    /// The level inside `count` more lists or objects.
    fn inside(self, count: usize) -> Result<Self, JsonError> {
        let nested = self.nested + count;
        if DEPTH_MAX < nested {
            return Err(JsonError::TooDeep {
                at: Place::root(),
                max: DEPTH_MAX,
            });
        }
        Ok(Self { nested, ..self })
    }

    /// The level inside one more option or newtype.
    fn wrapped(self) -> Result<Self, JsonError> {
        let wrappers = self.wrappers + 1;
        if WRAPPERS_MAX < wrappers {
            return Err(JsonError::TooDeep {
                at: Place::root(),
                max: WRAPPERS_MAX,
            });
        }
        Ok(Self { wrappers, ..self })
    }

    /// Lists and objects around this level.
    pub(super) fn nested(self) -> usize {
        self.nested
    }

    /// Serializes `value` at this level.
    pub(super) fn value<T: Serialize + ?Sized>(self, value: &T) -> Result<Value, JsonError> {
        value.serialize(ToValue { level: self })
    }
}

impl serde::ser::Error for JsonError {
    fn custom<T: Display>(message: T) -> Self {
        Self::Refused {
            at: Place::root(),
            message: message.to_string(),
        }
    }
}

/// The text of a `Display`, whose failure is an error instead of a panic.
pub(super) fn display_text<T: Display + ?Sized>(value: &T) -> Result<String, JsonError> {
    let mut text = String::new();
    match write!(text, "{value}") {
        Ok(()) => Ok(text),
        Err(fmt::Error) => Err(JsonError::custom("its Display failed")),
    }
}

/// The double whose text is the shortest that reads back as `single`: `0.1f32` is `0.1`, not the
/// seventeen digits of the double next to it.
fn single_as_double(single: f32) -> f64 {
    let shortest: f64 = shortest(single)
        .parse()
        .expect("Rust reads the floats it prints");
    // A reader rounds twice, to a double and then to a single; for 7.038531e-26 alone that ends
    // at its neighbour. Its exact value is longer and safe.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the reader's second rounding"
    )]
    let read_back = shortest as f32;
    if read_back == single {
        shortest
    } else {
        f64::from(single)
    }
}

struct ToValue {
    level: Level,
}

macro_rules! scalars {
    ($($method:ident: $type:ty,)*) => {$(
        fn $method(self, value: $type) -> Result<Value, JsonError> {
            Ok(Value::from(value))
        }
    )*};
}

impl Serializer for ToValue {
    type Ok = Value;
    type Error = JsonError;
    type SerializeSeq = ListBuilder;
    type SerializeTuple = ListBuilder;
    type SerializeTupleStruct = ListBuilder;
    type SerializeTupleVariant = ListBuilder;
    type SerializeMap = ObjectBuilder;
    type SerializeStruct = ObjectBuilder;
    type SerializeStructVariant = ObjectBuilder;

    scalars! {
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
        serialize_str: &str,
    }

    fn serialize_f32(self, value: f32) -> Result<Value, JsonError> {
        Value::float(single_as_double(value))
    }

    fn serialize_f64(self, value: f64) -> Result<Value, JsonError> {
        Value::float(value)
    }

    fn serialize_char(self, value: char) -> Result<Value, JsonError> {
        Ok(Value::Text(value.to_string()))
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<Value, JsonError> {
        self.level.inside(1)?;
        Ok(Value::list(value.iter().copied()))
    }

    fn serialize_none(self) -> Result<Value, JsonError> {
        Ok(Value::Null)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Value, JsonError> {
        self.level.wrapped()?.value(value)
    }

    fn serialize_unit(self) -> Result<Value, JsonError> {
        Ok(Value::Null)
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Result<Value, JsonError> {
        Ok(Value::Null)
    }

    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
    ) -> Result<Value, JsonError> {
        Ok(Value::from(variant))
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        value: &T,
    ) -> Result<Value, JsonError> {
        self.level.wrapped()?.value(value)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<Value, JsonError> {
        let level = self.level.inside(1)?;
        let value = level
            .value(value)
            .map_err(|error| error.within_key(variant))?;
        Ok(Value::object([(variant, value)]))
    }

    fn serialize_seq(self, len: Option<usize>) -> Result<ListBuilder, JsonError> {
        Ok(ListBuilder::new(self.level.inside(1)?, len.unwrap_or(0)))
    }

    fn serialize_tuple(self, len: usize) -> Result<ListBuilder, JsonError> {
        self.serialize_seq(Some(len))
    }

    fn serialize_tuple_struct(
        self,
        _name: &'static str,
        len: usize,
    ) -> Result<ListBuilder, JsonError> {
        self.serialize_seq(Some(len))
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<ListBuilder, JsonError> {
        Ok(ListBuilder::new(self.level.inside(2)?, len).of_variant(variant))
    }

    fn serialize_map(self, _len: Option<usize>) -> Result<ObjectBuilder, JsonError> {
        Ok(ObjectBuilder::new(self.level.inside(1)?))
    }

    fn serialize_struct(self, name: &'static str, _len: usize) -> Result<ObjectBuilder, JsonError> {
        if PASS_THROUGH.contains(&name) {
            return Ok(ObjectBuilder::new(self.level).of_raw_json(name));
        }
        self.serialize_map(None)
    }

    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _len: usize,
    ) -> Result<ObjectBuilder, JsonError> {
        Ok(ObjectBuilder::new(self.level.inside(2)?).of_variant(variant))
    }

    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Result<Value, JsonError> {
        display_text(value).map(Value::Text)
    }
}
