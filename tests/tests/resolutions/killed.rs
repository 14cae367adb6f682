//! F09 to F11 at each kind of receiver: a worker process is killed with a write out, and another
//! one goes on. For what no machine can ask, a person says what is so, on the command line.

use std::process::Command;

use mainstay_tests::binaries::program;
use mainstay_tests::place::Place;
use mainstay_tests::process::{Ended, Running};
use mainstay_tests::receivers::{Fate, Kind, RECEIVER, Receiver};
use mainstay_tests::view::View;
use mainstay_tests::wait::until;

use super::each;

/// A store and the receiver that its workers send to.
struct Shop {
    kind: Kind,
    place: Place,
    receiver: Receiver,
}

impl Shop {
    fn open(kind: Kind, fates: &[Fate]) -> Self {
        let place = Place::new();
        std::fs::create_dir_all(place.store()).expect("the store's folder");
        let receiver = Receiver::start(kind, fates);
        Self {
            kind,
            place,
            receiver,
        }
    }

    /// A worker with the one run.
    fn worker(&self) -> Running {
        let mut command = Command::new(env!("CARGO_BIN_EXE_worker"));
        let run = format!("{}/PR-7", self.kind.as_str());
        command
            .arg(self.place.store())
            .arg(self.place.path("table"));
        Running::start(command.arg(run).env(RECEIVER, self.receiver.url()))
    }

    /// Starts a worker, and kills it once the receiver has so much of a request.
    fn killed_when(&self, has: impl Fn(&Receiver) -> bool) {
        let worker = self.worker();
        until("the request at the receiver", || {
            has(&self.receiver).then_some(())
        });
        drop(worker.kill());
    }

    fn ask(&self, words: &[&str]) -> Ended {
        let mut command = Command::new(program("mainstay"));
        Ended::of(command.arg("--store").arg(self.place.store()).args(words))
    }

    /// A person says that it is there, as soon as it is in doubt; a worker is alive.
    fn says_applied(&self) {
        let listed = until("the effect in doubt", || {
            let listed = self.ask(&["effects", "--in-doubt", "--json"]);
            let is_there = listed.code == Some(0) && listed.stdout.contains("/order/");
            is_there.then(|| View::printed(listed))
        });
        let key = listed.text("/effects/0/key").to_owned();
        let words = ["effect", "settle", &key, "applied", "--result"];
        let words = [&words[..], &[r#"{"number":"R-1"}"#, "--by", "anna"]].concat();
        let said = self.ask(&[&words[..], &["--why", "looked at their list"]].concat());
        drop(said.with_code(0));
    }

    /// The run as it is stored, once nobody holds the store.
    fn shown(&self) -> View {
        let runs = View::printed(self.ask(&["runs", "--json"]).with_code(0));
        let id = runs.text("/runs/0/run_id").to_owned();
        View::printed(self.ask(&["run", "show", &id, "--json"]).with_code(0))
    }

    /// The second worker has ended the run: done once, having been sent so often.
    fn must_be_done_once(&self, worker: Running, sent: usize) -> View {
        let ended = worker.wait().with_code(0);
        let view = self.shown();
        let truth = self.receiver.truth();
        let told = format!("{:?}: {truth:#?}\n{ended}\n{}", self.kind, view.from);
        assert_eq!(view.outcome(), "completed", "{told}");
        assert_eq!((truth.sent.len(), truth.applied.len()), (sent, 1), "{told}");
        view
    }
}

/// F09: killed after the effect and before its record.
#[test]
fn f09_killed_between_the_deed_and_its_record_it_is_done_once() {
    drop(program("mainstay"));
    each(&Kind::ALL, |kind| {
        let shop = Shop::open(kind, &[Fate::CommitThenHang]);
        shop.killed_when(|receiver| !receiver.truth().applied.is_empty());
        let next = shop.worker();
        if kind == Kind::Human {
            shop.says_applied();
        }
        let view = shop.must_be_done_once(next, 1);
        assert_eq!(view.attempts_in("interrupted"), 1, "{}", view.from);
    });
}

/// F10: killed with a call out that may be sent once at most, as nobody can tell what became of it.
#[test]
fn f10_killed_with_a_send_out_it_is_unknown_once_and_sent_no_second_time() {
    drop(program("mainstay"));
    each(&Kind::ALL, |kind| {
        let shop = Shop::open(kind, &[Fate::Hang]);
        shop.receiver.tells(false);
        shop.killed_when(|receiver| !receiver.truth().sent.is_empty());
        let looked = shop.receiver.truth().unanswered;
        let next = shop.worker();
        if kind != Kind::Human {
            until("look-ups", || {
                (looked + 4 <= shop.receiver.truth().unanswered).then_some(())
            });
        }
        shop.says_applied();
        drop(next.wait().with_code(0));
        let (view, truth) = (shop.shown(), shop.receiver.truth());
        let told = format!("{kind:?}: {truth:#?}\n{}", view.from);
        assert_eq!(truth.sent.len(), 1, "{told}");
        assert_eq!(view.events("EffectInDoubt").len(), 1, "{told}");
        assert_eq!(view.events("AttemptStarted").len(), 1, "{told}");
        assert_eq!(view.outcome(), "completed", "{told}");
    });
}

/// F11, inside the receiver's bound: attempt 2 never begins, and what is found is attempt 1's.
#[test]
fn f11_a_killed_attempt_s_write_that_lands_inside_its_bound_is_attempt_one_s() {
    drop(program("mainstay"));
    each(&Kind::ALL, |kind| {
        let shop = Shop::open(kind, &[Fate::HangUntilReleased]);
        shop.killed_when(|receiver| !receiver.truth().sent.is_empty());
        let next = shop.worker();
        shop.receiver.release();
        until("the landing", || {
            (!shop.receiver.truth().applied.is_empty()).then_some(())
        });
        if kind == Kind::Human {
            shop.says_applied();
        }
        let view = shop.must_be_done_once(next, 1);
        assert_eq!(view.list("/calls/0/attempts").len(), 1, "{}", view.from);
        assert_eq!(view.events("EffectApplied").len(), 1, "{}", view.from);
    });
}

/// F11, beyond the bound, where the receiver breaks its word: attempt 2 is out or done, and what
/// meets attempt 1 is its key, its id, or the fence that was passed with it.
#[test]
fn f11_a_killed_attempt_s_write_that_lands_after_attempt_two_began_changes_nothing_more() {
    drop(program("mainstay"));
    each(&Kind::ASKABLE, |kind| {
        let shop = Shop::open(kind, &[Fate::HangUntilReleased]);
        shop.killed_when(|receiver| !receiver.truth().sent.is_empty());
        let next = shop.worker();
        until("attempt 2", || {
            (2 <= shop.receiver.truth().sent.len()).then_some(())
        });
        shop.receiver.release();
        until("the landing of both", || {
            (2 <= shop.receiver.truth().landed).then_some(())
        });
        let view = shop.must_be_done_once(next, 2);
        let truth = shop.receiver.truth();
        let fences: Vec<u64> = truth.sent.iter().map(|sent| sent.fence).collect();
        assert_eq!(fences, [1, 2], "{kind:?}: {}", view.from);
        assert_eq!(truth.sent[0].name, truth.sent[1].name);
        let is_fenced = matches!(kind, Kind::Status | Kind::BusinessKey | Kind::Ledger);
        assert!(is_fenced || truth.stale == 0, "{kind:?}: {truth:#?}");
        let first = view.text("/calls/0/attempts/0/state");
        assert_eq!(first, "interrupted", "{}", view.from);
    });
}
