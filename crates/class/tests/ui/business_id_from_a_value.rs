//! A business id that would depend on what a model wrote.

mod shared;
use mainstay_class::TaskClass;
use shared::{Meeting, Search, Tickets};

fn main() {
    let mut g = TaskClass::<Meeting>::define("id-from-model", 1);
    let draft = g.read("draft", &Search, (), |m, ()| m.text.clone()).add();
    g.write("ticket", &Tickets, draft, |_, d| d[0].clone()).business_id(|_, d| &d[0]).add();
}
