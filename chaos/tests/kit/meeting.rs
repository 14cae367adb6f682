//! The built-in model of the meeting class.

use mainstay_chaos::{Wish, built_in};

use crate::size;

#[test]
fn the_built_in_class_keeps_every_guarantee_under_every_fault() {
    let wish = Wish {
        seeds: Some(size(300, 10_000)),
        ..Wish::default()
    };
    let report = built_in().run(&wish).expect("it can begin");
    assert!(report.is_good(), "{report}");
    println!("{report}");
    if std::env::var_os("MAINSTAY_SEED").is_none() {
        assert!(
            12 <= report.attempts_median && 3 <= report.hits_median,
            "{report}"
        );
    }
    if size(0, 1) == 1 {
        let rare: Vec<_> = report
            .hits
            .iter()
            .filter(|(_, hits)| **hits < 1_000)
            .collect();
        assert!(rare.is_empty(), "hit less than 1,000 times: {rare:?}");
    }
}
