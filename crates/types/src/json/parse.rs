//! Reading JSON strictly: RFC 8259's grammar, each key once, nothing before or after the value.
//!
//! It must never accept what two readers could understand differently (duplicate keys, lone
//! surrogates, a byte order mark, trailing text), and never use stack or memory without a bound.

use super::error::{JsonError, Place, Position};
use super::value::{Object, Value};
use super::{BYTES_MAX, DEPTH_MAX};

/// Reads one JSON text of at most [`BYTES_MAX`] bytes and [`DEPTH_MAX`] levels.
///
/// Integers from `i128::MIN` to `u128::MAX` are exact. Every other number becomes the nearest
/// double, so digits beyond a double's precision are lost; beyond the largest double it is
/// refused. Errors: every [`JsonError`] but `KeyNotText` and `Refused`.
pub fn parse(text: &str) -> Result<Value, JsonError> {
    parse_within(text, BYTES_MAX)
}

/// Like [`parse()`], with the caller's bound on the length of the text in bytes.
pub fn parse_within(text: &str, bytes_max: usize) -> Result<Value, JsonError> {
    if bytes_max < text.len() {
        return Err(JsonError::TooLarge {
            bytes: text.len(),
            max: bytes_max,
        });
    }
    parse_at_depth(text, 0)
}

/// Reads a text that will lie `depth` levels deep inside another value.
pub(super) fn parse_at_depth(text: &str, depth: usize) -> Result<Value, JsonError> {
    let mut parser = Parser { text, at: 0 };
    if text.starts_with('\u{feff}') {
        return Err(parser.expected("a value without a byte order mark before it"));
    }
    parser.skip_space();
    let value = parser.value(depth)?;
    parser.skip_space();
    if parser.at < text.len() {
        return Err(parser.expected("the end of the text"));
    }
    Ok(value)
}

struct Parser<'t> {
    text: &'t str,
    /// Bytes read; always at a boundary of characters.
    at: usize,
}

