//! A ticket service that is down, slow or busy: an outcome that the table allows, and never two
//! tickets for one action.

use std::collections::BTreeSet;
use std::path::Path;

use mainstay_tests::meeting::Meeting;
use mainstay_tests::minutes;
use mainstay_tests::place::Place;
use mainstay_tests::service::Service;
use mainstay_tests::view::View;

const ACTIONS: usize = 4;

struct Setting {
    place: Place,
    service: Service,
    source: String,
}

impl Setting {
    fn new(faults: &[&str]) -> Self {
        let place = Place::new();
        let file = place.file("four.md", minutes::with_actions("four", ACTIONS));
        let service = Service::tickets(&place.path("tickets.db"), faults);
        Self {
            source: minutes::source(&file),
            place,
            service,
        }
    }

    fn view(&self) -> View {
        run_over(
            &self.place.path("four.md"),
            &self.place,
            &self.service.url(),
        )
    }

    /// How many tickets there are; never two for one action.
    fn tickets(&self, view: &View) -> usize {
        let tickets = self.service.tickets_of(&self.source);
        let positions: BTreeSet<u64> = tickets
            .iter()
            .filter_map(|t| t["position"].as_u64())
            .collect();
        assert_eq!(
            positions.len(),
            tickets.len(),
            "two tickets for one action\n{}",
            view.from
        );
        tickets.len()
    }

    /// As many tickets as actions, all known to the run.
    fn must_be_complete(&self, view: &View) {
        assert!(view.has_result(), "{}", view.from);
        assert_eq!(view.ticket_ids().len(), ACTIONS, "{}", view.from);
        assert_eq!(self.tickets(view), ACTIONS, "{}", view.from);
    }
}

fn run_over(file: &Path, place: &Place, url: &str) -> View {
    Meeting::new(file, place.store())
        .with("--tickets", url)
        .view()
}

/// Nothing was written, and a person is told.
fn must_be_handed_off(view: &View) {
    assert_eq!(
        (view.outcome(), view.from.code),
        ("handed_off", Some(3)),
        "{}",
        view.from
    );
    assert!(
        !view.list("/package/draft/actions").is_empty(),
        "{}",
        view.from
    );
    assert!(view.ticket_ids().is_empty(), "{}", view.from);
}

#[test]
fn a_service_that_is_not_there_hands_the_run_off_with_its_draft() {
    let place = Place::new();
    let file = place.file("four.md", minutes::with_actions("four", ACTIONS));
    // A port that was free a moment ago.
    let free = std::net::TcpListener::bind("127.0.0.1:0").and_then(|bound| bound.local_addr());
    let url = format!("http://{}", free.expect("a free port"));
    let view = run_over(&file, &place, &url);
    must_be_handed_off(&view);
    let attempts = view.attempts("ticket_write[0]");
    assert!(
        attempts.iter().all(|attempt| attempt["sent"] == "NOT_SENT"),
        "{}",
        view.from
    );
    assert!(view.events("EffectInDoubt").is_empty(), "{}", view.from);
}

#[test]
fn a_service_that_always_says_503_hands_the_run_off_and_has_no_ticket() {
    let setting = Setting::new(&["unavailable,method=POST"]);
    let view = setting.view();
    must_be_handed_off(&view);
    assert_eq!(setting.tickets(&view), 0, "{}", view.from);
    let used = view.number("/budget/retry_tokens/used");
    assert!(
        used <= view.number("/budget/retry_tokens/limit"),
        "{}",
        view.from
    );
}

#[test]
fn a_503_now_and_then_costs_a_retry_and_nothing_else() {
    let setting = Setting::new(&["unavailable:1@0,method=POST", "unavailable:1@2,method=POST"]);
    let view = setting.view();
    setting.must_be_complete(&view);
    assert_eq!(view.number("/budget/retry_tokens/used"), 2, "{}", view.from);
    let attempts = view.attempts("ticket_write[2]");
    assert_eq!(
        (attempts.len(), &attempts[0]["failure"]),
        (2, &"OVERLOADED".into()),
        "{}",
        view.from
    );
}

#[test]
fn a_429_is_tried_again_when_it_says_and_not_before() {
    let setting = Setting::new(&["rate_limited:1@1,retry_after_s=2,method=POST"]);
    let view = setting.view();
    setting.must_be_complete(&view);
    let attempts = view.attempts("ticket_write[1]");
    assert_eq!(
        (attempts.len(), &attempts[0]["failure"]),
        (2, &"RATE_LIMITED".into()),
        "{}",
        view.from
    );
    let at = |n: usize| attempts[n]["at_ms"].as_u64().expect("a time");
    assert!(
        at(0) + 2_000 <= at(1),
        "{} and {}\n{}",
        at(0),
        at(1),
        view.from
    );
}

#[test]
fn a_slow_write_within_its_time_is_answered_and_nothing_else() {
    let setting = Setting::new(&["delay,delay_ms=700,method=POST"]);
    let view = setting.view();
    setting.must_be_complete(&view);
    assert_eq!(view.outcome(), "completed", "{}", view.from);
    assert!(view.events("EffectInDoubt").is_empty(), "{}", view.from);
    assert_eq!(view.number("/budget/retry_tokens/used"), 0, "{}", view.from);
}

#[test]
fn a_write_that_outlasts_its_timeout_is_in_doubt_until_it_cannot_land_and_then_written_once() {
    // The timeout is 1.5 s; what waits longer than the service's bound is not committed, which the
    // client cannot know.
    let setting = Setting::new(&["delay:1@2,delay_ms=1900,method=POST"]);
    let view = setting.view();
    setting.must_be_complete(&view);
    assert_eq!(view.attempts("ticket_write[2]").len(), 2, "{}", view.from);
    let doubt = view
        .moment("EffectInDoubt", "ticket_write[2]")
        .expect("a doubt");
    let absent = view
        .moment("EffectAbsent", "ticket_write[2]")
        .expect("a proof");
    assert!(
        1_500 <= doubt && 4_500 <= absent,
        "{doubt} {absent}\n{}",
        view.from
    );
}

#[test]
fn a_service_that_goes_down_for_a_second_gets_every_ticket_once() {
    let setting = Setting::new(&["down,for_ms=1000"]);
    let view = setting.view();
    let tickets = setting.tickets(&view);
    assert_eq!(tickets, view.ticket_ids().len(), "{}", view.from);
    let allowed = ["completed", "degraded", "handed_off"];
    assert!(allowed.contains(&view.outcome()), "{}", view.from);
    assert!(
        tickets == ACTIONS || view.outcome() == "handed_off",
        "{}",
        view.from
    );
}
