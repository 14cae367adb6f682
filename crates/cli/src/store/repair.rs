//! `repair`: brings back what can be brought back, and says what cannot.

use std::collections::HashSet;

use mainstay_ledger_sled::{Repair, SledFactory, repair as repair_store};
use serde::Serialize;

use super::failed;
use crate::error::CliError;
use crate::operator::is_folder;
use crate::output::Output;
use crate::progress::Progress;
use crate::store::RepairArgs;

/// What only looking cannot tell.
const MORE: &str = "doing it may find more runs that stop: what a missing frame held is only known \
                    then\n";

#[derive(Serialize)]
struct View {
    applied: bool,
    actions: Vec<String>,
    lost: Vec<String>,
    kept_in: Option<String>,
}

/// Says what would be done; with `--apply` does it.
pub(crate) fn repair(args: &RepairArgs, output: &Output) -> Result<(), CliError> {
    is_folder(&output.store)?;
    let bar = Progress::new(output);
    let repaired = repair_store(
        &output.store,
        &SledFactory,
        args.apply,
        &mut |done, total| bar.portion("read", (done, total), "bytes"),
    );
    bar.clear();
    let repaired = repaired.map_err(failed)?;
    let view = View {
        applied: args.apply,
        actions: repaired.actions.clone(),
        lost: repaired.lost.clone(),
        kept_in: repaired
            .kept_in
            .as_ref()
            .map(|path| path.display().to_string()),
    };
    if output.json {
        return output.print_json(&view);
    }
    output.print(&text(&repaired, args.apply))?;
    if !args.apply && !repaired.actions.is_empty() {
        output.note("\nnothing was changed; --apply does it");
    }
    Ok(())
}

fn text(repaired: &Repair, applied: bool) -> String {
    if repaired.actions.is_empty() && repaired.lost.is_empty() {
        return "nothing to repair\n".to_owned();
    }
    if repaired.actions.is_empty() {
        let mut out = "nothing can be brought back; lost:\n".to_owned();
        lines(&mut out, &repaired.lost);
        out.push_str("`mainstay erase` takes a run out that cannot be read\n");
        return out;
    }
    let mut out = String::from(if applied { "done:\n" } else { "to be done:\n" });
    lines(&mut out, &repaired.actions);
    match repaired.lost.is_empty() {
        true => out.push_str("nothing is lost\n"),
        false => out.push_str("lost:\n"),
    }
    lines(&mut out, &repaired.lost);
    if !applied && !repaired.lost.is_empty() {
        out.push_str(MORE);
    }
    if let Some(kept) = &repaired.kept_in {
        out.push_str(&format!(
            "what was replaced is kept in {}\n",
            kept.display()
        ));
    }
    out
}

/// A line for each; several places that are hurt in the same way are told once.
fn lines(out: &mut String, texts: &[String]) {
    let mut told = HashSet::new();
    for text in texts.iter().filter(|text| told.insert(*text)) {
        out.push_str(&format!("  {text}\n"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_is_told_twice_and_what_looking_cannot_tell_is_said_before_it_is_done() {
        let texts = |texts: &[&str]| texts.iter().map(ToString::to_string).collect();
        let mut repaired = Repair {
            actions: texts(&["write", "make", "make"]),
            lost: texts(&["run 2 stops", "run 1 stops", "run 2 stops"]),
            kept_in: None,
        };
        let lost = "lost:\n  run 2 stops\n  run 1 stops\n";
        let dry = format!("to be done:\n  write\n  make\n{lost}{MORE}");
        assert_eq!(text(&repaired, false), dry);
        let done = format!("done:\n  write\n  make\n{lost}");
        assert_eq!(text(&repaired, true), done);
        repaired.actions.clear();
        let nothing = text(&repaired, false);
        assert!(nothing.contains("run 1 stops"), "{nothing}");
        repaired.lost.clear();
        assert_eq!(text(&repaired, false), "nothing to repair\n");
        repaired.actions = texts(&["write"]);
        assert!(text(&repaired, false).ends_with("nothing is lost\n"));
    }
}
