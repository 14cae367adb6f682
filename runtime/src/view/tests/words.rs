//! The view as text.

use mainstay_types::{Failure, FailureKind, Sent};

use super::story::{POLICY, Story, class, run_id};
use super::view;
use crate::view::text::{plain, render};

#[test]
fn a_run_is_readable_from_top_to_bottom() {
    let text = render(&view(&Story::completed(
        1,
        r#"{"tickets":["T-17","T-18"]}"#,
    )));
    let (head, timeline) = text.split_once("\ntimeline\n").unwrap();
    let expected = format!(
        "\
run {id}
  class               minutes v3
  fingerprint         {fingerprint}
  tenant              acme
  start key           mtg-1
  lap                 1, epoch 1
  state               closed
  answer              ready
  outcome             completed: ALL_SETTLED, after 900 ms
  started             2026-11-30T09:38:20.000Z
  ended               2026-11-30T09:38:20.900Z

budget
  retry tokens        0 of 4 used
  concurrency tokens  2 of 5 used at once, 0 in flight
  cost units          2.2 of 18 used, 0 reserved, 0 assumed
  answer by           2026-11-30T09:38:32.000Z
  work by             2026-11-30T09:38:31.600Z
  expires at          never
  doubt until         2026-12-01T09:38:32.000Z
  on downtime         extend: the times have moved by 0 ms of at most 60 min
  admission           admitted: it needs 1.2 s of 12.0 s (critical path 800 ms, queue 0 ms,
                      synthesis 0 ms, reconcile 0 ms, deliver 400 ms; 0 calls as observed)

result
  {{\"tickets\":[\"T-17\",\"T-18\"]}}

calls
  policy_rag         read   hard      settled, answered by policy
    attempt 1  to policy at +0.010 s: answered, after 312 ms, cost 1
  related_tickets    read   soft      settled, answered by search
    attempt 1  to search at +0.010 s: answered, after 190 ms, cost 1
  draft              local  hard      settled
  ticket_write       each   hard      settled
    ticket_write[0]  item   hard      settled, answered by tickets
      attempt 1  to tickets at +0.510 s: answered, after 290 ms, cost 0.1
      effect     applied: ANSWERED, first sent at 2026-11-30T09:38:20.510Z
      key        acme/ticket/id:mtg/item:0
      receiver   \"T-17\"
    ticket_write[1]  item   hard      settled, answered by tickets
      attempt 1  to tickets at +0.510 s: answered, after 190 ms, cost 0.1
      effect     applied: ANSWERED, first sent at 2026-11-30T09:38:20.510Z
      key        acme/ticket/id:mtg/item:1
      receiver   \"T-18\"
",
        id = run_id(1),
        fingerprint = class().fingerprint()
    );
    assert_eq!(head, expected);
    assert!(timeline.contains("   5  +0.010 s  "), "{timeline}");
    assert!(
        timeline.ends_with("+0.900 s  the run is closed: it owes nothing\n"),
        "{timeline}"
    );
}

#[test]
fn no_line_is_wider_than_a_hundred_columns_where_words_allow_it() {
    let result = format!("{{\"text\":\"{}\"}}", "word ".repeat(60));
    let text = render(&view(&Story::completed(1, &result)));
    let widest = text.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(100), "{widest:?}\n{text}");
}

#[test]
fn a_large_payload_is_cut_and_says_how_large_it_is() {
    let result = format!("[{}]", "회".repeat(1_000));
    let text = render(&view(&Story::completed(1, &format!("\"{result}\""))));
    assert!(text.contains("회…\n  (3004 bytes; JSON has all)"), "{text}");
}

#[test]
fn a_providers_escape_sequence_never_reaches_the_terminal() {
    let mut story = Story::begin(1);
    story.ask(10, POLICY);
    let failure = Failure::new(FailureKind::InvalidInput, Sent::Answered)
        .message("\u{1b}[2Jgone\r\nrun forged\u{9b}1m");
    story.fail(20, (POLICY, 1), failure);
    let text = render(&view(&story));
    assert!(!text.contains(['\u{1b}', '\r', '\u{9b}']), "{text:?}");
    assert!(
        text.contains(r"\u{1b}[2Jgone\r\nrun forged\u{9b}1m"),
        "{text}"
    );
    assert_eq!(plain("a\tb"), r"a\tb");
}
