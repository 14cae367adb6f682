//! Pictures of a task class: Mermaid for pages, DOT for Graphviz.
//!
//! Shape says what a node does, a dashed line that the run can do without it, a thick one that it
//! is on the critical path. The same class gives the same text, byte for byte. Text from users is
//! escaped for its language and cut, never trusted.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use mainstay_types::NodeId;

use crate::class::{Criticality, Node, NodeKind, TaskClass};
use crate::contract::{Contract, EffectContract};
use crate::path::{CriticalPath, critical_path};
use crate::problem::exact;

/// Characters of a user's text in a label; the rest is cut, with an ellipsis.
const LABEL_CHARS_MAX: usize = 60;

/// A `String` takes any text; only memory bounds it.
const INFALLIBLE: &str = "writing into a String cannot fail";

/// The class as a Mermaid flowchart.
///
/// Needs refs that point at earlier nodes; panics on refs to nodes that do not exist.
#[must_use]
pub fn mermaid(class: &TaskClass) -> String {
    let picture = Picture::of(class);
    let mut out = String::new();
    let mut line = |text: String| writeln!(out, "{text}").expect(INFALLIBLE);
    line(format!(
        "---\ntitle: \"{}\"\n---\nflowchart TD",
        title(class, &picture.critical)
    ));
    class
        .ids()
        .for_each(|(id, node)| line(mermaid_node(id, node)));
    line("  result([\"result\"])".to_owned());
    picture
        .edges
        .iter()
        .for_each(|edge| line(mermaid_edge(edge)));
    line("  classDef critical stroke-width:3px".to_owned());
    line("  classDef soft stroke-dasharray:5 5".to_owned());
    for (name, ids) in [("critical", picture.critical.nodes), ("soft", picture.soft)] {
        if !ids.is_empty() {
            let ids: Vec<String> = ids.iter().map(|id| format!("n{id}")).collect();
            line(format!("  class {} {name}", ids.join(",")));
        }
    }
    out
}

fn mermaid_node(id: NodeId, node: &Node) -> String {
    let label: Vec<String> = lines(node).iter().map(|text| mermaid_text(text)).collect();
    let (open, close) = match node.kind {
        NodeKind::Read { .. } => ("[", "]"),
        NodeKind::Write { .. } => ("[[", "]]"),
        NodeKind::Each { .. } => ("[/", "/]"),
        NodeKind::Tools { .. } => ("[(", ")]"),
        NodeKind::Local => ("(", ")"),
        NodeKind::When => ("{", "}"),
    };
    format!("  n{id}{open}\"{}\"{close}", label.join("<br/>"))
}

fn mermaid_edge(edge: &Edge) -> String {
    let arrow = match edge.stroke {
        Stroke::Plain => "-->",
        Stroke::Dashed => "-.->",
        Stroke::Thick => "==>",
    };
    let label = match edge.label {
        "" => String::new(),
        label => format!("|{label}|"),
    };
    format!("  n{} {arrow}{label} {}", edge.from, target(edge.to))
}

/// The class as a Graphviz digraph.
///
/// Needs refs that point at earlier nodes; panics on refs to nodes that do not exist.
#[must_use]
pub fn dot(class: &TaskClass) -> String {
    let picture = Picture::of(class);
    let mut out = String::new();
    let mut line = |text: String| writeln!(out, "{text}").expect(INFALLIBLE);
    line(format!("digraph \"{}\" {{", class.name));
    let title = dot_text(&title(class, &picture.critical));
    line(format!("  label=\"{title}\"; labelloc=t; rankdir=TB;"));
    for (id, node) in class.ids() {
        line(dot_node(id, node, picture.critical.nodes.contains(&id)));
    }
    line("  result [label=\"result\" shape=plaintext];".to_owned());
    picture.edges.iter().for_each(|edge| line(dot_edge(edge)));
    line("}".to_owned());
    out
}

fn dot_node(id: NodeId, node: &Node, is_critical: bool) -> String {
    let label: Vec<String> = lines(node).iter().map(|text| dot_text(text)).collect();
    let shape = match node.kind {
        NodeKind::Read { .. } => "shape=box",
        NodeKind::Write { .. } => "shape=box peripheries=2",
        NodeKind::Each { .. } => "shape=box3d",
        NodeKind::Tools { .. } => "shape=cylinder",
        NodeKind::Local => "shape=ellipse",
        NodeKind::When => "shape=diamond",
    };
    let style = match (is_critical, node.is_hard()) {
        (true, _) => " penwidth=3",
        (false, true) => "",
        (false, false) => " style=dashed",
    };
    format!("  n{id} [label=\"{}\" {shape}{style}];", label.join("\\n"))
}

fn dot_edge(edge: &Edge) -> String {
    let label = match edge.label {
        "" => String::new(),
        label => format!("label=\"{label}\""),
    };
    let style = match edge.stroke {
        Stroke::Plain => "",
        Stroke::Dashed => "style=dashed",
        Stroke::Thick => "penwidth=3",
    };
    let attributes = match (label.as_str(), style) {
        ("", "") => String::new(),
        ("", one) | (one, "") => format!(" [{one}]"),
        (label, style) => format!(" [{label} {style}]"),
    };
    format!("  n{} -> {}{attributes};", edge.from, target(edge.to))
}

/// What both languages draw.
struct Picture {
    critical: CriticalPath,
    soft: Vec<NodeId>,
    edges: Vec<Edge>,
}

struct Edge {
    from: NodeId,
    /// `None` for the result.
    to: Option<NodeId>,
    /// Empty for a value that is used.
    label: &'static str,
    stroke: Stroke,
}

