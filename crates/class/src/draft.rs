//! A node while its knobs are being turned, and how it becomes data.
//!
//! A draft is complete from the start: every knob has a default, from the dependency's promise.

use std::sync::Arc;

use mainstay_dispatch::{Keys, Promise, Provider};
use mainstay_graph::{
    Contract, Criticality, EffectContract, EffectSemantics, Fallback, FallbackKind, NodeKind,
    OnLate, Resolution, SameRequestRule, Schema, ScopeKind, Tool,
};
use mainstay_types::{DependencyName, EffectName, Millis, limits};

use crate::make::{Identify, Maker, Repairer};
use crate::refs::Source;

/// Attempts of a primary unless the class says otherwise; the run's retry tokens bound them too.
const ATTEMPTS_DEFAULT: u32 = 3;

/// Who answers on each rung of a node: the primary, then its fallbacks; `None` for a rung without
/// attempts.
pub(crate) type Rungs = Vec<Option<Arc<dyn Provider>>>;

/// A node under construction.
pub(crate) struct Draft<I> {
    pub(crate) name: String,
    pub(crate) criticality: Criticality,
    pub(crate) inputs: Vec<Source>,
    pub(crate) when: Option<Source>,
    pub(crate) output: Schema,
    pub(crate) shape: Shape,
    pub(crate) code: Code<I>,
    /// How it is offered to a model, for one that is.
    pub(crate) tool: Option<Tool>,
    /// How its effect is undone, for a write that says so.
    pub(crate) undo: Option<Undo<I>>,
}

/// What undoes a write's effect, under construction.
pub(crate) struct Undo<I> {
    pub(crate) edge: Edge,
    pub(crate) resolution: Resolution,
    pub(crate) output: Schema,
    pub(crate) make: Maker<I>,
}

impl<I> Draft<I> {
    /// The write that undoes this one's effect, as a draft of its own: named after it, found again
    /// where it is.
    pub(crate) fn take_undo(&mut self) -> Option<Self> {
        let Undo {
            edge,
            resolution,
            output,
            make,
        } = self.undo.take()?;
        let undone = self.shape.effect()?;
        let name = undone.name.as_deref().unwrap_or(&self.name);
        let effect = Effect {
            name: Some(undo_name(name)),
            key_memory: undone.key_memory,
            ..Effect::new(SameRequestRule::PerSlot, resolution)
        };
        Some(Self {
            name: undo_name(&self.name),
            criticality: Criticality::Hard,
            inputs: Vec::new(),
            when: None,
            output,
            shape: Shape::Write(edge, effect),
            code: Code {
                make,
                identify: self.code.identify.clone(),
                repair: None,
            },
            tool: None,
            undo: None,
        })
    }
}

/// What undoes something is named after it.
fn undo_name(of: &str) -> String {
    format!("{of}-undo")
}

/// The part of a node that is code.
pub(crate) struct Code<I> {
    pub(crate) make: Maker<I>,
    pub(crate) identify: Option<Identify<I>>,
    pub(crate) repair: Option<Repairer<I>>,
}

/// The part of a node that differs by kind.
pub(crate) enum Shape {
    Read(Edge),
    Write(Edge, Effect),
    Each(Edge, Effect, u32),
    Tools(Vec<Source>, u32),
    Local,
    When,
}

/// A contract under construction.
pub(crate) struct Edge {
    pub(crate) provider: Arc<dyn Provider>,
    pub(crate) promise: Promise,
    pub(crate) attempts: u32,
    pub(crate) deadline_reserve: Millis,
    pub(crate) rungs: Vec<RungDraft>,
    /// Whether the class can say what was wrong with a reply.
    pub(crate) repair: bool,
    /// What is done with late answers; `None`: the default of its effect.
    pub(crate) on_late: Option<OnLate>,
    pub(crate) orphan_ttl: Option<Millis>,
    pub(crate) request: Schema,
    pub(crate) reply: Schema,
}

/// A fallback under construction; `None` for one that makes no attempt.
pub(crate) struct RungDraft {
    pub(crate) kind: FallbackKind,
    pub(crate) answers: Option<(Arc<dyn Provider>, Promise)>,
}

/// An effect under construction.
pub(crate) struct Effect {
    /// `None`: the node's name.
    pub(crate) name: Option<String>,
    pub(crate) rule: SameRequestRule,
    pub(crate) resolution: Resolution,
    pub(crate) key_memory: Millis,
    pub(crate) significant: Vec<String>,
}

/// Checks a name; records the problem and gives a stand-in when it is not valid.
pub(crate) trait Names {
    fn dependency(&mut self, name: &str) -> DependencyName;
    fn effect(&mut self, name: &str) -> EffectName;
}

impl Shape {
    pub(crate) const fn edge(&mut self) -> Option<&mut Edge> {
        match self {
            Self::Read(edge) | Self::Write(edge, _) | Self::Each(edge, ..) => Some(edge),
            Self::Tools(..) | Self::Local | Self::When => None,
        }
    }

    /// The tools it offers; none for most.
    pub(crate) fn offered(&self) -> &[Source] {
        match self {
            Self::Tools(tools, _) => tools,
            Self::Read(_) | Self::Write(..) | Self::Each(..) | Self::Local | Self::When => &[],
        }
    }

