//! `codeyard ps`: the codeyards that serve clients.

use serde_json::{Value, json};
use server::control::{self, ProcessReply, Status};

use crate::cli::PsArguments;
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::output::{Output, table};
use crate::times;

pub async fn run(context: &Context, arguments: &PsArguments) -> anyhow::Result<Exit> {
    let data = context.load_settings()?.data_dir;
    let all = control::statuses(&data)
        .await
        .map_err(|error| Failure::new(Exit::Broken, format!("{}: {error}", data.display())))?;
    let output = &context.output;
    if arguments.json {
        let all: Vec<Value> = all.iter().map(json_of).collect();
        output.json(&all)?;
        return Ok(Exit::Done);
    }
    if all.is_empty() {
        output.tell(&format!("no codeyard serves a client with {}", data.display()));
        return Ok(Exit::Done);
    }
    let mut rows = vec![
        ["pid", "surface", "since", "sessions", "runs", "servers", "client"]
            .map(str::to_owned)
            .to_vec(),
    ];
    for reply in &all {
        match &reply.answer {
            Ok(status) => rows.push(row(status)),
            Err(why) => output.tell(&format!("warning: codeyard {} does not answer: {why}", reply.pid)),
        }
    }
    output.print(&table(&rows))?;
    tell_broken(output, &all);
    Ok(Exit::Done)
}

fn row(status: &Status) -> Vec<String> {
    vec![
        status.pid.to_string(),
        status.surface.clone(),
        times::when(i64::try_from(status.since_ms).unwrap_or(i64::MAX)),
        status.sessions.to_string(),
        status.runs.to_string(),
        format!("{} of {}", status.servers_running, status.servers),
        status.client.clone().unwrap_or_else(|| "-".to_owned()),
    ]
}

fn json_of(reply: &ProcessReply<Status>) -> Value {
    match &reply.answer {
        Ok(status) => {
            let mut value = serde_json::to_value(status).unwrap_or_default();
            value["since"] = times::exact(i64::try_from(status.since_ms).unwrap_or(i64::MAX)).into();
            value
        }
        Err(why) => json!({"pid": reply.pid, "error": why}),
    }
}

/// Names the processes that use an older configuration because the present one is invalid, or that run without a
/// server.
pub fn tell_broken(output: &Output, all: &[ProcessReply<Status>]) {
    for reply in all {
        let Ok(status) = &reply.answer else {
            continue;
        };
        if let Some(broken) = &status.configuration.broken {
            output.tell(&format!(
                "warning: codeyard {} keeps its previous servers, because the configuration is wrong now: {broken}",
                status.pid
            ));
        }
        for left_out in &status.configuration.left_out {
            output.tell(&format!("warning: codeyard {}: {left_out}", status.pid));
        }
    }
}
