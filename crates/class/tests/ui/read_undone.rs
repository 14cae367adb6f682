//! A read that says how it is undone.

mod shared;
use mainstay_class::TaskClass;
use shared::{Meeting, Search, Tickets};

fn main() {
    let mut g = TaskClass::<Meeting>::define("read-undone", 1);
    g.read("related", &Search, (), |m, ()| m.text.clone())
        .compensate_with(&Tickets, |m, _| m.text.clone())
        .add();
}
