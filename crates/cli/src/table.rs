//! Tables: columns that line up, two blanks between them, no frames and no colour.
//!
//! Nothing is wrapped or cut to a terminal's width, so that ids can be copied and lines grepped.

use comfy_table::{Table, presets};
use mainstay_runtime::view::text::plain;

/// A table with this heading; a line per row, with a line feed at the end of each.
pub(crate) fn table<const N: usize>(heading: [&str; N], rows: Vec<[String; N]>) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(heading.to_vec());
    for row in rows {
        table.add_row(row.iter().map(|cell| plain(cell)).collect::<Vec<_>>());
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    let mut text = table.trim_fmt();
    text.push('\n');
    text
}

/// The text, or its beginning when it has more than `chars_max` characters.
pub(crate) fn cut(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
