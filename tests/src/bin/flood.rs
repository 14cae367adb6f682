//! An engine over a store, flooded by its own callers, twice: until it is full, and then.
//! `flood STORE` prints a line of JSON with what each came to.

use mainstay::Millis;
use mainstay_tests::flood::{RUNS_MAX, class, flood};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let store = std::env::args().nth(1).ok_or("flood STORE")?;
    let class = class()?;
    let engine = mainstay::open(store)?
        .register(&class)
        .runs_max(RUNS_MAX)
        .start()
        .await?;
    let filling = flood(&engine, &class, "first").await;
    let full = flood(&engine, &class, "second").await;
    println!("{}", serde_json::to_string(&[filling, full])?);
    engine.shutdown(Millis::new(100)).await;
    Ok(())
}
