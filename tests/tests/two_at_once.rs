//! One store, one engine: a second command is told who holds it and touches nothing; who only looks
//! is answered by the holder.

use std::process::Command;

use mainstay_tests::binaries::program;
use mainstay_tests::meeting::Meeting;
use mainstay_tests::minutes;
use mainstay_tests::place::Place;
use mainstay_tests::process::Ended;
use mainstay_tests::service::{Service, slow_writes};
use mainstay_tests::view::View;
use mainstay_tests::wait::until_true;

#[test]
fn a_second_command_on_a_store_is_told_who_holds_it_and_starts_nothing() {
    let place = Place::new();
    let file = place.file("two.md", minutes::with_actions("two", 2));
    let other = place.file("other.md", minutes::with_actions("other", 2));
    let service = Service::tickets(&place.path("tickets.db"), &[]);
    service.arm(&slow_writes(900));
    let holder = Meeting::new(&file, place.store())
        .with("--tickets", service.url())
        .start();
    until_true("a write of the first", || {
        service
            .requests()
            .iter()
            .any(|entry| entry.subject.method == "POST")
    });
    let specialists = place.pids("specialist-service");
    let pid = format!("pid {}", holder.pid());
    // Without --tickets it would start a ticket service of its own, too.
    let second = Meeting::new(&other, place.store());
    for second in [second.clone(), second.as_text()] {
        let refused = second.run().with_code(4);
        assert_eq!(refused.stdout, "", "{refused}");
        assert!(refused.stderr.contains("STORE_LOCKED"), "{refused}");
        assert!(refused.stderr.contains(&pid), "{pid}\n{refused}");
        assert!(
            place
                .pids("ticket-service")
                .iter()
                .all(|&found| found == service.pid())
        );
        assert_eq!(place.pids("specialist-service"), specialists, "{refused}");
    }
    // The command line asks the holder instead of the store.
    let mut look = Command::new(program("mainstay"));
    let look = look.arg("--store").arg(place.store());
    let listed = View::printed(Ended::of(look.args(["runs", "--json"])).with_code(0));
    let runs = listed.list("/runs");
    assert_eq!(runs.len(), 1, "{}", listed.from);
    assert_eq!(runs[0]["state"], "running", "{}", listed.from);

    let view = View::printed(holder.wait());
    assert_eq!(
        (view.outcome(), view.tickets().len()),
        ("completed", 2),
        "{}",
        view.from
    );
    assert!(service.tickets_of(&minutes::source(&other)).is_empty());
}
