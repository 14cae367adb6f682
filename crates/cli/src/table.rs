//! Tables: columns that line up, two blanks between them, no frames and no colour.
//!
//! Nothing is wrapped or cut to a terminal's width, so that ids can be copied and lines grepped.

use chrono::{DateTime, Utc};
use comfy_table::{Table, presets};
use mainstay_runtime::view::text::plain;
use mainstay_types::Millis;

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

/// The text, or a dash where there is none.
pub(crate) fn dash(text: Option<impl Into<String>>) -> String {
    text.map_or_else(|| "-".to_owned(), Into::into)
}

/// How long ago a moment in RFC 3339 was; a dash when it is none or still to come.
pub(crate) fn ago(at: &str) -> String {
    let then = DateTime::parse_from_rfc3339(at).ok();
    let since = then.map(|then| Utc::now().signed_duration_since(then).num_milliseconds());
    let since = since.and_then(|ms| u64::try_from(ms).ok());
    dash(since.map(|ms| Millis::new(ms).to_string()))
}
