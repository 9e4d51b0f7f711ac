//! What `import` and `install` share: where clients keep their files here, and reading one.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use clients::{Client, Found, Place, Surroundings};
use environment::{Environment, Machine};
use registry::{Definition, DefinitionStatus, Secrets};
use serde_json::{Map, Value};
use upstream::ServerConfig;

use super::import::references;
use crate::exit::{Exit, Failure};

/// Where files are on this machine.
pub(super) fn surroundings() -> anyhow::Result<Surroundings> {
    let variable = |name: &str| Machine.var(name).ok().flatten().filter(|value| !value.is_empty());
    // A relative path is to be ignored, as the specification of these variables asks.
    let place = |name: &str| {
        variable(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let home = place("HOME").ok_or_else(|| {
        let why = "HOME is not set, so no client's files can be found; set it";
        Failure::new(Exit::Usage, why)
    })?;
    Ok(Surroundings {
        os: std::env::consts::OS.to_owned(),
        home,
        config: place("XDG_CONFIG_HOME"),
        app_data: place("APPDATA"),
        claude: place("CLAUDE_CONFIG_DIR"),
        codex: place("CODEX_HOME"),
        current: std::env::current_dir().unwrap_or_default(),
    })
}

/// The client of that name.
pub(super) fn client(name: &str) -> anyhow::Result<Client> {
    Client::of_id(name).ok_or_else(|| {
        let known: Vec<&str> = Client::ALL.iter().map(|client| client.id()).collect();
        let nearest = environment::nearest(name, known.iter().copied());
        let nearest = nearest.map_or(String::new(), |near| format!("did you mean `{near}`? "));
        let why = format!(
            "codeyard does not know a client `{name}`; {nearest}the clients are {}",
            known.join(", ")
        );
        Failure::new(Exit::Usage, why).into()
    })
}

/// The user's own file of a client: the one that is there, else the one to be made.
pub(super) fn own_file(client: Client, here: &Surroundings) -> Place {
    let files = here.files(client);
    let there = files.iter().find(|file| file.exists()).or(files.first());
    Place {
        client,
        path: there.cloned().unwrap_or_default(),
        project: None,
    }
}

/// The user's processes of a client, where the system lists them.
pub(super) fn running(client: Client) -> Vec<u32> {
    let me = rustix::process::geteuid().as_raw();
    let is_one = |directory: &Path| {
        let is_mine = directory.metadata().is_ok_and(|metadata| metadata.uid() == me);
        let name = std::fs::read_to_string(directory.join("comm")).unwrap_or_default();
        is_mine && client.processes().contains(&name.trim_end())
    };
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut found: Vec<u32> = processes
        .filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path())))
        .filter(|(_, directory)| is_one(directory))
        .map(|(pid, _)| pid)
        .collect();
    found.sort_unstable();
    found
}

/// What must be done for a client to see the change.
pub(super) fn restart(client: Client, running: &[u32]) -> String {
    match running.first() {
        Some(first) => format!("{client} is running (process {first}): restart it"),
        None => format!("restart {client} if it is open"),
    }
}

/// The text of a file.
pub(super) fn text_of(path: &Path, bytes: &[u8]) -> anyhow::Result<String> {
    let text = std::str::from_utf8(bytes);
    let why = |_| {
        Failure::new(
            Exit::Usage,
            format!("{}: holds bytes that are no UTF-8 text", path.display()),
        )
    };
    Ok(text.map_err(why)?.to_owned())
}

/// The servers in a client's text.
pub(super) fn servers(place: &Place, here: &Surroundings, text: &str) -> anyhow::Result<Vec<Found>> {
    let found = clients::read(place, &here.current, text);
    Ok(found.map_err(|error| unreadable(&place.path, &error))?)
}

/// A server of ours that codeyard uses.
///
/// # Errors
/// Why it does not use it, and what changes that, for a person.
pub(super) fn used<'d>(ours: &'d Definition, secrets: &Secrets<'_>) -> Result<&'d ServerConfig, String> {
    let enable = format!("`codeyard servers enable {}`", ours.name);
    let unset = unset(&ours.entry, secrets).join(", ");
    let remedy = match (ours.status, &ours.server) {
        (DefinitionStatus::Used, Some(server)) => return Ok(server),
        (DefinitionStatus::Used | DefinitionStatus::Mistaken, _) => {
            "`codeyard config check` says what is wrong with it".to_owned()
        }
        (DefinitionStatus::Unset, _) => format!("set {unset} where codeyard is started"),
        _ if unset.is_empty() => format!("{enable} changes that"),
        _ => format!("set {unset} where codeyard is started, then {enable}"),
    };
    Err(format!("codeyard has it and does not use it; {remedy}"))
}

/// The variables without which an entry cannot be used and that are not set here, each once.
fn unset(entry: &Value, secrets: &Secrets<'_>) -> Vec<String> {
    let is_unset = |name: &String| {
        let alone = format!("${{{name}}}");
        secrets.var(name) == Ok(None) && entry.to_string().contains(&alone)
    };
    references(entry).into_iter().filter(is_unset).collect()
}

/// What a server of a client is given: its definition with the variables of its `envFile`, before which those of `env` go, as in
/// the clients.
///
/// # Errors
/// Why the file cannot be used, for a person.
pub(super) fn with_env_file(
    found: &Found,
    definition: &Map<String, Value>,
    place: &Place,
    here: &Surroundings,
) -> Result<Map<String, Value>, String> {
    let mut definition = definition.clone();
    let Some(file) = &found.env_file else {
        return Ok(definition);
    };
    let pairs = env_file(file, place, here)
        .map_err(|why| format!("`envFile` ({file}) {why}; write its variables into `env`"))?;
    let env = definition
        .entry("env")
        .or_insert_with(|| Value::Object(Map::new()));
    for (name, value) in pairs {
        if let Some(env) = env.as_object_mut() {
            env.entry(name).or_insert_with(|| value.into());
        }
    }
    Ok(definition)
}

fn env_file(file: &str, place: &Place, here: &Surroundings) -> Result<Vec<(String, String)>, String> {
    let home = here.home.to_string_lossy();
    let path = file.replace("${HOME}", &home);
    let path = match (&place.project, path.strip_prefix("~/")) {
        _ if path.contains("${") => return Err("is whichever project is open".to_owned()),
        (_, Some(rest)) => here.home.join(rest),
        (Some(project), None) => project.join(&path),
        (None, None) if path.starts_with('/') => PathBuf::from(&path),
        (None, None) => return Err("counts from whichever project is open".to_owned()),
    };
    let bytes = Machine
        .read(&path)
        .map_err(|error| environment::why_unreadable(&error))?;
    let text = String::from_utf8(bytes).map_err(|_| "holds bytes that are no UTF-8 text".to_owned())?;
    let pairs =
        clients::env_file(&text).map_err(|line| format!("has a line that is no NAME=VALUE: line {line}"))?;
    // What is a text there would be a variable here.
    match pairs.iter().find(|(_, value)| value.contains("${")) {
        Some((name, _)) => Err(format!("has a `${{` in {name}")),
        None => Ok(pairs),
    }
}

/// A file that is not written as its client's is, or is just being written.
pub(super) fn unreadable(path: &Path, error: &dyn std::fmt::Display) -> Failure {
    let why = format!(
        "{}: {error}; nothing was changed. Mend the file, or try again if it was just being written",
        path.display()
    );
    Failure::new(Exit::Usage, why)
}
