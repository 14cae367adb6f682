//! What a host's tracing and metrics see: everything, at every level, kept for the test to look at.
//!
//! It only listens; it must never filter, so that nothing that was told can be missed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use metrics::{
    Counter, CounterFn, Gauge, Histogram, HistogramFn, Key, KeyName, Metadata, Recorder,
    SharedString, Unit,
};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::{Context, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;

use mainstay_machine::apply;
use mainstay_runtime::observe::{Fact, facts};
use mainstay_types::RunId;

use super::World;

/// Everything that was told.
#[derive(Clone, Debug, Default)]
pub(crate) struct Told {
    pub(crate) spans: Vec<SpanTold>,
    /// Events with all their fields, as text.
    pub(crate) events: Vec<String>,
    /// Metrics by name and labels, `name{label=value,..}`.
    pub(crate) counters: BTreeMap<String, u64>,
    pub(crate) samples: BTreeMap<String, Vec<f64>>,
    /// Name, unit and help.
    pub(crate) described: BTreeSet<(String, String, String)>,
}

/// One span.
#[derive(Clone, Debug, Default)]
pub(crate) struct SpanTold {
    pub(crate) name: String,
    /// The names it declares.
    pub(crate) declared: Vec<String>,
    pub(crate) fields: BTreeMap<String, String>,
    /// Its parent's place among the spans.
    pub(crate) parent: Option<usize>,
    pub(crate) follows: Vec<usize>,
    pub(crate) closed: bool,
}

impl SpanTold {
    pub(crate) fn get(&self, field: &str) -> Option<&str> {
        self.fields.get(field).map(String::as_str)
    }
}

impl Told {
    /// The spans of this name.
    pub(crate) fn named(&self, name: &str) -> Vec<&SpanTold> {
        self.spans.iter().filter(|span| span.name == name).collect()
    }

    /// The span of this name; there is one.
    pub(crate) fn only(&self, name: &str) -> &SpanTold {
        let named = self.named(name);
        assert_eq!(named.len(), 1, "spans `{name}`: {named:#?}");
        named[0]
    }

    /// The sum of a counter over all labels that hold `part`.
    pub(crate) fn count(&self, name: &str, part: &str) -> u64 {
        let same = |key: &str| key.starts_with(&format!("{name}{{")) && key.contains(part);
        let counted = self.counters.iter().filter(|(key, _)| same(key));
        counted.map(|(_, value)| value).sum()
    }
}

/// What `act` does on this thread, and what was told meanwhile.
pub(crate) fn witnessed<T>(act: impl FnOnce() -> T) -> (T, Told) {
    let told = Arc::new(Mutex::new(Told::default()));
    let subscriber = tracing_subscriber::registry().with(Listens(Arc::clone(&told)));
    let records = Records(Arc::clone(&told));
    let done = metrics::with_local_recorder(&records, || {
        tracing::subscriber::with_default(subscriber, act)
    });
    let told = told.lock().unwrap().clone();
    (done, told)
}

struct Listens(Arc<Mutex<Told>>);

/// A span's place in `Told::spans`.
struct PlaceOf(usize);

#[derive(Default)]
struct Fields(BTreeMap<String, String>);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name().to_owned(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().to_owned(), value.to_owned());
    }
}

impl Listens {
    fn change<S>(&self, id: &Id, cx: &Context<'_, S>, change: impl FnOnce(&mut SpanTold))
    where
        S: Subscriber + for<'a> LookupSpan<'a>,
    {
        if let Some(at) = place(id, cx) {
            change(&mut self.0.lock().unwrap().spans[at]);
        }
    }
}

fn place<S>(id: &Id, cx: &Context<'_, S>) -> Option<usize>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    let span = cx.span(id)?;
    let extensions = span.extensions();
    extensions.get::<PlaceOf>().map(|place| place.0)
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Listens {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, cx: Context<'_, S>) {
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        let span = cx.span(id).expect("it is new");
        let parent = span.parent().and_then(|parent| place(&parent.id(), &cx));
        let metadata = attributes.metadata();
        let mut told = self.0.lock().unwrap();
        span.extensions_mut().insert(PlaceOf(told.spans.len()));
        told.spans.push(SpanTold {
            name: metadata.name().to_owned(),
            declared: metadata
                .fields()
                .iter()
                .map(|f| f.name().to_owned())
                .collect(),
            fields: fields.0,
            parent,
            ..SpanTold::default()
        });
    }

    fn on_record(&self, id: &Id, record: &Record<'_>, cx: Context<'_, S>) {
        let mut fields = Fields::default();
        record.record(&mut fields);
        self.change(id, &cx, |span| span.fields.extend(fields.0));
    }

    fn on_follows_from(&self, id: &Id, follows: &Id, cx: Context<'_, S>) {
        let followed = place(follows, &cx);
        self.change(id, &cx, |span| span.follows.extend(followed));
    }

    fn on_close(&self, id: Id, cx: Context<'_, S>) {
        self.change(&id, &cx, |span| span.closed = true);
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let metadata = event.metadata();
        let text = format!("{} {} {:?}", metadata.level(), metadata.target(), fields.0);
        self.0.lock().unwrap().events.push(text);
    }
}

struct Records(Arc<Mutex<Told>>);

struct Number(Arc<Mutex<Told>>, String);

impl CounterFn for Number {
    fn increment(&self, value: u64) {
        let mut told = self.0.lock().unwrap();
        *told.counters.entry(self.1.clone()).or_default() += value;
    }

    fn absolute(&self, _: u64) {
        panic!("{} jumps", self.1);
    }
}

impl HistogramFn for Number {
    fn record(&self, value: f64) {
        let mut told = self.0.lock().unwrap();
        told.samples.entry(self.1.clone()).or_default().push(value);
    }
}

impl Records {
    fn describe(&self, name: &KeyName, unit: Option<Unit>, help: &SharedString) {
        let unit = unit.map_or("", |unit| unit.as_str()).to_owned();
        let described = (name.as_str().to_owned(), unit, help.to_string());
        self.0.lock().unwrap().described.insert(described);
    }

    fn number(&self, key: &Key) -> Arc<Number> {
        let labels = key
            .labels()
            .map(|label| format!("{}={}", label.key(), label.value()));
        let labels: Vec<String> = labels.collect();
        let name = format!("{}{{{}}}", key.name(), labels.join(","));
        Arc::new(Number(Arc::clone(&self.0), name))
    }
}

impl Recorder for Records {
    fn describe_counter(&self, name: KeyName, unit: Option<Unit>, help: SharedString) {
        self.describe(&name, unit, &help);
    }

    fn describe_gauge(&self, name: KeyName, unit: Option<Unit>, help: SharedString) {
        self.describe(&name, unit, &help);
    }

    fn describe_histogram(&self, name: KeyName, unit: Option<Unit>, help: SharedString) {
        self.describe(&name, unit, &help);
    }

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        Counter::from_arc(self.number(key))
    }

    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        panic!("{} is a gauge, which cannot be added up", key.name());
    }

    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::from_arc(self.number(key))
    }
}

impl World {
    /// The facts of a run's log, in order.
    pub(crate) fn facts(&self, id: RunId) -> Vec<Fact> {
        let mut run = self.unborn(id).expect("the run exists");
        let mut found = Vec::new();
        for event in self.ledger.events_of(id) {
            found.extend(facts(&run, &event));
            apply(&mut run, &event).expect("the log is in order");
        }
        found
    }
}
