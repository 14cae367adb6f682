//! What is printed: one JSON object for programs, text for people.

use mainstay_tests::meeting::Meeting;
use mainstay_tests::minutes;
use mainstay_tests::place::Place;
use mainstay_tests::service::Service;
use mainstay_tests::view::View;
use serde_json::Value;

/// The keys that scripts may count on.
const KEYS: [&str; 12] = [
    "run_id", "lap", "reused", "answer", "outcome", "state", "result", "notices", "addenda",
    "tickets", "budget", "calls",
];

#[test]
fn json_is_one_object_with_the_promised_keys() {
    let place = Place::new();
    let ended = Meeting::new(minutes::example(), place.store())
        .run()
        .with_code(0);
    assert_eq!(ended.stdout.matches('\n').count(), 1, "{ended}");
    assert_eq!(ended.stderr, "", "{ended}");
    let view = View::printed(ended);
    let missing: Vec<_> = KEYS.iter().filter(|key| !view.has(key)).collect();
    assert!(missing.is_empty(), "{missing:?}\n{}", view.from);
    assert_eq!(
        (view.number("/lap"), view.text("/state")),
        (1, "closed"),
        "{}",
        view.from
    );
    assert_eq!(view.text("/answer/kind"), "ready", "{}", view.from);
    for ticket in view.tickets() {
        assert!(
            ticket["key"].is_string() && ticket["id"].is_string(),
            "{ticket}"
        );
        assert_eq!(ticket["reused"], false, "{ticket}");
    }
    assert!(
        view.at("/budget/times/answer_by").is_string(),
        "{}",
        view.from
    );
    for part in ["retry_tokens", "concurrency_tokens", "cost_units"] {
        let number = |what: &str| {
            let found = view.at(&format!("/budget/{part}/{what}")).as_f64();
            found.unwrap_or_else(|| panic!("{part} {what}\n{}", view.from))
        };
        assert!(number("used") <= number("limit"), "{part}\n{}", view.from);
    }
    // A26: 1 + 1 + 2 + 4 units for the reads, 0.1 for each ticket.
    let tickets = f64::from(u32::try_from(view.tickets().len()).expect("few"));
    let used = view
        .at("/budget/cost_units/used")
        .as_f64()
        .expect("a number");
    assert!(
        (used - (8.0 + 0.1 * tickets)).abs() < 1e-9,
        "{used}\n{}",
        view.from
    );
}

#[test]
fn calls_show_their_attempts_with_failure_kind_and_whether_they_were_sent() {
    let place = Place::new();
    let service = Service::tickets(&place.path("tickets.db"), &["unavailable:1@0,method=POST"]);
    let view = Meeting::new(minutes::example(), place.store())
        .with("--tickets", service.url())
        .view();
    let attempts = view.attempts("ticket_write[0]");
    let shown = |attempt: &Value| {
        let text = |key: &str| attempt[key].as_str().unwrap_or("-").to_owned();
        [text("state"), text("failure"), text("sent")]
    };
    let shown: Vec<_> = attempts.iter().map(shown).collect();
    let expected = [
        ["failed", "OVERLOADED", "ANSWERED"],
        ["answered", "-", "ANSWERED"],
    ];
    assert_eq!(shown, expected, "{}", view.from);
}

#[test]
fn text_for_people_has_the_report_the_tickets_the_timeline_and_where_to_look() {
    let place = Place::new();
    let command = Meeting::new(minutes::example(), place.store());
    let text = command.clone().as_text().run().with_code(0);
    let view = command.view();
    for id in view.ticket_ids() {
        assert!(text.stdout.contains(id), "{id}\n{text}");
    }
    for ticket in view.list("/result/tickets") {
        let title = ticket["title"].as_str().expect("a ticket has a title");
        assert!(text.stdout.contains(title), "{title}\n{text}");
    }
    let look = format!(
        "--store {} run show {}",
        place.store().display(),
        view.run_id()
    );
    assert!(text.stdout.contains(&look), "{look}\n{text}");
    assert!(
        text.stdout.is_ascii() || !text.stdout.contains('\u{1b}'),
        "no colours\n{text}"
    );
}

#[test]
fn an_open_run_is_no_run_without_outcome_when_a_reply_stays_in_doubt() {
    let place = Place::new();
    let file = place.file("two.md", minutes::with_actions("two", 2));
    // Item 1 is committed, and from then on the service answers no look-up.
    let service = Service::tickets(
        &place.path("tickets.db"),
        &[
            "commit_then_drop:1@1",
            "drop,method=GET,path=/tickets/by-key",
        ],
    );
    let command = Meeting::new(&file, place.store()).with("--tickets", service.url());
    let view = command.view();
    assert!(view.at("/outcome").is_null(), "{}", view.from);
    assert_eq!(
        (view.text("/answer/kind"), view.from.code),
        ("later", Some(3)),
        "{}",
        view.from
    );
    assert_eq!(
        view.list("/answer/doubts"),
        ["ticket_write[1]"],
        "{}",
        view.from
    );

    service.clear();
    let again = command.view();
    assert_eq!(again.run_id(), view.run_id(), "{}", again.from);
    // Once told "later", it stays told; the outcome is in the run.
    assert_eq!(again.text("/answer/kind"), "later", "{}", again.from);
    assert_eq!(
        service.tickets_of(&minutes::source(&file)).len(),
        2,
        "{}",
        again.from
    );
}

#[test]
fn a_run_whose_output_nobody_takes_ends_in_order_and_leaves_no_service() {
    let place = Place::new();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full");
    let status = std::process::Command::new(mainstay_tests::binaries::program("meeting-analysis"))
        .arg(minutes::example())
        .arg("--store")
        .arg(place.store())
        .stdout(full.expect("a device that takes nothing"))
        .stderr(std::process::Stdio::null())
        .status()
        .expect("the program starts");
    assert_eq!(status.code(), Some(0), "a run that is done is done");
    for service in mainstay_tests::place::SERVICES {
        let pid_file = place.store().join(format!("{service}.pid"));
        assert!(!pid_file.exists(), "{}", pid_file.display());
    }
    let again = Meeting::new(minutes::example(), place.store())
        .as_text()
        .run();
    let again = again.with_code(0);
    assert!(
        again.stdout.contains("nothing was asked or written again"),
        "{again}"
    );
}
