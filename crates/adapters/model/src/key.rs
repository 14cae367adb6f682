//! The model's key: from an environment variable, once, or none at all.
//!
//! It must never be an argument of a function that a user calls: what a program is given as text
//! ends up in its source, its configuration or a shell's history.

use std::env::VarError;

use mainstay_http::Secret;

use crate::error::ModelError;

/// The variable that is read unless another one is named.
pub const KEY_VARIABLE_DEFAULT: &str = "OPENAI_API_KEY";

/// Where the key comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum KeySource {
    /// This environment variable.
    Variable(String),
    /// Nowhere: no `Authorization` is sent.
    Keyless,
}

impl KeySource {
    /// The value of the `Authorization` header, if one is sent.
    pub(crate) fn authorization(&self) -> Result<Option<Secret>, ModelError> {
        match self {
            Self::Variable(variable) => bearer(variable, std::env::var(variable)).map(Some),
            Self::Keyless => Ok(None),
        }
    }
}

fn bearer(variable: &str, found: Result<String, VarError>) -> Result<Secret, ModelError> {
    let missing = |why| {
        Err(ModelError::KeyMissing {
            variable: variable.to_owned(),
            why,
        })
    };
    let key = match found {
        Ok(key) => key,
        Err(VarError::NotPresent) => return missing("is not set"),
        Err(VarError::NotUnicode(_)) => return missing("is no text"),
    };
    if key.is_empty() {
        return missing("is empty");
    }
    if !key.bytes().all(|byte| byte.is_ascii_graphic()) {
        return missing("holds what no header can carry, for example a space or a line break");
    }
    Ok(Secret::new(format!("Bearer {key}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_is_missing_or_broken_is_named_by_its_variable_and_never_shown() {
        for (found, says) in [
            (Err(VarError::NotPresent), "is not set"),
            (Err(VarError::NotUnicode("swordfish".into())), "is no text"),
            (Ok(String::new()), "is empty"),
            (Ok("swordfish\n".to_owned()), "a line break"),
        ] {
            let error = bearer("MY_KEY", found).expect_err("no key");
            let text = format!("{error} {error:?}");
            assert!(text.starts_with("MODEL_KEY_MISSING: "), "{text}");
            assert!(text.contains("MY_KEY") && text.contains(says), "{text}");
            assert!(
                text.contains("\n\nhint: ") && !text.contains("swordfish"),
                "{text}"
            );
        }
    }

    #[test]
    fn a_key_is_sent_as_a_bearer_and_prints_as_sensitive() {
        let header = bearer("MY_KEY", Ok("swordfish".to_owned())).expect("a key");
        assert_eq!(format!("{header} {header:?}"), "[sensitive] [sensitive]");
    }
}
