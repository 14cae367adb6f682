//! The builder: calls are added in order, refs are the edges, `finish` tells all problems at once.
//!
//! It never panics on a mistake of the class's author and never stops at the first one: what is
//! wrong gets a stand-in, is recorded, and makes `finish` fail.

use std::convert::Infallible;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use mainstay_dispatch::{Read, ReadProvider, Value, Write, WriteProvider};
use mainstay_graph::{
    Criticality, DependencyCap, OnDowntime, OnFailure, OnLimit, Problem, SameRequestRule, Schema,
    Tool,
};
use mainstay_types::{ClassName, ClassVersion, DependencyName, Millis};

use crate::call::Call;
use crate::checked::{schema, stand_in};
use crate::class::Class;
use crate::draft::{Code, Draft, Edge, Effect, Rungs, Shape};
use crate::erased::{ErasedClass, TypedCode};
use crate::kinds::{Always, Computing, Listing, Offering, OnDemand, Reading, Writing};
use crate::make::{self, Maker, maker};
use crate::problems::Problems;
use crate::refs::{Predicate, Refs};
use crate::settings::{Budget, Caps, Reserve};
use crate::tools::ToolRecord;

/// Where the definition of a task class with the input `I` begins.
#[derive(Debug)]
pub struct TaskClass<I>(PhantomData<fn(I)>);

impl<I: Value> TaskClass<I> {
    /// Begins a class. A class that was stored with runs and is changed needs a new version.
    #[must_use]
    pub fn define(name: impl Into<String>, version: u32) -> Builder<I> {
        Builder::new(name.into(), version)
    }
}

/// A task class under construction. Made by [`TaskClass::define`].
pub struct Builder<I> {
    pub(crate) id: u64,
    /// As written, for messages.
    name: String,
    pub(crate) data: mainstay_graph::TaskClass,
    pub(crate) code: Vec<Code<I>>,
    pub(crate) rungs: Vec<Rungs>,
    pub(crate) problems: Vec<Problem>,
}

impl<I> fmt::Debug for Builder<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Builder({}, {} nodes)", self.name, self.data.nodes.len())
    }
}

/// Settings of the class as a whole.
impl<I: Value> Builder<I> {
    fn new(name: String, version: u32) -> Self {
        static BUILDERS: AtomicU64 = AtomicU64::new(0);
        let mut problems = Vec::new();
        let defaults = Budget::new();
        let class_name = stand_in(ClassName::new(name.as_str()), &name, &mut problems, None)
            .unwrap_or_else(|| ClassName::new("invalid-name").expect("a valid name"));
        let data = mainstay_graph::TaskClass {
            name: class_name,
            version: ClassVersion(version),
            input: schema::<I>("input", None, &mut problems),
            output: Schema("true".into()),
            budget: defaults.spend,
            times: defaults.times,
            reserve: mainstay_graph::Reserve::default(),
            on_downtime: OnDowntime::Absolute,
            on_failure: OnFailure::HandOff,
            on_limit: OnLimit::default(),
            caps: mainstay_graph::Caps::default(),
            later: None,
            nodes: Vec::new(),
            result: Vec::new(),
        };
        let id = BUILDERS.fetch_add(1, Ordering::Relaxed);
        Self {
            id,
            name,
            data,
            code: Vec::new(),
            rungs: Vec::new(),
            problems,
        }
    }

    /// What a lap may spend, and until when.
    pub fn budget(&mut self, budget: Budget) -> &mut Self {
        self.data.budget = budget.spend;
        self.data.times = budget.times;
        self
    }

    /// Time kept back for later stages.
    pub fn reserve(&mut self, reserve: Reserve) -> &mut Self {
        self.data.reserve = reserve.0;
        self
    }

    /// What downtime does to a run's times: `Absolute` (the default) or `Extend(most)`.
    pub fn on_downtime(&mut self, rule: impl Into<OnDowntime>) -> &mut Self {
        self.data.on_downtime = rule.into();
        self
    }

    /// How a lap ends when its hard path cannot be completed: `HandOff` (the default) or `Fail`.
    pub fn on_failure(&mut self, rule: OnFailure) -> &mut Self {
        self.data.on_failure = rule;
        self
    }

    /// What follows when a call of the hard path meets a limit of the lap: `OnLimit::Degrade` (the
    /// default: what costs less is tried, then the call fails), `Pause` until the limit is raised,
    /// `HandOff` or `Fail`. Soft calls are left out then, whatever this says.
    pub fn on_limit(&mut self, rule: OnLimit) -> &mut Self {
        self.data.on_limit = rule;
        self
    }

