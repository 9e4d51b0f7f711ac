//! Runs as CSV, with the fields of the JSON.

use std::collections::HashMap;

use serde_json::Value;
use store::{RunDeeds, RunView};

use super::show::json_with;
use crate::output::Output;

/// The columns, in the order of the JSON's fields; objects and lists are JSON.
const COLUMNS: [(&str, &str); 30] = [
    ("id", "/id"),
    ("status", "/status"),
    ("principal", "/principal"),
    ("virtual_server", "/virtual_server"),
    ("front", "/front"),
    ("client", "/client"),
    ("session", "/session"),
    ("language", "/language"),
    ("code_hash", "/code_hash"),
    ("code_bytes", "/code_bytes"),
    ("limits", "/limits"),
    ("backend", "/backend"),
    ("mode", "/mode"),
    ("asked_at", "/asked_at"),
    ("ended_at", "/ended_at"),
    ("waited_us", "/waited_us"),
    ("duration_us", "/duration_us"),
    ("limit", "/limit"),
    ("error_kind", "/error_kind"),
    ("session_fate", "/session_fate"),
    ("result_bytes", "/result_bytes"),
    ("stdout_bytes", "/stdout_bytes"),
    ("stderr_bytes", "/stderr_bytes"),
    ("host_calls", "/host_calls"),
    ("cpu_us", "/cpu_us"),
    ("peak_memory", "/peak_memory"),
    ("earlier_threads", "/earlier_threads"),
    ("tools", "/tools"),
    ("task", "/task"),
    ("seq", "/seq"),
];

pub fn csv(output: &Output, runs: &[RunView], deeds: &HashMap<String, RunDeeds>) -> anyhow::Result<()> {
    let entries = runs.iter().map(|run| json_with(run, deeds.get(&run.id)));
    let entries: Vec<Value> = entries.collect();
    let written = [rest::csv_names(&COLUMNS)?, rest::csv(&COLUMNS, &entries)?].concat();
    output.print(std::str::from_utf8(&written)?)
}
