//! Scenarios: a class, what the world does to a run of it, and beside each line what is expected.
//!
//! [`check`] runs a text four ways: live, against the expectations; replayed whole and undone at
//! every prefix; crashed after every decision and driven to its end by another worker; with every
//! command delivered twice. It must never pass because a line was not understood: whatever does
//! not parse fails.
//!
//! ```text
//! read   policy attempts=2 fallback=snapshot,human      nodes, before `start`; see build.rs
//! each   ticket_write needs=policy cost=0.1
//! list   ticket_write 3                                 what the class's code makes
//! start  retry=4 cost=18 answer_by=12s -> out policy
//! answer policy                        -> policy settled, out ticket_write[0] ticket_write[1]
//! lose   ticket_write[1]               -> EffectInDoubt ticket_write[1]
//! find   ticket_write[1] applied       -> effect ticket_write[1] applied
//! ```
//!
//! What a line does is in play.rs, what an expectation means in expect.rs.

pub(crate) mod build;
pub(crate) mod code;
mod elsewhere;
mod expect;
pub(crate) mod fair;
pub(crate) mod parse;
pub(crate) mod play;
pub(crate) mod ways;
pub(crate) mod world;

use std::sync::Arc;

use parse::Script;
use play::Play;

/// Runs the scenario four ways; panics with the line that is not as expected.
#[track_caller]
pub(crate) fn check(text: &str) {
    let script = Script::parse(text);
    let class = Arc::new(build::class(&script));
    let live = Play::new(&script, class).run();
    ways::replayed(&live);
    ways::crashed(&live, &script);
}

/// Runs the scenario live and replayed only: its receiver does what none that is fair does (it acts
/// after its stated bound, and again), so that it cannot be crashed into a fair world.
#[track_caller]
pub(crate) fn check_unfair(text: &str) {
    let script = Script::parse(text);
    let class = Arc::new(build::class(&script));
    let live = Play::new(&script, class).run();
    ways::replayed(&live);
}
