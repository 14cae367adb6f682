//! A value whose type has no schema.

mod shared;
use mainstay_class::TaskClass;
use shared::Meeting;

#[derive(serde::Serialize, serde::Deserialize)]
struct Summary {
    text: String,
}

fn main() {
    let mut g = TaskClass::<Meeting>::define("no-schema", 1);
    g.local("summary", (), |m, ()| Summary { text: m.text.clone() }).add();
}
