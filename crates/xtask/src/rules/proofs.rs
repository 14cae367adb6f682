//! Rule `proofs`: each promise in the table of a page names a test that is there. It must never
//! judge whether the test proves it: whoever reads both does.

use std::collections::BTreeSet;

use crate::finding::Finding;
use crate::tree::Tree;

const PAGE: &str = "ledger/STORAGE.md";
const HEADING: &str = "| rule | test |";
const HINT: &str = "`the_name_of_a_test`, as it stands after `fn` in its file";

/// Looks for every test that the table names, and for a test in each of its rows.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let Some(page) = tree.text(PAGE) else {
        return vec![Finding::note(PAGE, "there is no such page".to_owned())];
    };
    let tests: BTreeSet<&str> = tree.files().flat_map(|(_, text)| functions(text)).collect();
    let mut findings = Vec::new();
    let table = page
        .lines()
        .enumerate()
        .skip_while(|(_, line)| *line != HEADING);
    let rows = table.skip(2).take_while(|(_, line)| line.starts_with('|'));
    for (at, row) in rows {
        let cells: Vec<&str> = row.split('|').collect();
        let named: Vec<&str> = cells.get(2).map_or_else(Vec::new, |cell| quoted(cell));
        if named.is_empty() {
            let message = "a rule without a test".to_owned();
            findings.push(Finding::error(PAGE, at + 1, message, HINT));
        }
        for name in named.iter().filter(|name| !tests.contains(**name)) {
            let message = format!("there is no test `{name}`");
            findings.push(Finding::error(PAGE, at + 1, message, HINT));
        }
    }
    findings
}

/// What stands between backticks.
fn quoted(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

/// The names after `fn`, and those that a macro makes tests of, each in a line of its own.
fn functions(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let line = line.trim_start();
        let line = line.strip_prefix("pub(super) ").unwrap_or(line);
        let (name, _) = line.strip_prefix("fn ")?.split_once('(')?;
        Some(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(page: &str) -> Vec<String> {
        let test = "#[test]\nfn nothing_is_lost() {}\n";
        let tree = Tree::of(&[(PAGE, page), ("tests/tests/a.rs", test)]);
        check(&tree).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_row_needs_a_test_that_is_there() {
        let table =
            |cell: &str| format!("{HEADING}\n|---|---|\n| R1 holds | {cell} |\n\nmore `text`\n");
        assert_eq!(found(&table("`nothing_is_lost`")), [""; 0]);
        assert_eq!(found(&table("`nothing_is_lost`, `all_is_lost`")).len(), 1);
        assert_eq!(found(&table("trust us")).len(), 1);
    }
}
