//! Single faults in every kind of file of a store: a wrong answer is never given in silence, a key
//! that is free included, and nothing falls.

use std::collections::BTreeMap;
use std::sync::Mutex;

use mainstay_fault_disk::{Image, image::kind};
use mainstay_tests::campaign::{Campaign, name_of};
use mainstay_tests::ordeal::case::Seeded;
use mainstay_tests::ordeal::damage::{End, Fault, judge};
use mainstay_tests::ordeal::fact::Fact;
use mainstay_tests::ordeal::house::SEGMENT_BYTES_SMALL;
use mainstay_tests::ordeal::moment::Moment;
use mainstay_tests::ordeal::series::{Series, keep};
use mainstay_tests::ordeal::writer::{Load, Programs};
use mainstay_tests::seed::Draw;

use crate::{count, programs};

/// Faults, each alone, in copies of one store.
const FAULTS: u64 = 20;
/// Processes that wrote it.
const ROUNDS: u32 = 3;

/// How often faults in a kind of file ended how.
type Ends = BTreeMap<(String, End), u64>;

#[test]
fn a_flipped_bit_or_a_page_of_zeros_in_any_file_is_never_a_wrong_answer_in_silence() {
    let test = a_flipped_bit_or_a_page_of_zeros_in_any_file_is_never_a_wrong_answer_in_silence;
    let draw = Draw::new("damage");
    let cases = Seeded::many(&draw, count(60, 500) / FAULTS);
    let all = Mutex::new(Ends::new());
    let campaign = Campaign::of(name_of(test)).drawn_from(draw.seed());
    campaign.run(cases, |case, told| {
        let ends = one_store(case.0, told);
        let mut all = all.lock().expect("nobody panics with it");
        for (end, times) in ends {
            *all.entry(end).or_default() += times;
        }
    });
    for ((kind, end), times) in all.into_inner().expect("nobody panics with it") {
        println!("{kind:<20} {end:?}: {times}");
    }
}

fn one_store(seed: u64, told: &str) -> Ends {
    let programs = Programs {
        segment_bytes: seed.is_multiple_of(2).then_some(SEGMENT_BYTES_SMALL),
        ..programs()
    };
    let mut series = Series::new(&programs, seed);
    let (image, facts) = written(&mut series, told);
    let kinds: Vec<(String, Vec<String>)> = image.kinds().into_iter().collect();
    let first = series.dice.index(kinds.len());
    let (mut ends, mut failures) = (Ends::new(), Vec::new());
    for turn in 0..usize::try_from(FAULTS).expect("few") {
        // Each kind has its turn: most bytes are in one of them.
        let (_, names) = &kinds[(first + turn) % kinds.len()];
        let fault = Fault::drawn(&image, series.dice.one::<String>(names), &series.dice);
        match ended(&mut series, &image, &facts, &fault) {
            Ok(end) => *ends.entry((kind(&fault.name), end)).or_default() += 1,
            Err(why) => {
                let kept = keep(&format!("{seed}-{turn}"), &fault.in_image(&image), &facts);
                failures.push(format!("{fault}{kept}: {why}"));
            }
        }
    }
    assert!(failures.is_empty(), "{told}\n{}", failures.join("\n\n"));
    ends
}

/// A store that several processes wrote, all but the last of which were killed; that one was, or
/// closed it.
fn written(series: &mut Series, told: &str) -> (Image, Vec<Fact>) {
    let load = Load {
        lanes: 6,
        deeds: 60,
        limit_per_mille: 1,
    };
    for round in 0..ROUNDS {
        let is_closed = round + 1 == ROUNDS && series.dice.percent(50);
        let moment = match is_closed {
            true => Moment::Never,
            false => Moment::Answered(200, std::time::Duration::ZERO),
        };
        series.die(moment, load);
        // The last is not looked at: opening it would already mend what a fault may hit.
        if round + 1 < ROUNDS {
            series.check(told);
        }
    }
    (Image::read(&series.store()), series.facts.clone())
}

fn ended(series: &mut Series, image: &Image, facts: &[Fact], fault: &Fault) -> Result<End, String> {
    let (report, said) = series.try_check(&fault.in_image(image), facts)?;
    judge(&report, &said)
}