    pub(crate) const fn effect(&mut self) -> Option<&mut Effect> {
        match self {
            Self::Write(_, effect) | Self::Each(_, effect, _) => Some(effect),
            Self::Read(_) | Self::Tools(..) | Self::Local | Self::When => None,
        }
    }

    /// The node's kind as data, and who answers on each rung.
    pub(crate) fn finished(
        self,
        node: &str,
        scope: ScopeKind,
        names: &mut impl Names,
    ) -> (NodeKind, Rungs) {
        match self {
            // Which nodes they are is known to who knows all nodes.
            Self::Tools(_, calls_max) => {
                let tools = Vec::new();
                (NodeKind::Tools { tools, calls_max }, Vec::new())
            }
            Self::Read(edge) => {
                let (contract, rungs) = edge.finished(EffectSemantics::ReadOnly, names);
                (NodeKind::Read { contract }, rungs)
            }
            Self::Write(edge, effect) => {
                let effect = effect.finished(node, scope, &edge.promise, names);
                let (contract, rungs) = edge.finished_as_write(names);
                (NodeKind::Write { contract, effect }, rungs)
            }
            Self::Each(edge, effect, items_max) => {
                let effect = effect.finished(node, scope, &edge.promise, names);
                let (contract, rungs) = edge.finished_as_write(names);
                (
                    NodeKind::Each {
                        contract,
                        effect,
                        items_max,
                    },
                    rungs,
                )
            }
            Self::Local => (NodeKind::Local, Vec::new()),
            Self::When => (NodeKind::When, Vec::new()),
        }
    }
}

impl Edge {
    pub(crate) fn new(
        provider: Arc<dyn Provider>,
        promise: Promise,
        request: Schema,
        reply: Schema,
    ) -> Self {
        Self {
            provider,
            promise,
            attempts: ATTEMPTS_DEFAULT,
            deadline_reserve: Millis::ZERO,
            rungs: Vec::new(),
            repair: false,
            on_late: None,
            orphan_ttl: None,
            request,
            reply,
        }
    }

    fn finished_as_write(self, names: &mut impl Names) -> (Contract, Rungs) {
        let effect = match self.promise.keys {
            Keys::Honoured => EffectSemantics::WriteIdempotentWithKey,
            Keys::Ignored => EffectSemantics::WriteWithoutKey,
        };
        self.finished(effect, names)
    }

    fn finished(self, effect: EffectSemantics, names: &mut impl Names) -> (Contract, Rungs) {
        let promise = self.promise;
        let dependency = names.dependency(self.provider.name());
        let mut answering = vec![Some(self.provider)];
        let mut fallbacks = Vec::new();
        for rung in self.rungs {
            fallbacks.push(rung.data(names));
            answering.push(rung.answers.map(|(provider, _)| provider));
        }
        let (estimate, min_useful) = (
            promise.estimate_or_default(),
            promise.min_useful_or_default(),
        );
        let on_late = self.on_late.filter(|said| *said != OnLate::of(effect));
        let contract = Contract {
            operation: promise
                .operation
                .unwrap_or_else(|| dependency.as_str().to_owned()),
            dependency,
            effect,
            cancel: promise.cancel,
            max_attempts: self.attempts,
            timeout: promise.timeout,
            estimate,
            min_useful,
            cost: promise.cost,
            deadline_reserve: self.deadline_reserve,
            backoff: promise.backoff,
            on_late,
            orphan_ttl: self.orphan_ttl,
            repair: self.repair,
            retry_cap: promise.retry_cap,
            fallbacks,
            request: self.request,
            reply: self.reply,
        };
        (contract, answering)
    }
}

impl RungDraft {
    fn data(&self, names: &mut impl Names) -> Fallback {
        let (dependency, promise) = match &self.answers {
            Some((provider, promise)) => (Some(names.dependency(provider.name())), promise.clone()),
            // Nobody is asked: the numbers stand for nothing, and cost and time are none.
            None => (
                None,
                Promise::new()
                    .timeout(Millis::ZERO)
                    .cost(Default::default()),
            ),
        };
        Fallback {
            kind: self.kind,
            dependency,
            max_attempts: 1,
            timeout: promise.timeout,
            estimate: promise.estimate_or_default(),
            min_useful: promise.min_useful_or_default(),
            cost: promise.cost,
        }
    }
}

impl Effect {
    pub(crate) const fn new(rule: SameRequestRule, resolution: Resolution) -> Self {
        Self {
            name: None,
            rule,
            resolution,
            key_memory: Millis::new(limits::KEY_MEMORY_MS_DEFAULT),
            significant: Vec::new(),
        }
    }

    fn finished(
        self,
        node: &str,
        scope: ScopeKind,
        promise: &Promise,
        names: &mut impl Names,
    ) -> EffectContract {
        EffectContract {
            name: names.effect(self.name.as_deref().unwrap_or(node)),
            scope,
            rule: self.rule,
            resolution: self.resolution,
            receiver_bound: promise.receiver_bound,
            receiver_key_ttl: promise.receiver_key_ttl,
            key_memory: self.key_memory,
            significant: self.significant,
        }
    }
}
