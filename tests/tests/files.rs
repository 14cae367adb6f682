//! Which files work, and which are refused before anything is written.

use std::collections::BTreeSet;
use std::path::Path;

use mainstay_tests::meeting::Meeting;
use mainstay_tests::minutes;
use mainstay_tests::place::Place;
use mainstay_tests::service::Service;
use mainstay_tests::view::View;

/// The limit on minutes, in bytes.
const INPUT_BYTES_MAX: usize = mainstay::types::limits::INPUT_BYTES_MAX;

/// As many effects, keys and tickets as there are actions; the service has them, too.
fn must_be_whole(view: &View, file: &Path, place: &Place) -> usize {
    assert!(view.has_result(), "{}", view.from);
    assert_eq!(view.from.code, Some(0), "{}", view.from);
    let actions = minutes::actions(file);
    assert_eq!(view.number("/result/actions_left_out"), 0, "{}", view.from);
    assert_eq!(view.list("/result/tickets").len(), actions, "{}", view.from);
    let applied = view
        .list("/calls")
        .iter()
        .filter(|call| call["effect"]["state"] == "applied");
    assert_eq!(applied.count(), actions, "{}", view.from);
    let keys: BTreeSet<&str> = view.keys().into_iter().collect();
    assert_eq!(keys.len(), actions, "{}", view.from);
    let ids: BTreeSet<&str> = view.ticket_ids().into_iter().collect();
    assert_eq!(ids.len(), actions, "{}", view.from);

    let service = Service::tickets(&place.store().join("tickets.db"), &[]);
    let tickets = service.tickets_of(&minutes::source(file));
    let positions: Vec<u64> = tickets
        .iter()
        .filter_map(|t| t["position"].as_u64())
        .collect();
    let distinct: BTreeSet<u64> = positions.iter().copied().collect();
    assert_eq!(
        (positions.len(), distinct.len()),
        (actions, actions),
        "{positions:?}"
    );
    let stored: BTreeSet<&str> = tickets.iter().filter_map(|t| t["id"].as_str()).collect();
    assert_eq!(stored, ids, "{}", view.from);
    actions
}

#[test]
fn every_file_of_real_minutes_gives_a_report_and_one_ticket_per_action() {
    let mut actions = 0;
    for file in minutes::real() {
        let place = Place::new();
        let view = Meeting::new(&file, place.store()).view();
        actions += must_be_whole(&view, &file, &place);
    }
    assert!(0 < actions, "no file has an action: nothing was shown");
}

#[test]
fn minutes_with_fifty_actions_give_fifty_tickets() {
    let place = Place::new();
    let file = place.file("fifty.md", minutes::with_actions("fifty", 50));
    let view = Meeting::new(&file, place.store()).view();
    assert_eq!(must_be_whole(&view, &file, &place), 50, "{}", view.from);
}

#[test]
fn minutes_without_an_action_give_a_report_and_no_ticket() {
    let place = Place::new();
    let file = place.file("none.md", "# Office hours\n\nNobody came.\n");
    let view = Meeting::new(&file, place.store()).view();
    assert_eq!(must_be_whole(&view, &file, &place), 0, "{}", view.from);
}

#[test]
fn text_of_exactly_the_limit_works() {
    let place = Place::new();
    let file = place.file("large.md", minutes::of_size(INPUT_BYTES_MAX));
    let view = Meeting::new(&file, place.store()).view();
    assert!(0 < must_be_whole(&view, &file, &place), "{}", view.from);
}

/// Refused with its reason, exit code 2, nothing on stdout and no store.
fn must_be_refused(place: &Place, file: &Path, reasons: &[&str]) {
    let asked = Meeting::new(file, place.store());
    for command in [asked.clone(), asked.as_text()] {
        let ended = command.run().with_code(2);
        assert_eq!(ended.stdout, "", "{ended}");
        assert!(ended.stderr.contains("INVALID_INPUT"), "{ended}");
        for reason in reasons {
            assert_eq!(ended.stderr.matches(reason).count(), 1, "{reason}\n{ended}");
        }
        assert!(!place.store().exists(), "{ended}");
    }
}

#[test]
fn what_is_no_text_or_too_much_of_it_is_refused_with_nothing_written() {
    let place = Place::new();
    let limit = INPUT_BYTES_MAX.to_string();
    let too_long = minutes::of_size(INPUT_BYTES_MAX + 1);
    let cases: [(&str, Vec<u8>, &[&str]); 6] = [
        (
            "five-mb.md",
            vec![b'a'; 5_000_000],
            &["5000000 bytes", &limit],
        ),
        (
            "one-more.md",
            too_long.into_bytes(),
            &["1048577 bytes", &limit],
        ),
        ("empty.md", Vec::new(), &["holds no text"]),
        ("white.md", b" \n\t\r\n  \n".to_vec(), &["holds no text"]),
        (
            "nul.md",
            b"# Minutes\n\0\n".to_vec(),
            &["binary", "byte 10"],
        ),
        (
            "latin.md",
            b"# Caf\xe9 minutes\n".to_vec(),
            &["binary", "byte 5"],
        ),
    ];
    for (name, content, reasons) in cases {
        must_be_refused(&place, &place.file(name, content), reasons);
    }
}

#[test]
fn a_file_that_cannot_be_read_is_refused_by_name_with_nothing_written() {
    let place = Place::new();
    must_be_refused(
        &place,
        &place.path("missing.md"),
        &["missing.md", "No such file"],
    );
    must_be_refused(&place, place.folder(), &["directory"]);
}

#[test]
fn a_key_that_breaks_the_rules_for_keys_is_refused_with_nothing_written() {
    let place = Place::new();
    for key in ["", "two\nlines", &"k".repeat(201)] {
        let refused = Meeting::new(minutes::example(), place.store())
            .with("--key", key)
            .run();
        let refused = refused.with_code(2);
        assert!(refused.stderr.contains("--key"), "{refused}");
        assert!(
            refused.stdout.is_empty() && !place.store().exists(),
            "{refused}"
        );
    }
}
