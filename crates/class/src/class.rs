//! A finished class with its types: what a user holds, registers and starts runs of.
//!
//! It only adds types to the erased form; it never runs anything.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use mainstay_dispatch::{Provider, Read, ReadProvider, Value, Write, WriteProvider};
use mainstay_dispatch::{ValueError, decode, encode};
use mainstay_graph::Problem;
use mainstay_types::{DependencyName, Payload};

use crate::erased::{ErasedClass, UnknownDependency};

/// A task class whose runs take an `I` and give an `O`. Cheap to clone.
pub struct Class<I, O> {
    erased: Arc<ErasedClass>,
    types: PhantomData<fn(I) -> O>,
}

impl<I, O> Clone for Class<I, O> {
    fn clone(&self) -> Self {
        Self {
            erased: Arc::clone(&self.erased),
            types: PhantomData,
        }
    }
}

impl<I, O> fmt::Debug for Class<I, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.erased.fmt(f)
    }
}

impl<I: Value, O: Value> Class<I, O> {
    pub(crate) const fn new(erased: Arc<ErasedClass>) -> Self {
        Self {
            erased,
            types: PhantomData,
        }
    }

    /// The form the engine runs.
    #[must_use]
    pub fn erased(&self) -> Arc<ErasedClass> {
        Arc::clone(&self.erased)
    }

    /// The class as data, which can be drawn, compared and stored.
    #[must_use]
    pub fn data(&self) -> &Arc<mainstay_graph::TaskClass> {
        &self.erased.data
    }

    /// What the class cannot promise although it can be used.
    #[must_use]
    pub fn warnings(&self) -> &[Problem] {
        self.erased.warnings()
    }

    /// The bytes of a run's input.
    pub fn encode_input(&self, input: &I) -> Result<Payload, ValueError> {
        encode(input)
    }

    /// A run's result from its bytes.
    pub fn decode_output(&self, output: &Payload) -> Result<O, ValueError> {
        decode(output)
    }

    /// The same class with `read` behind the dependency of this name, for tests.
    pub fn replace_read(
        &self,
        dependency: &DependencyName,
        read: impl Read,
    ) -> Result<Self, UnknownDependency> {
        let provider: Arc<dyn Provider> = Arc::new(ReadProvider::new(read));
        self.replace(dependency, &provider)
    }

    /// The same class with `write` behind the dependency of this name, for tests.
    pub fn replace_write(
        &self,
        dependency: &DependencyName,
        write: impl Write,
    ) -> Result<Self, UnknownDependency> {
        let provider: Arc<dyn Provider> = Arc::new(WriteProvider::new(write));
        self.replace(dependency, &provider)
    }

    /// The same class with another provider behind the dependency of this name.
    pub fn replace(
        &self,
        dependency: &DependencyName,
        provider: &Arc<dyn Provider>,
    ) -> Result<Self, UnknownDependency> {
        Ok(Self::new(Arc::new(
            self.erased.replace(dependency, provider)?,
        )))
    }
}
