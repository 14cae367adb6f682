//! The command line of the example.
//!
//! Flags and their meaning are used by scripts; a change here is a change for them.

use std::path::PathBuf;

use clap::{Parser, ValueEnum};
use mainstay::CostUnits;
use mainstay::model::Price;
use mainstay::types::StartKey;

use crate::app::fault::FaultSpec;

/// The model that is asked for unless another one is named.
const MODEL: &str = "gpt-4o-mini";

/// Turns the minutes of a meeting into a report and one ticket per action, as a durable run.
///
/// The same command again gives the same run: nothing is asked or written twice. After a kill, the
/// same command goes on where the run was.
#[derive(Clone, Debug, Parser)]
#[command(name = "meeting-analysis", version)]
pub struct Args {
    /// Minutes as text or Markdown, at most 1 MiB
    pub file: PathBuf,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,
    /// Where the run, the tickets and the services' files are kept
    #[arg(long, value_name = "DIR", default_value = "./mainstay-store")]
    pub store: PathBuf,
    /// The key of the run; default: the digest of FILE
    #[arg(long, value_name = "K", value_parser = |text: &str| StartKey::new(text))]
    pub key: Option<StartKey>,
    /// A ticket service that is running; default: one of this store is started
    #[arg(long, value_name = "URL")]
    pub tickets: Option<String>,
    /// A model that makes the draft, behind an OpenAI-compatible server: its base URL, for example
    /// http://127.0.0.1:8080/v1. No part of the run's input. Default: the draft is made by rules
    #[arg(long, value_name = "URL")]
    pub model_url: Option<String>,
    /// The name of that model
    #[arg(long, value_name = "NAME", default_value = MODEL, requires = "model_url")]
    pub model: String,
    /// The environment variable with that model's key; default: OPENAI_API_KEY. `none`: no key is
    /// sent. A server on this machine needs none
    #[arg(long, value_name = "VAR", requires = "model_url")]
    pub model_key: Option<String>,
    /// What 1,000 tokens of a prompt and of an answer cost, in millionths of a cost unit. Default:
    /// each draft costs what the class expects
    #[arg(long, value_name = "PROMPT:ANSWER", value_parser = price, requires = "model_url")]
    pub model_price: Option<Price>,
    /// Lets a call fail, for a look at what follows; no part of the run's input. CALL is a node
    /// (`policy_rag`) or an item (`ticket_write[3]`), KIND a failure kind in any case
    /// (`transient_transport`), n how often; default: always. May be repeated
    #[arg(long = "fault", value_name = "CALL=KIND[:n]")]
    pub faults: Vec<FaultSpec>,
    /// Goes on with a run of this key that ended handed_off, degraded or failed: in a next lap,
    /// with fresh times and budget, on the same requests, keys and tickets
    #[arg(long = "continue")]
    pub go_on: bool,
    /// What downtime does to the run's times: `extend` moves them, by an hour at most
    #[arg(long, value_name = "RULE", default_value = "extend")]
    pub on_downtime: Downtime,
}

/// What downtime does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Downtime {
    /// Nothing.
    Absolute,
    /// It moves the times.
    Extend,
}

fn price(text: &str) -> Result<Price, String> {
    let parts = text.split_once(':');
    let (prompt, answer) = parts.ok_or("it must be PROMPT:ANSWER, for example 150:600")?;
    let micros = |part: &str| match part.parse() {
        Ok(micros) => Ok(CostUnits::micros(micros)),
        Err(_) => Err(format!("`{part}` is no whole number")),
    };
    Ok(Price::per_thousand(micros(prompt)?, micros(answer)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_is_two_whole_numbers() {
        let expected = Price::per_thousand(CostUnits::micros(150), CostUnits::micros(600));
        assert_eq!(price("150:600"), Ok(expected));
        for text in ["150", "1.5:2", "-1:2", ":", "1:2:3"] {
            assert!(price(text).is_err(), "{text}");
        }
    }
}
