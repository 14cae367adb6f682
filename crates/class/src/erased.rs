//! A class as the engine runs it: data, and code behind bytes.
//!
//! It never keeps a value: inputs and results come in as recorded bytes and go out as bytes, so
//! that what is sent never depends on when or in which process the closure ran.

use std::fmt;
use std::sync::Arc;

use mainstay_dispatch::{Provider, Value, decode};
use mainstay_graph::{Fallback, Node, NodeKind, Problem, TaskClass};
use mainstay_types::json::{self, Object};
use mainstay_types::{BusinessId, DependencyName, Digest, Failure, NodeId, Payload, Rung, limits};

use crate::draft::{Code, Rungs};
use crate::make::{Made, Maker, invalid};

/// A class with the types of its input, values and result erased. Cheap to clone.
#[derive(Clone)]
pub struct ErasedClass {
    /// The class as data.
    pub data: Arc<TaskClass>,
    /// The digest of the data's stored form; closures and dependencies are no part of it.
    pub fingerprint: Digest,
    code: Arc<dyn ClassCode>,
    rungs: Arc<[Rungs]>,
    warnings: Arc<[Problem]>,
}

/// What a node's closure made, as bytes to be recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PreparedValue {
    /// The request of a read or a write.
    Request(PreparedRequest),
    /// The requests of an each, in order; at most its bound.
    List(Vec<PreparedRequest>),
    /// The value of a local, or `true` or `false` of a predicate.
    Value(Payload),
}

/// A request whose bytes are fixed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreparedRequest {
    /// The request in canonical JSON.
    pub request: Payload,
    /// The digest of its significant fields.
    pub fingerprint: Digest,
    /// The business id, for an effect scoped by one.
    pub business_id: Option<BusinessId>,
}

impl ErasedClass {
    pub(crate) fn new(
        data: TaskClass,
        code: Arc<dyn ClassCode>,
        rungs: Vec<Rungs>,
        warnings: Vec<Problem>,
    ) -> Self {
        let fingerprint = data.fingerprint();
        let (rungs, warnings) = (rungs.into(), warnings.into());
        Self {
            data: Arc::new(data),
            fingerprint,
            code,
            rungs,
            warnings,
        }
    }

    /// Whether `input` is an input of this class. Errors: INVALID_INPUT, without the data.
    pub fn check_input(&self, input: &Payload) -> Result<(), Failure> {
        self.code.check_input(input)
    }

    /// Runs the node's closure on recorded bytes; `values` in the order of the node's inputs, with
    /// `None` for what is missing.
    ///
    /// Errors: INVALID_INPUT, not sent, with the node's name. Panics when the closure does: that
    /// is for the engine to catch.
    pub fn prepare(
        &self,
        node: NodeId,
        input: &Payload,
        values: &[Option<Payload>],
    ) -> Result<PreparedValue, Failure> {
        let Some(data) = self.data.nodes.get(usize::from(node.get())) else {
            return Err(invalid(format!("the class has no node {node}")));
        };
        self.prepared(data, node, input, values)
            .map_err(|failure| named(&format!("node `{}`", data.name), failure))
    }

    /// The request that a tool makes of what a model gave.
    ///
    /// Errors and panics as in [`ErasedClass::prepare`].
    pub fn requested(
        &self,
        tool: NodeId,
        input: &Payload,
        arguments: &Payload,
    ) -> Result<PreparedRequest, Failure> {
        match self.prepare(tool, input, &[Some(arguments.clone())])? {
            PreparedValue::Request(request) => Ok(request),
            PreparedValue::List(_) | PreparedValue::Value(_) => {
                Err(invalid(format!("node {tool} is no tool")))
            }
        }
    }

    /// Makes the request of a read anew, from the first one and from what was wrong with its reply.
    ///
    /// Errors and panics as in [`ErasedClass::prepare`].
    pub fn repair(
        &self,
        node: NodeId,
        input: &Payload,
        (request, failure): (&Payload, &Failure),
    ) -> Result<PreparedRequest, Failure> {
        let place = usize::from(node.get());
        let Some(data) = self.data.nodes.get(place) else {
            return Err(invalid(format!("the class has no node {node}")));
        };
        let named = |failure| named(&format!("node `{}`", data.name), failure);
        match self.code.repair(place, input, (request, failure)) {
            Some(Ok(Made::Request(request))) => {
                let fingerprint = fingerprint(&request, &[]).map_err(named)?;
                Ok(PreparedRequest {
                    request,
                    fingerprint,
                    business_id: None,
                })
            }
            Some(Ok(Made::List(_) | Made::Value(_))) => unreachable!("it is kept as a request"),
            Some(Err(failure)) => Err(named(failure)),
            None => Err(named(invalid("the class does not say how to ask again"))),
        }
    }

