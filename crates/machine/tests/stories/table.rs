//! The table after a failure, whole: one line per kind, sent or not, for each effect semantics.
//!
//! It is written out by hand; nothing here is computed from the table under test.

use mainstay_graph::EffectSemantics;
use mainstay_machine::next::{Move, table};
use mainstay_types::{FailureKind, Sent};

/// Kind, then the moves of a read, of a write under a key and of a write without one, each for not
/// sent, maybe sent, answered.
const TABLE: &str = "
    INVALID_INPUT       give_up  give_up  give_up   give_up  reconcile give_up    give_up  reconcile give_up
    UNAUTHORIZED        give_up  give_up  give_up   give_up  reconcile give_up    give_up  reconcile give_up
    RATE_LIMITED        retry    retry    retry     retry    reconcile retry      retry    reconcile retry
    OVERLOADED          retry    retry    retry     retry    reconcile retry      retry    reconcile reconcile
    TRANSIENT_TRANSPORT retry    retry    retry     retry    reconcile reconcile  retry    reconcile reconcile
    PERMANENT_PROVIDER  fallback fallback fallback  give_up  reconcile give_up    give_up  reconcile give_up
    RESULT_INVALID      repair   repair   repair    give_up  reconcile reconcile  give_up  reconcile reconcile
    EFFECT_UNKNOWN      retry    retry    retry     reconcile reconcile reconcile reconcile reconcile reconcile
    DEADLINE_EXHAUSTED  fallback fallback fallback  fallback reconcile reconcile  fallback reconcile reconcile
    CANCELED            give_up  give_up  give_up   give_up  reconcile give_up    give_up  reconcile give_up
";

const EFFECTS: [EffectSemantics; 3] = [
    EffectSemantics::ReadOnly,
    EffectSemantics::WriteIdempotentWithKey,
    EffectSemantics::WriteWithoutKey,
];

const fn word(next: Move) -> &'static str {
    match next {
        Move::Reconcile => "reconcile",
        Move::Retry => "retry",
        Move::Repair => "repair",
        Move::Fallback => "fallback",
        Move::GiveUp => "give_up",
    }
}

#[test]
fn each_kind_has_its_move_whether_sent_or_not_for_reads_and_writes() {
    let lines: Vec<&str> = TABLE
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    assert_eq!(lines.len(), FailureKind::ALL.len());
    for line in lines {
        let mut words = line.split_whitespace();
        let kind = words
            .next()
            .and_then(FailureKind::from_code)
            .expect("a failure kind");
        for effect in EFFECTS {
            for sent in [Sent::NotSent, Sent::MaybeSent, Sent::Answered] {
                let expected = words.next().expect("nine moves");
                assert_eq!(
                    word(table(kind, sent, effect)),
                    expected,
                    "{kind} {sent} {effect:?}"
                );
            }
        }
    }
}
