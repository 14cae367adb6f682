//! A write that is to be sent somewhere else when the first receiver does not answer.

mod shared;
use mainstay_class::{TaskClass, mins};
use shared::{Meeting, Numbers, Tickets};

fn main() {
    let mut g = TaskClass::<Meeting>::define("write-elsewhere", 1);
    g.write("ticket", &Tickets, (), |m, ()| m.text.clone()).fallback(&Numbers, mins(1)).add();
}
