//! `run show`: one run, whole.

use mainstay_runtime::view::text;

use crate::args::ShowArgs;
use crate::error::CliError;
use crate::output::Output;
use crate::store::Store;

/// Prints the run's view.
pub(crate) fn show(args: &ShowArgs, output: &Output) -> Result<(), CliError> {
    let view = Store::open(&output.store)?.show(&args.id, output)?;
    if output.json {
        return output.print_json(&view);
    }
    output.print(&text::render(&view))
}
