//! Rule `core-purity`: what the core and the crates the simulator drives must not touch. It must
//! never look into tests: they may build their inputs as they like.
//!
//! Clippy bans the same functions by type; this scan also sees macros, `use` lines, primitive
//! types and code behind a feature that clippy did not compile.

use syn::Lit;

use crate::finding::Finding;
use crate::source::{Kind, Rust, Token};
use crate::tree::Tree;

/// Folders and what their code must not name.
struct Zone {
    folders: &'static [&'static str],
    except: &'static [&'static str],
    banned: &'static [&'static [&'static str]],
    /// No float literal either.
    no_floats: bool,
    hint: &'static str,
}

const CORE: Zone = Zone {
    folders: &["crates/machine/src/", "crates/graph/src/"],
    except: &[],
    banned: &[
        &["std", "time"],
        &["core", "time"],
        &["std", "fs"],
        &["std", "io"],
        &["std", "net"],
        &["std", "env"],
        &["std", "process"],
        &["std", "thread"],
        &["SystemTime"],
        &["Instant"],
        &["chrono"],
        &["HashMap"],
        &["HashSet"],
        &["RandomState"],
        &["f32"],
        &["f64"],
        &["rand"],
        &["getrandom"],
        &["new_v4"],
        &["now_v7"],
        &["async"],
        &["tokio"],
        &["serde"],
        &["println"],
        &["eprintln"],
    ],
    no_floats: true,
    hint: "the core takes time, chance and order as arguments: pass a `Timestamp`, a drawn number, \
           a `BTreeMap`, whole units",
};

const DRIVEN: Zone = Zone {
    folders: &[
        "runtime/src/",
        "crates/dispatch/src/",
        "crates/gates/src/",
        "crates/router/src/",
    ],
    except: &["runtime/src/system/", "runtime/src/system.rs"],
    banned: &[
        &["tokio", "time"],
        &["tokio", "sync", "watch"],
        &["tokio", "spawn"],
        &["tokio", "task", "spawn"],
        &["spawn_blocking"],
        &["spawn_local"],
        &["block_in_place"],
        &["thread", "sleep"],
        &["HashMap"],
        &["HashSet"],
        &["RandomState"],
        &["SystemTime"],
        &["Instant", "now"],
        &["Utc", "now"],
        &["Local", "now"],
        &["rand"],
        &["now_v7"],
        &["new_v4"],
    ],
    no_floats: false,
    hint: "go through a port (Clock, Timers, Spawner, Rng, IdSource), so that the simulator can \
           drive this code",
};

const BIASED: &str = "start the macro with `biased;` and put the arms in order of precedence";

/// Scans both zones.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for zone in [&CORE, &DRIVEN] {
        for (path, rust) in tree.rust_below(zone.folders) {
            if tree.is_test_file(path) || zone.except.iter().any(|e| path.starts_with(e)) {
                continue;
            }
            findings.extend(banned_paths(zone, path, rust));
            if zone.no_floats {
                findings.extend(floats(path, rust, zone.hint));
            }
            findings.extend(unbiased_selects(path, rust));
        }
    }
    findings
}

fn banned_paths(zone: &Zone, path: &str, rust: &Rust) -> Vec<Finding> {
    let mut found: Vec<(usize, String)> = Vec::new();
    for used in rust.paths() {
        for banned in zone.banned {
            if used
                .segments
                .windows(banned.len())
                .any(|window| window == *banned)
            {
                found.push((used.line, banned.join("::")));
            }
        }
    }
    // A `use` is seen twice: as a chain of words and as an expanded path.
    found.sort();
    found.dedup();
    found
        .into_iter()
        .filter(|(line, _)| !rust.is_test_line(*line))
        .map(|(line, what)| Finding::error(path, line, format!("names `{what}`"), zone.hint))
        .collect()
}

