//! Arguments of `codeyard task`.

use std::time::Duration;

use clap::Args;

use super::values::parse_duration;

pub(super) const HELP: &str = "\
Examples:
  codeyard task \"Calculate 5 + 3 and get weather for San Francisco\" --tools examples/tool-files --verbose
  codeyard task \"Find customer Ada and list her orders\" --plan
  codeyard task \"Sum up\" --required-tools '{\"calculator\": [\"add\"]}' --task-specific-calls '{\"calculator\": \"print(add(1, 1))\"}'

The task is read without a language model: it is cut into steps, tools are found for each by their words, and arguments are
what the task says: numbers, quotations, names, paths, expressions, `parameter=value`, and the results of earlier steps.
If something is missing, codeyard asks for it and runs nothing. The tools are those of --tools and of the configured servers.";

#[derive(Debug, Args)]
pub struct TaskArguments {
    /// The task in English; `-` reads it from standard input
    #[arg(value_name = "TEXT")]
    pub text: String,
    /// Show discovery, selection, the program and its run
    #[arg(long, short)]
    pub verbose: bool,
    /// Plan the task and print its program; run nothing
    #[arg(long)]
    pub plan: bool,
    /// Use exactly these tools: a JSON object of servers with lists of tools, or @FILE with it
    #[arg(long, value_name = "JSON")]
    pub required_tools: Option<String>,
    /// Your code instead of the calls of a server's tools: a JSON object of servers with programs or @FILE.py, or
    /// @FILE with the object
    #[arg(long, value_name = "JSON")]
    pub task_specific_calls: Option<String>,
    /// Comment at the start of the program
    #[arg(long, value_name = "TEXT")]
    pub header: Option<String>,
    /// Least score of a selected tool, as a share of its score for its own name
    #[arg(long, value_name = "0..1", default_value_t = offline_task::DEFAULT_THRESHOLD, value_parser = parse_threshold)]
    pub threshold: f32,
    /// Longest duration, such as 30s or 500ms [default: `[limits] wall_time` of the settings]
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub timeout: Option<Duration>,
    /// Print one JSON object with all facts of the task
    #[arg(long, conflicts_with = "verbose")]
    pub json: bool,
}

fn parse_threshold(text: &str) -> Result<f32, String> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "write a number from 0 to 1, such as 0.35".to_owned())
}
