//! A JSON value whose equality is the equality of its canonical text.
//!
//! It must never hold NaN, an infinity, or a float that prints like an integer: such a float is
//! stored as that integer, so that reading the canonical text back gives an equal value.

use std::collections::BTreeMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use super::error::{JsonError, Place};
use super::parse::parse;
use super::write::{float_text, write_value};

/// The entries of an object, each key once.
///
/// Iterates by code points; the canonical text orders by UTF-16 code units, which differs only
/// above U+D7FF.
pub type Object = BTreeMap<String, Value>;

/// A JSON value.
///
/// Equal exactly when the canonical texts are equal. [`super::parse()`] and `to_value` give at most
/// [`super::DEPTH_MAX`] levels; a value built by hand may be deeper, and then cannot be read back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Value {
    /// `null`.
    #[default]
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// An integer from `i128::MIN` to `i128::MAX`, exact.
    Int(i128),
    /// An integer above `i128::MAX` up to `u128::MAX`, exact.
    Big(Big),
    /// Any other number. Made by [`Value::float`].
    Float(Finite),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Value>),
    /// An object.
    Object(Object),
}

/// An integer above `i128::MAX`; smaller ones are [`Value::Int`], so no number has two forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Big(u128);

/// A finite double whose canonical text is not that of an integer. Made by [`Value::float`].
#[derive(Clone, Copy, Debug)]
pub struct Finite(f64);

impl Big {
    /// The integer.
    pub fn get(self) -> u128 {
        self.0
    }
}

impl Finite {
    /// The double.
    pub fn get(self) -> f64 {
        self.0
    }
}

// Bits are a sound identity here: neither NaN nor a negative zero can be inside.
impl PartialEq for Finite {
    fn eq(&self, other: &Self) -> bool {
        self.0.to_bits() == other.0.to_bits()
    }
}

impl Eq for Finite {}

impl Hash for Finite {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.to_bits().hash(state);
    }
}

impl Value {
    /// A number from a double.
    ///
    /// Becomes [`Value::Int`] when its canonical text is an integer: `1.0` is `1`, `-0.0` is `0`,
    /// `1e20` is `100000000000000000000`. Errors: [`JsonError::NotFinite`] at `$`.
    pub fn float(number: f64) -> Result<Self, JsonError> {
        if !number.is_finite() {
            return Err(JsonError::NotFinite { at: Place::root() });
        }
        // The printed digits, not the double's exact value: those are what is read back.
        match float_text(number).parse::<i128>() {
            Ok(integer) => Ok(Self::Int(integer)),
            Err(_) => Ok(Self::Float(Finite(number))),
        }
    }

    /// An object from entries written in code.
    ///
    /// # Panics
    /// When a key occurs twice, which is a bug of the caller. Entries that come from data are
    /// collected into an [`Object`] first.
    pub fn object<K, V>(entries: impl IntoIterator<Item = (K, V)>) -> Self
    where
        K: Into<String>,
        V: Into<Value>,
    {
        let mut object = Object::new();
        for (key, value) in entries {
            let key = key.into();
            assert!(
                !object.contains_key(&key),
                "the key {key:?} is written twice"
            );
            object.insert(key, value.into());
        }
        Self::Object(object)
    }

    /// A list.
    pub fn list<V: Into<Value>>(items: impl IntoIterator<Item = V>) -> Self {
        Self::List(items.into_iter().map(Into::into).collect())
    }

    /// The canonical text.
    pub fn to_canonical(&self) -> String {
        let mut out = String::new();
        self.write_canonical(&mut out);
        out
    }

    /// Appends the canonical text to `out`.
    pub fn write_canonical(&self, out: &mut String) {
        write_value(self, out);
    }

