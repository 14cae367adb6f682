//! The header `Idempotency-Key`: a quoted string, as its draft standard has it.
//!
//! It must never guess: a key that is read otherwise than it was meant is another key.

use axum::http::HeaderMap;

/// The name of the header.
pub(super) const HEADER: &str = "idempotency-key";

/// Longer keys are refused.
const BYTES_MAX: usize = 255;

/// The key, `None` without the header, or what is wrong with it.
pub(super) fn of(headers: &HeaderMap) -> Result<Option<String>, &'static str> {
    let mut values = headers.get_all(HEADER).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    if values.next().is_some() {
        return Err("there is more than one");
    }
    let text = value.to_str().map_err(|_| "it is not visible ASCII")?;
    let inner = text
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'))
        .ok_or("it is no quoted string")?;
    if inner.is_empty() || BYTES_MAX < inner.len() {
        return Err("it must have 1 to 255 characters");
    }
    if inner.contains(['"', '\\']) {
        return Err("quotes and backslashes are not taken");
    }
    Ok(Some(inner.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(values: &[&str]) -> Result<Option<String>, &'static str> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(HEADER, value.parse().expect("a header value"));
        }
        of(&headers)
    }

    #[test]
    fn a_key_is_what_stands_between_the_quotes() {
        assert_eq!(read(&[]), Ok(None));
        assert_eq!(read(&["\"po:PR-1\""]), Ok(Some("po:PR-1".to_owned())));
    }

    #[test]
    fn what_is_no_quoted_string_or_no_single_key_is_refused() {
        for values in [
            ["po:PR-1"].as_slice(),
            &["\"po"],
            &["\""],
            &["\"\""],
            &["\"a\\\"b\""],
            &["\"a\"", "\"a\""],
        ] {
            assert!(read(values).is_err(), "{values:?}");
        }
        assert!(read(&[&format!("\"{}\"", "k".repeat(256))]).is_err());
    }
}
