//! A rule in one word of a command line: `[CONNECTIONS=]FAULT[:NAME=VALUE,..]`, for example
//! `2-5=cut_after:bytes=20,reset`.
//!
//! It must never know the values of a fault: the data form does, and reads them here too.

use std::str::FromStr;

use serde::de::value::{Error, MapAccessDeserializer, MapDeserializer, StrDeserializer};
use serde::de::{Deserializer, IntoDeserializer, Visitor};
use serde::{Deserialize, forward_to_deserialize_any};

use crate::connections::Connections;
use crate::error::PlanError;
use crate::fault::{Fault, LIKE};
use crate::plan::Rule;

impl FromStr for Rule {
    type Err = PlanError;

    fn from_str(text: &str) -> Result<Self, PlanError> {
        let (head, values) = match text.split_once(':') {
            Some((head, values)) => (head, Some(values)),
            None => (text, None),
        };
        let (connections, name) = match head.split_once('=') {
            Some((connections, name)) => (connections.parse()?, name),
            None => (Connections::Every, head),
        };
        let fault = fault(name, values)?;
        fault.check()?;
        Ok(Self { connections, fault })
    }
}

fn fault(name: &str, values: Option<&str>) -> Result<Fault, PlanError> {
    let Some(&(_, like)) = LIKE.iter().find(|(known, _)| *known == name) else {
        let known: Vec<&str> = LIKE.iter().map(|(known, _)| *known).collect();
        return Err(PlanError::UnknownFault {
            name: name.to_owned(),
            known: known.join(", "),
        });
    };
    let read = match values {
        None if name == Fault::Refuse.name() => {
            Fault::deserialize(StrDeserializer::<Error>::new(name))
        }
        _ => {
            let named = std::iter::once((name, Values(values.unwrap_or_default())));
            Fault::deserialize(MapAccessDeserializer::new(MapDeserializer::new(named)))
        }
    };
    read.map_err(|why| PlanError::Unreadable {
        text: [name, values.unwrap_or_default()].join(":"),
        why: why.to_string(),
        like,
    })
}

/// `bytes=20,reset` as a map.
#[derive(Clone, Copy)]
struct Values<'a>(&'a str);

impl<'de> IntoDeserializer<'de, Error> for Values<'de> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for Values<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let words = self.0.split(',').filter(|word| !word.is_empty());
        // A name alone says that it is so.
        let pairs = words.map(|word| word.split_once('=').unwrap_or((word, "true")));
        visitor.visit_map(MapDeserializer::new(
            pairs.map(|(name, value)| (name, Value(value))),
        ))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier
        ignored_any
    }
}

/// A number, a yes or no, or a word.
#[derive(Clone, Copy)]
struct Value<'a>(&'a str);

impl<'de> IntoDeserializer<'de, Error> for Value<'de> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for Value<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match (self.0, self.0.parse()) {
            ("true", _) => visitor.visit_bool(true),
            ("false", _) => visitor.visit_bool(false),
            (_, Ok(number)) => visitor.visit_u64(number),
            (word, Err(_)) => visitor.visit_str(word),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        StrDeserializer::new(self.0).deserialize_enum(name, variants, visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bounds::HOLD_MS_DEFAULT;
    use crate::fault::{Delayed, Direction, Directions};

    fn read(text: &str) -> Result<Rule, String> {
        text.parse().map_err(|error: PlanError| error.to_string())
    }

    #[test]
    fn a_word_is_a_rule() {
        let cut = |direction, bytes, reset| Fault::CutAfter {
            direction,
            bytes,
            reset,
        };
        let (every, reply) = (Connections::Every, Direction::Reply);
        for (text, connections, fault) in [
            ("refuse", every, Fault::Refuse),
            ("3=refuse", Connections::Nth(3), Fault::Refuse),
            ("cut_after:bytes=20,reset", every, cut(reply, 20, true)),
            (
                "every=cut_after:direction=request,bytes=0,reset=false",
                every,
                cut(Direction::Request, 0, false),
            ),
            (
                "2-=delay:ms=5,what=each_chunk,direction=both",
                Connections::Span {
                    first: 2,
                    last: None,
                },
                Fault::Delay {
                    direction: Directions::Both,
                    ms: 5,
                    what: Delayed::EachChunk,
                },
            ),
            (
                "stall",
                every,
                Fault::Stall {
                    hold_ms: HOLD_MS_DEFAULT,
                },
            ),
        ] {
            assert_eq!(read(text), Ok(Rule { connections, fault }), "{text}");
        }
    }

    #[test]
    fn a_word_that_is_none_is_refused_with_a_right_one() {
        for (text, part) in [
            ("", "there is no fault ``: it is one of cut_after, delay"),
            ("cut", "there is no fault `cut`"),
            (
                "cut_after",
                "missing field `bytes`; write it like cut_after:bytes=20",
            ),
            ("cut_after:byte=2", "unknown field `byte`, expected"),
            ("cut_after:bytes=x", "expected u64"),
            ("cut_after:bytes=-1", "expected u64"),
            ("cut_after:bytes=1,bytes=2", "duplicate field `bytes`"),
            ("cut_after:bytes=1,reset=1", "expected a boolean"),
            (
                "half_close:bytes=1,direction=both",
                "expected `request` or `reply`",
            ),
            ("refuse:now", "write it like refuse"),
            ("0=refuse", "numbered from 1"),
            ("throttle:bytes_per_second=0", "it must be from 1 to"),
        ] {
            let error = read(text).expect_err(text);
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