    /// Makes the run's result from recorded bytes; `values` in the order of the class's result.
    ///
    /// Errors and panics as in [`ErasedClass::prepare`].
    pub fn assemble(
        &self,
        input: &Payload,
        values: &[Option<Payload>],
    ) -> Result<Payload, Failure> {
        match self.code.assemble(input, values) {
            Ok(Made::Value(result)) => Ok(result),
            Ok(Made::Request(_) | Made::List(_)) => unreachable!("the result is kept as a value"),
            Err(failure) => Err(named("the result", failure)),
        }
    }

    /// Who answers the node on this rung: 0 is the primary, then the contract's fallbacks in order.
    /// `None` for rungs and nodes that make no attempt.
    #[must_use]
    pub fn provider(&self, node: NodeId, rung: Rung) -> Option<&Arc<dyn Provider>> {
        self.rungs
            .get(usize::from(node.get()))?
            .get(usize::from(rung.get()))?
            .as_ref()
    }

    /// The same class with another provider behind a dependency, on every rung that names it and
    /// does the same (read or write). Data and fingerprint stay: a run does not notice.
    pub fn replace(
        &self,
        dependency: &DependencyName,
        provider: &Arc<dyn Provider>,
    ) -> Result<Self, UnknownDependency> {
        let mut replaced = false;
        let mut rungs = self.rungs.to_vec();
        for (node, answering) in self.data.nodes.iter().zip(&mut rungs) {
            for (place, slot) in answering.iter_mut().enumerate() {
                let same_deed = slot
                    .as_ref()
                    .is_some_and(|old| old.is_write() == provider.is_write());
                if same_deed && asked_on(node, place) == Some(dependency) {
                    *slot = Some(Arc::clone(provider));
                    replaced = true;
                }
            }
        }
        if !replaced {
            return Err(self.unknown(dependency, provider.is_write()));
        }
        Ok(Self {
            rungs: rungs.into(),
            ..self.clone()
        })
    }

    /// What the class cannot promise although it can be used.
    #[must_use]
    pub fn warnings(&self) -> &[Problem] {
        &self.warnings
    }

    fn prepared(
        &self,
        data: &Node,
        node: NodeId,
        input: &Payload,
        values: &[Option<Payload>],
    ) -> Result<PreparedValue, Failure> {
        let (made, id) = self.code.make(usize::from(node.get()), input, values)?;
        let business_id = id.map(BusinessId::new).transpose();
        let business_id = business_id.map_err(|error| invalid(error.to_string()))?;
        let significant = data.effect().map_or(&[][..], |effect| &effect.significant);
        let fix = |request: Payload| {
            let fingerprint = fingerprint(&request, significant)?;
            Ok(PreparedRequest {
                request,
                fingerprint,
                business_id: business_id.clone(),
            })
        };
        match made {
            Made::Request(request) => fix(request).map(PreparedValue::Request),
            Made::List(items) => {
                check_length(&data.kind, items.len())?;
                items
                    .into_iter()
                    .map(fix)
                    .collect::<Result<_, _>>()
                    .map(PreparedValue::List)
            }
            Made::Value(value) => Ok(PreparedValue::Value(value)),
        }
    }

    fn unknown(&self, dependency: &DependencyName, writes: bool) -> UnknownDependency {
        let rungs = self.data.nodes.iter().zip(&*self.rungs);
        let mut known: Vec<DependencyName> = rungs
            .flat_map(|(node, slots)| slots.iter().enumerate().map(move |slot| (node, slot)))
            .filter(|(_, (_, slot))| slot.as_ref().is_some_and(|old| old.is_write() == writes))
            .filter_map(|(node, (place, _))| asked_on(node, place).cloned())
            .collect();
        known.sort();
        known.dedup();
        UnknownDependency {
            dependency: dependency.clone(),
            writes,
            known,
        }
    }
}

impl fmt::Debug for ErasedClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "ErasedClass({} {}, {})",
            self.data.name, self.data.version, self.fingerprint
        )
    }
}

/// The dependency that a node asks on the rung at `place`.
fn asked_on(node: &Node, place: usize) -> Option<&DependencyName> {
    let contract = node.contract()?;
    let fallback = |place| {
        contract
            .fallbacks
            .get(place)
            .and_then(|f: &Fallback| f.dependency.as_ref())
    };
    place
        .checked_sub(1)
        .map_or(Some(&contract.dependency), fallback)
}

