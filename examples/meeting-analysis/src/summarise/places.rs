//! Where a block stands: headings and the topic above it, and what kind of place that is.

use super::{Evidence, SECTION_CHARS_MAX};
use crate::minutes::{Block, BlockKind, Minutes, Section, SectionKind};
use crate::text::{clip, printable};

/// A block with its surroundings.
pub(super) struct Place<'a> {
    pub(super) section: &'a Section,
    /// What the section is for; judged once, not for every block.
    pub(super) kind: SectionKind,
    agenda: bool,
    pub(super) block: &'a Block,
    /// Index of `block` in its section.
    pub(super) at: usize,
    /// The outermost block above it, if it is nested.
    pub(super) topic: Option<&'a Block>,
    /// The block directly above it, if it is nested.
    pub(super) parent: Option<usize>,
    title: &'a str,
}

impl Place<'_> {
    /// Whether deeper blocks follow directly.
    pub(super) fn has_children(&self) -> bool {
        self.section
            .blocks
            .get(self.at + 1)
            .is_some_and(|next| self.block.depth < next.depth)
    }

    /// Whether the block names a topic rather than says something about one.
    pub(super) fn is_topic(&self) -> bool {
        let bullet = self.block.kind == BlockKind::Bullet && self.block.depth == 0;
        let last = self.block.text.rsplit(' ').next().unwrap_or("");
        let number = last.strip_prefix('#').unwrap_or("");
        let reference = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        bullet && (reference || self.has_children() || self.agenda)
    }

    /// Whether the block is the line that gave the minutes their title.
    pub(super) fn is_title(&self) -> bool {
        self.block.text == self.title
    }

    /// Headings (without the minutes' title) and topic, joined by ` > `.
    pub(super) fn name(&self) -> String {
        let headings = self.section.path.iter().map(String::as_str);
        let headings = headings
            .enumerate()
            .filter(|(n, heading)| *n != 0 || *heading != self.title);
        let mut parts: Vec<&str> = headings.map(|(_, heading)| heading).collect();
        let topic = self
            .topic
            .map(|topic| clip(&topic.text, SECTION_CHARS_MAX / 2));
        parts.extend(topic.as_deref());
        clip(&parts.join(" > "), SECTION_CHARS_MAX)
    }

    pub(super) fn evidence(&self) -> Evidence {
        evidence(self.block)
    }
}

pub(super) fn evidence(block: &Block) -> Evidence {
    let shown = printable(crate::minutes::head(
        &block.source,
        super::EVIDENCE_CHARS_MAX * 8,
    ));
    Evidence {
        line: block.line,
        text: clip(&shown, super::EVIDENCE_CHARS_MAX),
    }
}

/// Every block of the minutes with its place, in order.
pub(super) fn of(minutes: &Minutes) -> impl Iterator<Item = Place<'_>> {
    minutes
        .sections
        .iter()
        .flat_map(|section| in_section(section, &minutes.title))
}

fn in_section<'a>(section: &'a Section, title: &'a str) -> impl Iterator<Item = Place<'a>> {
    let mut above: Vec<usize> = Vec::new();
    let (kind, agenda) = (section.kind(), section.is_agenda());
    section.blocks.iter().enumerate().map(move |(at, block)| {
        while above
            .last()
            .is_some_and(|n| block.depth <= section.blocks[*n].depth)
        {
            above.pop();
        }
        let topic = above.first().map(|n| &section.blocks[*n]);
        let parent = above.last().copied();
        above.push(at);
        Place {
            section,
            kind,
            agenda,
            block,
            at,
            topic,
            parent,
            title,
        }
    })
}
