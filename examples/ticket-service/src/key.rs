//! Reads the `Idempotency-Key` header: a quoted structured-field string, or the bare text.
//!
//! It must never change a key: two texts that differ are two keys.

use axum::http::{HeaderMap, StatusCode};
use service_kit::Problem;

/// Longest key, in bytes.
pub(crate) const KEY_BYTES_MAX: usize = 1_024;

/// The key of a write, or the 400 to answer.
pub(crate) fn from_headers(headers: &HeaderMap) -> Result<String, Problem> {
    let mut values = headers.get_all("idempotency-key").iter();
    let Some(value) = values.next() else {
        let detail =
            "a write needs an Idempotency-Key header: a quoted string, new for each intent";
        return Err(Problem::new(StatusCode::BAD_REQUEST, "KEY_MISSING", detail));
    };
    if values.next().is_some() {
        return Err(invalid("there is more than one Idempotency-Key header"));
    }
    let text = value
        .to_str()
        .map_err(|_| invalid("it is not ASCII"))?
        .trim();
    let key = match text.strip_prefix('"') {
        Some(rest) => unquote(rest)?,
        None if text.contains(['"', '\\']) => return Err(invalid("a quote stands inside")),
        None => text.to_owned(),
    };
    check(&key)?;
    Ok(key)
}

/// Refuses a key that no write can have.
pub(crate) fn check(key: &str) -> Result<(), Problem> {
    if key.is_empty() {
        return Err(invalid("it is empty"));
    }
    if KEY_BYTES_MAX < key.len() {
        return Err(invalid(&format!("it is longer than {KEY_BYTES_MAX} bytes")));
    }
    Ok(())
}

/// What stands between the quotes; parameters behind the string are ignored, as RFC 8941 wants.
fn unquote(rest: &str) -> Result<String, Problem> {
    let mut key = String::with_capacity(rest.len());
    let mut chars = rest.chars();
    loop {
        match chars.next() {
            None => return Err(invalid("the closing quote is missing")),
            Some('"') => break,
            Some('\\') => match chars.next() {
                Some(escaped @ ('"' | '\\')) => key.push(escaped),
                Some(_) | None => return Err(invalid("only \\\" and \\\\ are escapes")),
            },
            Some(plain) => key.push(plain),
        }
    }
    let behind = chars.as_str().trim_start();
    if !behind.is_empty() && !behind.starts_with(';') {
        return Err(invalid("something follows the closing quote"));
    }
    Ok(key)
}

fn invalid(why: &str) -> Problem {
    Problem::bad("KEY_INVALID", format!("Idempotency-Key: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn read(text: &str) -> Result<String, String> {
        let mut headers = HeaderMap::new();
        headers.insert("idempotency-key", HeaderValue::from_str(text).unwrap());
        from_headers(&headers).map_err(|problem| problem.code)
    }

    #[test]
    fn quoted_and_bare_keys_are_read_without_change() {
        assert_eq!(read(r#""a/b c""#).unwrap(), "a/b c");
        assert_eq!(read(r#""say \"hi\" \\ bye""#).unwrap(), r#"say "hi" \ bye"#);
        assert_eq!(read(r#""k";v=1"#).unwrap(), "k");
        assert_eq!(read("8e03978e-40d5").unwrap(), "8e03978e-40d5");
    }

    #[test]
    fn malformed_keys_are_refused() {
        for text in [
            "",
            "\"\"",
            "\"open",
            "\"a\"b",
            r#""a\n""#,
            "a\"b",
            &"k".repeat(1_025),
        ] {
            assert_eq!(read(text).unwrap_err(), "KEY_INVALID", "{text}");
        }
        let absent = from_headers(&HeaderMap::new()).unwrap_err();
        assert_eq!(absent.code, "KEY_MISSING");
        let mut twice = HeaderMap::new();
        twice.append("idempotency-key", HeaderValue::from_static("a"));
        twice.append("idempotency-key", HeaderValue::from_static("b"));
        assert_eq!(from_headers(&twice).unwrap_err().code, "KEY_INVALID");
    }
}
