//! What kind of call is being built, as types: which knobs it has, and what its ref gives.
//!
//! These types have no values. They turn "a write cannot be soft" from a problem of a class into an
//! error of the compiler that names the way out.

use std::marker::PhantomData;

use mainstay_dispatch::{Read, Value, Write};

use crate::refs::{Ref, SoftRef, Source};
use crate::tools::{Tool, ToolRecord};

/// A read of the dependency `D`.
#[derive(Debug)]
pub struct Reading<D, P>(PhantomData<fn() -> (D, P)>);

/// A write to the dependency `D`.
#[derive(Debug)]
pub struct Writing<D, P>(PhantomData<fn() -> (D, P)>);

/// A write of each item of a list to the dependency `D`.
#[derive(Debug)]
pub struct Listing<D, P>(PhantomData<fn() -> (D, P)>);

/// Pure compute that gives a `T`.
#[derive(Debug)]
pub struct Computing<T, P>(PhantomData<fn() -> (T, P)>);

/// A call that offers tools to a model.
#[derive(Debug)]
pub struct Offering<P>(PhantomData<fn() -> P>);

/// Its value is always there.
#[derive(Debug)]
pub struct Always;

/// Its value may be missing.
#[derive(Debug)]
pub struct Perhaps;

/// It is made when a model asks for it, and has no value of its own.
#[derive(Debug)]
pub struct OnDemand;

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::OnDemand {}
    impl<P> Sealed for super::Offering<P> {}
    impl Sealed for super::Always {}
    impl Sealed for super::Perhaps {}
    impl<D, P> Sealed for super::Reading<D, P> {}
    impl<D, P> Sealed for super::Writing<D, P> {}
    impl<D, P> Sealed for super::Listing<D, P> {}
    impl<T, P> Sealed for super::Computing<T, P> {}
}

/// Whether a value is always there: the kind of its ref.
pub trait Presence: sealed::Sealed {
    /// The ref of a value of type `T`.
    type Ref<T: Value>;

    #[doc(hidden)]
    fn made<T: Value>(source: Source) -> Self::Ref<T>;
}

impl Presence for Always {
    type Ref<T: Value> = Ref<T>;

    fn made<T: Value>(source: Source) -> Ref<T> {
        Ref::new(source)
    }
}

impl Presence for Perhaps {
    type Ref<T: Value> = SoftRef<T>;

    fn made<T: Value>(source: Source) -> SoftRef<T> {
        SoftRef::new(source)
    }
}

impl Presence for OnDemand {
    type Ref<T: Value> = Tool;

    fn made<T: Value>(source: Source) -> Tool {
        Tool(source)
    }
}

/// A kind of call.
pub trait Kind: sealed::Sealed {
    /// What the call gives.
    type Value: Value;
    /// Whether it always does.
    type Presence: Presence;
    /// The same kind, whose value may be missing.
    type Perhaps: Kind<Value = Self::Value>;
}

impl<D: Read, P: Presence> Kind for Reading<D, P> {
    type Value = D::Reply;
    type Presence = P;
    type Perhaps = Reading<D, Perhaps>;
}

impl<D: Write, P: Presence> Kind for Writing<D, P> {
    type Value = D::Reply;
    type Presence = P;
    type Perhaps = Writing<D, Perhaps>;
}

impl<D: Write, P: Presence> Kind for Listing<D, P> {
    type Value = Vec<D::Reply>;
    type Presence = P;
    type Perhaps = Listing<D, Perhaps>;
}

impl<P: Presence> Kind for Offering<P> {
    type Value = Vec<ToolRecord>;
    type Presence = P;
    type Perhaps = Offering<Perhaps>;
}

impl<T: Value, P: Presence> Kind for Computing<T, P> {
    type Value = T;
    type Presence = P;
    type Perhaps = Computing<T, Perhaps>;
}

/// A call that makes attempts: a read, a write or an each.
#[diagnostic::on_unimplemented(
    message = "a local call makes no attempts, so it has no timeout, cost or retries",
    note = "leave the setting out, or make it a `.read(..)` of a dependency"
)]
pub trait Attempting: Kind {}

impl<D: Read, P: Presence> Attempting for Reading<D, P> {}
impl<D: Write, P: Presence> Attempting for Writing<D, P> {}
impl<D: Write, P: Presence> Attempting for Listing<D, P> {}

/// A call the result may do without: a read or local compute.
#[diagnostic::on_unimplemented(
    message = "a write cannot be soft or advisory",
    note = "an effect is never skipped because time is short: to make it depend on something, put \
            it behind a predicate with `.when(&predicate)`",
    note = "if it changes nothing, implement `Read` for its dependency and use `.read(..)`"
)]
pub trait Omittable: Kind {}

impl<D: Read, P: Presence> Omittable for Reading<D, P> {}
impl<T: Value, P: Presence> Omittable for Computing<T, P> {}

/// A call another dependency may answer: a read.
#[diagnostic::on_unimplemented(
    message = "only a read can fall back to another dependency",
    note = "a write falls back to a person: `.or_human()`; sending it elsewhere could do it twice"
)]
pub trait Substitutable: Attempting {
    /// What the dependency is asked.
    type Request: Value;
}

impl<D: Read, P: Presence> Substitutable for Reading<D, P> {
    type Request = D::Request;
}

/// A call that changes the outside world: a write or an each.
#[diagnostic::on_unimplemented(
    message = "only a write has an effect",
    note = "leave the setting out, or implement `Write` and use `.write(..)` or `.each(..)`"
)]
pub trait Effecting: Attempting {}

impl<D: Write, P: Presence> Effecting for Writing<D, P> {}
impl<D: Write, P: Presence> Effecting for Listing<D, P> {}

/// A call whose effect can be undone: a write, or each item of an each.
#[diagnostic::on_unimplemented(
    message = "only a write can be undone",
    note = "leave the setting out, or implement `Write` and use `.write(..)` or `.each(..)`"
)]
pub trait Undoable: Effecting {
    /// What its receiver was asked; of an each, for one item.
    type Request: Value;
    /// What it answered; of an each, for one item.
    type Reply: Value;
}

impl<D: Write, P: Presence> Undoable for Writing<D, P> {
    type Request = D::Request;
    type Reply = D::Reply;
}

impl<D: Write, P: Presence> Undoable for Listing<D, P> {
    type Request = D::Request;
    type Reply = D::Reply;
}

/// A call that a model asks for.
#[diagnostic::on_unimplemented(
    message = "only a tool is counted by the run",
    note = "this is for `.tool_read(..)` and `.tool_write(..)`; leave it out elsewhere"
)]
pub trait Demanded: Kind {}

impl<D: Read> Demanded for Reading<D, OnDemand> {}
impl<D: Write> Demanded for Writing<D, OnDemand> {}

/// A call that offers tools.
#[diagnostic::on_unimplemented(
    message = "only a call of `.tools(..)` offers tools",
    note = "leave the setting out"
)]
pub trait Offers: Kind {}

impl<P: Presence> Offers for Offering<P> {}

/// A call with slots: a single write.
#[diagnostic::on_unimplemented(
    message = "only a single write chooses what a second request means",
    note = "an each has one effect per item of its recorded list; leave `.rule(..)` out"
)]
pub trait Slotted: Effecting {}

impl<D: Write, P: Presence> Slotted for Writing<D, P> {}
