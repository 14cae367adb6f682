//! The effect key on the wire.
//!
//! `Idempotency-Key` is a quoted ASCII string (RFC 8941). An effect key may hold more, so what is
//! not printable ASCII is percent-encoded byte by byte: `acme/ticket/id:K%C3%B6ln/item:0`. The
//! key's own form has a `%` only as `%25` and `%2F`, so two keys never become one. The same text is
//! what a look-up asks for. It must never be shortened or hashed: a person has to find it again.

use std::fmt::Write as _;

use mainstay_types::EffectKey;

/// The key as the receiver sees it, without quotes.
#[must_use]
pub fn wire_key(key: &EffectKey) -> String {
    let mut wire = String::new();
    for byte in key.to_string().bytes() {
        match byte {
            b' '..=b'~' => wire.push(char::from(byte)),
            0..=31 | 127..=255 => {
                write!(wire, "%{byte:02X}").expect("writing to a string cannot fail");
            }
        }
    }
    wire
}

/// `wire` as a structured-field string: quoted, with `"` and `\` escaped.
#[must_use]
pub fn quoted(wire: &str) -> String {
    format!("\"{}\"", wire.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use mainstay_types::{BusinessId, EffectName, Position, Scope, Tenant};

    use super::*;

    fn key(tenant: &str, id: &str) -> String {
        wire_key(&EffectKey {
            tenant: Tenant::new(tenant).expect("a valid tenant"),
            effect: EffectName::new("ticket").expect("a valid name"),
            scope: Scope::Business(BusinessId::new(id).expect("a valid id")),
            position: Position::Item(2),
        })
    }

    #[test]
    fn a_plain_key_is_sent_as_it_prints() {
        assert_eq!(key("acme", "PR-7"), "acme/ticket/id:PR-7/item:2");
        assert_eq!(quoted("acme/ticket"), "\"acme/ticket\"");
    }

    #[test]
    fn what_is_not_ascii_is_encoded_and_no_two_keys_become_one() {
        assert_eq!(key("acme", "Köln"), "acme/ticket/id:K%C3%B6ln/item:2");
        assert_eq!(
            key("acme", "K%C3%B6ln"),
            "acme/ticket/id:K%25C3%25B6ln/item:2"
        );
        assert_eq!(key("a/b", "x"), "a%2Fb/ticket/id:x/item:2");
    }

    #[test]
    fn quotes_and_backslashes_are_escaped() {
        assert_eq!(quoted(r#"say "hi" \ bye"#), r#""say \"hi\" \\ bye""#);
    }
}
