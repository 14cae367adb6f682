//! The classes this process has code for, with one stack of layers per provider.
//!
//! A run is driven only by a class of the same name, version and fingerprint; a closure may
//! change under the same fingerprint, because request bytes are recorded once.

use std::collections::BTreeMap;
use std::sync::Arc;

use mainstay_class::ErasedClass;
use mainstay_dispatch::{AttemptService, Provider, Stack};
use mainstay_machine::{ClassRef, Forecast, Run};
use mainstay_types::{ClassName, ClassVersion, Digest, Millis, NodeId, Rung, Timestamp};

use crate::forecast::{Watch, Watches};

/// Registered classes.
#[derive(Default)]
pub struct Registry {
    classes: BTreeMap<(ClassName, ClassVersion), Arc<Registered>>,
    watches: Watches,
}

/// A class and the services its attempts go through.
pub(crate) struct Registered {
    pub(crate) class: Arc<ErasedClass>,
    /// The store has other content under its name and version: no run of it may begin, because it
    /// could not be loaded again.
    pub(crate) is_stored_differently: bool,
    services: BTreeMap<(NodeId, Rung), AttemptService>,
    watches: BTreeMap<(NodeId, Rung), Arc<Watch>>,
    /// What follows from the class alone is worked out once, not for every run.
    unborn: Run,
}

impl Registry {
    /// Adds a class; a second one of the same name and version replaces the first. `stored` is the
    /// fingerprint under which the store knows its name and version.
    pub(crate) fn add(&mut self, class: Arc<ErasedClass>, stack: &Stack, stored: Option<Digest>) {
        let (mut services, mut watches) = (BTreeMap::new(), BTreeMap::new());
        for (id, node) in class.data.ids() {
            let rungs = node
                .contract()
                .map_or(0, |contract| contract.fallbacks.len() + 1);
            for rung in (0..rungs)
                .filter_map(|rung| u8::try_from(rung).ok())
                .map(Rung)
            {
                if let Some(provider) = class.provider(id, rung) {
                    services.insert((id, rung), stack.build(Arc::clone(provider)));
                }
                let contract = node.contract();
                if let Some(watch) = contract.and_then(|of| self.watches.of(of, rung)) {
                    watches.insert((id, rung), watch);
                }
            }
        }
        let key = (class.data.name.clone(), class.data.version);
        let is_stored_differently = stored.is_some_and(|stored| stored != class.fingerprint);
        let registered = Registered {
            unborn: Run::unborn(Arc::clone(&class.data)),
            class,
            is_stored_differently,
            services,
            watches,
        };
        self.classes.insert(key, Arc::new(registered));
    }

    /// The class a run was started from, if its code is here.
    pub(crate) fn find(&self, class: &ClassRef) -> Option<Arc<Registered>> {
        self.classes
            .get(&(class.name.clone(), class.version))
            .filter(|registered| registered.class.fingerprint == class.fingerprint)
            .cloned()
    }

    /// Whether a class of this name and version is here with other content.
    pub(crate) fn differs(&self, class: &ClassRef) -> bool {
        self.classes
            .get(&(class.name.clone(), class.version))
            .is_some_and(|registered| registered.class.fingerprint != class.fingerprint)
    }

    /// The registered classes.
    pub fn classes(&self) -> impl Iterator<Item = &Arc<ErasedClass>> {
        self.classes.values().map(|registered| &registered.class)
    }
}

impl Registered {
    /// A run of the class that does not exist yet.
    pub(crate) fn unborn(&self) -> Run {
        self.unborn.clone()
    }

    /// The service of a node's rung.
    pub(crate) fn service(&self, node: NodeId, rung: Rung) -> Option<AttemptService> {
        self.services.get(&(node, rung)).cloned()
    }

    /// What is seen of the attempts of a node's rung.
    pub(crate) fn watch(&self, node: NodeId, rung: Rung) -> Option<&Arc<Watch>> {
        self.watches.get(&(node, rung))
    }

    /// What is known now of how long runs of the class take.
    pub(crate) fn forecast(&self, takes_later: bool, now: Timestamp) -> Forecast {
        let primaries = self
            .watches
            .iter()
            .filter(|((_, rung), _)| *rung == Rung(0));
        let seen = primaries.filter_map(|(&(node, _), watch)| Some((node, watch.took(now)?)));
        Forecast {
            queue: Millis::ZERO,
            calls: seen.collect(),
            takes_later,
        }
    }

    /// The provider of a node's rung.
    pub(crate) fn provider(&self, node: NodeId, rung: Rung) -> Option<&Arc<dyn Provider>> {
        self.class.provider(node, rung)
    }
}
