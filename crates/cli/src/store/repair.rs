//! `repair`: brings back what can be brought back, and says what cannot.

use mainstay_ledger_sled::{Repair, SledFactory, repair as repair_store};
use serde::Serialize;

use super::failed;
use crate::error::CliError;
use crate::output::Output;
use crate::progress::Progress;
use crate::store::RepairArgs;

#[derive(Serialize)]
struct View {
    applied: bool,
    actions: Vec<String>,
    lost: Vec<String>,
    kept_in: Option<String>,
}

/// Says what would be done; with `--apply` does it.
pub(crate) fn repair(args: &RepairArgs, output: &Output) -> Result<(), CliError> {
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
    if repaired.actions.is_empty() {
        return "nothing to repair\n".to_owned();
    }
    let mut out = String::from(if applied { "done:\n" } else { "to be done:\n" });
    for action in &repaired.actions {
        out.push_str(&format!("  {action}\n"));
    }
    match repaired.lost.is_empty() {
        true => out.push_str("nothing is lost\n"),
        false => out.push_str("lost:\n"),
    }
    for lost in &repaired.lost {
        out.push_str(&format!("  {lost}\n"));
    }
    if let Some(kept) = &repaired.kept_in {
        out.push_str(&format!(
            "what was replaced is kept in {}\n",
            kept.display()
        ));
    }
    out
}
