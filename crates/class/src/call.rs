//! A call while it is being described: one knob per promise, `add` to put it into the class.
//!
//! Every knob has a default, most from the dependency's own [`Promise`]. A call that is dropped
//! without `add` is not part of the class.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use mainstay_dispatch::{Keys, Promise, Provider, Read, ReadProvider, Value, Write};
use mainstay_graph::{
    Backoff, CancelSemantics, Criticality, FallbackKind, OnLate, SameRequestRule,
};
use mainstay_types::{Failure, Millis, Tokens};

use crate::builder::Builder;
use crate::draft::{Draft, RungDraft, Shape, Undo};
use crate::effected::Effected;
use crate::kinds::{
    Attempting, Demanded, Effecting, Kind, Offers, Omittable, Presence, Slotted, Substitutable,
    Undoable,
};
use crate::make::{of_effect, repairer};
use crate::refs::Predicate;
use crate::settings::Cost;
use crate::tools::Tool;

/// A call of kind `K` in a class whose input is `I`.
#[must_use = "a call becomes part of the class by `.add()`"]
pub struct Call<'g, I, K> {
    builder: &'g mut Builder<I>,
    draft: Draft<I>,
    kind: PhantomData<fn() -> K>,
}

impl<I, K> fmt::Debug for Call<'_, I, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Call({})", self.draft.name)
    }
}

impl<'g, I: Value, K: Kind> Call<'g, I, K> {
    pub(crate) const fn new(builder: &'g mut Builder<I>, draft: Draft<I>) -> Self {
        Self {
            builder,
            draft,
            kind: PhantomData,
        }
    }

    /// Puts the call into the class. Gives a [`Ref`](crate::Ref) to its value, or a
    /// [`SoftRef`](crate::SoftRef) when it may be missing.
    pub fn add(self) -> <K::Presence as Presence>::Ref<K::Value> {
        K::Presence::made(self.builder.push(self.draft))
    }

    /// Makes the call only if the predicate says so; otherwise its value is missing, and that is
    /// recorded as skipped, not as a failure.
    pub fn when(mut self, predicate: &Predicate) -> Call<'g, I, K::Perhaps> {
        self.draft.when = Some(predicate.0);
        self.retyped()
    }

    /// Lets the run do without it: omitted, the result says `notice` and is degraded.
    pub fn soft(mut self, notice: impl Into<String>) -> Call<'g, I, K::Perhaps>
    where
        K: Omittable,
    {
        self.draft.criticality = Criticality::Soft {
            notice: notice.into(),
        };
        self.retyped()
    }

    /// Lets the run do without it: omitted, the result says `notice` and is as good.
    pub fn advisory(mut self, notice: impl Into<String>) -> Call<'g, I, K::Perhaps>
    where
        K: Omittable,
    {
        self.draft.criticality = Criticality::Advisory {
            notice: notice.into(),
        };
        self.retyped()
    }

    fn retyped<L: Kind>(self) -> Call<'g, I, L> {
        Call {
            builder: self.builder,
            draft: self.draft,
            kind: PhantomData,
        }
    }
}

