//! JSON Schemas of users' types as canonical text, for the class's fingerprint.
//!
//! What does not change which JSON is valid is left out: otherwise a better comment in the user's
//! source would make a stored run's class look changed.

use mainstay_graph::Schema;
use mainstay_types::json::{self, JsonError};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;

/// Keywords for people only.
const ANNOTATIONS: [&str; 4] = ["$comment", "description", "examples", "title"];

/// The schema of `T`.
pub(crate) fn schema_of<T: JsonSchema>() -> Result<Schema, JsonError> {
    let meaning_only = RecursiveTransform(|schema: &mut schemars::Schema| {
        for keyword in ANNOTATIONS {
            schema.remove(keyword);
        }
        // A set, whose order is that of the fields in the source.
        if let Some(required) = schema
            .get_mut("required")
            .and_then(|names| names.as_array_mut())
        {
            required.sort_by(|a, b| a.as_str().cmp(&b.as_str()));
        }
    });
    let settings = SchemaSettings::draft2020_12().with_transform(meaning_only);
    let schema = settings.into_generator().into_root_schema_for::<T>();
    Ok(Schema(json::to_canonical(&schema)?.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    mod first {
        /// A person.
        #[derive(schemars::JsonSchema)]
        #[expect(dead_code, reason = "only its schema counts")]
        pub(super) struct Person {
            /// What the field is called is not an annotation.
            description: String,
            age: u8,
        }
    }

    mod second {
        /// A person, told better.
        #[derive(schemars::JsonSchema)]
        #[expect(dead_code, reason = "only its schema counts")]
        pub(super) struct Person {
            age: u8,
            description: String,
        }
    }

    #[test]
    fn comments_and_the_order_of_fields_do_not_change_a_schema() {
        let [first, second] =
            [schema_of::<first::Person>(), schema_of::<second::Person>()].map(Result::unwrap);
        assert!(
            first.0.contains(r#""description":{"type":"string"}"#),
            "{}",
            first.0
        );
        assert!(!first.0.contains("A person"), "{}", first.0);
        assert_eq!(
            first, second,
            "the order of fields is no part of the meaning either"
        );
    }

    #[test]
    fn a_changed_type_changes_the_schema() {
        let [u8s, texts] = [schema_of::<Vec<u8>>(), schema_of::<Vec<String>>()].map(Result::unwrap);
        assert_ne!(u8s, texts);
        assert_eq!(schema_of::<Vec<u8>>().unwrap(), u8s);
    }
}
