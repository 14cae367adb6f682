//! A write that cannot say what became of it.

use mainstay_class::Write;
use mainstay_dispatch::{Answer, AttemptContext, Failure, Resolution};

struct Orders;

impl Write for Orders {
    type Request = String;
    type Reply = u64;
    const RESOLUTION: Resolution = Resolution::ByKey;

    fn name(&self) -> &str {
        "orders"
    }

    async fn send(&self, _: String, _: &AttemptContext) -> Result<Answer<u64>, Failure> {
        Ok(1.into())
    }
}

fn main() {}
