//! Help, version, and arguments that cannot be understood.

use crate::support::say;

#[test]
fn help_lists_the_commands_and_the_exit_codes() {
    let help = say(&["--help"]).data();
    for part in [
        "Usage: mainstay [OPTIONS] <COMMAND>",
        "runs ",
        "graph ",
        "MAINSTAY_STORE",
        "[default: ./mainstay-store]",
        "Exit codes:",
        "4  the store holds something corrupt",
    ] {
        assert!(help.contains(part), "{part}: {help}");
    }
    let widest = help.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(100), "{widest:?}\n{help}");
}

#[test]
fn every_command_has_help_of_its_own() {
    for (args, part) in [
        (["runs", "--help"].as_slice(), "--cursor <RUN>"),
        (&["run", "show", "--help"], "--payloads"),
        (&["run", "why", "--help"], "which number would have to"),
        (&["run", "cancel", "--help"], "at least 8"),
        (&["run", "terminate", "--help"], "--by <WHO>"),
        (&["run", "continue", "--help"], "--why <TEXT>"),
        (&["alerts", "--help"], "--follow"),
        (&["effects", "--help"], "--in-doubt"),
        (&["orphans", "--help"], "--overdue"),
        (&["orphan", "adopt", "--help"], "--for <TIME>"),
        (&["orphan", "close", "--help"], "<ATTEMPT>"),
        (&["status", "--help"], "limits in force"),
        (&["completion", "--help"], "bash"),
        (&["graph", "--help"], "text, mermaid, dot, json"),
        (&["bench", "calls", "--help"], "--fan-out <N>"),
        (&["bench", "open", "--help"], "--driven <N>"),
        (&["bench", "resume", "--help"], "--answered <N>"),
        #[cfg(feature = "chaos")]
        (
            &["chaos", "experiment", "idempotency", "--help"],
            "--sessions <N>",
        ),
        #[cfg(feature = "real")]
        (&["chaos", "real", "--help"], "--without-syncs"),
        #[cfg(feature = "chaos")]
        (&["chaos", "proxy", "--help"], "stall[:hold_ms=100]"),
        (&["error", "--help"], "[CODE]"),
    ] {
        let help = say(args).data().replace("Possible values:", "");
        let found = help.contains(part)
            || part
                .split(", ")
                .all(|word| help.contains(&format!("- {word}:")));
        assert!(found, "{part}: {help}");
        assert!(help.contains("--json"), "{help}");
    }
}

#[test]
fn the_version_is_data() {
    let version = say(&["--version"]).data();
    assert_eq!(version, format!("mainstay {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn what_cannot_be_understood_ends_with_two_and_prints_no_data() {
    for (args, part) in [
        ([].as_slice(), "Usage:"),
        (&["nonsense"], "unrecognized subcommand"),
        (&["runs", "--limit", "0"], "a number from 1 to 1000"),
        (&["runs", "--limit", "1001"], "a number from 1 to 1000"),
        (
            &["runs", "--state", "asleep"],
            "a state is one of running, waiting, paused, waiting_for_code, ended, closed",
        ),
        (
            &["runs", "--outcome", "well"],
            "an outcome is one of completed, degraded",
        ),
        (&["runs", "--cursor", "x"], "--cursor"),
        (&["alerts", "--after", "x"], "--after"),
        (&["runs", "--class", "a b"], "not a valid class name"),
        (&["run", "show", "0192f0c"], "at least 8 characters"),
        (&["run", "show", "nonsense"], "32 hexadecimal digits"),
        (&["graph", "x", "--format", "svg"], "svg"),
    ] {
        let said = say(args);
        assert_eq!((said.code, said.out.as_str()), (2, ""), "{args:?}");
        assert!(said.err.contains(part), "{args:?}: {}", said.err);
    }
}

#[test]
fn in_json_it_is_one_object_on_stderr() {
    let error = say(&["--json", "runs", "--limit", "0"]).json_error(2);
    assert_eq!(error["code"], "INVALID_INPUT");
    assert_eq!(error["retry_helps"], "no");
    assert!(
        error["message"]
            .as_str()
            .unwrap()
            .contains("a number from 1 to 1000"),
        "{error}"
    );
}
