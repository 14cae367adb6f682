//! What a tracing system sees of runs: nested, in the caller's trace, linked over crashes.

use mainstay_machine::OutcomeKind;
use mainstay_runtime::observe::SPANS;
use mainstay_types::{FailureKind, RunId};

use crate::world::classes::single;
use crate::world::script::maybe_sent;
use crate::world::witness::{SpanTold, Told, witnessed};
use crate::world::{Does, Find, Life, Minutes, Ticket, World, minutes};

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";

fn caller(flags: &str) -> String {
    format!("00-{TRACE}-b7ad6b7169203331-{flags}")
}

/// The first reply is lost, and the receiver is still at it when it is asked first.
fn lossy(world: &World) {
    world.outside.script(|ask| match ask.nth {
        1 => Does::LandAndFail(0, 50, maybe_sent(FailureKind::TransientTransport)),
        _ => Does::Answer(10),
    });
    world.outside.finds(|ask| match ask.look_up {
        1 => Find::InProgress(5),
        _ => Find::Truth(5),
    });
}

/// One order, started under this `traceparent`, driven to its outcome.
fn order(world: &World, traceparent: &str) -> RunId {
    let class = single(&world.outside);
    let life = world.live(&[class.erased()]);
    life.block_on(async {
        let start = life.engine.start(&class, minutes("M", 1));
        let run = start.traceparent(traceparent).await.unwrap();
        let outcome = run.outcome().await.unwrap();
        assert_eq!(outcome.kind, OutcomeKind::Completed);
        run.id()
    })
}

fn parent<'a>(told: &'a Told, span: &SpanTold) -> &'a SpanTold {
    &told.spans[span.parent.expect("it has a parent")]
}

/// Whether `child` is below `above` by the ids of the caller's trace.
fn must_be_below(child: &SpanTold, above: &SpanTold) {
    assert_eq!(child.get("trace_id"), Some(TRACE), "{child:?}");
    let own = above.get("span_id").expect("it has one");
    assert_eq!(child.get("parent_span_id"), Some(own), "{child:?}");
}

#[test]
fn runs_calls_attempts_and_look_ups_are_nested_in_the_callers_trace() {
    let world = World::new();
    lossy(&world);
    let (id, told) = witnessed(|| order(&world, &caller("01")));
    let (run, call, attempt) = (told.only("run"), told.only("call"), told.only("attempt"));
    assert_eq!(run.get("run"), Some(id.to_string().as_str()));
    assert_eq!(run.get("class"), Some("single"));
    assert_eq!((run.get("epoch"), run.get("lap")), (Some("1"), Some("1")));
    assert_eq!(run.get("outcome"), Some("completed"));
    assert_eq!(run.get("sampled"), Some("true"));
    assert_eq!(run.get("trace_id"), Some(TRACE));
    assert_eq!(run.get("parent_span_id"), Some("b7ad6b7169203331"));
    assert_eq!(run.parent, None);

    assert_eq!(parent(&told, call).name, "run");
    must_be_below(call, run);
    assert_eq!(
        (call.get("call"), call.get("end")),
        (Some("order"), Some("settled"))
    );

    assert_eq!(parent(&told, attempt).name, "call");
    must_be_below(attempt, call);
    assert_eq!(attempt.get("dependency"), Some("orders"));
    assert_eq!(attempt.get("end"), Some("EFFECT_UNKNOWN"));
    assert_eq!(attempt.get("otel.status_code"), Some("ERROR"));

    let asked = told.named("reconcile");
    let findings: Vec<_> = asked.iter().map(|span| span.get("finding")).collect();
    assert_eq!(findings, [Some("in_progress"), Some("applied")]);
    for span in &asked {
        assert_eq!(parent(&told, span).name, "call");
        must_be_below(span, attempt);
        assert_eq!(span.get("effect"), attempt.get("effect"));
    }
    assert_ne!(asked[0].get("span_id"), asked[1].get("span_id"));
    assert!(told.spans.iter().all(|span| span.closed), "{told:#?}");
}

#[test]
fn every_request_carries_its_own_span_and_the_callers_sampling_flag() {
    for flags in ["00", "01"] {
        let world = World::new();
        lossy(&world);
        let (_, told) = witnessed(|| order(&world, &caller(flags)));
        let sent = told.spans.iter();
        let sent = sent.filter(|span| ["attempt", "reconcile"].contains(&span.name.as_str()));
        let spans: Vec<String> = sent
            .map(|span| format!("00-{TRACE}-{}-{flags}", span.get("span_id").unwrap()))
            .collect();
        let asks = world.outside.asks().into_iter();
        let carried: Vec<String> = asks.map(|ask| ask.traceparent.unwrap()).collect();
        assert_eq!(carried, spans);
        assert_eq!(carried.len(), 3);
    }
}

#[test]
fn without_a_callers_trace_nothing_is_sent_and_no_ids_are_made_up() {
    let world = World::new();
    lossy(&world);
    let class = single(&world.outside);
    let (_, told) = witnessed(|| {
        let life = world.live(&[class.erased()]);
        life.outcome(&life.start(&class, minutes("M", 1)))
    });
    assert!(
        world
            .outside
            .asks()
            .iter()
            .all(|ask| ask.traceparent.is_none())
    );
    for span in &told.spans {
        for field in ["trace_id", "span_id", "parent_span_id", "sampled"] {
            assert_eq!(span.get(field), None, "{span:?}");
        }
    }
}

