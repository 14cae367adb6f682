//! The picture of a report, as SVG.
//!
//! The same report is the same bytes. It must never need a font, a script or a stylesheet of its
//! reader's; its colours are readable on white and on black.

use std::fmt::Write as _;

use super::Report;
use super::score::Score;

/// What is counted, how it is called, its colour on white and on black.
struct Series {
    label: &'static str,
    class: &'static str,
    light: &'static str,
    dark: &'static str,
    of: fn(&Score) -> u64,
}

const SERIES_COUNT: u32 = 5;

const SERIES: [Series; SERIES_COUNT as usize] = [
    Series {
        label: "duplicates",
        class: "a",
        light: "#b3261e",
        dark: "#ff8a80",
        of: |score| score.duplicates,
    },
    Series {
        label: "never placed",
        class: "b",
        light: "#5f6368",
        dark: "#bdc1c6",
        of: |score| score.never_placed,
    },
    Series {
        label: "placed, but reported failed",
        class: "c",
        light: "#b06000",
        dark: "#fdd663",
        of: |score| score.placed_but_reported_failed,
    },
    Series {
        label: "real orders swallowed",
        class: "d",
        light: "#7b1fa2",
        dark: "#d7aefb",
        of: |score| score.real_orders_swallowed,
    },
    Series {
        label: "handed to people",
        class: "e",
        light: "#1967d2",
        dark: "#8ab4f8",
        of: |score| score.handed_to_people,
    },
];

const LEFT: u32 = 32;
const TOP: u32 = 64;
const BARS_HEIGHT: u32 = 200;
const BAR: u32 = 18;
const BETWEEN_BARS: u32 = 4;
const BETWEEN_GROUPS: u32 = 30;
const LEGEND_LINE: u32 = 20;
const LETTERS_LEFT: u32 = 280;

/// Width of one strategy's bars with the room behind them.
const GROUP: u32 = SERIES_COUNT * (BAR + BETWEEN_BARS) + BETWEEN_GROUPS;

/// Room for the title and the legend.
const WIDTH_MIN: u32 = 560;

/// Draws a report; `titles` says in a few words what each row's strategy does.
#[must_use]
pub fn svg(report: &Report, titles: &[&str]) -> String {
    let groups = u32::try_from(report.rows.len()).unwrap_or(u32::MAX);
    let width = (LEFT + groups.saturating_mul(GROUP)).max(WIDTH_MIN);
    let ground = TOP + BARS_HEIGHT;
    let lines = groups.max(SERIES_COUNT);
    let height = ground + 44 + lines * LEGEND_LINE;
    let mut out = head(width, height);
    let title = format!(
        "What {} sessions came to, seed {}",
        report.sessions, report.seed
    );
    let _ = writeln!(out, "<title>{title}</title>");
    out.push_str(&style());
    // Its own ground: the page around it may be of the other kind than its reader asked for.
    let _ = writeln!(
        out,
        "<rect class=\"ground\" width=\"{width}\" height=\"{height}\"/>"
    );
    text(&mut out, (16, 28), "h", &title);
    let max = report
        .rows
        .iter()
        .flat_map(counts)
        .max()
        .unwrap_or(0)
        .max(1);
    ground_line(&mut out, width);
    for (group, row) in (0_u32..).zip(&report.rows) {
        bars(&mut out, LEFT + group * GROUP, row, max);
    }
    legend(&mut out, ground + 48, report, titles);
    out.push_str("</svg>\n");
    out
}

fn counts(score: &Score) -> impl Iterator<Item = u64> {
    SERIES.iter().map(|series| (series.of)(score))
}

fn head(width: u32, height: u32) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"{width}\" \
         height=\"{height}\" viewBox=\"0 0 {width} {height}\">\n"
    )
}

/// Bars, words and lines, for white and for black.
fn style() -> String {
    let mut light = String::from("text{font:12px sans-serif;fill:#202124}.h{font-size:15px}");
    light.push_str(".ground{fill:#fff}");
    light.push_str(".n{text-anchor:middle}line{stroke:#9aa0a6}");
    let mut dark = String::from("text{fill:#e8eaed}.ground{fill:#202124}");
    for series in &SERIES {
        let _ = write!(light, ".{}{{fill:{}}}", series.class, series.light);
        let _ = write!(dark, ".{}{{fill:{}}}", series.class, series.dark);
    }
    format!("<style>{light}@media(prefers-color-scheme:dark){{{dark}}}</style>\n")
}

/// The line that the bars stand on; their heights are written on them.
fn ground_line(out: &mut String, width: u32) {
    let (from, to, y) = (LEFT - 8, width - 16, TOP + BARS_HEIGHT);
    let _ = writeln!(
        out,
        "<line x1=\"{from}\" y1=\"{y}\" x2=\"{to}\" y2=\"{y}\"/>"
    );
}

