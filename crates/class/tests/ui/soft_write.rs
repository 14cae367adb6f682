//! A write that the run is to do without when time is short.

mod shared;
use mainstay_class::TaskClass;
use shared::{Meeting, Tickets};

fn main() {
    let mut g = TaskClass::<Meeting>::define("soft-write", 1);
    g.write("ticket", &Tickets, (), |m, ()| m.text.clone()).soft("no ticket").add();
}
