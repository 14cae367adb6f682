//! Every question goes over HTTP and comes back as itself; what is none is refused by name.

use mainstay_runtime::{Budget, Ruling};
use mainstay_types::{AttemptNo, Code, CostUnits, Millis, Tokens};

use super::*;
use crate::ask::{OrphanVerb, Verdict};

fn id() -> RunId {
    "0192f0c4-7d1e-7c55-9d0a-5b7c1a2f3e44".parse().unwrap()
}

fn back(ask: &Ask) -> Result<Ask, Failure> {
    let sent = ask.to_http();
    let uri: Uri = sent.target.parse().unwrap();
    Ask::of_http(&sent.method, &uri, sent.body.as_bytes())
}

/// One question of each kind, with everything said.
fn every_question() -> Vec<Ask> {
    let run = RunAsk {
        run: id(),
        payloads: true,
        form: Form::Text,
    };
    let why = WhyAsk {
        run: id(),
        form: Form::Text,
    };
    let alerts = AlertsAsk {
        after: u64::MAX,
        limit: 1,
        wait_ms: 5,
    };
    let effects = EffectsAsk {
        run: Some(id()),
        in_doubt: true,
        cursor: Some(id()),
    };
    let effect = EffectAsk {
        key: key(),
        payloads: true,
        form: Form::Text,
    };
    let class = ClassAsk {
        name: ClassName::new("minutes").unwrap(),
        version: Some(3),
    };
    let mut asks = vec![
        Ask::Status,
        Ask::Runs(RunsAsk::default()),
        Ask::Runs(all_filters()),
        Ask::Run(run),
        Ask::Why(why),
        Ask::Alerts(alerts),
        Ask::Effects(effects),
        Ask::Effect(effect),
        Ask::Settle(settle(
            Verdict::Settled(Ruling::Applied),
            Some(r#"{"id":"PO-1"}"#),
        )),
        Ask::Settle(settle(Verdict::Settled(Ruling::NotApplied), None)),
        Ask::Settle(settle(Verdict::Compensate, None)),
        Ask::Orphans(OrphansAsk {
            run: Some(id()),
            overdue: true,
            cursor: Some(id()),
        }),
        Ask::Orphan(orphan(OrphanVerb::Adopt(Millis::from_mins(90)))),
        Ask::Orphan(orphan(OrphanVerb::Close)),
        Ask::Classes,
        Ask::Class(class),
    ];
    asks.extend(CommandVerb::ALL.map(|verb| Ask::Command(command(verb))));
    asks
}

fn orphan(verb: OrphanVerb) -> OrphanAsk {
    OrphanAsk {
        run: id(),
        call: "ticket_write[3]".to_owned(),
        attempt: AttemptNo(2),
        verb,
        by: "anna".to_owned(),
        why: "it is \"ours\"".to_owned(),
    }
}

fn key() -> EffectKey {
    "acme/order/id:PR %2F7 ü&=/slot:2".parse().unwrap()
}

fn settle(verdict: Verdict, result: Option<&str>) -> SettleAsk {
    SettleAsk {
        key: key(),
        verdict,
        result: result.map(Payload::from),
        by: "anna".to_owned(),
        why: "it is \"in\" their list".to_owned(),
    }
}

fn all_filters() -> RunsAsk {
    RunsAsk {
        tenant: Some(Tenant::new("a&b =/?ü").unwrap()),
        class: Some(ClassName::new("minutes").unwrap()),
        state: Some(RunState::Quarantined),
        outcome: Some(OutcomeKind::HandedOff),
        in_doubt: Some(false),
        cursor: Some(id()),
        limit: 7,
    }
}

fn command(verb: CommandVerb) -> CommandAsk {
    CommandAsk {
        run: id(),
        verb,
        by: "anna".to_owned(),
        why: "wrong \"minutes\"\n".to_owned(),
        more: (verb == CommandVerb::Raise).then_some(Budget {
            retry_tokens: Tokens::new(1),
            concurrency_tokens: Tokens::new(2),
            cost_units: CostUnits::micros(3),
        }),
    }
}

#[test]
fn every_question_goes_over_http_unchanged() {
    for ask in every_question() {
        assert_eq!(back(&ask).as_ref(), Ok(&ask));
    }
}

#[test]
fn what_cannot_be_understood_is_named() {
    let run = format!("/runs/{}", id());
    for (method, target, body, named) in [
        ("GET", "/", "", "nothing is asked by GET /"),
        ("DELETE", &run, "", "nothing is asked by DELETE"),
        ("GET", "/runs?sate=running", "", "`sate`"),
        ("GET", "/runs?state=asleep", "", "a state is one of running"),
        (
            "GET",
            "/runs?outcome=well",
            "",
            "an outcome is one of completed",
        ),
        ("GET", "/runs?limit=0", "", "a number from 1 to 1000"),
        ("GET", "/runs?limit=1001", "", "a number from 1 to 1000"),
        ("GET", "/runs?limit=2&limit=3", "", "`limit`"),
        ("GET", "/runs/x", "", "no run has such an id [x]"),
        ("GET", "/runs?tenant=", "", "`tenant`"),
        ("POST", &format!("{run}/explode"), "{}", "[explode]"),
        (
            "POST",
            &format!("{run}/cancel"),
            "{}",
            "the body cannot be read",
        ),
        (
            "POST",
            &format!("{run}/cancel"),
            r#"{"by":"a","why":"b","uid":0}"#,
            "uid",
        ),
        ("GET", "/status?x=1", "", "`x`"),
    ] {
        let method: Method = method.parse().unwrap();
        let uri: Uri = target.parse().unwrap();
        let refused = Ask::of_http(&method, &uri, body.as_bytes()).unwrap_err();
        assert_eq!(refused.code, Code::InvalidInput, "{target}");
        assert!(refused.message.contains(named), "{target}: {refused}");
    }
}

#[test]
fn a_reader_of_alerts_cannot_make_the_socket_wait_beyond_its_bound() {
    let uri: Uri = "/alerts?wait_ms=99999999".parse().unwrap();
    let Ok(Ask::Alerts(ask)) = Ask::of_http(&Method::GET, &uri, b"") else {
        panic!("alerts are asked for");
    };
    assert_eq!(ask.wait_ms, limits::SOCKET_ALERT_WAIT_MS_MAX);
}

#[test]
fn a_command_says_who_and_why_and_neither_at_a_length_that_would_be_cut() {
    let command = |by: &str, why: &str| CommandAsk {
        run: id(),
        verb: CommandVerb::Cancel,
        by: by.to_owned(),
        why: why.to_owned(),
        more: None,
    };
    assert_eq!(command("anna", "wrong minutes").check(), Ok(()));
    for (verb, more) in [
        (CommandVerb::Raise, None),
        (CommandVerb::Cancel, self::command(CommandVerb::Raise).more),
    ] {
        let ask = CommandAsk {
            verb,
            more,
            ..command("anna", "wrong minutes")
        };
        let refused = ask.check().unwrap_err();
        assert!(refused.message.contains("`more`"), "{refused}");
    }
    let long = |bytes_max: usize| "x".repeat(bytes_max + 1);
    for (by, why, named) in [
        (" ", "x", "`by`"),
        ("anna", "\n", "`why`"),
        (&long(limits::KEY_BYTES_MAX), "x", "`by`"),
        ("anna", &long(limits::TEXT_BYTES_MAX), "`why`"),
    ] {
        let refused = command(by, why).check().unwrap_err();
        assert!(refused.message.contains(named), "{refused}");
    }
}
