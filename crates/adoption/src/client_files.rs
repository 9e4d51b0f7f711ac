//! Finds clients' files on this machine, and the servers in these files.

use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use clients::{Client, ClientFile, ClientServer, Surroundings};
use environment::{Environment, Machine, nearest, why_unreadable};

use crate::error::AdoptionError;

/// The facts of this machine that decide the paths of clients' files.
///
/// # Errors
/// If `HOME` is not set.
pub fn surroundings() -> Result<Surroundings, AdoptionError> {
    let variable = |name: &str| Machine.var(name).ok().flatten().filter(|value| !value.is_empty());
    // The XDG specification says to ignore relative paths.
    let path = |name: &str| {
        variable(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    Ok(Surroundings {
        os: std::env::consts::OS.to_owned(),
        home: path("HOME").ok_or(AdoptionError::NoHome)?,
        config: path("XDG_CONFIG_HOME"),
        app_data: path("APPDATA"),
        claude: path("CLAUDE_CONFIG_DIR"),
        codex: path("CODEX_HOME"),
        current: Machine.current_dir().unwrap_or_default(),
    })
}

/// Finds the client with this name.
///
/// # Errors
/// If no client has the name; the error suggests the nearest.
pub fn client_by_name(name: &str) -> Result<Client, AdoptionError> {
    Client::of_id(name).ok_or_else(|| {
        let known: Vec<&str> = Client::ALL.iter().map(|client| client.id()).collect();
        let nearest = nearest(name, known.iter().copied());
        AdoptionError::UnknownClient {
            name: name.to_owned(),
            hint: nearest.map_or(String::new(), |near| format!("did you mean `{near}`? ")),
            known: known.join(", "),
        }
    })
}

/// A client's file in the home directory: the existing file, or the path where the client would create it.
pub fn own_file(client: Client, here: &Surroundings) -> ClientFile {
    let files = here.files(client);
    let existing = files.iter().find(|file| file.exists()).or(files.first());
    ClientFile {
        client,
        path: existing.cloned().unwrap_or_default(),
        project: None,
    }
}

/// The client to which the file at a path belongs. A client's own file is also recognised through links and `..`.
///
/// # Errors
/// If the file cannot be read, or belongs to no client.
pub fn place_of(path: &Path, here: &Surroundings) -> Result<ClientFile, AdoptionError> {
    let path = without_directory_links(&here.current.join(path));
    let text = read_text(&path)?;
    let is_it = |place: &ClientFile| {
        without_directory_links(&place.path) == path
            || place.path.canonicalize().ok() == path.canonicalize().ok()
    };
    match Client::ALL
        .map(|client| own_file(client, here))
        .into_iter()
        .find(is_it)
    {
        Some(own) => Ok(own),
        None => here
            .place_of(&path, &text)
            .map_err(|cause| AdoptionError::Format { file: path, cause }),
    }
}

/// Resolves links and `..` in the directory. The file itself may be a link: its project is the link's
/// directory.
fn without_directory_links(path: &Path) -> PathBuf {
    let directory = path.parent().and_then(|directory| directory.canonicalize().ok());
    match (directory, path.file_name()) {
        (Some(directory), Some(name)) => directory.join(name),
        _ => path.to_path_buf(),
    }
}

/// The text of a file to import from.
///
/// # Errors
/// If the file is missing, unreadable, or not UTF-8.
pub fn read_text(path: &Path) -> Result<String, AdoptionError> {
    let bytes = Machine.read(path).map_err(|error| AdoptionError::NoSource {
        file: path.to_path_buf(),
        reason: match error.kind() {
            io::ErrorKind::NotFound => {
                "does not exist; `codeyard import` lists the clients that have servers here".to_owned()
            }
            _ => why_unreadable(&error),
        },
    })?;
    text_of(path, &bytes)
}

/// A file's content as text.
///
/// # Errors
/// If the content is not UTF-8.
pub fn text_of(path: &Path, bytes: &[u8]) -> Result<String, AdoptionError> {
    let text = std::str::from_utf8(bytes);
    Ok(text
        .map_err(|_| AdoptionError::NotText(path.to_path_buf()))?
        .to_owned())
}

/// The servers in the text of a client's file.
///
/// # Errors
/// If the text does not have the client's format.
pub fn read_servers(
    place: &ClientFile,
    here: &Surroundings,
    text: &str,
) -> Result<Vec<ClientServer>, AdoptionError> {
    clients::read(place, &here.current, text).map_err(|cause| AdoptionError::Format {
        file: place.path.clone(),
        cause,
    })
}

/// Process ids of a client that runs as this user, according to `/proc`.
pub fn running_processes(client: Client) -> Vec<u32> {
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
