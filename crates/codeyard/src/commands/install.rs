//! `codeyard install`: replaces a client's servers by codeyard, or restores them.

mod client_list;
mod http;
mod undo;

use std::path::{Path, PathBuf};

use adoption::{EditedFile, FileMode, Installer, KnownServers, Replacement};
use clients::{Change, Client, OwnEntry};
use environment::Machine;
use serde_json::{Value, json};
use store::Database;

use self::http::HttpConnection;
use super::servers::definitions::{open_file, secrets};
use crate::ask::agreed;
use crate::cli::InstallArguments;
use crate::context::{Context, principal};
use crate::exit::{Exit, Failure};
use crate::output::harmless;

pub fn run(context: &Context, arguments: &InstallArguments) -> anyhow::Result<Exit> {
    let here = adoption::surroundings().map_err(Failure::from)?;
    let Some(name) = &arguments.client else {
        return client_list::run(context, &here, arguments);
    };
    let client = adoption::client_by_name(name).map_err(Failure::from)?;
    let place = adoption::own_file(client, &here);
    if arguments.undo {
        return undo::run(context, &place, arguments);
    }
    let connection = HttpConnection::new(client, arguments)?;
    let file = EditedFile::open(&place.path, client).map_err(Failure::from)?;
    let before = adoption::text_of(&file.path, file.bytes()).map_err(Failure::from)?;
    let found = adoption::read_servers(&place, &here, &before).map_err(Failure::from)?;
    let loaded = context.load_settings()?;
    let (ours, data) = (open_file(context)?, loaded.data_dir.clone());
    let installer = Installer {
        known: &KnownServers {
            definitions: registry::list_definitions(&context.sources(), &Machine),
            executable: context.program()?.executable,
            forbids: &|server, tool| loaded.forbids(&principal(), server, tool),
        },
        here: &here,
        place: &place,
        file: &ours,
        secrets: &secrets(&data)?,
    };
    let kept = connection.as_ref().and_then(HttpConnection::keeps_servers);
    let replacement = match kept {
        Some(why) => Replacement::none(&found, why),
        None => installer.decide(&found),
    };
    let (entry, variables) = match &connection {
        Some(connection) => (OwnEntry::Http(connection.entry.clone()), Vec::new()),
        None => {
            let entry = installer.process_entry(start_arguments(context)?);
            let variables = entry.passed.clone();
            (OwnEntry::Process(entry), variables)
        }
    };
    let change = Change {
        entry,
        take: replacement.taken.clone(),
    };
    let refused = |error| {
        let why = format!("{}: {error}; nothing was changed", file.path.display());
        Failure::new(Exit::Usage, why)
    };
    let after = clients::change(client, &before, &change).map_err(refused)?;
    let mut report = InstallReport {
        client,
        file: &file,
        replacement: &replacement,
        connection: connection.as_ref(),
        variables: &variables,
        running: adoption::running_processes(client),
        is_changed: false,
        backup: None,
    };
    if after == before {
        return report.tell(
            context,
            arguments,
            "codeyard is installed there already; nothing was changed",
        );
    }
    if !arguments.json {
        let mut shown = clients::own_texts(client, &clients::fresh(client, &change.entry));
        shown.extend(change.take.iter().map(|taken| taken.name.clone()));
        let diff = adoption::diff(client, &before, &after, &shown);
        context.output.print(&report.preview(&diff))?;
    }
    if arguments.dry_run {
        return report.tell(context, arguments, "this was a dry run: nothing was changed");
    }
    if !arguments.yes && !agreed(&context.output, &format!("change {}?", file.path.display()))? {
        context.output.tell("nothing was changed");
        return Ok(Exit::Done);
    }
    let mode = connection
        .as_ref()
        .map_or(FileMode::Kept, HttpConnection::file_mode);
    report.backup =
        adoption::install(&file, &data, client, &after, &replacement.taken, mode).map_err(Failure::from)?;
    let summary = format!(
        "codeyard is installed in {client}; {}. `codeyard install {} --undo` takes it back",
        restart(client, &report.running),
        client.id()
    );
    report.is_changed = true;
    report.tell(context, arguments, &summary)
}

/// How to make the client read the changed file.
fn restart(client: Client, running: &[u32]) -> String {
    match running.first() {
        Some(first) => format!("{client} is running (process {first}): restart it"),
        None => format!("restart {client} if it is open"),
    }
}