impl Edge {
    /// One that no run takes by itself.
    fn dashed(self) -> Self {
        let stroke = Stroke::Dashed;
        Self { stroke, ..self }
    }
}

enum Stroke {
    Plain,
    Dashed,
    Thick,
}

impl Picture {
    fn of(class: &TaskClass) -> Self {
        let critical = critical_path(class);
        let links: BTreeSet<(NodeId, NodeId)> = critical
            .nodes
            .windows(2)
            .map(|link| (link[0], link[1]))
            .collect();
        let last = critical.nodes.last().copied();
        let edge = |from: NodeId, to: Option<NodeId>, label: &'static str| {
            let on_chain = match to {
                Some(to) => links.contains(&(from, to)),
                None => last == Some(from),
            };
            let stroke = match (on_chain, class.node(from).is_hard()) {
                (true, _) => Stroke::Thick,
                (false, true) => Stroke::Plain,
                (false, false) => Stroke::Dashed,
            };
            Edge {
                from,
                to,
                label,
                stroke,
            }
        };
        let mut edges = Vec::new();
        for (id, node) in class.ids() {
            edges.extend(once_each(&node.inputs).map(|from| edge(from, Some(id), "")));
            edges.extend(once_each(node.offers()).map(|from| edge(from, Some(id), "")));
            edges.extend(node.when.map(|from| edge(from, Some(id), "when")));
            let undone = node.undoes.map(|from| edge(from, Some(id), "undone by"));
            edges.extend(undone.map(Edge::dashed));
        }
        edges.extend(once_each(&class.result).map(|from| edge(from, None, "")));
        let soft = class
            .ids()
            .filter(|(_, node)| !node.is_hard())
            .map(|(id, _)| id)
            .collect();
        Self {
            critical,
            soft,
            edges,
        }
    }
}

/// A value that is used twice is one edge.
fn once_each(ids: &[NodeId]) -> impl Iterator<Item = NodeId> + '_ {
    ids.iter()
        .enumerate()
        .filter(|(i, id)| !ids[..*i].contains(id))
        .map(|(_, id)| *id)
}

fn target(to: Option<NodeId>) -> String {
    to.map_or_else(|| "result".to_owned(), |id| format!("n{id}"))
}

/// Name, version, times, budget, critical path; numbers and names only, so nothing to escape.
fn title(class: &TaskClass, critical: &CriticalPath) -> String {
    let budget = &class.budget;
    let mut title = format!(
        "{} v{}: answer by {}, work by {}",
        class.name,
        class.version,
        exact(class.times.answer_by),
        exact(class.work_by())
    );
    if let Some(expires_at) = class.times.expires_at {
        write!(title, ", expires at {}", exact(expires_at)).expect(INFALLIBLE);
    }
    write!(
        title,
        "; {} retry tokens, {} concurrency tokens, {} cost units; critical path {}",
        budget.retry_tokens,
        budget.concurrency_tokens,
        budget.cost_units,
        exact(critical.estimate)
    )
    .expect(INFALLIBLE);
    title
}

/// The lines of a node's label.
fn lines(node: &Node) -> Vec<String> {
    let mut lines = vec![node.name.to_string()];
    match &node.kind {
        NodeKind::Read { contract } => lines.extend(contract_lines(contract)),
        NodeKind::Write { contract, effect } => {
            lines.extend(contract_lines(contract));
            lines.push(effect_line(effect));
        }
        NodeKind::Each {
            contract,
            effect,
            items_max,
        } => {
            lines.extend(contract_lines(contract));
            lines.push(effect_line(effect));
            lines.push(format!("each of at most {items_max} items"));
        }
        NodeKind::Tools { calls_max, .. } => {
            lines.push(format!("tools, at most {calls_max} calls"));
        }
        NodeKind::Local => lines.push("local".to_owned()),
        NodeKind::When => lines.push("when".to_owned()),
    }
    if let Some(tool) = &node.tool {
        lines.push(format!("tool, at most {} a run", tool.per_run_max));
    }
    match &node.criticality {
        Criticality::Hard => {}
        Criticality::Soft { notice } => lines.push(format!("soft: {}", cut(notice))),
        Criticality::Advisory { notice } => lines.push(format!("advisory: {}", cut(notice))),
    }
    lines.extend(node.contract().into_iter().flat_map(fallback_lines));
    lines
}

fn contract_lines(contract: &Contract) -> [String; 2] {
    [
        format!("{}: {}", contract.dependency, cut(&contract.operation)),
        format!(
            "estimate {}, timeout {}, attempts {}, cost {}",
            exact(contract.estimate),
            exact(contract.timeout),
            contract.max_attempts,
            contract.cost
        ),
    ]
}

fn effect_line(effect: &EffectContract) -> String {
    let words = [
        effect.scope.as_str(),
        effect.rule.as_str(),
        effect.resolution.as_str(),
    ];
    format!("effect {} ({})", effect.name, words.join(", "))
}

fn fallback_lines(contract: &Contract) -> impl Iterator<Item = String> + '_ {
    contract
        .fallbacks
        .iter()
        .map(|rung| match &rung.dependency {
            Some(dependency) => format!("else {} {dependency}", rung.kind.as_str()),
            None => format!("else {}", rung.kind.as_str()),
        })
}

fn cut(text: &str) -> String {
    let mut short: String = text.chars().take(LABEL_CHARS_MAX).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

/// Inside a quoted Mermaid label: its own entities for what could end or format it.
fn mermaid_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' => out.push_str("#quot;"),
            '#' => out.push_str("#35;"),
            '&' => out.push_str("#amp;"),
            '<' => out.push_str("#lt;"),
            '>' => out.push_str("#gt;"),
            '`' => out.push_str("#96;"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// Inside a quoted DOT string.
fn dot_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
