//! The adapter against a peer that speaks raw bytes: what an OpenAI-compatible server cannot be
//! made to do. A real one is asked in the workspace's `tests`.

mod answers;
mod asking;
mod broken;
mod peer;
mod refusals;
mod support;

#[path = "../../../http/tests/http/breaks.rs"]
mod breaks;
