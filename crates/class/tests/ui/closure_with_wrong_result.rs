//! A closure that makes something else than the dependency's request.

mod shared;
use mainstay_class::TaskClass;
use shared::{Meeting, Search};

fn main() {
    let mut g = TaskClass::<Meeting>::define("wrong-result", 1);
    g.read("a", &Search, (), |m, ()| m.text.len()).add();
}
