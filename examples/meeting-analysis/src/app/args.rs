//! The command line of the example.
//!
//! Flags and their meaning are used by scripts; a change here is a change for them.

use std::path::PathBuf;

use clap::{Parser, ValueEnum};
use mainstay::types::StartKey;

use crate::app::fault::FaultSpec;

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
    /// Lets a call fail, for a look at what follows; no part of the run's input. CALL is a node
    /// (`policy_rag`) or an item (`ticket_write[3]`), KIND a failure kind in any case
    /// (`transient_transport`), n how often; default: always. May be repeated
    #[arg(long = "fault", value_name = "CALL=KIND[:n]")]
    pub faults: Vec<FaultSpec>,
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