fn named(place: &str, mut failure: Failure) -> Failure {
    let message = failure.message.take().unwrap_or_default();
    failure.message(format!("{place}: {message}"))
}

fn check_length(kind: &NodeKind, items: usize) -> Result<(), Failure> {
    let max = match kind {
        NodeKind::Each { items_max, .. } => *items_max,
        NodeKind::Read { .. }
        | NodeKind::Write { .. }
        | NodeKind::Tools { .. }
        | NodeKind::Local
        | NodeKind::When => limits::EACH_ITEMS_MAX,
    };
    if u32::try_from(items).is_ok_and(|items| items <= max) {
        return Ok(());
    }
    let code = mainstay_types::Code::ListTooLong;
    let message = format!("{code}: its list has {items} items, its bound is {max}");
    Err(invalid(message).provider_code(code.as_str()))
}

/// The digest of the fields that `significant` points at, or of the whole request. What is not
/// there is left out, so that an absent field and a `null` differ.
fn fingerprint(request: &Payload, significant: &[String]) -> Result<Digest, Failure> {
    if significant.is_empty() {
        return Ok(request.digest());
    }
    let text = std::str::from_utf8(request.as_bytes()).map_err(|e| invalid(e.to_string()))?;
    let value = json::parse(text).map_err(|error| invalid(error.to_string()))?;
    let picked: Object = significant
        .iter()
        .filter_map(|pointer| Some((pointer.clone(), value.pointer(pointer)?.clone())))
        .collect();
    Ok(Digest::of(
        json::Value::Object(picked).to_canonical().as_bytes(),
    ))
}

/// No node of the class asks this dependency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownDependency {
    /// The name that was given.
    pub dependency: DependencyName,
    /// Whether the provider that was given writes.
    pub writes: bool,
    /// The names there are for what such a provider does.
    pub known: Vec<DependencyName>,
}

impl fmt::Display for UnknownDependency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let deed = if self.writes {
            "writes to"
        } else {
            "reads from"
        };
        let known: Vec<&str> = self.known.iter().map(DependencyName::as_str).collect();
        let known = if known.is_empty() {
            "none".to_owned()
        } else {
            known.join(", ")
        };
        write!(
            f,
            "the class never {deed} `{}`; there are: {known}",
            self.dependency
        )
    }
}

impl std::error::Error for UnknownDependency {}

/// The closures of a class, with its input's type erased.
pub(crate) trait ClassCode: Send + Sync {
    fn check_input(&self, input: &Payload) -> Result<(), Failure>;

    /// What the closure of the node at `place` makes, and the run's business id, if it has one.
    fn make(
        &self,
        place: usize,
        input: &Payload,
        values: &[Option<Payload>],
    ) -> Result<(Made, Option<String>), Failure>;

    /// The request of the node at `place` made anew; `None` when the class does not say how.
    fn repair(
        &self,
        place: usize,
        input: &Payload,
        wrong: (&Payload, &Failure),
    ) -> Option<Result<Made, Failure>>;

    fn assemble(&self, input: &Payload, values: &[Option<Payload>]) -> Result<Made, Failure>;
}

/// The closures of a class with the input `I`.
pub(crate) struct TypedCode<I> {
    pub(crate) nodes: Vec<Code<I>>,
    pub(crate) assemble: Maker<I>,
}

impl<I: Value> ClassCode for TypedCode<I> {
    fn check_input(&self, input: &Payload) -> Result<(), Failure> {
        input_of::<I>(input).map(drop)
    }

    fn make(
        &self,
        place: usize,
        input: &Payload,
        values: &[Option<Payload>],
    ) -> Result<(Made, Option<String>), Failure> {
        let input = input_of::<I>(input)?;
        let Code { make, identify, .. } = &self.nodes[place];
        let made = make(&input, values)?;
        Ok((made, identify.as_ref().map(|identify| identify(&input))))
    }

    fn repair(
        &self,
        place: usize,
        input: &Payload,
        (request, failure): (&Payload, &Failure),
    ) -> Option<Result<Made, Failure>> {
        let repair = self.nodes.get(place)?.repair.as_ref()?;
        let input = input_of::<I>(input);
        Some(input.and_then(|input| repair(&input, request, failure)))
    }

    fn assemble(&self, input: &Payload, values: &[Option<Payload>]) -> Result<Made, Failure> {
        (self.assemble)(&input_of::<I>(input)?, values)
    }
}

fn input_of<I: Value>(input: &Payload) -> Result<I, Failure> {
    decode(input).map_err(|error| invalid(format!("the run's input: {error}")))
}
