//! What changes a class's fingerprint, and what does not.

use mainstay_class::*;
use mainstay_types::Digest;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::meeting::{Asks, Meeting, built, meeting};

#[test]
fn a_changed_closure_does_not_change_the_class() {
    let loud = meeting(str::to_uppercase)
        .expect("no problems")
        .erased()
        .fingerprint;
    assert_eq!(loud, built().erased().fingerprint);
}

fn of<T: Value>(compute: fn() -> T) -> Digest {
    let mut g = TaskClass::<Meeting>::define("one", 1);
    let value = g.local("value", (), move |_, ()| compute()).add();
    g.finish(value, |_, _| 0u8)
        .expect("no problems")
        .erased()
        .fingerprint
}

#[test]
fn a_changed_schema_changes_the_class() {
    assert_eq!(of(|| 1u64), of(|| 2u64));
    assert_ne!(of(|| 1u64), of(|| 1u32));
    assert_ne!(of(|| Some(1u64)), of(|| 1u64));
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Told {
    /// Told at length.
    a: u8,
}

mod elsewhere {
    use super::{Deserialize, JsonSchema, Serialize};

    #[derive(Serialize, Deserialize, JsonSchema)]
    pub(super) struct Told {
        pub(super) a: u8,
    }
}

#[test]
fn a_better_comment_does_not_change_the_class() {
    assert_eq!(of(|| Told { a: 1 }), of(|| elsewhere::Told { a: 1 }));
}

#[test]
fn a_changed_knob_changes_the_class() {
    let fingerprint = |attempts| {
        let mut g = TaskClass::<Meeting>::define("one", 1);
        let asked = Asks("asked", |text| text);
        let value = g
            .read("r", &asked, (), |m, ()| m.text.clone())
            .attempts(attempts)
            .add();
        g.finish(value, |_, v| v.clone())
            .expect("no problems")
            .erased()
            .fingerprint
    };
    assert_eq!(fingerprint(2), fingerprint(2));
    assert_ne!(fingerprint(2), fingerprint(3));
}