fn floats(path: &str, rust: &Rust, hint: &'static str) -> Vec<Finding> {
    rust.tokens
        .iter()
        .filter(|token| token.kind == Kind::Value && !rust.is_test_line(token.start.line))
        .filter(|token| matches!(syn::parse_str(&token.text), Ok(Lit::Float(_))))
        .map(|token| {
            Finding::error(
                path,
                token.start.line,
                format!("float `{}`", token.text),
                hint,
            )
        })
        .collect()
}

fn unbiased_selects(path: &str, rust: &Rust) -> Vec<Finding> {
    let texts: Vec<&str> = rust
        .tokens
        .iter()
        .map(|token: &Token| token.text.as_str())
        .collect();
    texts
        .windows(4)
        .zip(&rust.tokens)
        .filter(|(window, _)| window[..3] == ["select", "!", "{"] && window[3] != "biased")
        .filter(|(_, token)| !rust.is_test_line(token.start.line))
        .map(|(_, token)| {
            let message = "`select!` that draws which arm goes first".to_owned();
            Finding::error(path, token.start.line, message, BIASED)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(path: &str, text: &str) -> Vec<String> {
        check(&Tree::of(&[(path, text)]))
            .into_iter()
            .map(|finding| finding.message)
            .collect()
    }

    fn core(text: &str) -> Vec<String> {
        messages("crates/machine/src/attempt.rs", text)
    }

    fn runtime(text: &str) -> Vec<String> {
        messages("runtime/src/turn.rs", text)
    }

    #[test]
    fn the_core_names_no_clock_however_it_is_imported() {
        assert_eq!(
            core("use std::{fmt, time::Duration};"),
            ["names `std::time`"]
        );
        assert_eq!(core("fn f(at: Instant) {}"), ["names `Instant`"]);
        assert_eq!(
            core("fn f() { go!(std::time::SystemTime::now()) }").len(),
            2
        );
    }

    #[test]
    fn the_core_has_no_hash_order_floats_chance_or_async() {
        assert_eq!(core("use std::collections::HashMap;"), ["names `HashMap`"]);
        assert_eq!(core("fn f(a: f64) -> f32 { 0 }").len(), 2);
        assert_eq!(core("const A: u8 = (1.5 * 2e3) as u8;").len(), 2);
        assert_eq!(core("async fn f() {}"), ["names `async`"]);
        assert_eq!(
            core("#[derive(serde::Serialize)]\nstruct A;"),
            ["names `serde`"]
        );
        assert!(core("fn f(a: u64) -> u64 { a.0 + 1_000 + 0x1e5 }").is_empty());
    }

    #[test]
    fn the_runtime_goes_through_ports_except_in_its_system_folder() {
        assert_eq!(runtime("use tokio::time::sleep;"), ["names `tokio::time`"]);
        assert_eq!(
            runtime("use tokio::{sync::{mpsc, watch}};"),
            ["names `tokio::sync::watch`"]
        );
        assert_eq!(
            runtime("fn f() { tokio::task::spawn_blocking(g); }").len(),
            1
        );
        assert_eq!(
            runtime("fn f() { Instant::now(); SystemTime::now(); }").len(),
            2
        );
        assert!(messages("runtime/src/system/timers.rs", "use tokio::time::sleep;").is_empty());
        assert!(messages("ledger/src/lib.rs", "use std::collections::HashMap;").is_empty());
    }

    #[test]
    fn a_select_must_be_biased() {
        assert_eq!(runtime("fn f() { tokio::select! { a = b => c } }").len(), 1);
        assert!(runtime("fn f() { tokio::select! { biased; a = b => c } }").is_empty());
    }

    #[test]
    fn tests_and_words_in_comments_and_strings_are_free() {
        assert!(core("/// Like HashMap.\nconst A: &str = \"tokio::time\";").is_empty());
        assert!(core("#[cfg(test)]\nmod tests { use std::time::Instant; }").is_empty());
        assert!(messages("crates/machine/tests/all.rs", "use std::time::Instant;").is_empty());
    }
}