/// The arguments with which the client must start codeyard: those of this process.
///
/// # Errors
/// An argument is a secret, which would end up in the client's file.
fn start_arguments(context: &Context) -> anyhow::Result<Vec<String>> {
    let arguments = context.settings_arguments();
    let mut args = vec!["mcp".to_owned()];
    if let Some(url) = &arguments.database {
        args.extend(["--database".to_owned(), without_secrets(url)?]);
    }
    let mut option = |name: &str, path: &Path| {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
        args.extend([name.to_owned(), path.to_string_lossy().into_owned()]);
    };
    for file in &arguments.sources.files {
        option("--config", file);
    }
    if let Some(settings) = &arguments.settings {
        option("--settings", settings);
    }
    if let Some(data) = &arguments.sources.data {
        option("--data", data);
    }
    Ok(args)
}

/// The database URL for a client's file.
fn without_secrets(url: &str) -> anyhow::Result<String> {
    let database: Database = url
        .parse()
        .map_err(|error| Failure::new(Exit::Usage, format!("--database: {error}")))?;
    match database.file() {
        Some(file) => Ok(format!("sqlite:{}", std::path::absolute(file)?.display())),
        None if database.to_string() == url => Ok(url.to_owned()),
        None => {
            let why = "--database: the client's file would hold the password; leave it out here, and give the client \
                the variable CODEYARD_DATABASE_URL, or ~/.pgpass the password";
            Err(Failure::new(Exit::Usage, why).into())
        }
    }
}

struct InstallReport<'a> {
    client: Client,
    file: &'a EditedFile,
    replacement: &'a Replacement,
    /// `None` if the client starts codeyard.
    connection: Option<&'a HttpConnection>,
    /// Variables of this process that codeyard's servers refer to.
    variables: &'a [String],
    running: Vec<u32>,
    is_changed: bool,
    /// The copy of the original file, once written.
    backup: Option<PathBuf>,
}

impl InstallReport<'_> {
    fn taken_names(&self) -> Vec<&str> {
        let taken = self.replacement.taken.iter();
        taken.map(|taken| taken.name.as_str()).collect()
    }

    fn preview(&self, diff: &str) -> String {
        let client = self.client;
        let mut out = format!("{client}: {}\n", self.file.path.display());
        if let Some(link) = &self.file.link {
            out.push_str(&format!(
                "the file is a link at {}, which stays\n",
                link.display()
            ));
        }
        out.push_str(diff);
        if !self.replacement.taken.is_empty() {
            let names = self.taken_names().join(", ");
            out.push_str(&if client.can_disable() {
                format!("disabled in {client}, and used by codeyard: {names}\n")
            } else {
                format!("taken out of {client}, which cannot disable one, and used by codeyard: {names}\n")
            });
        }
        for note in &self.replacement.notes {
            out.push_str(&format!("{note}\n"));
        }
        for (name, why) in &self.replacement.skipped {
            out.push_str(&format!("`{name}` stays as it is: {why}\n"));
        }
        if !self.variables.is_empty() {
            let names = self.variables.join(", ");
            out.push_str(&if client.hands_on() {
                format!("{client} hands codeyard these variables, which servers refer to; they must be set where {client} is started: {names}\n")
            } else {
                format!("{client} passes on only the variables that it is started with; set these there, or the servers that refer to them are not used: {names}\n")
            });
        }
        for note in self
            .connection
            .iter()
            .flat_map(|connection| connection.notes(client))
        {
            out.push_str(&format!("{note}\n"));
        }
        harmless(&out)
    }

    fn tell(&self, context: &Context, arguments: &InstallArguments, summary: &str) -> anyhow::Result<Exit> {
        if arguments.json {
            let left: Vec<Value> = self
                .replacement
                .skipped
                .iter()
                .map(|(name, why)| json!({"name": name, "why": why}))
                .collect();
            context.output.json(&json!({
                "client": self.client.id(), "file": self.file.path, "changed": self.is_changed, "taken": self.taken_names(),
                "disabled_in_place": self.client.can_disable(), "left": left, "notes": self.replacement.notes, "backup": self.backup,
                "variables": self.variables, "running": self.running,
                "url": self.connection.map(|connection| &connection.entry.url),
                "token_in": self.connection.and_then(HttpConnection::token_word),
            }))?;
        } else {
            if let Some(backup) = &self.backup {
                context
                    .output
                    .line(&format!("the original file is saved as {}", backup.display()))?;
            }
            context.output.line(summary)?;
        }
        Ok(Exit::Done)
    }
}
