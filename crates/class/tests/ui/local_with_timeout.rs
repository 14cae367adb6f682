//! Local compute with the settings of an attempt.

mod shared;
use mainstay_class::{TaskClass, secs};
use shared::Meeting;

fn main() {
    let mut g = TaskClass::<Meeting>::define("local-timeout", 1);
    g.local("length", (), |m, ()| m.text.len()).timeout(secs(1)).add();
}