/// Attempts: how many, how long, at what cost.
impl<I: Value, K: Kind> Call<'_, I, K> {
    fn promised(mut self, change: impl FnOnce(&mut Promise)) -> Self {
        if let Some(edge) = self.draft.shape.edge() {
            change(&mut edge.promise);
        }
        self
    }

    /// Attempts of the primary, the first included. Default: 3. One that was out when its process
    /// died does not count: a read is asked again for a retry token, a write is asked about first,
    /// and sent again under its key only once it is proven not to have arrived.
    pub fn attempts(mut self, attempts: u32) -> Self
    where
        K: Attempting,
    {
        if let Some(edge) = self.draft.shape.edge() {
            edge.attempts = attempts;
        }
        self
    }

    /// The longest one attempt may take.
    pub fn timeout(self, timeout: Millis) -> Self
    where
        K: Attempting,
    {
        self.promised(|promise| promise.timeout = timeout)
    }

    /// How long nine of ten attempts take.
    pub fn estimate(self, estimate: Millis) -> Self
    where
        K: Attempting,
    {
        self.promised(|promise| promise.estimate = Some(estimate))
    }

    /// An attempt with less time than this is not worth starting.
    pub fn min_useful(self, min_useful: Millis) -> Self
    where
        K: Attempting,
    {
        self.promised(|promise| promise.min_useful = Some(min_useful))
    }

    /// What one attempt (of an each: of one item) is expected to cost.
    pub fn cost(self, cost: impl Cost) -> Self
    where
        K: Attempting,
    {
        self.promised(|promise| promise.cost = cost.units())
    }

    /// Time this call keeps back for what comes after it, beside the class's reserves.
    pub fn deadline_reserve(mut self, reserve: Millis) -> Self
    where
        K: Attempting,
    {
        if let Some(edge) = self.draft.shape.edge() {
            edge.deadline_reserve = reserve;
        }
        self
    }

    /// Waits between attempts: the first one's upper end, and that of every one.
    pub fn backoff(self, base: Millis, max: Millis) -> Self
    where
        K: Attempting,
    {
        self.promised(|promise| promise.backoff = Backoff { base, max })
    }

    /// The most retry tokens of the run that this call may use.
    pub fn retry_cap(self, tokens: u32) -> Self
    where
        K: Attempting,
    {
        self.promised(|promise| promise.retry_cap = Some(Tokens::new(tokens)))
    }

    /// What is asked of the dependency, for example `retrieve_policy_evidence`.
    pub fn operation(self, operation: impl Into<String>) -> Self
    where
        K: Attempting,
    {
        self.promised(|promise| promise.operation = Some(operation.into()))
    }

    /// What a cancel of an attempt is worth.
    pub fn cancel(self, cancel: CancelSemantics) -> Self
    where
        K: Attempting,
    {
        self.promised(|promise| promise.cancel = cancel)
    }

    /// What is done with an answer that comes too late to be this call's value: after a cancel,
    /// after the lap's end, after another attempt's. Its cost is recorded whatever is done with it.
    /// Default: a read drops it, a write under a key has it under its key, a write without key is
    /// reviewed by a person. What a write did is never dropped: that is a problem of the class.
    pub fn on_late(mut self, on_late: OnLate) -> Self
    where
        K: Attempting,
    {
        if let Some(edge) = self.draft.shape.edge() {
            edge.on_late = Some(on_late);
        }
        self
    }

    /// How long after its timeout an attempt that was given up still has an owner who waits to hear
    /// what became of it. At most `limits::ORPHAN_TTL_MS_MAX`. Default: until its timeout.
    pub fn orphan_ttl(mut self, ttl: Millis) -> Self
    where
        K: Attempting,
    {
        if let Some(edge) = self.draft.shape.edge() {
            edge.orphan_ttl = Some(ttl);
        }
        self
    }

    /// When nothing else answers, a person goes on: the run is handed off. Put it last.
    pub fn or_human(self) -> Self
    where
        K: Attempting,
    {
        self.rung(FallbackKind::Human, None)
    }

    fn rung(mut self, kind: FallbackKind, answers: Option<(Arc<dyn Provider>, Promise)>) -> Self {
        if let Some(edge) = self.draft.shape.edge() {
            edge.rungs.push(RungDraft { kind, answers });
        }
        self
    }
}

/// Tools.
impl<I: Value, K: Kind> Call<'_, I, K> {
    /// How many of it a run may have: of a write, effects in the world; of a read, calls. Default:
    /// 32.
    pub fn per_run_max(mut self, most: u32) -> Self
    where
        K: Demanded,
    {
        if let Some(tool) = &mut self.draft.tool {
            tool.per_run_max = most;
        }
        self
    }

    /// Offers this tool to the model.
    pub fn offer(mut self, tool: &Tool) -> Self
    where
        K: Offers,
    {
        if let Shape::Tools(tools, _) = &mut self.draft.shape {
            tools.push(tool.0);
        }
        self
    }

    /// How often the model may ask at all. Default: 32.
    pub fn calls_max(mut self, most: u32) -> Self
    where
        K: Offers,
    {
        if let Shape::Tools(_, calls_max) = &mut self.draft.shape {
            *calls_max = most;
        }
        self
    }
}

/// Fallbacks of reads, tried in the order they are given.
impl<I: Value, K: Kind> Call<'_, I, K> {
    /// Falls back to an approved snapshot that is at most `max_age` old.
    ///
    /// The age is kept in the class and shown to people; `snapshot` must refuse older ones itself.
    pub fn fallback<F>(self, snapshot: &F, max_age: Millis) -> Self
    where
        K: Substitutable,
        F: Read<Request = K::Request, Reply = K::Value> + Clone,
    {
        self.substitute(FallbackKind::ApprovedSnapshot { max_age }, snapshot)
    }

    /// Falls back to another provider of the same operation.
    pub fn fallback_provider<F>(self, provider: &F) -> Self
    where
        K: Substitutable,
        F: Read<Request = K::Request, Reply = K::Value> + Clone,
    {
        self.substitute(FallbackKind::Provider, provider)
    }

    /// Falls back to a cache.
    pub fn fallback_cache<F>(self, cache: &F) -> Self
    where
        K: Substitutable,
        F: Read<Request = K::Request, Reply = K::Value> + Clone,
    {
        self.substitute(FallbackKind::Cache, cache)
    }

    /// Falls back to compute in this process.
    pub fn fallback_local<F>(self, compute: &F) -> Self
    where
        K: Substitutable,
        F: Read<Request = K::Request, Reply = K::Value> + Clone,
    {
        self.substitute(FallbackKind::LocalCompute, compute)
    }

    /// Asks the same provider once more when its reply does not keep its schema (RESULT_INVALID),
    /// with the request that `again` makes of the first one and of what was wrong. One for each
    /// call and lap, for one retry token; then the fallbacks follow, with the first request.
    ///
    /// Like every closure of a class it must be a function of what it is given.
    pub fn repair<F>(mut self, again: F) -> Self
    where
        K: Substitutable,
        F: Fn(&I, K::Request, &Failure) -> K::Request + Send + Sync + 'static,
    {
        if let Some(edge) = self.draft.shape.edge() {
            edge.repair = true;
        }
        self.draft.code.repair = Some(repairer(again));
        self
    }

    fn substitute<F: Read + Clone>(self, kind: FallbackKind, dependency: &F) -> Self {
        let provider: Arc<dyn Provider> = Arc::new(ReadProvider::new(dependency.clone()));
        self.rung(kind, Some((provider, dependency.promise())))
    }
}

