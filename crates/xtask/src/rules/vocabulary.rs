//! Rule `vocabulary`: one word for one thing, no half-done marks. It must never judge prose or
//! the text of a string: minutes of a meeting may say what they like.

use crate::finding::Finding;
use crate::source::{Kind, Rust, Token};
use crate::tree::Tree;

/// Words that other systems use for what has its own word here.
const BANNED: [&str; 10] = [
    "workflow",
    "workflows",
    "step",
    "steps",
    "activity",
    "activities",
    "job",
    "jobs",
    "execution",
    "executions",
];

/// Names of other people's that we have to write to call them.
const FOREIGN: [&str; 3] = ["step_by", "TaskTracker", "TaskTrackerToken"];

/// Whose `task` modules we have to name.
const OWNERS: [&str; 6] = [
    "std",
    "core",
    "alloc",
    "tokio",
    "tokio_util",
    "futures_util",
];

/// Where `task` may also mean what tokio or a remote agent calls so.
const REMOTE_FOLDERS: [&str; 3] = ["crates/adapters/", "runtime/src/system", "runtime/src/live"];

/// Macros for what is not there yet.
const UNDONE_MACROS: [&str; 2] = [concat!("to", "do"), "unimplemented"];

/// Marks that never reach the main branch. Written in halves so that this file is no violation.
const MARKS: [&str; 2] = [concat!("FIX", "ME"), concat!("XX", "X")];
const LATER: &str = concat!("TO", "DO");
const LATER_KINDS: [&str; 3] = ["design", "test", "perf"];

const WORD: &str = "use the word of the architecture's table: call, attempt, run, node, effect";
const REMOTE: &str = "say call, attempt or run; `task` is TaskClass and remote work only";
const UNDONE: &str = "what is not done must not be there";
const SENTENCE: &str = "a test's name is a sentence about what holds";
const MARK: &str = "allowed is only a mark with a kind, `(design|test|perf): sentence`";

/// Looks at every name in Rust files, and at the marks in everything a person writes code in.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, rust) in tree.rust() {
        let mut found = Vec::new();
        names(path, rust, &mut found);
        findings.extend(each_once(found));
    }
    for (path, text) in tree.files().filter(|(path, _)| has_marks(path)) {
        findings.extend(marks(path, text, tree.rust_of(path)));
    }
    findings
}

/// A name is one mistake however often it is used: its first place, and how many more.
fn each_once(mut found: Vec<Finding>) -> Vec<Finding> {
    found.sort_by(|a, b| (&a.message, a.line).cmp(&(&b.message, b.line)));
    let groups = found.chunk_by(|a, b| a.message == b.message);
    groups
        .filter_map(|group| {
            let mut first = group.first()?.clone();
            if group.len() > 1 {
                first.message = format!("{} (and {} more)", first.message, group.len() - 1);
            }
            Some(first)
        })
        .collect()
}

fn names(path: &str, rust: &Rust, findings: &mut Vec<Finding>) {
    let remote_folder = REMOTE_FOLDERS.iter().any(|folder| path.starts_with(folder));
    for (index, token) in rust.tokens.iter().enumerate() {
        if token.kind != Kind::Word || FOREIGN.contains(&token.text.as_str()) {
            continue;
        }
        let mut report = |message, hint| {
            findings.push(Finding::error(path, token.start.line, message, hint));
        };
        let name = &token.text;
        let words = words_of(name);
        if let Some(word) = words.iter().find(|word| BANNED.contains(&word.as_str())) {
            report(format!("`{name}` says `{word}`"), WORD);
        }
        if !remote_folder && says_it_alone(&words) && !is_module_of_others(&rust.tokens, index) {
            report(format!("`{name}` says `task`"), REMOTE);
        }
        if follows(&rust.tokens, index, "!") && UNDONE_MACROS.contains(&name.as_str()) {
            report(format!("`{name}!` marks something undone"), UNDONE);
        }
        if name.starts_with("test_") && index > 0 && rust.tokens[index - 1].text == "fn" {
            report(format!("function `{name}` starts with `test_`"), SENTENCE);
        }
    }
}

/// `TaskClass`, `task_class` and `remote_task` are ours; `task` alone is not.
fn says_it_alone(words: &[String]) -> bool {
    words.iter().enumerate().any(|(index, word)| {
        let before = index.checked_sub(1).and_then(|index| words.get(index));
        let after = words.get(index + 1);
        matches!(word.as_str(), "task" | "tasks")
            && !after.is_some_and(|word| matches!(word.as_str(), "class" | "classes"))
            && before.is_none_or(|word| word != "remote")
    })
}

/// `std::task::Context`, `tokio::task::JoinSet`: a module on somebody else's path.
fn is_module_of_others(tokens: &[Token], index: usize) -> bool {
    let owner = index
        .checked_sub(3)
        .map(|owner| tokens[owner].text.as_str());
    let joined = index >= 2 && tokens[index - 1].text == ":" && tokens[index - 2].text == ":";
    tokens[index].text == "task" && joined && owner.is_some_and(|owner| OWNERS.contains(&owner))
}

fn follows(tokens: &[Token], index: usize, mark: &str) -> bool {
    tokens
        .get(index + 1)
        .is_some_and(|token| token.text == mark)
}

