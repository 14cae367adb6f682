//! Words of a command that a person may paste into a POSIX shell.
//!
//! What a path is called must never become part of what the shell does.

/// The text as one word of a shell: as it is when nothing in it means anything to a shell, else in
/// single quotes.
pub(crate) fn word(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./:@%+,=".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// The same for a path; one that begins like an option is said so that it is none.
pub(crate) fn path(path: &std::path::Path) -> String {
    let text = path.to_string_lossy();
    match text.starts_with('-') {
        true => word(&format!("./{text}")),
        false => word(&text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_means_something_to_a_shell_is_quoted() {
        for plain in ["./mainstay-store", "/srv/a_b/c-1.2", "süd/störe", "C:@%+,="] {
            assert_eq!(word(plain), plain);
        }
        for (text, quoted) in [
            ("", "''"),
            ("a b", "'a b'"),
            ("~", "'~'"),
            ("$(x)", "'$(x)'"),
            ("`x`", "'`x`'"),
            ("it's", r"'it'\''s'"),
            ("a\\b\"c*", "'a\\b\"c*'"),
        ] {
            assert_eq!(word(text), quoted);
        }
        assert_eq!(path(std::path::Path::new("-rf x")), "'./-rf x'");
    }
}
