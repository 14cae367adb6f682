//! The one text of a value: order, escapes and number forms of RFC 8785, integers exact.
//!
//! It must never print an integer through a double, nor let anything but the value decide a byte.

use std::cmp::Ordering;
use std::fmt::{LowerExp, Write as _};
use std::str::FromStr;

use super::value::{Object, Value};

/// A `String` takes any text; only memory bounds it.
const INFALLIBLE: &str = "writing into a String cannot fail";

const SCIENTIFIC: &str = "a float in scientific form has a decimal exponent";

/// Two texts can be equally near only where neighbouring floats are further apart than texts of
/// that length, which takes as many digits as a single (2^23) or double (2^52) has precision.
const TIE_DIGITS_MIN: usize = 7;

/// From this power of ten on, ECMAScript prints a number with an exponent.
const PLAIN_POINT_MAX: i32 = 21;
/// A number smaller than one keeps up to this many zeros after its point.
const PLAIN_ZEROS_MAX: i32 = 6;

pub(super) fn write_value(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Int(integer) => write!(out, "{integer}").expect(INFALLIBLE),
        Value::Big(big) => write!(out, "{}", big.get()).expect(INFALLIBLE),
        Value::Float(float) => out.push_str(&float_text(float.get())),
        Value::Text(text) => write_text(text, out),
        Value::List(items) => write_list(items, out),
        Value::Object(object) => write_object(object, out),
    }
}

fn write_list(items: &[Value], out: &mut String) {
    out.push('[');
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write_value(item, out);
    }
    out.push(']');
}

fn write_object(object: &Object, out: &mut String) {
    let mut entries: Vec<(&String, &Value)> = object.iter().collect();
    // Below U+E000 the order of code points, which the map has, is the order of UTF-16 units.
    if object
        .keys()
        .any(|key| key.chars().any(|c| c >= '\u{e000}'))
    {
        entries.sort_by(|(a, _), (b, _)| utf16_order(a, b));
    }
    out.push('{');
    for (index, (key, value)) in entries.into_iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write_text(key, out);
        out.push(':');
        write_value(value, out);
    }
    out.push('}');
}

fn utf16_order(a: &str, b: &str) -> Ordering {
    a.encode_utf16().cmp(b.encode_utf16())
}

/// Appends `text` in quotes, escaping only what JSON requires.
pub(super) fn write_text(text: &str, out: &mut String) {
    out.reserve(text.len() + 2);
    out.push('"');
    let mut done = 0;
    for (at, byte) in text.bytes().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        // `byte` is ASCII, so both ends of the slice are boundaries of characters.
        out.push_str(&text[done..at]);
        write_escape(byte, out);
        done = at + 1;
    }
    out.push_str(&text[done..]);
    out.push('"');
}

fn write_escape(byte: u8, out: &mut String) {
    match byte {
        b'"' => out.push_str("\\\""),
        b'\\' => out.push_str("\\\\"),
        0x08 => out.push_str("\\b"),
        b'\t' => out.push_str("\\t"),
        b'\n' => out.push_str("\\n"),
        0x0c => out.push_str("\\f"),
        b'\r' => out.push_str("\\r"),
        control => write!(out, "\\u{control:04x}").expect(INFALLIBLE),
    }
}

/// The ECMAScript text of a finite double: the shortest digits that read back as the same double.
pub(super) fn float_text(number: f64) -> String {
    assert!(
        number.is_finite(),
        "JSON has no text for NaN and infinities"
    );
    if number == 0.0 {
        return "0".to_owned();
    }
    let scientific = shortest(number.abs());
    let (mantissa, exponent) = scientific.split_once('e').expect(SCIENTIFIC);
    let exponent: i32 = exponent.parse().expect(SCIENTIFIC);
    let digits = mantissa.replace('.', "");
    let mut out = String::with_capacity(24);
    if number < 0.0 {
        out.push('-');
    }
    write_digits(&digits, exponent + 1, &mut out);
    out
}

/// The shortest text in scientific form that reads back as `number`, the nearest of these, and of
/// two equally near the one with an even last digit.
///
/// Rust's `{:e}` alone leaves the last rule open and takes 1424953923781206.3 for a double that
/// lies exactly between `.2` and `.3`.
pub(super) fn shortest<T>(number: T) -> String
where
    T: LowerExp + FromStr + PartialEq,
{
    let any = format!("{number:e}");
    let digits = any
        .bytes()
        .take_while(|b| *b != b'e')
        .filter(u8::is_ascii_digit)
        .count();
    if digits < TIE_DIGITS_MIN {
        return any;
    }
    let even = format!("{number:.*e}", digits - 1);
    // Next to a power of two the nearest text of this length can belong to the neighbour.
    let reads_back = even.parse::<T>().is_ok_and(|read| read == number);
    if reads_back { even } else { any }
}

/// Writes `0.digits * 10^point` the way ECMAScript does.
fn write_digits(digits: &str, point: i32, out: &mut String) {
    let count = i32::try_from(digits.len()).expect("a double has at most 17 shortest digits");
    if count <= point && point <= PLAIN_POINT_MAX {
        out.push_str(digits);
        push_zeros(point - count, out);
    } else if 0 < point && point <= PLAIN_POINT_MAX {
        let split = usize::try_from(point).expect("point is positive here");
        write!(out, "{}.{}", &digits[..split], &digits[split..]).expect(INFALLIBLE);
    } else if -PLAIN_ZEROS_MAX < point && point <= 0 {
        out.push_str("0.");
        push_zeros(-point, out);
        out.push_str(digits);
    } else {
        write_exponent(digits, point - 1, out);
    }
}

fn write_exponent(digits: &str, exponent: i32, out: &mut String) {
    let (first, rest) = digits.split_at(1);
    out.push_str(first);
    if !rest.is_empty() {
        out.push('.');
        out.push_str(rest);
    }
    write!(out, "e{exponent:+}").expect(INFALLIBLE);
}

fn push_zeros(count: i32, out: &mut String) {
    for _ in 0..count {
        out.push('0');
    }
}
