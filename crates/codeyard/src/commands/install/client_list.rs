//! Lists the known clients: where their files are, and which have codeyard installed.

use std::path::Path;

use adoption::{is_installed, own_file};
use clients::{Client, Surroundings};
use serde_json::json;

use crate::cli::InstallArguments;
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::output::{harmless, table};

struct ClientRow {
    client: Client,
    file: String,
    /// Judged by the client's files.
    is_found: bool,
    /// An error says why this is unknown.
    is_installed: Result<bool, String>,
}

pub(super) fn run(
    context: &Context,
    here: &Surroundings,
    arguments: &InstallArguments,
) -> anyhow::Result<Exit> {
    let only_listed = [
        ("--url", arguments.url.is_some()),
        ("--undo", arguments.undo),
        ("--dry-run", arguments.dry_run),
        ("--yes", arguments.yes),
    ];
    if let Some((option, _)) = only_listed.iter().find(|(_, is_given)| *is_given) {
        let why = format!(
            "{option} needs the client: `codeyard install CLIENT {option}`; `codeyard install` lists them"
        );
        return Err(Failure::new(Exit::Usage, why).into());
    }
    let rows: Vec<ClientRow> = Client::ALL
        .iter()
        .map(|client| ClientRow::of(*client, here))
        .collect();
    let output = &context.output;
    if arguments.json {
        let all: Vec<_> = rows.iter().map(ClientRow::json).collect();
        output.json(&json!({ "clients": all }))?;
        return Ok(Exit::Done);
    }
    let mut lines = vec![
        ["name", "client", "found", "codeyard", "file"]
            .map(str::to_owned)
            .to_vec(),
    ];
    lines.extend(rows.iter().map(ClientRow::cells));
    output.print(&table(&lines))?;
    output.line("`codeyard install NAME` puts codeyard into one; `codeyard install NAME --dry-run` shows the change first")?;
    Ok(Exit::Done)
}

// === impl ClientRow ===

impl ClientRow {
    fn of(client: Client, here: &Surroundings) -> ClientRow {
        let path = own_file(client, here).path;
        // A client creates its directory on first start; a file directly in the home directory proves nothing.
        let directory = path.parent().filter(|directory| *directory != here.home);
        ClientRow {
            client,
            file: path.display().to_string(),
            is_found: path.exists() || directory.is_some_and(Path::exists),
            is_installed: is_installed(client, &path),
        }
    }

    fn cells(&self) -> Vec<String> {
        let word = |is: bool| if is { "yes" } else { "no" };
        let installed = match &self.is_installed {
            Ok(true) => "installed".to_owned(),
            Ok(false) => "-".to_owned(),
            Err(why) => format!("unreadable: {}", harmless(why)),
        };
        vec![
            self.client.id().to_owned(),
            self.client.to_string(),
            word(self.is_found).to_owned(),
            installed,
            self.file.clone(),
        ]
    }

    fn json(&self) -> serde_json::Value {
        json!({
            "client": self.client.id(), "file": self.file, "found": self.is_found,
            "installed": self.is_installed.as_ref().ok(), "problem": self.is_installed.as_ref().err(),
        })
    }
}
