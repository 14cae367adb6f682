//! Largest and oddest inputs: the draft stays small, the same, and is made in bounded time.
//!
//! The time bound is far above what linear work needs in a debug build and far below what
//! quadratic work over 1 MiB would take, so it tells the two apart on any machine.

use std::time::{Duration, Instant};

use meeting_analysis::minutes::{INPUT_BYTES_MAX, Meeting};
use meeting_analysis::policy::PolicyQuery;
use meeting_analysis::summarise::{
    ACTIONS_MAX, DECISIONS_MAX, Draft, Extras, SENTENCES_MAX, summarise,
};

const LONGEST: Duration = Duration::from_secs(60);
const PEOPLE: &str = "# Sync\n## Present\n* Avery @avery\n* Kai\n## Talk\n";

fn filled(bytes: usize, head: &str, unit: &str) -> String {
    let count = (bytes - head.len()) / unit.len();
    format!("{head}{}", unit.repeat(count))
}

fn draft(text: &str) -> Draft {
    let meeting = Meeting::read("big.md", text.as_bytes(), INPUT_BYTES_MAX).expect("within 1 MiB");
    let started = Instant::now();
    let minutes = meeting.minutes();
    let draft = summarise(&minutes, Extras::default());
    let query = PolicyQuery::about(&minutes);
    assert!(
        started.elapsed() < LONGEST,
        "{:?} for {:?}",
        started.elapsed(),
        &text[..60]
    );
    assert!(query.terms.len() <= meeting_analysis::policy::TERMS_MAX);
    let json = serde_json::to_string(&draft).expect("plain data");
    assert!(
        json.len() < 256 * 1024,
        "the draft has {} bytes for {:?}",
        json.len(),
        &text[..60]
    );
    assert!(draft.actions.len() <= ACTIONS_MAX && draft.decisions.len() <= DECISIONS_MAX);
    assert!(draft.summary.len() <= SENTENCES_MAX);
    draft
}

#[test]
fn a_mebibyte_of_one_line_or_of_bullets_is_summarised_in_bounded_work() {
    for unit in ["word ", "x", "* a\n", "Avery will review it. "] {
        draft(&filled(INPUT_BYTES_MAX, PEOPLE, unit));
    }
}

#[test]
fn repeated_cues_and_marks_are_summarised_in_bounded_work() {
    for unit in [
        "Avery, Kai and ",
        "will ",
        "Avery to Kai to ",
        "we need to ",
        "Let the let the ",
        "@avery ",
        "agreed to ",
        "Avery: ",
        "( [ ",
        "ä",
        "# a\n",
        "  * Avery:\n",
        "* Avery will:\n  * b\n",
        "|a|b|\n",
        "| Action | Owner |\n|-|--|\n| call | Kai |\n\n",
        "Actions:\n- x\n",
        "AI: Kai to call\n",
        "Present: Avery, Kai\n\n",
        "- [ ] a\n",
    ] {
        draft(&filled(INPUT_BYTES_MAX / 4, PEOPLE, unit));
    }
}

#[test]
fn a_long_heading_over_many_short_sections_is_not_multiplied() {
    let head = format!("# {}\n", "long ".repeat(100_000));
    draft(&filled(INPUT_BYTES_MAX, &head, "## b\nKai to call\n"));
}

#[test]
fn actions_beyond_fifty_are_counted_and_the_first_fifty_kept() {
    let mut text = PEOPLE.to_owned();
    for n in 0..80 {
        text.push_str(&format!("* Avery to call office number{n}\n"));
    }
    let draft = draft(&text);
    assert_eq!((draft.actions.len(), draft.actions_left_out), (50, 30));
    assert_eq!(draft.actions[0].title, "Call office number0");
    assert_eq!(draft.actions[49].title, "Call office number49");
}

#[test]
fn the_same_minutes_give_the_same_draft_byte_for_byte() {
    let text = std::fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/minutes/steering-2026-03.md"
    ))
    .expect("the sample is there");
    let first = serde_json::to_string(&draft(&text)).expect("plain data");
    for _ in 0..20 {
        assert_eq!(
            serde_json::to_string(&draft(&text)).expect("plain data"),
            first
        );
    }
    let windows = text.replace('\n', "\r\n");
    let windows = serde_json::to_string(&draft(&windows)).expect("plain data");
    assert_eq!(windows, first, "line ends of another system change nothing");
}
