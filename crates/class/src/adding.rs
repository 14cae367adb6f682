//! How a described call becomes a node: its name and refs are checked, its knobs become data.
//!
//! The nodes' places are their ids, so a node is added whatever is wrong with it; a stand-in takes
//! the place of what cannot be kept.

use mainstay_dispatch::Value;
use mainstay_graph::{Node, NodeKind, Problem, ScopeKind};
use mainstay_types::{Code, NodeId, NodeName, limits};

use crate::builder::Builder;
use crate::checked::{Naming, stand_in};
use crate::draft::Draft;
use crate::refs::Source;

impl<I: Value> Builder<I> {
    pub(crate) fn push(&mut self, mut draft: Draft<I>) -> Source {
        let undo = draft.take_undo();
        let source = self.push_one(draft, None);
        if let Some(undo) = undo {
            self.push_one(undo, Some(source.node));
        }
        source
    }

    fn push_one(&mut self, draft: Draft<I>, undoes: Option<NodeId>) -> Source {
        let place = self.data.nodes.len();
        if limits::CLASS_NODES_MAX < place {
            // Already TOO_MANY_NODES; more of them would only cost memory.
            return self.source(place - 1);
        }
        let name = self.node_name(&draft.name, place);
        let inputs = self.resolved(&draft.inputs, Some(&name));
        let when = draft
            .when
            .and_then(|source| self.resolved(&[source], Some(&name)).pop());
        let scope = match draft.code.identify {
            Some(_) => ScopeKind::Business,
            None => ScopeKind::Run,
        };
        let mut naming = Naming {
            node: &name,
            problems: &mut self.problems,
        };
        let offered = draft.shape.offered().to_vec();
        let (mut kind, rungs) = draft.shape.finished(name.as_str(), scope, &mut naming);
        if let NodeKind::Tools { tools, .. } = &mut kind {
            *tools = self.resolved(&offered, Some(&name));
        }
        let (criticality, output) = (draft.criticality, draft.output);
        self.data.nodes.push(Node {
            name,
            kind,
            criticality,
            inputs,
            when,
            output,
            tool: draft.tool,
            undoes,
        });
        self.code.push(draft.code);
        self.rungs.push(rungs);
        self.source(place)
    }

    fn source(&self, place: usize) -> Source {
        let node = u16::try_from(place).expect("CLASS_NODES_MAX fits");
        Source {
            builder: self.id,
            node: NodeId(node),
        }
    }

    /// The nodes that are meant; a ref of another builder is FOREIGN_REF and left out.
    pub(crate) fn resolved(&mut self, sources: &[Source], node: Option<&NodeName>) -> Vec<NodeId> {
        let mut own = Vec::with_capacity(sources.len());
        for (place, source) in sources.iter().enumerate() {
            if source.builder == self.id {
                own.push(source.node);
                continue;
            }
            let user = node.map_or("the result", |_| "it");
            let message = format!("ref {} that {user} uses is of another builder", place + 1);
            let problem = Problem::error(Code::ForeignRef, message)
                .hint("use refs that `.add()` of this builder returned");
            self.problems.push(match node {
                Some(node) => problem.at(node),
                None => problem,
            });
        }
        own
    }

    fn node_name(&mut self, name: &str, place: usize) -> NodeName {
        stand_in(NodeName::new(name), name, &mut self.problems, None).unwrap_or_else(|| {
            NodeName::new(format!("invalid-name-{place}")).expect("a valid name")
        })
    }
}
