//! More callers at once than an engine may drive runs: the rest is refused at once, with a time to
//! come back, and leaves nothing behind.

use std::process::Command;

use mainstay_tests::flood::{CALLERS, Flooded, RUNS_MAX};
use mainstay_tests::place::Place;
use mainstay_tests::process::Ended;

/// What a flood of [`CALLERS`] may add to what the process holds, in MiB.
const MORE_MIB_MAX: u64 = 256;
/// Within which 99 of 100 callers of a full engine are told so, in microseconds.
const REFUSED_US_MAX: u64 = 50_000;

#[test]
fn ten_thousand_callers_at_once_are_started_or_refused_and_nothing_refused_is_stored() {
    let place = Place::new();
    let mut command = Command::new(env!("CARGO_BIN_EXE_flood"));
    let ended = Ended::of(command.arg(place.store())).with_code(0);
    let floods: [Flooded; 2] = serde_json::from_str(&ended.stdout).expect("two floods");
    println!("{floods:#?}, {:?}", ended.took);
    let [filling, full] = &floods;
    assert_eq!((filling.started, full.started), (RUNS_MAX, 0), "{floods:?}");
    let refused = (filling.refused, full.refused);
    assert_eq!(refused, (CALLERS - RUNS_MAX, CALLERS), "{floods:?}");
    for flooded in &floods {
        assert!(flooded.other.is_empty(), "{flooded:?}");
        assert_eq!(flooded.stored, RUNS_MAX, "nothing refused is stored");
    }
    let more = full.peak_mib.saturating_sub(filling.before_mib);
    assert!(more <= MORE_MIB_MAX, "{more} MiB more\n{floods:?}");
    // While it fills, callers also wait for the processor that the started runs use.
    let slow = full.refused_us_p99;
    assert!(
        slow <= REFUSED_US_MAX,
        "refused after {slow} us\n{floods:?}"
    );
}
