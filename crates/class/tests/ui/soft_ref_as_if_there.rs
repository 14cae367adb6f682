//! A soft value used as if it were always there.

mod shared;
use mainstay_class::TaskClass;
use shared::{Meeting, Search};

fn count(related: &Vec<String>) -> usize {
    related.len()
}

fn main() {
    let mut g = TaskClass::<Meeting>::define("soft-ref", 1);
    let related = g
        .read("related", &Search, (), |m, ()| m.text.clone())
        .soft("related tickets not searched")
        .add();
    g.local("count", related, |_, related| count(related)).add();
}
