//! What serde values may not be, and what only a `Serialize` written by hand can say. It must never
//! accept an error without its path.
#![cfg(feature = "serde")]

use std::collections::{BTreeMap, HashMap};

use mainstay_types::json::{JsonError, Value, parse, to_canonical, to_value};
use serde::Serialize;

#[derive(Serialize)]
struct Pair(u8, u8);

#[derive(Serialize)]
struct Named {
    z: f64,
}

#[derive(Serialize)]
enum Variant {
    New(u64),
    Named { z: f64 },
}

/// A map with one entry under a key that is no text.
struct OneEntry<K>(K);

impl<K: Serialize> Serialize for OneEntry<K> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map([(&self.0, 1)])
    }
}

#[test]
fn keys_without_a_text_are_refused_at_their_map() {
    fn check_refused<K: Serialize>(key: K, what: &str) {
        let map = BTreeMap::from([("outer", [OneEntry(key)])]);
        let error = to_canonical(&map).expect_err(what);
        assert_eq!(
            (error.reason(), error.path()),
            ("JSON_KEY_NOT_TEXT", Some("$.outer[0]"))
        );
        assert!(error.to_string().contains(what), "{error}");
    }
    check_refused(1.5_f64, "a float");
    check_refused(1.5_f32, "a float");
    check_refused((), "a unit");
    check_refused(Some("a"), "an option");
    check_refused(Option::<u8>::None, "an option");
    check_refused(vec![1], "a list");
    check_refused((1, 2), "a tuple");
    check_refused(Pair(1, 2), "a tuple struct");
    check_refused(Variant::New(1), "a variant with content");
    check_refused(BTreeMap::from([(1, 1)]), "a map");
    check_refused(Named { z: 0.0 }, "a struct");
}

#[test]
fn a_number_that_is_not_finite_is_named_by_its_path() {
    let good = || Named { z: 0.0 };
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let value = BTreeMap::from([("a", vec![good(), good(), good(), Named { z: bad }])]);
        let error = to_canonical(&value).expect_err("not finite");
        assert_eq!(
            (error.reason(), error.path()),
            ("JSON_NOT_FINITE", Some("$.a[3].z"))
        );
    }
    let path = |error: JsonError| error.path().map(str::to_owned);
    let odd = HashMap::from([("two \"words\"", Variant::Named { z: f64::NAN })]);
    let expected = r#"$["two \"words\""].Named.z"#;
    assert_eq!(to_value(&odd).map_err(path), Err(Some(expected.to_owned())));
    assert_eq!(to_value(&f32::NAN).map_err(path), Err(Some("$".to_owned())));
    assert_eq!(
        to_value(&(1, Some(f32::INFINITY))).map_err(path),
        Err(Some("$[1]".to_owned()))
    );
}

#[test]
fn a_key_seen_twice_is_refused_because_the_winner_would_be_random() {
    #[derive(Serialize)]
    struct Shadowed {
        name: u8,
        #[serde(flatten)]
        rest: HashMap<String, u8>,
    }
    let rest = HashMap::from([("name".to_owned(), 2)]);
    let error = to_canonical(&[Shadowed { name: 1, rest }]).expect_err("two names");
    assert_eq!(
        (error.reason(), error.path()),
        ("JSON_DUPLICATE_KEY", Some("$[0]"))
    );
    assert_eq!(error.to_string(), "the key \"name\" occurs twice at $[0]");
}

#[derive(Serialize)]
enum Nest {
    End,
    List(Vec<Nest>),
    Some(Box<Option<Nest>>),
}

#[derive(Serialize)]
#[serde(transparent)]
struct Transparent(Box<Option<Transparent>>);

#[test]
fn depth_is_bounded_like_in_reading() {
    // Each `List` is two levels: the variant's object and its list.
    let nest = |n: usize| (0..n).fold(Nest::End, |inner, _| Nest::List(vec![inner]));
    let deepest = to_canonical(&nest(64)).expect("128 levels");
    assert_eq!(
        parse(&deepest).map(|value| value.to_canonical()),
        Ok(deepest)
    );
    let error = to_canonical(&nest(65)).expect_err("130 levels");
    assert_eq!(error.reason(), "JSON_TOO_DEEP");
    assert!(
        error
            .path()
            .is_some_and(|path| path.starts_with("$.List[0].List[0]")),
        "{error}"
    );
    let some = (0..129).fold(Nest::End, |inner, _| Nest::Some(Box::new(Some(inner))));
    assert_eq!(
        to_value(&some).expect_err("129 levels").reason(),
        "JSON_TOO_DEEP"
    );
    assert!(to_value(&(nest(64),)).is_err(), "a tuple is a level too");
}

