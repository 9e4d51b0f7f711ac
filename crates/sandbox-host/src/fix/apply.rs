//! Applies the steps of a plan.
//!
//! Each file is written atomically, and no existing file is replaced.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _, fchown};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::step::{Action, FixStep};

const MODE: u32 = 0o644;

/// Why a step failed. Earlier actions of the step stay in effect.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    /// A file could not be written.
    #[error("{path}: {cause}")]
    File {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        cause: io::Error,
    },
    /// The file was written after the plan was made.
    #[error("{0} is there by now; look at it, and plan again")]
    Exists(PathBuf),
    /// Another program is changing the list.
    #[error("{0} is there: another program changes the list; try again, or remove it if none does")]
    Locked(PathBuf),
    /// A command could not be started or failed.
    #[error("`{command}` {cause}")]
    Command {
        /// The command.
        command: String,
        /// The failure.
        cause: String,
    },
}

/// Applies one step to the machine whose files are below `root`.
///
/// # Errors
/// The first action that failed.
pub fn apply(step: &FixStep, root: &Path) -> Result<(), ApplyError> {
    step.actions.iter().try_for_each(|action| match action {
        Action::Write { path, content } => write(&below(root, path), content),
        Action::Append { path, line } => append(&below(root, path), line),
        Action::Run { command } => run(command),
    })
}

fn below(root: &Path, path: &Path) -> PathBuf {
    root.join(path.strip_prefix("/").unwrap_or(path))
}

/// Writes a new file next to its path, then links the file at the path. The link fails if the path exists.
fn write(path: &Path, content: &str) -> Result<(), ApplyError> {
    let named = file_error(path);
    let directory = path.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(directory).map_err(&named)?;
    let temporary = beside(path);
    let mut file = create(&temporary).map_err(&named)?;
    let written = file
        .write_all(content.as_bytes())
        .and_then(|()| file.sync_all())
        .and_then(|()| fs::hard_link(&temporary, path));
    // The temporary name is useless now: the file is linked at its path, or the link failed.
    let _ = fs::remove_file(&temporary);
    match written {
        Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => {
            Err(ApplyError::Exists(path.to_path_buf()))
        }
        written => written.map_err(named),
    }
}

/// Appends a line to a list by replacing the file. Takes the same lock as the system's own tools.
fn append(path: &Path, line: &str) -> Result<(), ApplyError> {
    let named = file_error(path);
    let _lock = Lock::take(path)?;
    let path = &followed(path).map_err(&named)?;
    let old = match fs::read_to_string(path) {
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => String::new(),
        read => read.map_err(&named)?,
    };
    let end = if old.is_empty() || old.ends_with('\n') {
        ""
    } else {
        "\n"
    };
    let temporary = beside(path);
    let written = create(&temporary).and_then(|mut file| {
        if let Ok(metadata) = fs::metadata(path) {
            file.set_permissions(metadata.permissions())?;
            fchown(&file, Some(metadata.uid()), Some(metadata.gid()))?;
        }
        file.write_all(format!("{old}{end}{line}\n").as_bytes())?;
        file.sync_all()?;
        fs::rename(&temporary, path)
    });
    if written.is_err() {
        // Report the first error, not a failure of this removal.
        let _ = fs::remove_file(&temporary);
    }
    written.map_err(named)
}

/// Resolves a symbolic link, so that the change replaces the link's target and not the link.
fn followed(path: &Path) -> io::Result<PathBuf> {
    match fs::symlink_metadata(path) {
        Ok(_) => fs::canonicalize(path),
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(path.to_path_buf()),
        Err(cause) => Err(cause),
    }
}

struct Lock(PathBuf);

impl Lock {
    fn take(list: &Path) -> Result<Self, ApplyError> {
        let path = with_suffix(list, ".lock");
        let made = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path);
        match made {
            Ok(mut file) => {
                let lock = Self(path);
                file.write_all(std::process::id().to_string().as_bytes())
                    .map_err(file_error(list))?;
                Ok(lock)
            }
            Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => Err(ApplyError::Locked(path)),
            Err(cause) => Err(ApplyError::File { path, cause }),
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // The file is missing only if a person has removed it.
        let _ = fs::remove_file(&self.0);
    }
}

fn run(command: &[String]) -> Result<(), ApplyError> {
    let failed = |cause: String| ApplyError::Command {
        command: command.join(" "),
        cause,
    };
    let Some((program, arguments)) = command.split_first() else {
        return Ok(());
    };
    #[expect(
        clippy::disallowed_methods,
        reason = "an administrator's command, waited for and told"
    )]
    let status = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        // A person reads the command's output, so it goes to standard error. Standard output is for the report.
        .stdout(io::stderr())
        .status()
        .map_err(|cause| failed(format!("cannot be started: {cause}")))?;
    if status.success() {
        Ok(())
    } else {
        Err(failed(format!("failed ({status})")))
    }
}

fn create(path: &Path) -> io::Result<File> {
    // A killed run left this file.
    let _ = fs::remove_file(path);
    let file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(MODE)
        .open(path)?;
    // Users' programs must be able to read these files, whatever root's umask is.
    file.set_permissions(Permissions::from_mode(MODE))?;
    Ok(file)
}

fn beside(path: &Path) -> PathBuf {
    with_suffix(path, &format!(".codeyard-{}", std::process::id()))
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

fn file_error(path: &Path) -> impl Fn(io::Error) -> ApplyError {
    let path = path.to_path_buf();
    move |cause| ApplyError::File {
        path: path.clone(),
        cause,
    }
}
