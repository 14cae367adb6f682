//! `run show`, and the commands for one run.

use mainstay_runtime::Budget;
use mainstay_socket::{Ask, CommandAsk, CommandVerb, Form, Reply, RunAsk, WhyAsk};
use mainstay_types::{Code, CostUnits, RunId, Tokens};
use serde::Deserialize;

use crate::args::{CommandArgs, RaiseArgs, ShowArgs, WhyArgs};
use crate::error::CliError;
use crate::operator::{Operator, reach, read};
use crate::output::Output;
use crate::prefix::RunPrefix;

/// As much of a taken command as is said.
#[derive(Deserialize)]
struct Taken {
    run_id: String,
    by: String,
    why: String,
    lap: Option<u32>,
    budget: Option<Limits>,
}

/// What a lap may spend.
#[derive(Deserialize)]
struct Limits {
    retry_tokens: u32,
    concurrency_tokens: u32,
    cost_micros: u64,
}

/// Prints the run's view.
pub(crate) fn show(args: &ShowArgs, output: &Output) -> Result<(), CliError> {
    let mut operator = reach(&output.store)?;
    let payloads = args.payloads;
    let form = form(output);
    let ask = |run| {
        Ask::Run(RunAsk {
            run,
            payloads,
            form,
        })
    };
    output.print(&asked(&mut *operator, &args.id, ask, output)?.body)
}

/// Prints why the run stands where it stands.
pub(crate) fn why(args: &WhyArgs, output: &Output) -> Result<(), CliError> {
    let mut operator = reach(&output.store)?;
    let form = form(output);
    let ask = |run| Ask::Why(WhyAsk { run, form });
    let body = asked(&mut *operator, &args.id, ask, output)?.body;
    match form {
        Form::Json => output.print(&body),
        // Its commands are to be pasted: they name this program and this store.
        Form::Text => {
            let own = format!("\n      {}", output.call(""));
            output.print(&body.replace("\n      mainstay ", &own))
        }
    }
}

fn form(output: &Output) -> Form {
    if output.json { Form::Json } else { Form::Text }
}

/// Asks something about one run; an unknown one is told with what is known of its prefix.
fn asked(
    operator: &mut dyn Operator,
    id: &RunPrefix,
    ask: impl FnOnce(RunId) -> Ask,
    output: &Output,
) -> Result<Reply, CliError> {
    let ask = ask(id.run(operator, output)?);
    operator.ask(&ask).map_err(|error| match error.code {
        Some(Code::RunUnknown) => id.unknown(output),
        Some(_) | None => error,
    })
}

/// Has a command taken.
pub(crate) fn command(
    verb: CommandVerb,
    args: &CommandArgs,
    output: &Output,
) -> Result<(), CliError> {
    take((verb, None), args, output)
}

/// Has more to spend taken.
pub(crate) fn raise(args: &RaiseArgs, output: &Output) -> Result<(), CliError> {
    let tokens = |tokens: Option<u32>| Tokens::new(tokens.unwrap_or(0));
    let more = Budget {
        retry_tokens: tokens(args.retries),
        concurrency_tokens: tokens(args.concurrency),
        cost_units: args.cost.unwrap_or_default(),
    };
    take((CommandVerb::Raise, Some(more)), &args.command, output)
}

fn take(
    (verb, more): (CommandVerb, Option<Budget>),
    args: &CommandArgs,
    output: &Output,
) -> Result<(), CliError> {
    let mut operator = reach(&output.store)?;
    let ask = |run| {
        Ask::Command(CommandAsk {
            run,
            verb,
            by: args.asker.by.clone(),
            why: args.asker.why.clone(),
            more,
        })
    };
    let taken = asked(&mut *operator, &args.id, ask, output)?;
    if output.json {
        return output.print(&taken.body);
    }
    output.print(&sentence(verb, &read(&taken)?))?;
    if !operator.is_served() {
        output.note("no process holds the store: the next engine that drives the run acts on it");
    }
    Ok(())
}

fn sentence(verb: CommandVerb, taken: &Taken) -> String {
    let what = match (verb, taken.lap) {
        (CommandVerb::Cancel, _) => "is asked to stop".to_owned(),
        (CommandVerb::Terminate, _) => "is terminated".to_owned(),
        (CommandVerb::Continue, Some(lap)) => format!("goes on in lap {lap}"),
        (CommandVerb::Continue, None) => "goes on".to_owned(),
        (CommandVerb::Raise, _) => taken.budget.as_ref().map_or_else(
            || "may spend more".to_owned(),
            |may| {
                let cost = CostUnits::micros(may.cost_micros);
                let (retries, concurrency) = (may.retry_tokens, may.concurrency_tokens);
                format!(
                    "may spend {cost} cost units and {retries} retries in this lap, with \
                     {concurrency} attempts at once"
                )
            },
        ),
    };
    let Taken {
        run_id, by, why, ..
    } = taken;
    format!("run {run_id} {what}, by {by}: {why}")
}