/// Effects: how a change is named, compared and found again.
impl<I: Value, K: Kind> Call<'_, I, K> {
    fn effected(mut self, change: impl FnOnce(&mut crate::draft::Effect)) -> Self {
        if let Some(effect) = self.draft.shape.effect() {
            change(effect);
        }
        self
    }

    /// What is changed in the outside world, for example `ticket`. Default: the node's name.
    pub fn effect(self, name: impl Into<String>) -> Self
    where
        K: Effecting,
    {
        self.effected(|effect| effect.name = Some(name.into()))
    }

    /// An id of the business known before the run: the effect is then unique over all runs of the
    /// tenant, not only inside this one. It sees the run's input and nothing a model wrote.
    pub fn business_id(self, id: impl for<'i> Fn(&'i I) -> &'i str + Send + Sync + 'static) -> Self
    where
        K: Effecting,
    {
        self.business_id_from(move |input| id(input).to_owned())
    }

    /// [`Call::business_id`] for an id that is put together from the input.
    pub fn business_id_from(mut self, id: impl Fn(&I) -> String + Send + Sync + 'static) -> Self
    where
        K: Effecting,
    {
        self.draft.code.identify = Some(Arc::new(id));
        self
    }

    /// Says how the effect is undone when somebody asks for it: `undo` makes the request to
    /// `dependency` from what was done. Nothing is undone by itself, neither when the run is
    /// canceled nor when it fails.
    ///
    /// What undoes it is an effect of its own, named after this one (`order-undo`): recorded before
    /// it is sent, asked about when its reply is lost, and bound to no lap: it may begin after the
    /// run has ended, and takes nothing of the run's budget. Timeouts, costs and bounds are
    /// those of the dependency's own promise.
    pub fn compensate_with<C, F>(mut self, dependency: &C, undo: F) -> Self
    where
        K: Undoable,
        C: Write + Clone,
        F: Fn(&I, Effected<'_, K::Request, K::Reply>) -> C::Request + Send + Sync + 'static,
    {
        let (edge, output) = self.builder.write_edge(&self.draft.name, dependency);
        self.draft.undo = Some(Undo {
            edge,
            resolution: C::RESOLUTION,
            output,
            make: of_effect::<I, K::Request, K::Reply, _, _>(undo),
        });
        self
    }

    /// JSON pointers of the fields that make two requests the same request. Default: all fields.
    pub fn significant(self, pointers: &[&str]) -> Self
    where
        K: Effecting,
    {
        let pointers = pointers.iter().map(|&pointer| pointer.to_owned()).collect();
        self.effected(|effect| effect.significant = pointers)
    }

    /// What a second request of this effect means: `PerSlot` (the default) or `PerRun`.
    pub fn rule(self, rule: SameRequestRule) -> Self
    where
        K: Slotted,
    {
        self.effected(|effect| effect.rule = rule)
    }

    /// How long the effect is remembered after its run. Default: 400 days.
    pub fn key_memory(self, memory: Millis) -> Self
    where
        K: Effecting,
    {
        self.effected(|effect| effect.key_memory = memory)
    }

    /// How long the receiver may take to act on a request it accepted.
    pub fn receiver_bound(self, bound: Millis) -> Self
    where
        K: Effecting,
    {
        self.promised(|promise| promise.receiver_bound = bound)
    }

    /// The receiver honours keys, and remembers them for this long.
    pub fn receiver_key_ttl(self, ttl: Millis) -> Self
    where
        K: Effecting,
    {
        self.promised(|promise| {
            promise.keys = Keys::Honoured;
            promise.receiver_key_ttl = Some(ttl);
        })
    }
}
