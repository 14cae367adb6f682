//! Lines to sections and blocks, in one pass and without recursion.
//!
//! It must never drop a line of content: what fits no rule becomes a paragraph.

use super::clean::inline;
use super::line::{self, Line};
use super::table::{self, Table};
use super::{Block, BlockKind, DEPTH_MAX, HEADING_CHARS_MAX, Minutes, Section, SectionKind};
use super::{attendees, date};
use crate::text::clip;

/// A line with a colon that stands alone is a heading below all others.
const LABEL_LEVEL: u8 = 7;
/// Longest first line that is taken as the title of minutes without headings, in characters.
const TITLE_CHARS_MAX: usize = 120;
/// How many blocks from the top may name the date.
const DATE_BLOCKS_MAX: usize = 20;

/// The first at most `bytes_max` bytes of `text`, cut between characters.
pub(crate) fn head(text: &str, bytes_max: usize) -> &str {
    let mut end = text.len().min(bytes_max);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

pub(super) fn minutes(name: &str, text: &str) -> Minutes {
    let mut parser = Parser::default();
    let lines: Vec<&str> = text.lines().collect();
    let fenced = fenced_lines(&lines);
    for (at, raw) in lines.iter().enumerate() {
        let number = u32::try_from(at + 1).unwrap_or(u32::MAX);
        match fenced[at] {
            true => parser.close(),
            false => parser.line(number, raw),
        }
    }
    parser.finish(name)
}

/// Which lines are code: those between two fences. A fence without a partner hides nothing.
fn fenced_lines(lines: &[&str]) -> Vec<bool> {
    let fences: Vec<usize> = lines
        .iter()
        .enumerate()
        .filter_map(|(at, raw)| (line::classify(raw) == Line::Fence).then_some(at))
        .collect();
    let mut hidden = vec![false; lines.len()];
    for pair in fences.chunks_exact(2) {
        hidden[pair[0]..=pair[1]].fill(true);
    }
    if let [lone] = fences.chunks_exact(2).remainder() {
        hidden[*lone] = true;
    }
    hidden
}

/// A block whose lines are still coming in.
struct Open {
    kind: BlockKind,
    depth: u8,
    line: u32,
    lines: u32,
    checked: Option<bool>,
    source: String,
    body: String,
}

impl Open {
    /// A paragraph; `source` is its line as it stands, `body` the line without marks.
    fn at(line: u32, depth: u8, source: &str, body: &str) -> Self {
        Self {
            kind: BlockKind::Paragraph,
            depth,
            line,
            lines: 1,
            checked: None,
            source: source.to_owned(),
            body: body.to_owned(),
        }
    }
}

#[derive(Default)]
struct Parser {
    sections: Vec<Section>,
    /// Headings in force, with their levels, outermost first.
    path: Vec<(u8, String)>,
    title: Option<String>,
    open: Option<Open>,
    /// Indents of the list items around the current line.
    indents: Vec<usize>,
    table: Option<Table>,
    after_blank: bool,
    blocks: Vec<Block>,
}

impl Parser {
    fn line(&mut self, number: u32, raw: &str) {
        if !matches!(
            line::classify(raw),
            Line::TableRow { .. } | Line::Text { .. }
        ) {
            self.table = None;
        }
        match line::classify(raw) {
            Line::Blank => self.blank(),
            Line::Fence => self.close(),
            Line::Rule { level } => self.rule(level),
            Line::Heading { level, text } => self.heading(level, text),
            Line::Bullet {
                indent,
                checked,
                text,
            } => {
                let depth = self.nest(indent);
                let block = Open::at(number, depth, raw.trim(), text);
                self.begin(Open {
                    kind: BlockKind::Bullet,
                    checked,
                    ..block
                });
            }
            Line::TableRule => self.table_rule(),
            Line::TableRow { text } => self.row(number, text),
            Line::Text { indent, text } => self.text(number, indent, text),
        }
        self.after_blank = matches!(line::classify(raw), Line::Blank);
    }

    fn blank(&mut self) {
        let label = self.open.as_ref().is_some_and(|open| {
            open.kind == BlockKind::Paragraph && open.depth == 0 && open.lines == 1
        });
        if label {
            self.label_to_heading();
        }
        self.close();
    }

    /// `Moderation team update:` on a line of its own names what follows.
    fn label_to_heading(&mut self) {
        let text = match &self.open {
            Some(open) if line::is_label(&open.body) => open.body.clone(),
            Some(_) | None => return,
        };
        self.open = None;
        self.heading(LABEL_LEVEL, text.trim_end_matches(':'));
    }

    fn rule(&mut self, level: u8) {
        let underlined = match &self.open {
            Some(open) if open.kind == BlockKind::Paragraph && open.lines == 1 => {
                (!open.body.trim().is_empty()).then(|| open.body.clone())
            }
            Some(_) | None => None,
        };
        match underlined {
            Some(text) => {
                self.open = None;
                self.heading(level, &text);
            }
            None => self.close(),
        }
    }

    fn heading(&mut self, level: u8, text: &str) {
        self.close();
        self.end_section();
        self.indents.clear();
        let first = self.sections.is_empty();
        let text = clip(
            &inline(head(text, HEADING_CHARS_MAX * 8)),
            HEADING_CHARS_MAX,
        );
        // Below a first line of text, only a heading of the first level is still the title.
        let titles = if first {
            level < LABEL_LEVEL
        } else {
            level == 1
        };
        if self.title.is_none() && titles {
            self.title = Some(text.clone());
        }
        while self.path.last().is_some_and(|(above, _)| level <= *above) {
            self.path.pop();
        }
        self.path.push((level, text));
    }

    fn end_section(&mut self) {
        if !self.blocks.is_empty() {
            let path = self
                .path
                .iter()
                .map(|(_, heading)| heading.clone())
                .collect();
            self.sections.push(Section {
                path,
                blocks: std::mem::take(&mut self.blocks),
            });
        }
    }

    /// The depth of a list item with this indent.
    fn nest(&mut self, indent: usize) -> u8 {
        // A label directly above a list names the list.
        self.label_above_list();
        while self.indents.last().is_some_and(|above| indent <= *above) {
            self.indents.pop();
        }
        self.indents.push(indent);
        u8::try_from(self.indents.len() - 1)
            .unwrap_or(DEPTH_MAX)
            .min(DEPTH_MAX)
    }

    fn label_above_list(&mut self) {
        let label = self.open.as_ref().is_some_and(|open| {
            open.kind == BlockKind::Paragraph && open.depth == 0 && open.lines == 1
        });
        if label {
            self.label_to_heading();
        }
    }

    fn begin(&mut self, block: Open) {
        self.close();
        self.open = Some(block);
    }

    fn text(&mut self, number: u32, indent: usize, text: &str) {
        if text.contains('|') && self.table.is_some() {
            return self.row(number, text);
        }
        self.table = None;
        let listed = self
            .open
            .as_ref()
            .is_some_and(|open| open.kind == BlockKind::Bullet);
        let label = listed && indent == 0 && line::is_label(text) && line::starts_own(text);
        if label {
            // A label at the margin ends the list above it.
            self.close();
            self.indents.clear();
        }
        let starts_own = match &self.open {
            Some(open) if open.kind == BlockKind::Paragraph => line::starts_own(text),
            Some(_) => line::is_marked(text),
            None => true,
        };
        if let (false, Some(open)) = (starts_own, self.open.as_mut()) {
            open.lines += 1;
            open.source.push(' ');
            open.source.push_str(text);
            open.body.push(' ');
            open.body.push_str(text);
            return;
        }
        // After a blank line only an indented paragraph still belongs to the list.
        if self.after_blank && indent == 0 {
            self.indents.clear();
        }
        let depth = u8::try_from(self.indents.len())
            .unwrap_or(DEPTH_MAX)
            .min(DEPTH_MAX);
        self.begin(Open::at(number, depth, text, text));
    }

    /// The line under a table's header: the header names the columns and is no content.
    fn table_rule(&mut self) {
        let open = self.open.take().filter(|open| open.body.contains('|'));
        let header = match open {
            Some(open) => Some(open.body),
            None => self
                .blocks
                .pop_if(|block| block.kind == BlockKind::Row)
                .map(|block| block.source),
        };
        self.table = Some(Table::with_header(header.as_deref().unwrap_or("")));
    }

    fn row(&mut self, number: u32, text: &str) {
        self.close();
        let table = self.table.get_or_insert_default();
        self.blocks.extend(table::row(table, number, text));
    }

    fn close(&mut self) {
        let Some(open) = self.open.take() else { return };
        let text = inline(&open.body);
        if text.is_empty() {
            return;
        }
        self.blocks.push(Block {
            kind: open.kind,
            depth: open.depth,
            line: open.line,
            text,
            source: open.source,
            checked: open.checked,
            cells: Vec::new(),
        });
    }

    fn finish(mut self, name: &str) -> Minutes {
        self.close();
        self.end_section();
        let title = self
            .title
            .take()
            .unwrap_or_else(|| first_line(&self.sections, name));
        let (attendees, absent) = attendees::find(&self.sections);
        let date = date::find(&title)
            .or_else(|| date_near_the_top(&self.sections))
            .or_else(|| date::find(name));
        Minutes {
            title,
            date,
            attendees,
            absent,
            sections: self.sections,
        }
    }
}

fn first_line(sections: &[Section], name: &str) -> String {
    let first = sections.first().and_then(|section| section.blocks.first());
    match first {
        Some(block) if block.text.chars().nth(TITLE_CHARS_MAX).is_none() => block.text.clone(),
        Some(_) | None => clip(name, TITLE_CHARS_MAX),
    }
}

/// Dates in the talk are deadlines, so only the first blocks are searched.
fn date_near_the_top(sections: &[Section]) -> Option<String> {
    let top = sections.iter().flat_map(|section| {
        let named = section.kind() != SectionKind::Boilerplate;
        section.blocks.iter().filter(move |_| named)
    });
    let mut top = top.take(DATE_BLOCKS_MAX);
    top.find_map(|block| {
        let lower = head(&block.text, 40).to_lowercase();
        let dated = block.line <= 2
            || ["date", "held", "meeting"]
                .iter()
                .any(|w| lower.contains(w));
        if dated { date::find(&block.text) } else { None }
    })
}

#[cfg(test)]
mod tests;
