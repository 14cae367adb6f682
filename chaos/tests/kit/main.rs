//! The test kit: campaigns over classes, what they find, and what they say of misuse.

mod classes;
mod finding;
mod meeting;
mod misuse;
mod page;
mod resolutions;
mod selftest;

/// So many in CI; so many where a campaign at full size is asked for.
fn size(ci: u64, full: u64) -> u64 {
    match std::env::var_os("MAINSTAY_CAMPAIGN") {
        Some(_) => full,
        None => ci,
    }
}