    /// How long a run may work whose answer would come too late, counted from its start. A caller
    /// who takes a later answer is told `Later` at once then; any other is refused. Default: such a
    /// run is not begun.
    pub fn later(&mut self, within: Millis) -> &mut Self {
        self.data.later = Some(within);
        self
    }

    /// What a lap may do at most, beside its budget.
    pub fn caps(&mut self, caps: Caps) -> &mut Self {
        let dependencies = caps.dependencies.into_iter().filter_map(|(name, cap)| {
            let named = DependencyName::new(name.as_str());
            Some(DependencyCap {
                dependency: stand_in(named, &name, &mut self.problems, None)?,
                retry_tokens: cap.retries,
                concurrency_tokens: cap.concurrency,
                cost_units: cap.cost,
            })
        });
        self.data.caps = mainstay_graph::Caps {
            dependencies: dependencies.collect(),
            ..caps.data
        };
        self
    }
}

/// Calls. Each closure sees the run's input and the values of the refs; it runs once per call of a
/// run, and what it returns is recorded. It must be a function of what it is given: no clock, no
/// randomness, no I/O. The `try_` forms may refuse, which is INVALID_INPUT and never retried.
impl<I: Value> Builder<I> {
    /// Asks `dependency`, changes nothing.
    pub fn read<D, R, F>(
        &mut self,
        name: &str,
        dependency: &D,
        refs: R,
        request: F,
    ) -> Call<'_, I, Reading<D, Always>>
    where
        D: Read + Clone,
        R: Refs,
        F: Fn(&I, R::Values<'_>) -> D::Request + Send + Sync + 'static,
    {
        self.try_read(name, dependency, refs, sure::<I, R, _, _>(request))
    }

    /// [`Builder::read`] with a closure that may refuse.
    pub fn try_read<D, R, F, E>(
        &mut self,
        name: &str,
        dependency: &D,
        refs: R,
        request: F,
    ) -> Call<'_, I, Reading<D, Always>>
    where
        D: Read + Clone,
        R: Refs,
        F: Fn(&I, R::Values<'_>) -> Result<D::Request, E> + Send + Sync + 'static,
        E: fmt::Display,
    {
        let provider = Arc::new(ReadProvider::new(dependency.clone()));
        let (request_schema, reply) = self.schemas::<D::Request, D::Reply>(name);
        let edge = Edge::new(
            provider,
            dependency.promise(),
            request_schema,
            reply.clone(),
        );
        let make = maker::<I, R, _, _, _>(request, make::request);
        let draft = draft(name, &refs, Shape::Read(edge), make);
        Call::new(
            self,
            Draft {
                output: reply,
                ..draft
            },
        )
    }

    /// Changes the outside world once.
    pub fn write<D, R, F>(
        &mut self,
        name: &str,
        dependency: &D,
        refs: R,
        request: F,
    ) -> Call<'_, I, Writing<D, Always>>
    where
        D: Write + Clone,
        R: Refs,
        F: Fn(&I, R::Values<'_>) -> D::Request + Send + Sync + 'static,
    {
        self.try_write(name, dependency, refs, sure::<I, R, _, _>(request))
    }

    /// [`Builder::write`] with a closure that may refuse.
    pub fn try_write<D, R, F, E>(
        &mut self,
        name: &str,
        dependency: &D,
        refs: R,
        request: F,
    ) -> Call<'_, I, Writing<D, Always>>
    where
        D: Write + Clone,
        R: Refs,
        F: Fn(&I, R::Values<'_>) -> Result<D::Request, E> + Send + Sync + 'static,
        E: fmt::Display,
    {
        let (edge, reply) = self.write_edge(name, dependency);
        let effect = Effect::new(SameRequestRule::PerSlot, D::RESOLUTION);
        let make = maker::<I, R, _, _, _>(request, make::request);
        let draft = draft(name, &refs, Shape::Write(edge, effect), make);
        Call::new(
            self,
            Draft {
                output: reply,
                ..draft
            },
        )
    }

    /// Writes each item of a list of at most `items_max`, recorded before the first write. Gives
    /// the replies in the order of the list.
    #[expect(
        clippy::too_many_arguments,
        reason = "a list without a bound must not be writable"
    )]
    pub fn each<D, R, F>(
        &mut self,
        name: &str,
        dependency: &D,
        refs: R,
        items_max: u32,
        list: F,
    ) -> Call<'_, I, Listing<D, Always>>
    where
        D: Write + Clone,
        R: Refs,
        F: Fn(&I, R::Values<'_>) -> Vec<D::Request> + Send + Sync + 'static,
    {
        self.try_each(name, dependency, refs, items_max, sure::<I, R, _, _>(list))
    }

    /// [`Builder::each`] with a closure that may refuse.
    #[expect(
        clippy::too_many_arguments,
        reason = "a list without a bound must not be writable"
    )]
    pub fn try_each<D, R, F, E>(
        &mut self,
        name: &str,
        dependency: &D,
        refs: R,
        items_max: u32,
        list: F,
    ) -> Call<'_, I, Listing<D, Always>>
    where
        D: Write + Clone,
        R: Refs,
        F: Fn(&I, R::Values<'_>) -> Result<Vec<D::Request>, E> + Send + Sync + 'static,
        E: fmt::Display,
    {
        let (edge, _) = self.write_edge(name, dependency);
        let output = schema::<Vec<D::Reply>>("reply", Some(name), &mut self.problems);
        let effect = Effect::new(SameRequestRule::PerItem, D::RESOLUTION);
        let make = maker::<I, R, _, _, _>(list, make::list);
        let draft = draft(name, &refs, Shape::Each(edge, effect, items_max), make);
        Call::new(self, Draft { output, ..draft })
    }

    /// A read that a model may ask for: `about` says in words what it does, the arguments `A` are
    /// what the model gives. Put it into a call of [`Builder::tools`] with `.offer(..)`.
    pub fn tool_read<D, A, F>(
        &mut self,
        name: &str,
        about: &str,
        dependency: &D,
        request: F,
    ) -> Call<'_, I, Reading<D, OnDemand>>
    where
        D: Read + Clone,
        A: Value,
        F: Fn(&I, A) -> D::Request + Send + Sync + 'static,
    {
        let provider = Arc::new(ReadProvider::new(dependency.clone()));
        let (request_schema, reply) = self.schemas::<D::Request, D::Reply>(name);
        let promise = dependency.promise();
        let edge = Edge::new(provider, promise, request_schema, reply.clone());
        let tool = self.tool::<A>(name, about);
        let make = make::of_arguments(request);
        let draft = draft(name, &(), Shape::Read(edge), make);
        Call::new(
            self,
            Draft {
                output: reply,
                tool: Some(tool),
                ..draft
            },
        )
    }

    /// A write that a model may ask for. Its key is never the model's: it is made from a business
    /// id of the run's input, else from the run and the tool's name, and from how many effects of
    /// this name the model was told of before.
    pub fn tool_write<D, A, F>(
        &mut self,
        name: &str,
        about: &str,
        dependency: &D,
        request: F,
    ) -> Call<'_, I, Writing<D, OnDemand>>
    where
        D: Write + Clone,
        A: Value,
        F: Fn(&I, A) -> D::Request + Send + Sync + 'static,
    {
        let (edge, reply) = self.write_edge(name, dependency);
        let effect = Effect::new(SameRequestRule::PerSlot, D::RESOLUTION);
        let tool = self.tool::<A>(name, about);
        let make = make::of_arguments(request);
        let draft = draft(name, &(), Shape::Write(edge, effect), make);
        Call::new(
            self,
            Draft {
                output: reply,
                tool: Some(tool),
                ..draft
            },
        )
    }

    /// Offers tools to a model, until whoever talks to it says that it is done. `brief` is what
    /// that one is given to begin with. Gives everything that was asked for, and what came of it.
    pub fn tools<R, F, B>(&mut self, name: &str, refs: R, brief: F) -> Call<'_, I, Offering<Always>>
    where
        R: Refs,
        F: Fn(&I, R::Values<'_>) -> B + Send + Sync + 'static,
        B: Value,
    {
        let output = schema::<Vec<ToolRecord>>("value", Some(name), &mut self.problems);
        let make = maker::<I, R, _, _, _>(sure::<I, R, _, _>(brief), make::request);
        let shape = Shape::Tools(Vec::new(), CALLS_DEFAULT);
        Call::new(
            self,
            Draft {
                output,
                ..draft(name, &refs, shape, make)
            },
        )
    }

    /// Computes a value in the run's own process.
    pub fn local<R, F, T>(
        &mut self,
        name: &str,
        refs: R,
        compute: F,
    ) -> Call<'_, I, Computing<T, Always>>
    where
        R: Refs,
        F: Fn(&I, R::Values<'_>) -> T + Send + Sync + 'static,
        T: Value,
    {
        self.try_local(name, refs, sure::<I, R, _, _>(compute))
    }

    /// [`Builder::local`] with a closure that may refuse.
    pub fn try_local<R, F, T, E>(
        &mut self,
        name: &str,
        refs: R,
        compute: F,
    ) -> Call<'_, I, Computing<T, Always>>
    where
        R: Refs,
        F: Fn(&I, R::Values<'_>) -> Result<T, E> + Send + Sync + 'static,
        T: Value,
        E: fmt::Display,
    {
        let output = schema::<T>("value", Some(name), &mut self.problems);
        let make = maker::<I, R, _, _, _>(compute, make::value);
        Call::new(
            self,
            Draft {
                output,
                ..draft(name, &refs, Shape::Local, make)
            },
        )
    }

    /// A predicate: calls with `.when(&predicate)` happen only if it says yes.
    pub fn when<R, F>(&mut self, name: &str, refs: R, predicate: F) -> Predicate
    where
        R: Refs,
        F: Fn(&I, R::Values<'_>) -> bool + Send + Sync + 'static,
    {
        let output = schema::<bool>("value", Some(name), &mut self.problems);
        let make = maker::<I, R, _, _, _>(sure::<I, R, _, _>(predicate), make::value);
        Predicate(self.push(Draft {
            output,
            ..draft(name, &refs, Shape::When, make)
        }))
    }

    /// Ends the class: `result` makes a run's result from the values of `refs`.
    ///
    /// Errors: everything that is wrong with the class, at once. What it can live with is in
    /// [`Class::warnings`].
    pub fn finish<O, R, F>(mut self, refs: R, result: F) -> Result<Class<I, O>, Problems>
    where
        O: Value,
        R: Refs,
        F: Fn(&I, R::Values<'_>) -> O + Send + Sync + 'static,
    {
        self.data.output = schema::<O>("output", None, &mut self.problems);
        let mut sources = Vec::new();
        refs.sources(&mut sources);
        self.data.result = self.resolved(&sources, None);
        let mut problems = self.problems;
        problems.extend(mainstay_graph::validate(&self.data));
        if problems.iter().any(Problem::is_error) {
            return Err(Problems {
                class: self.name,
                problems,
            });
        }
        let assemble = maker::<I, R, _, _, _>(sure::<I, R, _, _>(result), make::value);
        let code = TypedCode {
            nodes: self.code,
            assemble,
        };
        let erased = ErasedClass::new(self.data, Arc::new(code), self.rungs, problems);
        Ok(Class::new(Arc::new(erased)))
    }
}

/// How often a model may ask unless the class says otherwise.
const CALLS_DEFAULT: u32 = 32;

impl<I: Value> Builder<I> {
    fn tool<A: Value>(&mut self, name: &str, about: &str) -> Tool {
        Tool {
            about: about.to_owned(),
            per_run_max: CALLS_DEFAULT,
            arguments: schema::<A>("arguments", Some(name), &mut self.problems),
        }
    }

    pub(crate) fn write_edge<D: Write + Clone>(
        &mut self,
        name: &str,
        dependency: &D,
    ) -> (Edge, Schema) {
        let provider = Arc::new(WriteProvider::new(dependency.clone()));
        let (request, reply) = self.schemas::<D::Request, D::Reply>(name);
        (
            Edge::new(provider, dependency.promise(), request, reply.clone()),
            reply,
        )
    }

    fn schemas<Q: Value, A: Value>(&mut self, node: &str) -> (Schema, Schema) {
        let problems = &mut self.problems;
        (
            schema::<Q>("request", Some(node), problems),
            schema::<A>("reply", Some(node), problems),
        )
    }
}

/// A closure that never refuses, in the form of one that may.
fn sure<I, R, F, Q>(
    closure: F,
) -> impl Fn(&I, R::Values<'_>) -> Result<Q, Infallible> + Send + Sync + 'static
where
    R: Refs,
    F: Fn(&I, R::Values<'_>) -> Q + Send + Sync + 'static,
{
    move |input: &I, values: R::Values<'_>| Ok(closure(input, values))
}

/// A hard draft without predicate; its output is filled in by who knows its type.
fn draft<I>(name: &str, refs: &impl Refs, shape: Shape, make: Maker<I>) -> Draft<I> {
    let mut inputs = Vec::new();
    refs.sources(&mut inputs);
    Draft {
        name: name.to_owned(),
        criticality: Criticality::Hard,
        inputs,
        when: None,
        output: Schema("true".into()),
        shape,
        code: Code {
            make,
            identify: None,
            repair: None,
        },
        tool: None,
        undo: None,
    }
}
