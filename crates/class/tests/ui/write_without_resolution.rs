//! A write that does not say how its outcome is resolved.

use mainstay_class::Write;
use mainstay_dispatch::{Answer, AttemptContext, Failure, Found};

struct Orders;

impl Write for Orders {
    type Request = String;
    type Reply = u64;

    fn name(&self) -> &str {
        "orders"
    }

    async fn send(&self, _: String, _: &AttemptContext) -> Result<Answer<u64>, Failure> {
        Ok(1.into())
    }

    async fn find(&self, _: String, _: &AttemptContext) -> Result<Found<u64>, Failure> {
        Ok(Found::NotFound)
    }
}

fn main() {}