    /// The entry of an object; `None` when there is none or this is no object.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.as_object()?.get(key)
    }

    /// The value an RFC 6901 pointer names: `""` is this value, `"/a/0/b"` goes down.
    ///
    /// In a segment `~1` stands for `/` and `~0` for `~`. `None` when nothing is there or the
    /// pointer is malformed.
    pub fn pointer(&self, pointer: &str) -> Option<&Value> {
        if pointer.is_empty() {
            return Some(self);
        }
        let path = pointer.strip_prefix('/')?;
        path.split('/')
            .try_fold(self, |value, segment| value.child(segment))
    }

    fn child(&self, segment: &str) -> Option<&Value> {
        match self {
            Self::Object(object) => object.get(&unescape(segment)?),
            Self::List(items) => items.get(list_index(segment)?),
            Self::Null
            | Self::Bool(_)
            | Self::Int(_)
            | Self::Big(_)
            | Self::Float(_)
            | Self::Text(_) => None,
        }
    }

    /// Whether this is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// The text, if this is one.
    pub fn as_str(&self) -> Option<&str> {
        if let Self::Text(text) = self {
            Some(text)
        } else {
            None
        }
    }

    /// The truth value, if this is one.
    pub fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(truth) = self {
            Some(*truth)
        } else {
            None
        }
    }

    /// The integer, if this is one that fits.
    pub fn as_i64(&self) -> Option<i64> {
        i64::try_from(self.as_i128()?).ok()
    }

    /// The integer, if this is one that fits.
    pub fn as_u64(&self) -> Option<u64> {
        u64::try_from(self.as_i128()?).ok()
    }

    /// The integer, if this is one that fits.
    pub fn as_i128(&self) -> Option<i128> {
        if let Self::Int(integer) = self {
            Some(*integer)
        } else {
            None
        }
    }

    /// The integer, if this is one that fits.
    pub fn as_u128(&self) -> Option<u128> {
        if let Self::Big(big) = self {
            return Some(big.get());
        }
        u128::try_from(self.as_i128()?).ok()
    }

    /// Any number as the nearest double; a value made from a double gives that double back.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Self::Int(integer) => Some(*integer as f64),
            Self::Big(big) => Some(big.get() as f64),
            Self::Float(float) => Some(float.get()),
            Self::Null | Self::Bool(_) | Self::Text(_) | Self::List(_) | Self::Object(_) => None,
        }
    }

    /// The items, if this is a list.
    pub fn as_list(&self) -> Option<&[Value]> {
        if let Self::List(items) = self {
            Some(items)
        } else {
            None
        }
    }

    /// The entries, if this is an object.
    pub fn as_object(&self) -> Option<&Object> {
        if let Self::Object(object) = self {
            Some(object)
        } else {
            None
        }
    }
}

/// The key a pointer's segment stands for; `None` for a `~` followed by neither `0` nor `1`.
fn unescape(segment: &str) -> Option<String> {
    let mut key = String::with_capacity(segment.len());
    let mut chars = segment.chars();
    while let Some(c) = chars.next() {
        if c != '~' {
            key.push(c);
            continue;
        }
        match chars.next() {
            Some('0') => key.push('~'),
            Some('1') => key.push('/'),
            Some(_) | None => return None,
        }
    }
    Some(key)
}

/// A pointer's list index: digits only, no leading zero, so that an item has one pointer.
fn list_index(segment: &str) -> Option<usize> {
    let plain = segment == "0" || !segment.starts_with('0');
    let digits = segment.bytes().all(|b| b.is_ascii_digit());
    if plain && digits {
        segment.parse().ok()
    } else {
        None
    }
}

impl fmt::Display for Value {
    /// The canonical text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_canonical())
    }
}

impl FromStr for Value {
    type Err = JsonError;

    fn from_str(text: &str) -> Result<Self, JsonError> {
        parse(text)
    }
}

macro_rules! from_integer {
    ($($int:ty)*) => {$(
        impl From<$int> for Value {
            fn from(integer: $int) -> Self {
                Self::Int(i128::from(integer))
            }
        }
    )*};
}

from_integer!(i8 i16 i32 i64 i128 u8 u16 u32 u64);

impl From<u128> for Value {
    fn from(integer: u128) -> Self {
        match i128::try_from(integer) {
            Ok(small) => Self::Int(small),
            Err(_) => Self::Big(Big(integer)),
        }
    }
}

impl From<usize> for Value {
    fn from(integer: usize) -> Self {
        Self::Int(i128::try_from(integer).expect("no platform has addresses of 127 bits"))
    }
}

impl From<isize> for Value {
    fn from(integer: isize) -> Self {
        Self::Int(i128::try_from(integer).expect("no platform has addresses of 127 bits"))
    }
}

impl From<bool> for Value {
    fn from(truth: bool) -> Self {
        Self::Bool(truth)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&String> for Value {
    fn from(text: &String) -> Self {
        Self::Text(text.clone())
    }
}

impl From<Object> for Value {
    fn from(object: Object) -> Self {
        Self::Object(object)
    }
}

impl<V: Into<Value>> From<Vec<V>> for Value {
    fn from(items: Vec<V>) -> Self {
        Self::list(items)
    }
}

impl<V: Into<Value>> From<Option<V>> for Value {
    /// `null` for `None`.
    fn from(value: Option<V>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl TryFrom<f64> for Value {
    type Error = JsonError;

    fn try_from(number: f64) -> Result<Self, JsonError> {
        Self::float(number)
    }
}
