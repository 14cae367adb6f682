//! `error`: what a code means and what to do about it.
//!
//! The pages are compiled in, so they can be read where nothing else works.

use mainstay_socket::failure::retry_helps;
use mainstay_types::{Code, FailureKind, Family, Reason};
use serde::Serialize;

use crate::args::ErrorArgs;
use crate::error::CliError;
use crate::output::Output;
use crate::reasons;
use crate::shell;
use crate::table::table;

#[derive(Serialize)]
struct Explained<'a> {
    code: &'static str,
    family: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_helps: Option<&'static str>,
    summary: &'static str,
    /// Markdown.
    #[serde(skip_serializing_if = "Option::is_none")]
    page: Option<&'a str>,
}

#[derive(Serialize)]
struct Codes {
    codes: Vec<Explained<'static>>,
}

/// Prints a code's page, or all codes.
pub(crate) fn explain(args: &ErrorArgs, output: &Output) -> Result<(), CliError> {
    let Some(text) = &args.code else {
        return list(output);
    };
    let wanted = text.to_ascii_uppercase().replace('-', "_");
    let Some(code) = Code::from_text(&wanted) else {
        let reason = Reason::from_code(&wanted);
        let reason = reason.ok_or_else(|| unknown(text, &wanted, output))?;
        return explain_reason(reason, output);
    };
    if output.json {
        return output.print_json(&Explained {
            page: Some(code.page()),
            ..explained(code)
        });
    }
    output.print(code.page())
}

/// What a reason of a decision says, and what to do about it.
fn explain_reason(reason: Reason, output: &Output) -> Result<(), CliError> {
    let (name, says, way_out) = (reason.as_str(), reason.summary(), reasons::way_out(reason));
    let page = format!("# {name}\n\nThe reason of a decision: {says}\n\n{way_out}\n");
    if output.json {
        return output.print_json(&Explained {
            code: name,
            family: "reason",
            retry_helps: None,
            summary: says,
            page: Some(&page),
        });
    }
    output.print(&page)
}

fn list(output: &Output) -> Result<(), CliError> {
    let codes: Vec<Explained<'_>> = Code::ALL.iter().copied().map(explained).collect();
    if output.json {
        return output.print_json(&Codes { codes });
    }
    let row = |code: &Explained<'_>| {
        let helps = code.retry_helps.unwrap_or_default();
        [code.code, code.family, helps, code.summary].map(str::to_owned)
    };
    let heading = ["CODE", "FAMILY", "RETRY HELPS", "MEANS"];
    output.print(&table(heading, codes.iter().map(row).collect()))
}

fn explained(code: Code) -> Explained<'static> {
    Explained {
        code: code.as_str(),
        family: match code.family() {
            Family::Refusal => "refusal",
            Family::Fault => "fault",
            Family::Corrupt => "corrupt",
            Family::Problem => "problem",
        },
        retry_helps: Some(retry_helps(code)),
        summary: code.summary(),
        page: None,
    }
}

/// Timelines also hold failure kinds, which have no page of their own.
fn unknown(text: &str, wanted: &str, output: &Output) -> CliError {
    let what = if FailureKind::from_code(wanted).is_some() {
        "it is the failure kind of an attempt"
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