#[test]
fn a_traceparent_that_is_none_is_ignored_with_a_notice_that_does_not_repeat_it() {
    for bad in [
        "CANARY",
        "00-CANARY-b7ad6b7169203331-01",
        "",
        &"0-".repeat(600),
    ] {
        let world = World::new();
        let (_, told) = witnessed(|| order(&world, bad));
        let notices = told.events.iter();
        let notices = notices.filter(|event| event.contains("traceparent is none and is ignored"));
        assert_eq!(notices.count(), 1, "{told:#?}");
        assert!(!format!("{told:?}").contains("CANARY"));
        assert_eq!(told.only("run").get("trace_id"), None);
        assert_eq!(world.outside.asks()[0].traceparent, None);
    }
}

#[test]
fn a_run_follows_from_its_callers_span_and_does_not_keep_it_open() {
    let world = World::new();
    world.outside.script(|_| Does::Answer(1_000));
    let class = single(&world.outside);
    let (_, told) = witnessed(|| {
        let life = world.live(&[class.erased()]);
        let run = tracing::info_span!("request").in_scope(|| life.start(&class, minutes("M", 1)));
        life.outcome(&run)
    });
    let run = told.only("run");
    let followed: Vec<&str> = run
        .follows
        .iter()
        .map(|&at| told.spans[at].name.as_str())
        .collect();
    assert_eq!((run.parent, followed), (None, vec!["request"]));
}

/// A run that is crashed while its order is out.
fn crashed(world: &World, life: Life, class: &mainstay_class::Class<Minutes, Ticket>) -> RunId {
    world.outside.script(|_| Does::Lose(0));
    let id = life.block_on(async {
        let start = life.engine.start(class, minutes("M", 1));
        start.traceparent(&caller("01")).await.unwrap().id()
    });
    life.run_for(100);
    life.crash();
    id
}

#[test]
fn a_run_that_goes_on_names_the_span_of_its_last_owner() {
    let world = World::new();
    let class = single(&world.outside);
    let (_, told) = witnessed(|| {
        let life = world.live(&[class.erased()]);
        let id = crashed(&world, life, &class);
        let life = world.live(&[class.erased()]);
        life.outcome_of(&class, id)
    });
    let runs = told.named("run");
    assert_eq!(runs.len(), 2, "{runs:#?}");
    let (before, after) = (runs[0], runs[1]);
    assert_eq!(
        (before.get("epoch"), after.get("epoch")),
        (Some("1"), Some("2"))
    );
    assert_eq!(before.get("link.epoch"), None);
    for (link, of) in [
        ("link.epoch", "epoch"),
        ("link.worker", "worker"),
        ("link.trace_id", "trace_id"),
        ("link.span_id", "span_id"),
    ] {
        assert_eq!(after.get(link), before.get(of), "{link}");
        assert!(after.get(link).is_some(), "{link}");
    }
    assert_ne!(after.get("worker"), before.get("worker"));
    assert_ne!(after.get("span_id"), before.get("span_id"));

    let calls = told.named("call");
    assert_eq!(calls[1].get("link.span_id"), calls[0].get("span_id"));
    assert_eq!(calls[1].get("link.epoch"), Some("1"));
    let (attempt, asked) = (told.only("attempt"), told.only("reconcile"));
    must_be_below(asked, attempt);
    assert_eq!(asked.get("parent_span_id"), attempt.get("span_id"));
    assert_eq!(
        told.spans[asked.parent.unwrap()].get("span_id"),
        calls[1].get("span_id")
    );
}

#[test]
fn spans_have_the_fields_that_are_documented_and_no_others() {
    let world = World::new();
    lossy(&world);
    let class = single(&world.outside);
    let (_, told) = witnessed(|| {
        let life = world.live(&[class.erased()]);
        life.outcome(&life.start(&class, minutes("M", 1)))
    });
    for (name, fields) in SPANS {
        let spans = told.named(name);
        assert!(!spans.is_empty(), "no span `{name}`");
        for span in spans {
            assert_eq!(span.declared, fields, "{name}");
        }
    }
    let names = SPANS.map(|(name, _)| name);
    for span in &told.spans {
        assert!(
            names.contains(&span.name.as_str()),
            "{span:?} is not documented"
        );
    }
}

#[test]
fn a_quarantined_run_says_its_code_and_not_what_the_panic_said() {
    let world = World::new();
    let class = crate::poison::class(&world, crate::poison::At::Request);
    let (_, told) = witnessed(|| {
        let life = world.live(&[class.erased()]);
        let run = life.start(&class, minutes("bad", 1));
        life.block_on(run.outcome()).unwrap_err();
    });
    assert_eq!(told.only("run").get("quarantined"), Some("CLASS_PANICKED"));
    let said = format!("{told:?}");
    assert!(said.contains("the run is quarantined") && !said.contains("panicked\\n"));
    assert!(!said.contains("the code at Request panicked"), "{told:#?}");
}
