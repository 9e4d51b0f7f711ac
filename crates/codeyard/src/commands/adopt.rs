//! What `import` and `install` share: where clients keep their files here, and reading one.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use clients::{Client, Found, Place, Surroundings};
use config::{Host, Machine};

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
        let why = format!(
            "`{name}` is no client that codeyard knows; it knows {}",
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

/// A file that is not written as its client's is, or is just being written.
pub(super) fn unreadable(path: &Path, error: &dyn std::fmt::Display) -> Failure {
    let why = format!(
        "{}: {error}; nothing was changed. Mend the file, or try again if it was just being written",
        path.display()
    );
    Failure::new(Exit::Usage, why)
}
