//! A dependency that changes the world, used as if it did not.

mod shared;
use mainstay_class::TaskClass;
use shared::{Meeting, Tickets};

fn main() {
    let mut g = TaskClass::<Meeting>::define("write-as-read", 1);
    g.read("ticket", &Tickets, (), |m, ()| m.text.clone()).add();
}
