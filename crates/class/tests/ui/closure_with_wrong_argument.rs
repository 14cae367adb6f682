//! A closure that takes one value where there are two.

mod shared;
use mainstay_class::TaskClass;
use shared::{Meeting, Search};

fn main() {
    let mut g = TaskClass::<Meeting>::define("wrong-argument", 1);
    let a = g.read("a", &Search, (), |m, ()| m.text.clone()).add();
    let b = g.read("b", &Search, (), |m, ()| m.text.clone()).add();
    g.local("both", (a, b), |_, both: &Vec<String>| both.len()).add();
}
