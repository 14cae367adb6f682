//! The schema of a structured answer: sent with the request, and held against the answer.
//!
//! It must never fetch anything (the checker is built without), and never name a part of an answer:
//! what is said of a wrong one are places in the schema, which are the type's own words.

use jsonschema::Validator;
use mainstay_dispatch::{Value, decode};
use mainstay_types::Payload;
use schemars::generate::SchemaSettings;
use serde_json::{Value as Json, json};

use crate::bounds::{SCHEMA_BYTES_MAX, SHOWN_PLACE_CHARS_MAX, SHOWN_PLACES_MAX};
use crate::classify::codes;
use crate::error::{ModelError, SchemaProblem};

/// Longest name of a schema; a rule of the protocol.
const NAME_CHARS_MAX: usize = 64;

/// A schema, ready to be sent and to be checked against.
pub(crate) struct Schema {
    name: String,
    schema: Json,
    validator: Validator,
}

/// Why an answer cannot be used: a code, and words without any of it.
pub(crate) type Wrong = (&'static str, String);

impl Schema {
    /// The schema of `R`.
    pub(crate) fn of<R: Value>() -> Result<Self, ModelError> {
        let refused = |why| ModelError::Schema {
            reply: std::any::type_name::<R>(),
            why,
        };
        let generator = SchemaSettings::draft2020_12().into_generator();
        let schema = generator.into_root_schema_for::<R>().to_value();
        if schema["type"] != "object" {
            return Err(refused(SchemaProblem::NoObject));
        }
        let bytes = schema.to_string().len();
        if SCHEMA_BYTES_MAX < bytes {
            return Err(refused(SchemaProblem::TooLarge { bytes }));
        }
        let validator = jsonschema::draft202012::new(&schema).map_err(|error| {
            refused(SchemaProblem::Invalid {
                message: error.to_string(),
            })
        })?;
        Ok(Self {
            name: name_of(&R::schema_name()),
            schema,
            validator,
        })
    }

    /// The `response_format` that asks for it.
    pub(crate) fn form(&self) -> Json {
        json!({
            "type": "json_schema",
            "json_schema": {"name": self.name, "schema": self.schema},
        })
    }

    /// The answer as `R`, if it keeps the schema.
    pub(crate) fn read<R: Value>(&self, text: &str) -> Result<R, Wrong> {
        let answer: Json = serde_json::from_str(text).map_err(|error| {
            let (line, column) = (error.line(), error.column());
            let why = format!("the answer is no JSON (line {line}, column {column})");
            (codes::ANSWER_MALFORMED, why)
        })?;
        self.check(&answer)?;
        decode(&Payload::from(text)).map_err(|_| {
            let why = "the answer keeps the schema and is no value of the reply's type";
            (codes::ANSWER_BREAKS_SCHEMA, why.to_owned())
        })
    }

    fn check(&self, answer: &Json) -> Result<(), Wrong> {
        let mut broken = self.validator.iter_errors(answer);
        let shown: Vec<String> = broken
            .by_ref()
            .take(SHOWN_PLACES_MAX)
            .map(|error| shortened(error.schema_path().as_str()))
            .collect();
        if shown.is_empty() {
            return Ok(());
        }
        let more = match broken.count() {
            0 => String::new(),
            more => format!(", and {more} more"),
        };
        let places = shown.join(", ");
        let why = format!("the answer breaks its schema at {places}{more}");
        Err((codes::ANSWER_BREAKS_SCHEMA, why))
    }
}

/// `name` as the protocol takes it.
fn name_of(name: &str) -> String {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') {
            c
        } else {
            '_'
        }
    };
    name.chars().map(plain).take(NAME_CHARS_MAX).collect()
}

