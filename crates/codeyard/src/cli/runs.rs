//! Arguments of `codeyard runs`.

use std::path::PathBuf;

use chrono::{DateTime, NaiveDate, NaiveTime, TimeDelta, Utc};
use clap::{Args, Subcommand, ValueEnum};

const STATUSES: [&str; 8] = [
    "completed",
    "failed",
    "timed_out",
    "limit_exceeded",
    "cancelled",
    "refused",
    "running",
    "interrupted",
];

pub(super) const HELP: &str = "\
Examples:
  codeyard runs                          the last 20
  codeyard runs --status failed --since 2h
  codeyard runs last                     the newest, with its calls and events
  codeyard runs r-6h2xk4m9qwtz           one run with its calls and events
  codeyard runs replay last --diff       the newest again, and what differs
  codeyard runs --follow --json          each as it begins and as it ends, one JSON object a line
  codeyard runs --csv --limit 10000 > runs.csv
  codeyard runs --savings --since 7d     what they cost in tokens, beside direct calls

A run whose codeyard was killed before it ended is `interrupted`.";

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum SavingsKey {
    /// A day, in UTC
    #[default]
    Day,
    /// A server whose tools were called
    Server,
    /// A client, as it calls itself
    Client,
}

const REPLAY_HELP: &str = "\
Runs are recorded for replay with `record = \"replay\"` in `[records]` of codeyard.toml; recordings are encrypted.

Examples:
  codeyard runs replay last              the program again, with today's servers
  codeyard runs replay r-6h2xk4m9qwtz --recorded --diff
  codeyard runs replay --file run.json --recorded --diff";

const EXPORT_HELP: &str = "\
Examples:
  codeyard runs export r-6h2xk4m9qwtz > run.json
  codeyard runs replay --file run.json --recorded --diff";

/// What can be done with a recorded run.
#[derive(Debug, Subcommand)]
pub enum RunsCommand {
    /// Run the program of a recorded run again
    #[command(after_help = REPLAY_HELP)]
    Replay(ReplayRun),
    /// Print the recording of a run as JSON: program, calls, answers, output and result, decrypted
    #[command(after_help = EXPORT_HELP)]
    Export(ExportRun),
}

#[derive(Debug, Args)]
pub struct ReplayRun {
    /// The run, or `last` for the newest
    #[arg(value_name = "ID", required_unless_present = "file", conflicts_with = "file")]
    pub id: Option<String>,
    /// A run that `codeyard runs export` wrote
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Answer all calls from the recording: no server is called
    #[arg(long)]
    pub recorded: bool,
    /// Print what differs from the recording, and fail if anything does
    #[arg(long)]
    pub diff: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct ExportRun {
    /// The run, or `last` for the newest
    #[arg(value_name = "ID")]
    pub id: String,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct RunsArguments {
    #[command(subcommand)]
    pub command: Option<RunsCommand>,
    /// The run to show, or `last` for the newest; without it runs are listed, the newest first
    #[arg(value_name = "ID", conflicts_with_all = ["limit", "status", "session", "since", "follow", "savings"])]
    pub id: Option<String>,
    /// At most this many
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..), conflicts_with = "follow")]
    pub limit: u32,
    /// Only runs with this status
    #[arg(long, value_name = "STATUS", value_parser = STATUSES)]
    pub status: Option<String>,
    /// Only runs of this session
    #[arg(long, value_name = "NAME")]
    pub session: Option<String>,
    /// Only runs since this time: an age such as 30m, 2h or 7d, a day such as 2026-01-31, or a time such as
    /// 2026-01-31T12:00:00Z
    #[arg(long, value_name = "TIME", value_parser = parse_since)]
    pub since: Option<DateTime<Utc>>,
    /// Print runs as they begin and end, until interrupted
    #[arg(long)]
    pub follow: bool,
    /// Sum up the cost of runs for a model in tokens, beside the cost of the same direct calls
    #[arg(long, conflicts_with_all = ["id", "limit", "status", "session", "follow"])]
    pub savings: bool,
    /// One line of --savings for each day, server or client
    #[arg(long, value_enum, default_value_t, requires = "savings")]
    pub by: SavingsKey,
    /// Print JSON: one object a line, or one object for one run
    #[arg(long)]
    pub json: bool,
    /// Print CSV; formulas get a leading '
    #[arg(long, conflicts_with_all = ["id", "follow", "savings", "json"])]
    pub csv: bool,
}

pub(super) fn parse_since(text: &str) -> Result<DateTime<Utc>, String> {
    if let Ok(time) = DateTime::parse_from_rfc3339(text) {
        return Ok(time.to_utc());
    }
    if let Ok(day) = text.parse::<NaiveDate>() {
        return Ok(day.and_time(NaiveTime::MIN).and_utc());
    }
    let wrong = || {
        format!(
            "`{text}` is not a time; write an age such as `2h`, a day such as `2026-01-31`, or a time such as `2026-01-31T12:00:00Z`"
        )
    };
    let age = types::units::age(text).map_err(|_| wrong())?;
    let age = TimeDelta::from_std(age).map_err(|_| wrong())?;
    Utc::now().checked_sub_signed(age).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn since_is_an_age_a_day_or_a_time() {
        let shown = |text| parse_since(text).map(|time| time.to_rfc3339());
        assert_eq!(shown("2026-01-31").as_deref(), Ok("2026-01-31T00:00:00+00:00"));
        assert_eq!(
            shown("2026-01-31T12:00:00+02:00").as_deref(),
            Ok("2026-01-31T10:00:00+00:00")
        );
        let since = parse_since("2h").unwrap();
        let ago = Utc::now() - since;
        assert!((7200..7260).contains(&ago.num_seconds()), "{ago}");
        for wrong in ["", "yesterday", "2026-13-01", "2h30m", "99999999999999d"] {
            assert!(parse_since(wrong).is_err(), "{wrong}");
        }
    }
}
