//! Refs: a node's value before it exists. Passing one to a call is the edge.
//!
//! A ref is a number with a type; it never holds a value, and it belongs to one builder.

use std::fmt;
use std::marker::PhantomData;

use mainstay_dispatch::{Value, decode};
use mainstay_types::{Failure, NodeId, Payload};

use crate::make::invalid;

/// Where a ref points: which node of which builder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    pub(crate) builder: u64,
    pub(crate) node: NodeId,
}

/// The value of a node that is always there; closures see `&T`.
pub struct Ref<T>(Source, PhantomData<fn() -> T>);

/// The value of a node that may be missing (soft, advisory, or behind a predicate); closures see
/// `Option<&T>`.
pub struct SoftRef<T>(Source, PhantomData<fn() -> T>);

/// A predicate, for `.when(&predicate)`. It has no value of its own.
#[derive(Clone, Copy, Debug)]
pub struct Predicate(pub(crate) Source);

impl<T> Ref<T> {
    pub(crate) const fn new(source: Source) -> Self {
        Self(source, PhantomData)
    }
}

impl<T> SoftRef<T> {
    pub(crate) const fn new(source: Source) -> Self {
        Self(source, PhantomData)
    }
}

// By hand: a ref can be copied whatever its value is.
impl<T> Clone for Ref<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Ref<T> {}

impl<T> Clone for SoftRef<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for SoftRef<T> {}

impl<T> fmt::Debug for Ref<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ref(node {})", self.0.node)
    }
}

impl<T> fmt::Debug for SoftRef<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SoftRef(node {})", self.0.node)
    }
}

/// What a call uses: `()`, one ref, or a tuple of up to eight; tuples may be nested.
///
/// ```text
/// ()                  |m, ()|
/// draft               |m, draft|
/// (policy, related)   |m, (policy, related)|
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not what a call can use",
    label = "not refs",
    note = "pass `()`, one ref as returned by `.add()`, or a tuple of up to eight of them",
    note = "for more than eight, nest them: `((a, b, c, d, e), (f, g, h, i))`",
    note = "a predicate of `g.when(..)` has no value: it goes to `.when(&predicate)`",
    note = "a tool has no value: it goes to `.offer(&tool)` of a call of `g.tools(..)`"
)]
pub trait Refs: Copy + Send + Sync + 'static {
    /// The values, read back from their bytes.
    type Owned: 'static;
    /// What the closure sees.
    type Values<'a>;

    /// Adds where they point to, in order.
    #[doc(hidden)]
    fn sources(&self, sources: &mut Vec<Source>);

    /// Takes as many values as there are refs.
    #[doc(hidden)]
    fn take(values: &mut Recorded<'_>) -> Result<Self::Owned, Failure>;

    /// The values as the closure sees them.
    #[doc(hidden)]
    fn view(owned: &Self::Owned) -> Self::Values<'_>;
}

/// Recorded values in the order of a node's inputs.
#[derive(Debug)]
pub struct Recorded<'v> {
    values: std::slice::Iter<'v, Option<Payload>>,
    taken: usize,
}

impl<'v> Recorded<'v> {
    pub(crate) fn new(values: &'v [Option<Payload>]) -> Self {
        Self {
            values: values.iter(),
            taken: 0,
        }
    }

    /// The next value, if it is there.
    fn next<T: Value>(&mut self) -> Result<Option<T>, Failure> {
        self.taken += 1;
        let place = self.taken;
        let Some(value) = self.values.next() else {
            return Err(invalid(format!("there is no input {place}")));
        };
        let read = |payload| {
            decode(payload)
                .map_err(|error| invalid(format!("input {place} cannot be read: {error}")))
        };
        value.as_ref().map(read).transpose()
    }
}

impl Refs for () {
    type Owned = ();
    type Values<'a> = ();

    fn sources(&self, _: &mut Vec<Source>) {}

    fn take(_: &mut Recorded<'_>) -> Result<(), Failure> {
        Ok(())
    }

    fn view((): &()) -> Self::Values<'_> {}
}

impl<T: Value> Refs for Ref<T> {
    type Owned = T;
    type Values<'a> = &'a T;

    fn sources(&self, sources: &mut Vec<Source>) {
        sources.push(self.0);
    }

    fn take(values: &mut Recorded<'_>) -> Result<T, Failure> {
        let place = values.taken + 1;
        values
            .next()?
            .ok_or_else(|| invalid(format!("input {place} is missing")))
    }

    fn view(owned: &T) -> &T {
        owned
    }
}

impl<T: Value> Refs for SoftRef<T> {
    type Owned = Option<T>;
    type Values<'a> = Option<&'a T>;

    fn sources(&self, sources: &mut Vec<Source>) {
        sources.push(self.0);
    }

    fn take(values: &mut Recorded<'_>) -> Result<Option<T>, Failure> {
        values.next()
    }

    fn view(owned: &Option<T>) -> Option<&T> {
        owned.as_ref()
    }
}

macro_rules! tuple {
    ($($part:ident $place:tt),+) => {
        impl<$($part: Refs),+> Refs for ($($part,)+) {
            type Owned = ($($part::Owned,)+);
            type Values<'a> = ($($part::Values<'a>,)+);

            fn sources(&self, sources: &mut Vec<Source>) {
                $(self.$place.sources(sources);)+
            }

            fn take(values: &mut Recorded<'_>) -> Result<Self::Owned, Failure> {
                Ok(($($part::take(values)?,)+))
            }

            fn view(owned: &Self::Owned) -> Self::Values<'_> {
                ($($part::view(&owned.$place),)+)
            }
        }
    };
}

tuple!(A 0);
tuple!(A 0, B 1);
tuple!(A 0, B 1, C 2);
tuple!(A 0, B 1, C 2, D 3);
tuple!(A 0, B 1, C 2, D 3, E 4);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5, G 6);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);
