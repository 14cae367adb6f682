//! Drives one run of the class `echo` to its end: `echo STORE RECEIVED VARIANT [HANGS]`.
//!
//! It must never decide by itself what its closures make: the variant stands for other code.

use mainstay_tests::echo::{Told, class};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [store, received, variant, hangs @ ..] = words.as_slice() else {
        return Err("echo STORE RECEIVED VARIANT [HANGS]".into());
    };
    let told = Told {
        variant: variant.clone(),
        received: received.into(),
        hangs: hangs.first().cloned().unwrap_or_default(),
    };
    let class = class(&told)?;
    let engine = mainstay::open(store)?.register(&class).start().await?;
    let run = engine.start(&class, "text".to_owned()).key("K").await?;
    let outcome = run.outcome().await?;
    println!("{}", serde_json::to_string(&outcome.result)?);
    Ok(())
}
