//! The clients of this machine with servers.

use adoption::{own_file, read_servers, text_of};
use clients::{Client, Surroundings};
use environment::{Environment, Machine};
use serde_json::{Value, json};

use crate::context::Context;
use crate::exit::Exit;
use crate::output::{OutputFormat, table};

pub(super) fn run(context: &Context, here: &Surroundings, format: OutputFormat) -> anyhow::Result<Exit> {
    let mut rows = vec![
        ["client", "name", "servers", "in use", "file"]
            .map(str::to_owned)
            .to_vec(),
    ];
    let mut all: Vec<Value> = Vec::new();
    for client in Client::ALL {
        let place = own_file(client, here);
        let Ok(bytes) = Machine.read(&place.path) else {
            continue;
        };
        let found = text_of(&place.path, &bytes).and_then(|text| read_servers(&place, here, &text));
        let path = place.path.display().to_string();
        match found {
            Ok(found) => {
                let all_servers = found.iter().filter(|found| found.definition.is_ok());
                let used = all_servers.clone().filter(|found| found.is_enabled).count();
                let number = all_servers.count();
                rows.push(vec![
                    client.to_string(),
                    client.id().to_owned(),
                    number.to_string(),
                    used.to_string(),
                    path.clone(),
                ]);
                all.push(json!({"client": client.id(), "file": path, "servers": number, "enabled": used, "problem": null}));
            }
            Err(error) => {
                rows.push(vec![
                    client.to_string(),
                    client.id().to_owned(),
                    "-".to_owned(),
                    "-".to_owned(),
                    error.to_string(),
                ]);
                all.push(json!({"client": client.id(), "file": path, "servers": null, "enabled": null, "problem": error.to_string()}));
            }
        }
    }
    let output = &context.output;
    if format == OutputFormat::Json {
        output.json(&json!({ "clients": all }))?;
    } else if all.is_empty() {
        output.line("no client's file was found; `codeyard import PATH` reads one anywhere, `codeyard servers add` adds a server")?;
    } else {
        output.print(&table(&rows))?;
        output.line("`codeyard import NAME` takes the servers of one over")?;
    }
    Ok(Exit::Done)
}