/// The words of a name in any case, in lower case: `HTTPTaskClass_v2` is http, task, class, v2.
fn words_of(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().collect();
    let mut words = vec![String::new()];
    for (index, letter) in letters.iter().enumerate() {
        let before = index.checked_sub(1).map(|index| letters[index]);
        let after = letters.get(index + 1);
        let starts = letter.is_uppercase()
            && (before.is_some_and(|c| c.is_lowercase() || c.is_numeric())
                || (before.is_some_and(char::is_uppercase)
                    && after.is_some_and(|c| c.is_lowercase())));
        if *letter == '_' || starts {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| *letter != '_') {
            word.extend(letter.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn has_marks(path: &str) -> bool {
    [".rs", ".toml", ".sh", ".yml", ".js", ".css", ".html"]
        .iter()
        .any(|end| path.ends_with(end))
        || path == ".ci/run"
}

/// Unfinished marks outside of strings.
fn marks(path: &str, text: &str, rust: Option<&Rust>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let mut report = |at: usize, message: String| {
            let before = &line[..at];
            let column = before.chars().count();
            // In quotes it is a word that is talked about.
            let quoted = before.ends_with(['`', '"', '\'']);
            if !quoted && !rust.is_some_and(|rust| is_in_string(rust, index + 1, column)) {
                findings.push(Finding::error(path, index + 1, message, MARK));
            }
        };
        for mark in MARKS {
            for at in whole_words(line, mark) {
                report(at, format!("`{mark}` on the main branch"));
            }
        }
        for at in whole_words(line, LATER) {
            if !is_sorted_mark(&line[at + LATER.len()..]) {
                report(at, format!("`{LATER}` without a kind or a sentence"));
            }
        }
    }
    findings
}

/// What follows the mark: `(design): a sentence`.
fn is_sorted_mark(rest: &str) -> bool {
    rest.strip_prefix('(')
        .and_then(|rest| rest.split_once("): "))
        .is_some_and(|(kind, words)| {
            LATER_KINDS.contains(&kind) && words.chars().any(char::is_alphabetic)
        })
}

fn whole_words<'a>(line: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word)
        .map(|(at, _)| at)
        .filter(move |at| {
            !line[..*at].chars().next_back().is_some_and(part)
                && !line[at + word.len()..].chars().next().is_some_and(part)
        })
}

fn is_in_string(rust: &Rust, line: usize, column: usize) -> bool {
    rust.tokens
        .iter()
        .filter(|token| token.kind == Kind::Text)
        .any(|token| {
            (token.start.line, token.start.column) <= (line, column)
                && (line, column) < (token.end.line, token.end.column)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<String> {
        check(&Tree::of(&[(path, text)]))
            .into_iter()
            .map(|finding| finding.message)
            .collect()
    }

    fn in_core(text: &str) -> Vec<String> {
        found("crates/machine/src/lib.rs", text)
    }

    #[test]
    fn a_banned_word_is_seen_in_any_case_but_only_whole() {
        assert_eq!(in_core("struct NextStep;"), ["`NextStep` says `step`"]);
        assert_eq!(in_core("fn run_job() {}"), ["`run_job` says `job`"]);
        assert_eq!(in_core("const MAX_EXECUTIONS: u8 = 1;").len(), 1);
        assert_eq!(in_core("fn f() { go!(my_workflow) }").len(), 1);
        assert!(in_core("fn stepper(footsteps: Jobless) { a.step_by(2) }").is_empty());
    }

    #[test]
    fn a_name_used_often_is_said_once_with_its_first_place() {
        let tree = Tree::of(&[("a/src/lib.rs", "\nfn f(job: u8) -> u8 {\n    job + job\n}")]);
        let findings = check(&tree);
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].line, 2);
        assert_eq!(findings[0].message, "`job` says `job` (and 2 more)");
    }

    #[test]
    fn words_in_strings_and_comments_are_free() {
        assert!(
            in_core("/// One step of a job.\nconst A: &str = \"workflow\"; // step").is_empty()
        );
    }

    #[test]
    fn the_word_of_remote_work_is_free_in_task_class_and_in_other_peoples_modules() {
        assert_eq!(in_core("struct Task;"), ["`Task` says `task`"]);
        assert_eq!(in_core("mod task;").len(), 1);
        assert!(in_core("fn f(task_class: TaskClass, remote_task: u8) {}").is_empty());
        assert!(in_core("use std::task::Context;").is_empty());
        assert!(found("crates/adapters/mcp/src/lib.rs", "struct Task;").is_empty());
    }

    #[test]
    fn nothing_undone_is_left_in_code() {
        assert_eq!(in_core(concat!("fn f() { to", "do!() }")).len(), 1);
        assert_eq!(in_core("fn f() { unimplemented!() }").len(), 1);
    }

    #[test]
    fn a_test_is_a_sentence() {
        assert_eq!(
            in_core("fn test_it() {}"),
            ["function `test_it` starts with `test_`"]
        );
        assert!(in_core("fn f() { test_it() }").is_empty());
    }

    #[test]
    fn a_mark_needs_a_kind_and_a_sentence() {
        let mark = |rest: &str| in_core(&format!("// {LATER}{rest}\n"));
        assert!(mark("(design): one clock or two.").is_empty());
        assert_eq!(mark(": later").len(), 1);
        assert_eq!(mark("(someday): later").len(), 1);
        assert_eq!(mark("(test): ").len(), 1);
        assert_eq!(in_core(&format!("// {}\n", MARKS[0])).len(), 1);
        assert_eq!(found("deny.toml", &format!("# {}\n", MARKS[1])).len(), 1);
    }

    #[test]
    fn a_mark_in_quotes_is_talked_about() {
        assert!(in_core(&format!("// Minutes mark actions with `{LATER}:`.\n")).is_empty());
    }

    #[test]
    fn a_mark_inside_a_string_is_somebody_elses_text() {
        assert!(in_core(&format!("const A: &str = \"{LATER}: call Anna\";\n")).is_empty());
    }
}