impl Parser<'_> {
    fn value(&mut self, depth: usize) -> Result<Value, JsonError> {
        match self.peek() {
            Some(b'{') => self.object(depth + 1),
            Some(b'[') => self.list(depth + 1),
            Some(b'"') => Ok(Value::Text(self.string()?)),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word("true", Value::Bool(true)),
            Some(b'f') => self.word("false", Value::Bool(false)),
            Some(b'n') => self.word("null", Value::Null),
            Some(_) | None => Err(self.expected("a value")),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Value, JsonError> {
        self.guard_depth(depth)?;
        let mut object = Object::new();
        self.at += 1;
        self.skip_space();
        if self.eat(b'}') {
            return Ok(Value::Object(object));
        }
        loop {
            let key = self.key(&object)?;
            let value = self.value(depth)?;
            object.insert(key, value);
            self.skip_space();
            if self.eat(b'}') {
                return Ok(Value::Object(object));
            }
            self.require(b',', "`,` or `}`")?;
            self.skip_space();
        }
    }

    /// Reads a key that `object` does not have yet, up to the value after the colon.
    fn key(&mut self, object: &Object) -> Result<String, JsonError> {
        if self.peek() != Some(b'"') {
            return Err(self.expected("a key in double quotes"));
        }
        let start = self.at;
        let key = self.string()?;
        if object.contains_key(&key) {
            return Err(JsonError::DuplicateKey {
                at: Place::Text(self.position(start)),
                key,
            });
        }
        self.skip_space();
        self.require(b':', "`:`")?;
        self.skip_space();
        Ok(key)
    }

    fn list(&mut self, depth: usize) -> Result<Value, JsonError> {
        self.guard_depth(depth)?;
        let mut items = Vec::new();
        self.at += 1;
        self.skip_space();
        if self.eat(b']') {
            return Ok(Value::List(items));
        }
        loop {
            items.push(self.value(depth)?);
            self.skip_space();
            if self.eat(b']') {
                return Ok(Value::List(items));
            }
            self.require(b',', "`,` or `]`")?;
            self.skip_space();
        }
    }

    fn word(&mut self, word: &'static str, value: Value) -> Result<Value, JsonError> {
        if !self.text[self.at..].starts_with(word) {
            return Err(self.expected("`true`, `false` or `null`"));
        }
        self.at += word.len();
        Ok(value)
    }

    fn number(&mut self) -> Result<Value, JsonError> {
        let start = self.at;
        self.eat(b'-');
        if self.eat(b'0') {
            if self.peek().is_some_and(|b| b.is_ascii_digit()) {
                return Err(self.expected("no digit after a leading zero"));
            }
        } else {
            self.digits()?;
        }
        let mut is_integer = true;
        if self.eat(b'.') {
            is_integer = false;
            self.digits()?;
        }
        if self.eat(b'e') || self.eat(b'E') {
            is_integer = false;
            let _signed = self.eat(b'+') || self.eat(b'-');
            self.digits()?;
        }
        let token = &self.text[start..self.at];
        let exact = if is_integer {
            exact_integer(token)
        } else {
            None
        };
        exact.map_or_else(|| self.double(token, start), Ok)
    }

    fn double(&self, token: &str, start: usize) -> Result<Value, JsonError> {
        let number: f64 = token
            .parse()
            .expect("JSON's numbers are a subset of Rust's");
        Value::float(number).map_err(|_| JsonError::NotFinite {
            at: Place::Text(self.position(start)),
        })
    }

    fn digits(&mut self) -> Result<(), JsonError> {
        let start = self.at;
        while self.peek().is_some_and(|b| b.is_ascii_digit()) {
            self.at += 1;
        }
        if self.at == start {
            Err(self.expected("a digit"))
        } else {
            Ok(())
        }
    }

    /// Reads a text; the opening quote is next.
    fn string(&mut self) -> Result<String, JsonError> {
        self.at += 1;
        let mut out = String::new();
        loop {
            let rest = &self.text[self.at..];
            let run = rest
                .bytes()
                .position(|b| b < 0x20 || b == b'"' || b == b'\\')
                .unwrap_or(rest.len());
            out.push_str(&rest[..run]);
            self.at += run;
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => out.push(self.escape()?),
                Some(_) => return Err(self.expected("an escape instead of a control character")),
                None => return Err(self.expected("a closing double quote")),
            }
        }
    }

    /// Reads an escape; the backslash is next.
    fn escape(&mut self) -> Result<char, JsonError> {
        self.at += 1;
        let c = match self.peek() {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode_escape(),
            Some(_) | None => return Err(self.expected("one of `\"\\/bfnrtu` after a backslash")),
        };
        self.at += 1;
        Ok(c)
    }

    /// Reads one escaped code point, of one or two UTF-16 units; the `u` is next.
    fn unicode_escape(&mut self) -> Result<char, JsonError> {
        let start = self.at - 1;
        let lone = "a surrogate pair, not a lone surrogate";
        let first = self.unit()?;
        if !(0xd800..0xe000).contains(&first) {
            return Ok(char::from_u32(first).expect("a unit outside the surrogates is a char"));
        }
        let rest = &self.text[self.at..];
        if 0xdc00 <= first || !rest.starts_with("\\u") {
            return Err(self.expected_at(start, lone));
        }
        self.at += 1;
        let second = self.unit()?;
        if !(0xdc00..0xe000).contains(&second) {
            return Err(self.expected_at(start, lone));
        }
        let point = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
        Ok(char::from_u32(point).expect("a surrogate pair is a char"))
    }

    /// Reads `u` and four hexadecimal digits.
    fn unit(&mut self) -> Result<u32, JsonError> {
        self.at += 1;
        let mut unit = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|b| char::from(b).to_digit(16));
            let Some(digit) = digit else {
                return Err(self.expected("four hexadecimal digits"));
            };
            unit = unit * 16 + digit;
            self.at += 1;
        }
        Ok(unit)
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn require(&mut self, byte: u8, expected: &'static str) -> Result<(), JsonError> {
        if self.eat(byte) {
            Ok(())
        } else {
            Err(self.expected(expected))
        }
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    fn guard_depth(&self, depth: usize) -> Result<(), JsonError> {
        if depth <= DEPTH_MAX {
            return Ok(());
        }
        Err(JsonError::TooDeep {
            at: Place::Text(self.position(self.at)),
            max: DEPTH_MAX,
        })
    }

    fn expected(&self, expected: &'static str) -> JsonError {
        self.expected_at(self.at, expected)
    }

    fn expected_at(&self, byte: usize, expected: &'static str) -> JsonError {
        JsonError::Syntax {
            at: self.position(byte),
            expected,
        }
    }

    /// Counts lines and columns up to `byte`; only errors pay for it.
    fn position(&self, byte: usize) -> Position {
        let before = &self.text[..byte];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Position {
            byte,
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }
}

/// The integer of a token, when an integer of ours holds it.
fn exact_integer(token: &str) -> Option<Value> {
    if let Ok(integer) = token.parse::<i128>() {
        return Some(Value::Int(integer));
    }
    token.parse::<u128>().ok().map(Value::from)
}
