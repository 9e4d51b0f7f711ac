//! Files that hold one secret.

use std::fs::File;
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use rustix::process::geteuid;

/// In bytes.
const MAX_BYTES: u64 = 64 * 1024;

/// Reads a file to which only the owner may have access.
///
/// # Errors
/// What is wrong with the file, and the remedy.
pub async fn read(file: PathBuf) -> Result<String, String> {
    let read = tokio::task::spawn_blocking(move || read_blocking(&file)).await;
    read.unwrap_or_else(|_panic| Err("it could not be read".to_owned()))
}

pub(crate) fn read_blocking(file: &Path) -> Result<String, String> {
    let why = |error: io::Error| error.to_string();
    // Without `NONBLOCK`, opening a pipe would block.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let handle = rustix::fs::open(file, flags, Mode::empty()).map_err(|error| why(error.into()))?;
    let handle = File::from(handle);
    let metadata = handle.metadata().map_err(why)?;
    if !metadata.is_file() || metadata.len() > MAX_BYTES {
        return Err("it is not a file with a token".to_owned());
    }
    if metadata.uid() != geteuid().as_raw() {
        return Err("it belongs to another user, who may read and change it".to_owned());
    }
    if metadata.permissions().mode() & 0o077 != 0 {
        return Err("others may read it; run `chmod 600` on it".to_owned());
    }
    let text = io::read_to_string(handle).map_err(why)?;
    let secret = text.trim();
    if secret.is_empty() {
        return Err("it is empty".to_owned());
    }
    Ok(secret.to_owned())
}
