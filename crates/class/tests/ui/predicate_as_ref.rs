//! A predicate used as a value.

mod shared;
use mainstay_class::TaskClass;
use shared::Meeting;

fn main() {
    let mut g = TaskClass::<Meeting>::define("predicate-value", 1);
    let long = g.when("long", (), |m, ()| 100 < m.text.len());
    g.local("shout", long, |_, _| 1u8).add();
}
