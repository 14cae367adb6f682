//! The figures of strategies A to E, held against the source's, and those of F, F2 and F3 against
//! what they promise. At full size it prints the tables of `EXPERIMENT.md`.
//!
//! Zeros are structure and hold for each seed; the others are chance, and may be away from the
//! source's by three standard deviations.

use std::sync::Arc;

use mainstay_chaos::experiment::idempotency::{
    self as experiment, Faults, Options, SEED_DEFAULT, SESSIONS_DEFAULT, Score, Seed, Strategy,
    strategies,
};

/// The size that `cargo xtask campaign` asks for.
const SIZE: &str = "MAINSTAY_CAMPAIGN";
const SEEDS_FULL: u64 = 20;

/// A figure of the source: whose, what, how much.
struct Figure {
    strategy: &'static str,
    label: &'static str,
    source: f64,
    of: fn(&Score) -> u64,
}

const fn figure(
    strategy: &'static str,
    label: &'static str,
    source: f64,
    of: fn(&Score) -> u64,
) -> Figure {
    Figure {
        strategy,
        label,
        source,
        of,
    }
}

const FIGURES: [Figure; 9] = [
    figure("A", "duplicates", 0.0, |score| score.duplicates),
    figure("A", "never placed", 81.0, |score| score.never_placed),
    figure("A", "placed, reported failed", 135.0, |score| {
        score.placed_but_reported_failed
    }),
    figure("B", "duplicates", 144.0, |score| score.duplicates),
    figure("C", "duplicates", 44.0, |score| score.duplicates),
    figure("D", "duplicates", 16.0, |score| score.duplicates),
    figure("D", "real orders swallowed", 52.0, |score| {
        score.real_orders_swallowed
    }),
    figure("E", "duplicates", 0.0, |score| score.duplicates),
    figure("E", "placed, reported failed", 14.0, |score| {
        score.placed_but_reported_failed
    }),
];

impl Figure {
    fn counts(&self, reports: &[Vec<Score>]) -> Vec<f64> {
        of(self.strategy, reports, |row| (self.of)(row) as f64)
    }
}

/// What one strategy came to with each seed.
fn of(strategy: &str, reports: &[Vec<Score>], what: impl Fn(&Score) -> f64) -> Vec<f64> {
    let mine = |row: &&Score| row.strategy == strategy;
    let rows = reports.iter().flatten().filter(mine);
    rows.map(what).collect()
}

fn mean(of: &[f64]) -> f64 {
    of.iter().sum::<f64>() / of.len() as f64
}

/// Of one seed alone: a count of rare things has about its own root.
fn deviation(of: &[f64], source: f64) -> f64 {
    if of.len() == 1 {
        return source.sqrt();
    }
    let mean = mean(of);
    let squares: f64 = of.iter().map(|count| (count - mean).powi(2)).sum();
    (squares / (of.len() - 1) as f64).sqrt()
}

async fn rows(seed: u64, strategies: &[Arc<dyn Strategy>]) -> Vec<Score> {
    let options = Options {
        sessions: SESSIONS_DEFAULT,
        seed: Seed(seed),
        faults: Faults::of_the_experiment(),
    };
    let hears: experiment::Hears = Arc::new(|_, _, _| {});
    let report = experiment::run(&options, strategies, &hears).await.unwrap();
    eprintln!("seed {seed}: {} late by load", report.late_by_load);
    report.rows
}

#[tokio::test]
async fn they_come_out_as_in_the_source_and_mainstay_loses_and_doubles_nothing() {
    let seeds: Vec<u64> = match std::env::var(SIZE).is_ok_and(|size| size == "full") {
        true => (1..=SEEDS_FULL).collect(),
        false => vec![SEED_DEFAULT],
    };
    let mut reports = Vec::new();
    for seed in seeds {
        reports.push(rows(seed, &strategies::all()).await);
    }
    compare(&reports);
    promised(&reports);
}

fn compare(reports: &[Vec<Score>]) {
    println!("| strategy | figure | source | mean | standard deviation | source is away by |");
    println!("|---|---|---|---|---|---|");
    for figure in &FIGURES {
        let counts = figure.counts(reports);
        let (mean, deviation) = (mean(&counts), deviation(&counts, figure.source));
        let away = (figure.source - mean).abs();
        let Figure {
            strategy,
            label,
            source,
            ..
        } = figure;
        let in_deviations = if away == 0.0 { 0.0 } else { away / deviation };
        println!(
            "| {strategy} | {label} | {source} | {mean:.1} | {deviation:.1} | {in_deviations:.1} |"
        );
        assert!(in_deviations <= 3.0, "{strategy} {label}: {counts:?}");
    }
    for rows in reports {
        let duplicates: Vec<u64> = rows.iter().map(|row| row.duplicates).collect();
        let &[a, b, c, d, e, ..] = duplicates.as_slice() else {
            panic!("{duplicates:?}");
        };
        assert!(c < b && d < c && 0 < d, "{duplicates:?}");
        assert_eq!((a, e), (0, 0), "{duplicates:?}");
    }
}

/// Sessions of a strategy that a person may be asked to see to, of `SESSIONS_DEFAULT`.
const TO_PEOPLE_MAX: [(&str, u64); 3] = [("F", 5), ("F2", 5), ("F3", 20)];

fn promised(reports: &[Vec<Score>]) {
    println!("\n| strategy | most handed to people | mean sends per session | B's |");
    println!("|---|---|---|---|");
    let sends = of("B", reports, |row| row.sends_per_session);
    for (strategy, to_people_max) in TO_PEOPLE_MAX {
        let to_people = of(strategy, reports, |row| row.handed_to_people as f64);
        let to_people = to_people.into_iter().fold(0.0, f64::max);
        let own = of(strategy, reports, |row| row.sends_per_session);
        println!(
            "| {strategy} | {to_people} | {:.3} | {:.3} |",
            mean(&own),
            mean(&sends)
        );
        assert!(to_people <= to_people_max as f64, "{strategy}: {to_people}");
        for (own, bare) in own.iter().zip(&sends) {
            assert!(own <= bare, "{strategy}: {own} {bare}");
        }
    }
    let of_ours = |row: &&Score| row.strategy.starts_with('F');
    for row in reports.iter().flatten().filter(of_ours) {
        let wrong = [
            row.duplicates,
            row.never_placed,
            row.placed_but_reported_failed,
            row.real_orders_swallowed,
            row.reordered_after_confirmation,
        ];
        assert_eq!(wrong, [0; 5], "{row:?}");
    }
}