fn shortened(place: &str) -> String {
    match place.char_indices().nth(SHOWN_PLACE_CHARS_MAX) {
        Some((at, _)) => format!("{}…", &place[..at]),
        None => place.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};

    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Plan {
        title: String,
        hours: u32,
        #[serde(default)]
        notes: BTreeMap<String, u8>,
    }

    fn read(text: &str) -> Result<Plan, Wrong> {
        Schema::of::<Plan>().expect("an object").read(text)
    }

    #[test]
    fn an_answer_that_keeps_the_schema_is_the_value() {
        let plan = read(r#"{"title":"a","hours":3}"#).expect("it keeps it");
        assert_eq!((plan.title.as_str(), plan.hours), ("a", 3));
    }

    #[test]
    fn what_is_wrong_is_told_as_a_place_of_the_schema_and_never_as_data() {
        for (text, code, says) in [
            ("swordfish", codes::ANSWER_MALFORMED, "line 1, column 1"),
            (r#"{"title":"swordfish"#, codes::ANSWER_MALFORMED, "no JSON"),
            ("```json\n{}\n```", codes::ANSWER_MALFORMED, "no JSON"),
            (r#"["swordfish"]"#, codes::ANSWER_BREAKS_SCHEMA, "/type"),
            (
                r#"{"title":"swordfish"}"#,
                codes::ANSWER_BREAKS_SCHEMA,
                "/required",
            ),
            (
                r#"{"title":"swordfish","hours":"swordfish"}"#,
                codes::ANSWER_BREAKS_SCHEMA,
                "/properties/hours/type",
            ),
            (
                r#"{"title":"a","hours":-1}"#,
                codes::ANSWER_BREAKS_SCHEMA,
                "/properties/hours/minimum",
            ),
            (
                r#"{"title":"a","hours":1,"swordfish":1}"#,
                codes::ANSWER_BREAKS_SCHEMA,
                "/additionalProperties",
            ),
            (
                r#"{"title":"a","hours":1,"notes":{"swordfish":"swordfish"}}"#,
                codes::ANSWER_BREAKS_SCHEMA,
                "/properties/notes/additionalProperties/type",
            ),
            (
                // The schema knows no upper end of a `u32`.
                r#"{"title":"a","hours":99999999999}"#,
                codes::ANSWER_BREAKS_SCHEMA,
                "no value of the reply's type",
            ),
        ] {
            let (found, why) = read(text).expect_err(text);
            assert_eq!(found, code, "{text}");
            assert!(
                why.contains(says) && !why.contains("swordfish"),
                "{text}: {why}"
            );
        }
    }

    #[test]
    fn many_problems_are_counted_after_the_first_ones() {
        let notes: Vec<String> = (0..50).map(|i| format!(r#""{i}":"x""#)).collect();
        let text = format!(r#"{{"title":1,"hours":1,"notes":{{{}}}}}"#, notes.join(","));
        let (_, why) = read(&text).expect_err("it is wrong in 51 places");
        assert!(why.ends_with("and 48 more") && why.len() < 400, "{why}");
    }

    #[test]
    fn deep_nesting_is_malformed_and_not_a_crash() {
        let (code, _) = read(&"[".repeat(100_000)).expect_err("too deep");
        assert_eq!(code, codes::ANSWER_MALFORMED);
    }

    #[test]
    fn what_is_no_object_cannot_be_asked_for() {
        let refused = Schema::of::<Vec<Plan>>().err().expect("refused");
        assert_eq!(refused.code().as_str(), "SCHEMA_INVALID");
        assert!(refused.to_string().contains("\n\nhint: "), "{refused}");
    }

    #[test]
    fn a_schema_has_a_name_of_the_protocols_letters() {
        assert_eq!(name_of("Plan_for_é<T>"), "Plan_for___T_");
        assert_eq!(name_of(&"x".repeat(100)).len(), NAME_CHARS_MAX);
        let form = Schema::of::<Plan>().expect("an object").form();
        assert_eq!(form["json_schema"]["name"], "Plan");
        assert!(form["json_schema"].get("strict").is_none());
    }
}
