//! More refs than a tuple may hold.

mod shared;
use mainstay_class::TaskClass;
use shared::Meeting;

fn main() {
    let mut g = TaskClass::<Meeting>::define("nine-refs", 1);
    let a = g.local("a", (), |_, ()| 1u8).add();
    g.local("sum", (a, a, a, a, a, a, a, a, a), |_, _| 9u8).add();
}
