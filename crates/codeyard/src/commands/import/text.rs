//! The text and JSON of an import, without secrets.

use adoption::{Bill, Decision, ImportPlan, PlannedServer, ServerCost};
use clients::Client;
use serde_json::{Value, json};
use types::numbers::{counted, grouped};
use upstream::ServerConfig;

use crate::commands::servers::definition_text::{Literals, start};
use crate::output::{one_line, table};

/// The servers, the action for each, and notes for the person.
pub(super) fn plan(plan: &ImportPlan) -> String {
    let file = format!("{}: {}", plan.place.client, plan.place.path.display());
    let mut out = line(&file);
    if plan.servers.is_empty() {
        out.push_str("it has no servers\n");
        return out;
    }
    let mut rows = vec![
        ["server", "transport", "in use there", "with codeyard"]
            .map(str::to_owned)
            .to_vec(),
    ];
    rows.extend(plan.servers.iter().map(row));
    out.push_str(&table(&rows));
    out.extend(notes(plan).iter().map(|note| line(note)));
    out
}

/// Always one line: names and notes come from the client's file.
fn line(text: &str) -> String {
    one_line(text) + "\n"
}

fn notes(plan: &ImportPlan) -> Vec<String> {
    let mut notes = Vec::new();
    for planned in &plan.servers {
        let name = &planned.found.name;
        for filter in planned
            .found
            .filters
            .iter()
            .filter(|_| planned.decision == Decision::New)
        {
            notes.push(format!(
                "{name}: `{}` becomes `{}` of its entry",
                filter.key,
                filter.field()
            ));
        }
        for note in planned.found.notes.iter().chain(&planned.gaps) {
            notes.push(format!("{name}: {note}"));
        }
        if planned.decision == Decision::New && !planned.gaps.is_empty() {
            notes.push(format!(
                "{name}: when that is done, `codeyard servers enable {}`; its entry will be in {}",
                planned.name, plan.destination
            ));
        }
    }
    for planned in plan.new_servers().filter(|planned| !planned.variables.is_empty()) {
        notes.push(format!(
            "{}: takes {} from the environment; set in this shell, it must be set for {} too, or the server is not used there",
            planned.found.name,
            planned.variables.join(", "),
            plan.place.client
        ));
    }
    let names: Vec<&str> = plan.new_secrets().map(|(name, _)| name).collect();
    if !names.is_empty() {
        notes.push(format!(
            "secrets are moved to {}, which only you may read: {}",
            plan.secrets,
            names.join(", ")
        ));
    }
    notes
}

fn row(planned: &PlannedServer) -> Vec<String> {
    let transport = planned
        .unexpanded
        .as_ref()
        .or(planned.server.as_ref())
        .map(|server| server.transport.name());
    let used = if planned.found.is_enabled { "yes" } else { "no" };
    vec![
        planned.found.name.clone(),
        transport.unwrap_or("-").to_owned(),
        used.to_owned(),
        becomes(planned),
    ]
}

fn becomes(planned: &PlannedServer) -> String {
    let name = if planned.name == planned.found.name {
        String::new()
    } else {
        format!(" as `{}`", planned.name)
    };
    match &planned.decision {
        Decision::New if !planned.gaps.is_empty() => format!("new{name}, disabled: see below"),
        Decision::New if !planned.found.is_enabled => format!("new{name}, disabled"),
        Decision::New => format!("new{name}"),
        Decision::AlreadyDefined if !planned.gaps.is_empty() => format!("there already{name}: see below"),
        Decision::AlreadyDefined => format!("there already{name}"),
        Decision::Skipped(why) => format!("left: {why}"),
    }
}

/// Each new server's command in full, because the person decides by this text.
pub(super) fn commands(plan: &ImportPlan) -> String {
    let (started, reached): (Vec<&ServerConfig>, Vec<&ServerConfig>) = plan
        .new_servers()
        .filter_map(|new| new.unexpanded.as_ref())
        .partition(|server| server.transport.stdio().is_some());
    let mut out = String::new();
    for (title, servers) in [
        (
            "these run on this machine, with your rights, when a program needs them:",
            started,
        ),
        ("these are connected to when a program needs them:", reached),
    ] {
        if !servers.is_empty() {
            out.push_str(&format!("{title}\n"));
        }
        for server in servers {
            out.push_str(&line(&format!("  {}", server.name)));
            out.push_str(&start(server, Literals::Shown));
        }
    }
    out.trim_end().to_owned()
}

pub(super) fn saved(plan: &ImportPlan) -> String {
    let names: Vec<&str> = plan.new_servers().map(|new| new.name.as_str()).collect();
    match names.as_slice() {
        [] => "no server was added".to_owned(),
        names => format!(
            "added {} to {}: {}",
            counted(names.len(), "server"),
            plan.destination,
            names.join(", ")
        ),
    }
}

/// The import is saved if there is a bill.
pub(super) fn json(plan: &ImportPlan, bill: Option<&Bill>) -> Value {
    let server = |planned: &PlannedServer| {
        let (fate, why) = match &planned.decision {
            Decision::New => ("new", None),
            Decision::AlreadyDefined => ("known", None),
            Decision::Skipped(why) => ("left", Some(why)),
        };
        let names: Vec<&String> = planned.secrets.iter().map(|(name, _)| name).collect();
        json!({
            "name": planned.found.name, "as": planned.name, "enabled": planned.found.is_enabled, "fate": fate, "why": why,
            "entry": planned.entry, "secrets": names, "notes": planned.found.notes, "gaps": planned.gaps,
            "variables": planned.variables,
        })
    };
    let servers: Vec<Value> = plan.servers.iter().map(server).collect();
    json!({
        "client": plan.place.client.id(),
        "file": plan.place.path,
        "saved": bill.is_some(),
        "into": plan.destination,
        "servers": servers,
        "bill": bill.map(bill_json),
    })
}

pub(super) fn bill(bill: &Bill) -> String {
    let mut rows = vec![["server", "tools", "tokens", ""].map(str::to_owned).to_vec()];
    rows.extend(bill.servers.iter().map(|server| match &server.definitions {
        Ok((tools, tokens)) => vec![
            server.name.clone(),
            tools.to_string(),
            tokens.to_string(),
            String::new(),
        ],
        Err(problem) => vec![
            server.name.clone(),
            "-".to_owned(),
            "-".to_owned(),
            // A server's text may have several lines.
            problem.split_whitespace().collect::<Vec<_>>().join(" "),
        ],
    }));
    if rows.len() > 1 {
        table(&rows)
    } else {
        String::new()
    }
}

/// The tokens before and after; `None` if no server that the client uses answered.
pub(super) fn totals(bill: &Bill, client: Client) -> Option<String> {
    let (tools, before) = bill.before()?;
    Some(format!(
        "the definitions of {} cost {} tokens with every question in {client} now; with codeyard {}",
        counted(tools, "tool"),
        grouped(before),
        grouped(bill.after)
    ))
}

fn bill_json(bill: &Bill) -> Value {
    let server = |server: &ServerCost| match &server.definitions {
        Ok((tools, tokens)) => {
            json!({"name": server.name, "tools": tools, "tokens": tokens, "problem": null})
        }
        Err(problem) => json!({"name": server.name, "tools": null, "tokens": null, "problem": problem}),
    };
    let servers: Vec<Value> = bill.servers.iter().map(server).collect();
    json!({"servers": servers, "tokens_before": bill.before().map(|before| before.1), "tokens_after": bill.after})
}
