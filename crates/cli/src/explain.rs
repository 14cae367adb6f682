//! `error`: what a code means and what to do about it.
//!
//! The pages are compiled in, so they can be read where nothing else works.

use mainstay_socket::failure::retry_helps;
use mainstay_types::{Code, FailureKind, Family, Reason};
use serde::Serialize;

use crate::args::ErrorArgs;
use crate::error::CliError;
use crate::output::Output;
use crate::shell;
use crate::table::table;

#[derive(Serialize)]
struct Explained {
    code: &'static str,
    family: &'static str,
    retry_helps: &'static str,
    summary: &'static str,
    /// Markdown.
    #[serde(skip_serializing_if = "Option::is_none")]
    page: Option<&'static str>,
}

#[derive(Serialize)]
struct Codes {
    codes: Vec<Explained>,
}

/// Prints a code's page, or all codes.
pub(crate) fn explain(args: &ErrorArgs, output: &Output) -> Result<(), CliError> {
    let Some(text) = &args.code else {
        return list(output);
    };
    let wanted = text.to_ascii_uppercase().replace('-', "_");
    let code = Code::from_text(&wanted).ok_or_else(|| unknown(text, &wanted, output))?;
    if output.json {
        return output.print_json(&Explained {
            page: Some(code.page()),
            ..explained(code)
        });
    }
    output.print(code.page())
}

fn list(output: &Output) -> Result<(), CliError> {
    let codes: Vec<Explained> = Code::ALL.iter().copied().map(explained).collect();
    if output.json {
        return output.print_json(&Codes { codes });
    }
    let row = |code: &Explained| {
        [code.code, code.family, code.retry_helps, code.summary].map(str::to_owned)
    };
    let heading = ["CODE", "FAMILY", "RETRY HELPS", "MEANS"];
    output.print(&table(heading, codes.iter().map(row).collect()))
}

fn explained(code: Code) -> Explained {
    Explained {
        code: code.as_str(),
        family: match code.family() {
            Family::Refusal => "refusal",
            Family::Fault => "fault",
            Family::Corrupt => "corrupt",
            Family::Problem => "problem",
        },
        retry_helps: retry_helps(code),
        summary: code.summary(),
        page: None,
    }
}

/// Timelines also hold failure kinds and reasons, which have no page of their own.
fn unknown(text: &str, wanted: &str, output: &Output) -> CliError {
    let what = if FailureKind::from_code(wanted).is_some() {
        "it is the failure kind of an attempt"
    } else if Reason::from_code(wanted).is_some() {
        "it is the reason of a decision"
    } else {
        "there is no such code"
    };
    let list = format!("`{} error` lists the codes", shell::word(&output.program));
    CliError::new(
        Code::InvalidInput,
        format!("no error code: {text}: {what}"),
        list,
    )
}
