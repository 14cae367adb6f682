//! What runs carry is seen only by those who ask for it.

use crate::live::{CANARY, Live};
use crate::support::{Said, ask};

fn all(said: &Said) -> String {
    format!("{}\n{}", said.out, said.err)
}

/// Everything the command line can say about these runs without being asked for payloads.
fn questions(ids: &[String]) -> Vec<Vec<&str>> {
    let mut asked = vec![
        vec!["runs"],
        vec!["alerts"],
        vec!["effects"],
        vec!["effects", "--in-doubt"],
        vec!["status"],
        vec!["graph", "orders"],
    ];
    for id in ids {
        asked.push(vec!["run", "show", id]);
        asked.push(vec!["run", "why", id]);
        asked.push(vec!["effects", "--run", id]);
    }
    let json = asked.iter().map(|args| [&args[..], &["--json"]].concat());
    let json: Vec<_> = json.collect();
    asked.into_iter().chain(json).collect()
}

#[test]
fn no_content_of_a_run_is_shown_unless_it_is_asked_for() {
    let live = Live::new();
    let runs = [
        live.ended("fine"),
        live.ended("broken"),
        live.quarantined("panics"),
        live.in_doubt("lost"),
    ];
    let ids = runs.map(|run| run.to_string());
    let seen = |said: &Said, args: &[&str]| {
        assert_eq!(said.code, 0, "{args:?}: {said:?}");
        assert!(!all(said).contains(CANARY), "{args:?}: {said:?}");
    };
    for args in questions(&ids) {
        seen(&live.ask(&args), &args);
    }
    for id in &ids {
        for form in [&[][..], &["--json"]] {
            let args = [&["run", "show", id, "--payloads"], form].concat();
            let said = live.ask(&args);
            assert!(said.out.contains(CANARY), "{args:?}: {said:?}");
        }
    }
    let folder = live.stop();
    for args in questions(&ids) {
        seen(&ask(folder.path(), &args), &args);
    }
}

#[test]
fn a_refusal_says_nothing_of_what_the_run_carries() {
    let live = Live::new();
    for (run, code) in [
        (live.ended("broken"), "RUN_ENDED: "),
        (live.quarantined("panics"), "RUN_QUARANTINED: "),
    ] {
        let id = run.to_string();
        let said = live.ask(&["run", "cancel", &id, "--by", "anna", "--why", "x"]);
        assert_eq!(said.code, 1);
        assert!(said.err.starts_with(code), "{said:?}");
        assert!(!all(&said).contains(CANARY), "{said:?}");
    }
}
