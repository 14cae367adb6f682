//! The commands of Mainstay with this class mounted: `chaos campaign`, `chaos run PLAN` and
//! `chaos real` try what the program runs.
//!
//! ```sh
//! cargo run --release -p meeting-analysis --example meeting-chaos -- chaos campaign --seeds 10000
//! ```
//!
//! It is built with dev-dependencies: no program that serves anybody needs any of it.

#[path = "../tests/chaos/campaign.rs"]
mod campaign;

use std::path::PathBuf;
use std::process::ExitCode;

use mainstay::chaos::{Guarantees, Offered, World};
use mainstay::cli::{Mounted, main_mounting};

fn main() -> ExitCode {
    // Never written to: doubles stand before everything that would.
    let folder = PathBuf::from("meeting-chaos");
    let offered = Offered::new(move || {
        campaign::campaign(&folder)
            .check(Guarantees::all())
            .check(|world: &World<'_>| world.receiver("ticket_service").applied_per_key_at_most(1))
    });
    main_mounting(&Mounted::new().campaign(offered))
}
