//! What a call's request is made of: path segments, query pairs, a JSON body.
//!
//! Everything is encoded here, once, so that no value can change which route is asked: a segment
//! holds its text and nothing else. The body is canonical JSON, the same bytes for each attempt.

use std::fmt::Write as _;

use bytes::Bytes;
use mainstay_dispatch::encode;
use reqwest::Url;
use serde::Serialize;

/// The parts of a request below a client's base URL.
#[derive(Clone, Debug, Default)]
pub struct RequestParts {
    path: String,
    query: String,
    body: Option<Bytes>,
    problem: Option<String>,
}

impl RequestParts {
    /// A request to the path of these segments, below the client's base URL. Each is
    /// percent-encoded; one that is empty, `.` or `..` makes the request INVALID_INPUT, because it
    /// would name another route.
    pub fn path<S: AsRef<str>>(segments: impl IntoIterator<Item = S>) -> Self {
        let mut parts = Self::default();
        for segment in segments {
            let segment = segment.as_ref();
            if matches!(segment, "" | "." | "..") {
                parts.problem(format!(
                    "the path segment {segment:?} would name another route"
                ));
            }
            parts.path.push('/');
            parts.path.push_str(&escaped(segment));
        }
        parts
    }

    /// Adds a query pair. Queries are never shown in messages; paths are.
    #[must_use]
    pub fn query(mut self, name: &str, value: impl AsRef<str>) -> Self {
        self.query
            .push(if self.query.is_empty() { '?' } else { '&' });
        self.query.push_str(&escaped(name));
        self.query.push('=');
        self.query.push_str(&escaped(value.as_ref()));
        self
    }

    /// Sets the body: `value` in canonical JSON, at most `limits::PAYLOAD_BYTES_MAX` bytes. Beyond
    /// that, and for what JSON cannot hold (NaN), the request is INVALID_INPUT.
    #[must_use]
    pub fn json<T: Serialize + ?Sized>(mut self, value: &T) -> Self {
        match encode(value) {
            Ok(json) => self.body = Some(Bytes::copy_from_slice(json.as_bytes())),
            Err(error) => self.problem(format!("the body cannot be sent: {error}")),
        }
        self
    }

    fn problem(&mut self, problem: String) {
        self.problem.get_or_insert(problem);
    }

    /// The URL below `base` and the body, or what is wrong.
    pub(crate) fn resolve(self, base: &Url) -> Result<(Url, Option<Bytes>), String> {
        if let Some(problem) = self.problem {
            return Err(problem);
        }
        let text = format!(
            "{}{}{}",
            base.as_str().trim_end_matches('/'),
            self.path,
            self.query
        );
        match Url::parse(&text) {
            Ok(url) => Ok((url, self.body)),
            Err(error) => Err(format!("the URL is invalid: {error}")),
        }
    }
}

/// `text` with everything but unreserved characters percent-encoded.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~') {
            escaped.push(char::from(byte));
        } else {
            write!(escaped, "%{byte:02X}").expect("writing to a string cannot fail");
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(base: &str, parts: RequestParts) -> Result<String, String> {
        let base = Url::parse(base).expect("a valid base");
        parts.resolve(&base).map(|(url, _)| url.into())
    }

    #[test]
    fn a_value_never_changes_the_route_it_is_put_into() {
        let parts = RequestParts::path(["by-key", "a/b?c#d%2F é"]).query("q&x", "1 + 1=2&y");
        assert_eq!(
            url("http://h:1/api/", parts).expect("a valid request"),
            "http://h:1/api/by-key/a%2Fb%3Fc%23d%252F%20%C3%A9?q%26x=1%20%2B%201%3D2%26y"
        );
    }

    #[test]
    fn several_pairs_keep_their_order() {
        let parts = RequestParts::path(["t"]).query("b", "1").query("a", "2");
        assert_eq!(
            url("http://h", parts).expect("a valid request"),
            "http://h/t?b=1&a=2"
        );
    }

    #[test]
    fn a_segment_that_would_name_another_route_is_refused() {
        for segment in ["", ".", ".."] {
            let refused = url("http://h", RequestParts::path(["tickets", segment, "x"]));
            assert!(
                refused.expect_err("refused").contains("another route"),
                "{segment:?}"
            );
        }
        assert!(url("http://h", RequestParts::path(["..."])).is_ok());
    }

    #[test]
    fn the_body_is_canonical_and_what_is_no_json_is_refused() {
        let base = Url::parse("http://h").expect("a valid base");
        let parts = RequestParts::path(["t"]).json(&serde_json::json!({"b": 1, "a": [2.50]}));
        let (_, body) = parts.resolve(&base).expect("a valid request");
        assert_eq!(body.expect("a body"), r#"{"a":[2.5],"b":1}"#);
        let refused = RequestParts::path(["t"]).json(&f64::NAN).resolve(&base);
        assert!(
            refused
                .expect_err("no JSON")
                .starts_with("the body cannot be sent")
        );
    }
}
