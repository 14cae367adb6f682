//! What compiles: the other cases differ from it in one thing each.

mod shared;
use mainstay_class::{TaskClass, mins};
use shared::{Meeting, Search, Tickets};

fn main() {
    let mut g = TaskClass::<Meeting>::define("good", 1);
    let related = g
        .read("related", &Search, (), |m, ()| m.text.clone())
        .fallback(&Search, mins(20))
        .soft("related tickets not searched")
        .add();
    let long = g.when("long", related, |m, r| r.is_some() && 100 < m.text.len());
    let ticket = g
        .write("ticket", &Tickets, related, |m, _| m.text.clone())
        .business_id(|m| &m.text)
        .compensate_with(&Tickets, |_, made| format!("{} {:?}", made.request, made.reply))
        .when(&long)
        .add();
    let a = g.local("count", related, |_, related| related.map_or(0, Vec::len)).add();
    g.local("sum", ((a, a, a, a, a, a, a, a), a), |_, (_, last)| *last).add();
    drop(g.finish((ticket, a), |_, (ticket, count)| (ticket.copied(), *count)));
}