#[test]
fn wrappers_that_leave_no_level_are_bounded_too() {
    let wrap = |n: usize| {
        (0..n).fold(Transparent(Box::new(None)), |inner, _| {
            Transparent(Box::new(Some(inner)))
        })
    };
    assert_eq!(to_value(&wrap(200)), Ok(Value::Null));
    assert_eq!(
        to_value(&wrap(5_000)).expect_err("a long chain").reason(),
        "JSON_TOO_DEEP"
    );
}

/// A unit type with a `Serialize` written by hand, for what the derive does not reach.
macro_rules! by_hand {
    ($name:ident, $serializer:ident => $body:expr) => {
        struct $name;
        impl Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, $serializer: S) -> Result<S::Ok, S::Error> {
                $body
            }
        }
    };
}

by_hand!(Bytes, s => s.serialize_bytes(&[0, 255, 7]));
by_hand!(OpenList, s => {
    use serde::ser::SerializeSeq as _;
    let mut list = s.serialize_seq(None)?;
    list.serialize_element(&1)?;
    list.serialize_element("two")?;
    list.end()
});
by_hand!(LyingList, s => {
    use serde::ser::SerializeSeq as _;
    let mut list = s.serialize_seq(Some(usize::MAX))?;
    list.serialize_element(&1)?;
    list.end()
});
by_hand!(Printed, s => s.collect_str(&format_args!("{}-{}", 1, 2)));
by_hand!(Refusing, _s => Err(serde::ser::Error::custom("no money")));
by_hand!(KeyAlone, s => {
    use serde::ser::SerializeMap as _;
    let mut map = s.serialize_map(None)?;
    map.serialize_key("a")?;
    map.end()
});
by_hand!(ValueAlone, s => {
    use serde::ser::SerializeMap as _;
    let mut map = s.serialize_map(None)?;
    map.serialize_value("a")?;
    map.end()
});
by_hand!(BrokenDisplay, s => s.collect_str(&Unprintable));
by_hand!(RawJson, s => {
    use serde::ser::SerializeStruct as _;
    let token = "$serde_json::private::RawValue";
    let mut raw = s.serialize_struct(token, 1)?;
    raw.serialize_field(token, " {\"b\": 18446744073709551616, \"a\": [1.0]} ")?;
    raw.end()
});
by_hand!(RawNumber, s => {
    use serde::ser::SerializeStruct as _;
    let token = "$serde_json::private::Number";
    let mut raw = s.serialize_struct(token, 1)?;
    raw.serialize_field(token, "1e2")?;
    raw.end()
});
by_hand!(RawNoise, s => {
    use serde::ser::SerializeStruct as _;
    let token = "$serde_json::private::RawValue";
    let mut raw = s.serialize_struct(token, 1)?;
    raw.serialize_field(token, "{")?;
    raw.end()
});

struct Unprintable;

impl std::fmt::Display for Unprintable {
    fn fmt(&self, _f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        Err(std::fmt::Error)
    }
}

#[test]
fn serializers_written_by_hand_are_understood() {
    fn check<T: Serialize>(value: T, expected: &str) {
        assert_eq!(to_canonical(&value).as_deref(), Ok(expected));
        assert_eq!(
            serde_json::to_string(&value).expect("serde_json takes it"),
            expected
        );
    }
    check(Bytes, "[0,255,7]");
    check(OpenList, r#"[1,"two"]"#);
    check(Printed, r#""1-2""#);
    assert_eq!(to_canonical(&LyingList).as_deref(), Ok("[1]"));
}

#[test]
fn raw_json_is_read_so_that_its_spelling_does_not_matter() {
    let expected = r#"[{"a":[1],"b":18446744073709551616},100]"#;
    assert_eq!(to_canonical(&(RawJson, RawNumber)).as_deref(), Ok(expected));
    let error = to_canonical(&[RawNoise]).expect_err("`{` is no JSON");
    assert_eq!(
        (error.reason(), error.path()),
        ("JSON_REFUSED", Some("$[0]"))
    );
}

#[test]
fn what_a_serializer_refuses_or_gets_wrong_is_an_error_with_its_path() {
    fn check_refused<T: Serialize>(value: T, message: &str) {
        let error = to_canonical(&BTreeMap::from([("x", value)])).expect_err(message);
        assert_eq!(
            (error.reason(), error.path()),
            ("JSON_REFUSED", Some("$.x"))
        );
        assert!(error.to_string().contains(message), "{error}");
    }
    check_refused(Refusing, "no money");
    check_refused(KeyAlone, "no value");
    check_refused(ValueAlone, "before its key");
    check_refused(BrokenDisplay, "Display failed");
}
