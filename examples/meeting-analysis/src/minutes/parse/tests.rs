//! Files of every habit, as outlines; and the oddest ones, as bounds.
//!
//! Expectations stand beside the text, line numbers included.

use super::*;

fn outline(text: &str) -> String {
    let minutes = minutes("sync.md", text);
    let mut out = String::new();
    for section in &minutes.sections {
        out.push_str(&format!("[{}]\n", section.path.join(" > ")));
        for block in &section.blocks {
            let indent = "  ".repeat(usize::from(block.depth));
            out.push_str(&format!(
                "{}{indent}{:?} {}\n",
                block.line, block.kind, block.text
            ));
        }
    }
    out
}

#[test]
fn wrapped_lines_join_and_nested_bullets_keep_their_depth() {
    let text = "# T\n\n## Agenda\n\n* topic [#1]((link)\n  * first\n    goes on\n  * second\n\
                    lazy end\n\
                \n* other\n";
    assert_eq!(
        outline(text),
        "[T > Agenda]\n5Bullet topic #1\n6  Bullet first goes on\n8  Bullet second lazy end\n\
         11Bullet other\n"
    );
}

#[test]
fn a_label_above_a_list_is_the_innermost_heading_until_the_next_heading() {
    let text = "# T\n## News\nModeration team update:\n\n* blocked one\n\nActions:\n- a\n\
                Notes:\n- b\n## Next\nx";
    assert_eq!(
        outline(text),
        "[T > News > Moderation team update]\n5Bullet blocked one\n[T > News > Actions]\n\
         8Bullet a\n[T > News > Notes]\n10Bullet b\n[T > Next]\n12Paragraph x\n"
    );
}

#[test]
fn underlined_and_shouted_headings_and_transcript_lines_are_told_apart() {
    let text = "Board call\n==========\n\nAvery: hello\nthere.\nKai: I agree\n\nBUDGET\nfine\n";
    assert_eq!(
        outline(text),
        "[Board call]\n4Paragraph Avery: hello there.\n6Paragraph Kai: I agree\n\
         [Board call > BUDGET]\n9Paragraph fine\n"
    );
}

#[test]
fn tables_lose_their_header_and_keep_what_their_columns_hold() {
    let text =
        "| Action | Owner |\n|---|---|\n| call Kai | Avery |\n\nItem | Lead\n--- | ---\nx | y\n";
    let minutes = minutes("t.md", text);
    let rows: Vec<_> = minutes.sections[0]
        .blocks
        .iter()
        .map(|block| &block.cells)
        .collect();
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[0][0].column, super::super::Column::Action);
    assert_eq!(rows[0][1].text, "Avery");
    assert_eq!(rows[1][0].column, super::super::Column::Topic);
}

#[test]
fn code_is_left_out_and_a_fence_without_a_partner_hides_nothing() {
    assert_eq!(
        outline("a\n```\nTODO: x\n```\nb\n```\nc"),
        "[]\n1Paragraph a\n5Paragraph b\n7Paragraph c\n"
    );
}

#[test]
fn title_and_date_come_from_wherever_they_stand() {
    let cases = [
        (
            "# Sync 2026-03-04\nx",
            "Sync 2026-03-04",
            Some("2026-03-04"),
        ),
        (
            "Board call\n\nDate: 3 May 2026\n",
            "Board call",
            Some("2026-05-03"),
        ),
        (
            "Board call\n\nDate: 3 May 2026\n\nFINANCES\nx",
            "Board call",
            Some("2026-05-03"),
        ),
        (
            "We talk.\n\nBy 2026-04-01 all is done.\n\n\nx",
            "We talk.",
            None,
        ),
    ];
    for (text, title, date) in cases {
        let minutes = minutes("sync.md", text);
        assert_eq!(
            (minutes.title.as_str(), minutes.date.as_deref()),
            (title, date),
            "{text}"
        );
    }
    assert_eq!(
        minutes("2026-02-01.txt", "hi").date.as_deref(),
        Some("2026-02-01")
    );
}

#[test]
fn a_mebibyte_of_any_mark_is_parsed_in_bounded_work() {
    let marks = [
        "a",
        "* a\n",
        "# a\n",
        "|a|b|\n",
        "a |\n--|--\n",
        "> ",
        "```\n",
        "x:\n",
        "[a](b) ",
    ];
    for mark in marks {
        let text = mark.repeat((1 << 20) / mark.len());
        let minutes = minutes("big.md", &text);
        let kept: usize = minutes
            .sections
            .iter()
            .flat_map(|s| &s.blocks)
            .map(|b| b.text.len())
            .sum();
        assert!(kept <= text.len(), "{mark:?}");
    }
}

#[test]
fn a_mebibyte_of_ever_deeper_bullets_stays_flat() {
    let text: String = (0..1_400)
        .map(|n| format!("{}* a\n", " ".repeat(n)))
        .collect();
    let minutes = minutes("deep.md", &text);
    assert_eq!(minutes.sections[0].blocks.len(), 1_400);
    assert_eq!(minutes.sections[0].blocks[1_399].depth, DEPTH_MAX);
}