fn bars(out: &mut String, left: u32, row: &Score, max: u64) {
    let ground = TOP + BARS_HEIGHT;
    for (at, (series, count)) in (0_u32..).zip(SERIES.iter().zip(counts(row))) {
        let x = left + at * (BAR + BETWEEN_BARS);
        let height = u32::try_from(u64::from(BARS_HEIGHT) * count / max).unwrap_or(BARS_HEIGHT);
        // One is not none.
        let height = if count == 0 { 0 } else { height.max(1) };
        let y = ground - height;
        let _ = writeln!(
            out,
            "<rect class=\"{}\" x=\"{x}\" y=\"{y}\" width=\"{BAR}\" height=\"{height}\"/>",
            series.class
        );
        text(out, (x + BAR / 2, y - 5), "n", &count.to_string());
    }
    let middle = left + (GROUP - BETWEEN_GROUPS) / 2;
    text(out, (middle, ground + 20), "n h", row.strategy);
}

/// What the colours mean, and beside it what the letters mean.
fn legend(out: &mut String, top: u32, report: &Report, titles: &[&str]) {
    for (series, y) in SERIES.iter().zip((top..).step_by(LEGEND_LINE as usize)) {
        let _ = writeln!(
            out,
            "<rect class=\"{}\" x=\"16\" y=\"{}\" width=\"12\" height=\"12\"/>",
            series.class,
            y - 10
        );
        text(out, (36, y), "l", series.label);
    }
    let rows = report.rows.iter().zip(titles);
    for ((row, title), y) in rows.zip((top..).step_by(LEGEND_LINE as usize)) {
        let words = format!("{}: {title}", row.strategy);
        text(out, (LETTERS_LEFT, y), "l", &words);
    }
}

fn text(out: &mut String, (x, y): (u32, u32), class: &str, words: &str) {
    let words = words
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    let _ = writeln!(
        out,
        "<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{words}</text>"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(strategy: &'static str, duplicates: u64) -> Score {
        Score {
            strategy,
            duplicates,
            never_placed: 81,
            placed_but_reported_failed: 0,
            real_orders_swallowed: 52,
            handed_to_people: 0,
            reordered_after_confirmation: 0,
            sends_per_session: 1.5,
        }
    }

    fn report(duplicates: u64) -> Report {
        Report {
            sessions: 2_000,
            seed: 7,
            late_by_load: 0,
            rows: vec![score("A", 0), score("B", duplicates)],
        }
    }

    /// The names of the elements that are open at the end, innermost last; panics on what no XML
    /// has.
    fn open_elements(text: &str) -> Vec<&str> {
        let mut open = Vec::new();
        for tag in text.split('<').skip(1) {
            let (tag, words) = tag.split_once('>').expect("a tag ends");
            assert!(!words.contains('>'), "{words}");
            let is_entity = |rest: &str| ["amp;", "lt;", "gt;"].iter().any(|e| rest.starts_with(e));
            assert!(words.split('&').skip(1).all(is_entity), "{words}");
            if let Some(name) = tag.strip_prefix('/') {
                assert_eq!(open.pop(), Some(name));
            } else if !tag.ends_with('/') {
                assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
                open.push(tag.split(' ').next().expect("a name"));
            }
        }
        open
    }

    #[test]
    fn a_picture_is_well_formed_and_the_same_for_the_same_report() {
        let titles = ["no retries", "a < b & c"];
        let drawn = svg(&report(144), &titles);
        assert_eq!(open_elements(&drawn), [""; 0]);
        assert_eq!(drawn, svg(&report(144), &titles));
        assert_ne!(drawn, svg(&report(143), &titles));
        assert!(drawn.contains("B: a &lt; b &amp; c"), "{drawn}");
        assert!(drawn.contains("prefers-color-scheme:dark"));
    }

    #[test]
    fn the_highest_bar_is_the_whole_height_one_is_seen_and_none_is_flat() {
        for (count, height) in [(144, "200"), (0, "0"), (1, "2")] {
            let drawn = svg(&report(count), &["", ""]);
            let bars: Vec<&str> = drawn.lines().filter(|l| l.starts_with("<rect")).collect();
            // The ground, and five bars of A.
            let first_of_b = bars[1 + 5];
            assert!(
                first_of_b.ends_with(&format!("height=\"{height}\"/>")),
                "{first_of_b}"
            );
        }
        let nothing = Report {
            rows: Vec::new(),
            ..report(0)
        };
        assert_eq!(open_elements(&svg(&nothing, &[])), [""; 0]);
    }
}
