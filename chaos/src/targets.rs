//! What of a class can be befallen: its dependencies, and what each is like.

use std::collections::BTreeMap;

use mainstay_graph::{EffectContract, EffectSemantics, NodeKind, Resolution, TaskClass};

use crate::fault::{Fault, FaultProblem, Of};

/// A dependency of the class.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) name: String,
    /// What is promised of its effects, when it is written to.
    pub(crate) effect: Option<EffectContract>,
    /// Whether it does one key once.
    pub(crate) honours_keys: bool,
    /// Whether its replies can be cut.
    pub(crate) is_cuttable: bool,
    /// Whether its replies can be old ones.
    pub(crate) can_be_stale: bool,
}

impl Target {
    fn is_of(&self, of: Of) -> bool {
        let resolution = self.effect.as_ref().map(|effect| effect.resolution);
        match of {
            Of::Any => true,
            Of::Reads => resolution.is_none(),
            Of::CutReads => resolution.is_none() && self.is_cuttable,
            Of::StaleReads => resolution.is_none() && self.can_be_stale,
            Of::Writes => resolution.is_some(),
            Of::KeyedWrites => resolution.is_some() && self.honours_keys,
            Of::AskableWrites => resolution.is_some_and(|found| found != Resolution::ByHuman),
        }
    }
}

pub(crate) const fn whom(of: Of) -> &'static str {
    match of {
        Of::Any => "every dependency",
        Of::Reads => "dependencies that are read",
        Of::CutReads => "dependencies that are read and whose double has .cut_to(..)",
        Of::StaleReads => "dependencies that are read and whose double has .stale_to(..)",
        Of::Writes => "dependencies that are written to",
        Of::KeyedWrites => "dependencies that do one key once",
        Of::AskableWrites => "dependencies that are written to and can be asked",
    }
}

/// The dependencies of a class, by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Targets(Vec<Target>);

impl Targets {
    /// Those that `class` asks, on any rung.
    pub(crate) fn of(class: &TaskClass) -> Self {
        let mut found: BTreeMap<String, (Option<EffectContract>, bool)> = BTreeMap::new();
        for (_, node) in class.ids() {
            let effect = match &node.kind {
                NodeKind::Write { effect, .. } | NodeKind::Each { effect, .. } => {
                    Some(effect.clone())
                }
                NodeKind::Read { .. }
                | NodeKind::Tools { .. }
                | NodeKind::Local
                | NodeKind::When => None,
            };
            let Some(contract) = node.contract() else {
                continue;
            };
            let fallbacks = contract.fallbacks.iter();
            let names = fallbacks.filter_map(|fallback| fallback.dependency.as_ref());
            let honours_keys = contract.effect == EffectSemantics::WriteIdempotentWithKey
                || effect
                    .as_ref()
                    .is_some_and(|effect| effect.resolution == Resolution::ByUpsert);
            for name in names.chain([&contract.dependency]) {
                let like = || (effect.clone(), honours_keys);
                found.entry(name.to_string()).or_insert_with(like);
            }
        }
        Self(
            found
                .into_iter()
                .map(|(name, (effect, honours_keys))| Target {
                    name,
                    effect,
                    honours_keys,
                    is_cuttable: false,
                    can_be_stale: false,
                })
                .collect(),
        )
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Target> {
        self.0.iter()
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Target> {
        self.0.iter().find(|target| target.name == name)
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.0.iter().map(|target| target.name.clone()).collect()
    }

    /// Marks what the replies of a dependency can be.
    pub(crate) fn mark(&mut self, name: &str, is_cuttable: bool, can_be_stale: bool) {
        if let Some(target) = self.0.iter_mut().find(|target| target.name == name) {
            target.is_cuttable = is_cuttable;
            target.can_be_stale = can_be_stale;
        }
    }

    /// Only those of these names.
    pub(crate) fn within(&self, names: &[String]) -> Self {
        let kept = self.0.iter().filter(|target| names.contains(&target.name));
        Self(kept.cloned().collect())
    }

    /// The names of those that `of` takes in.
    pub(crate) fn that_are(&self, of: Of) -> Vec<String> {
        let those = self.0.iter().filter(|target| target.is_of(of));
        those.map(|target| target.name.clone()).collect()
    }

    /// Whether `fault` can befall anything here.
    pub(crate) fn check(&self, fault: &Fault) -> Result<(), FaultProblem> {
        fault.check_fields()?;
        let kind = fault.kind;
        let Some(of) = kind.named().of() else {
            return Ok(());
        };
        let known = self.that_are(of);
        let Some(dependency) = fault.dependency.clone() else {
            return Err(FaultProblem::NoTarget { kind, known });
        };
        if known.contains(&dependency) {
            return Ok(());
        }
        match self.get(&dependency) {
            Some(_) => Err(FaultProblem::WrongDependency {
                kind,
                dependency,
                whom: whom(of),
                known,
            }),
            None => Err(FaultProblem::UnknownDependency {
                kind,
                dependency,
                known: self.names(),
            }),
        }
    }
}
