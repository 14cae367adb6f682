//! Rows of Markdown tables: which column holds what.
//!
//! Headers are turned into a [`Column`] at once, so that a long header is not repeated per row.

use super::clean::inline;
use super::{Block, BlockKind, Cell, Column};

/// Columns beyond this many are joined into the last one.
const COLUMNS_MAX: usize = 16;

/// The columns of the table that the current lines belong to.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    columns: Vec<Column>,
}

impl Table {
    pub(super) fn with_header(header: &str) -> Self {
        Self {
            columns: cells(header)
                .iter()
                .map(|cell| column(&inline(cell)))
                .collect(),
        }
    }
}

/// The block of one row; none if every cell is empty.
pub(super) fn row(table: &Table, line: u32, source: &str) -> Option<Block> {
    let cells: Vec<Cell> = cells(source)
        .iter()
        .enumerate()
        .map(|(at, cell)| Cell {
            column: table.columns.get(at).copied().unwrap_or(Column::Other),
            text: inline(cell),
        })
        .collect();
    let filled: Vec<&str> = cells
        .iter()
        .map(|cell| cell.text.as_str())
        .filter(|text| !text.is_empty())
        .collect();
    let text = filled.join(" | ");
    (!text.is_empty()).then(|| Block {
        kind: BlockKind::Row,
        depth: 0,
        line,
        text,
        source: source.to_owned(),
        checked: None,
        cells,
    })
}

fn cells(row: &str) -> Vec<&str> {
    let inner = row.trim();
    let inner = inner.strip_prefix('|').unwrap_or(inner);
    let inner = inner.strip_suffix('|').unwrap_or(inner);
    inner.splitn(COLUMNS_MAX, '|').map(str::trim).collect()
}

fn column(header: &str) -> Column {
    let lower = header.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if has(&[
        "action",
        "task",
        "to do",
        "to-do",
        "todo",
        "next step",
        "follow-up",
    ]) {
        Column::Action
    } else if has(&[
        "owner",
        "who",
        "assignee",
        "assigned",
        "responsible",
        "lead",
    ]) {
        Column::Owner
    } else if has(&["due", "when", "deadline", "by date"]) {
        Column::Due
    } else if has(&["decision", "resolution"]) {
        Column::Decision
    } else if has(&["status", "state"]) {
        Column::Status
    } else if has(&["topic", "item", "agenda", "subject", "issue"]) {
        Column::Topic
    } else if has(&["name", "member", "attendee", "participant"]) {
        Column::Name
    } else {
        Column::Other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_tell_what_their_column_holds() {
        let table =
            Table::with_header("| # | **Action item** | Owner | Due | Decision | Item | x |");
        use Column as C;
        let expected = [
            C::Other,
            C::Action,
            C::Owner,
            C::Due,
            C::Decision,
            C::Topic,
            C::Other,
        ];
        assert_eq!(table.columns, expected);
    }

    #[test]
    fn a_row_with_more_cells_than_its_header_loses_nothing() {
        let table = Table::with_header("Topic");
        let block = row(&table, 3, "| a | b |  | c |").expect("it has content");
        assert_eq!(block.text, "a | b | c");
        assert_eq!(block.cells.len(), 4);
        assert!(row(&table, 4, "|  |  |").is_none());
    }
}
