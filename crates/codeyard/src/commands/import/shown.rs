//! What a person and a program read of an import; no secret is in it.

use serde_json::{Value, json};
use upstream::ServerConfig;

use super::plan::{Fate, Plan, Planned};
use super::probe::Bill;
use crate::commands::servers::shown::{Literals, start};
use crate::output::{counted, one_line, table};

/// The servers, what becomes of each, and what a person should know.
pub(super) fn plan(plan: &Plan) -> String {
    let file = format!("{}: {}", plan.place.client, plan.place.path.display());
    let mut out = line(&file);
    if plan.all.is_empty() {
        out.push_str("it has no servers\n");
        return out;
    }
    let mut rows = vec![
        ["server", "transport", "in use there", "with codeyard"]
            .map(str::to_owned)
            .to_vec(),
    ];
    rows.extend(plan.all.iter().map(row));
    out.push_str(&table(&rows));
    out.extend(notes(plan).iter().map(|note| line(note)));
    out
}

/// A line of its own, whatever is in the text: names and notes are the client's.
fn line(text: &str) -> String {
    one_line(text) + "\n"
}

fn notes(plan: &Plan) -> Vec<String> {
    let mut notes = Vec::new();
    for planned in &plan.all {
        let name = &planned.found.name;
        for filter in planned.found.filters.iter().filter(|_| planned.fate == Fate::New) {
            notes.push(format!(
                "{name}: `{}` becomes `{}` of its entry",
                filter.key,
                filter.field()
            ));
        }
        for note in planned.found.notes.iter().chain(&planned.gaps) {
            notes.push(format!("{name}: {note}"));
        }
        if planned.fate == Fate::New && !planned.gaps.is_empty() {
            notes.push(format!(
                "{name}: when that is done, `codeyard servers enable {}`; its entry will be in {}",
                planned.name, plan.ours
            ));
        }
    }
    for planned in plan.news().filter(|planned| !planned.variables.is_empty()) {
        notes.push(format!(
            "{}: takes {} from the environment; set in this shell, it must be set for {} too, or the server is not used there",
            planned.found.name,
            planned.variables.join(", "),
            plan.place.client
        ));
    }
    let names: Vec<&str> = plan.secrets_of_news().map(|(name, _)| name).collect();
    if !names.is_empty() {
        notes.push(format!(
            "secrets are moved to {}, which only you may read: {}",
            plan.secrets,
            names.join(", ")
        ));
    }
    notes
}

fn row(planned: &Planned) -> Vec<String> {
    let transport = planned
        .written
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

fn becomes(planned: &Planned) -> String {
    let name = if planned.name == planned.found.name {
        String::new()
    } else {
        format!(" as `{}`", planned.name)
    };
    match &planned.fate {
        Fate::New if !planned.gaps.is_empty() => format!("new{name}, disabled: see below"),
        Fate::New if !planned.found.is_enabled => format!("new{name}, disabled"),
        Fate::New => format!("new{name}"),
        Fate::Known if !planned.gaps.is_empty() => format!("there already{name}: see below"),
        Fate::Known => format!("there already{name}"),
        Fate::Left(why) => format!("left: {why}"),
    }
}

/// What each new server starts, in full: a person decides by it.
pub(super) fn commands(plan: &Plan) -> String {
    let (started, reached): (Vec<&ServerConfig>, Vec<&ServerConfig>) = plan
        .news()
        .filter_map(|new| new.written.as_ref())
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

/// What was saved.
pub(super) fn saved(plan: &Plan) -> String {
    let names: Vec<&str> = plan.news().map(|new| new.name.as_str()).collect();
    match names.as_slice() {
        [] => "no server was added".to_owned(),
        names => format!(
            "added {} to {}: {}",
            counted(names.len(), "server"),
            plan.ours,
            names.join(", ")
        ),
    }
}

pub(super) fn json(plan: &Plan, bill: Option<&Bill>, is_saved: bool) -> Value {
    let server = |planned: &Planned| {
        let (fate, why) = match &planned.fate {
            Fate::New => ("new", None),
            Fate::Known => ("known", None),
            Fate::Left(why) => ("left", Some(why)),
        };
        let names: Vec<&String> = planned.secrets.iter().map(|(name, _)| name).collect();
        json!({
            "name": planned.found.name, "as": planned.name, "enabled": planned.found.is_enabled, "fate": fate, "why": why,
            "entry": planned.entry, "secrets": names, "notes": planned.found.notes, "gaps": planned.gaps,
            "variables": planned.variables,
        })
    };
    let servers: Vec<Value> = plan.all.iter().map(server).collect();
    json!({
        "client": plan.place.client.id(),
        "file": plan.place.path,
        "saved": is_saved,
        "into": plan.ours,
        "servers": servers,
        "bill": bill.map(Bill::json),
    })
}
