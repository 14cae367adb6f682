//! A read that claims an effect.

mod shared;
use mainstay_class::TaskClass;
use shared::{Meeting, Search};

fn main() {
    let mut g = TaskClass::<Meeting>::define("read-effect", 1);
    g.read("related", &Search, (), |m, ()| m.text.clone()).effect("ticket").add();
}
