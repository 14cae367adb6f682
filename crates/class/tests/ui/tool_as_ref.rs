//! A tool used as a value.

mod shared;
use mainstay_class::TaskClass;
use shared::{Meeting, Search};

fn main() {
    let mut g = TaskClass::<Meeting>::define("tool-value", 1);
    let made = |m: &Meeting, _: String| m.text.clone();
    let search = g.tool_read("search", "Searches", &Search, made).add();
    g.local("shout", search, |_, _| 1u8).add();
}
