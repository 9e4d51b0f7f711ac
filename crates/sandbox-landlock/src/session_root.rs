//! The directory in which this process keeps the files of its sessions.
//!
//! The directory is removed when the process ends.
//!
//! ```text
//! <root>/<lease>/guest/            the guest's Python package
//! <root>/<lease>/trees/<name>/     copies of the tree of tools and skills
//! <root>/<lease>/s<number>/        one session
//! ```

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use jail::lease::Lease;
use jail::machine::Machine;

/// The directory for root. Sessions have other users, and these users must be able to pass through all parent
/// directories.
const OF_ROOT: &str = "/var/lib/codeyard/landlock";
/// Configuration of fontconfig: the path of fonts. Their cache is in the session's home.
const FONTS: &str = "<?xml version=\"1.0\"?>\n<fontconfig><dir>/usr/share/fonts</dir>\
                     <cachedir prefix=\"xdg\">fontconfig</cachedir></fontconfig>\n";
/// Every user may pass through the directory, and no user except the owner may list it.
const PASSAGE: u32 = 0o711;

#[derive(Debug)]
pub struct SessionRoot {
    path: PathBuf,
}

/// Why the directory cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum RootError {
    /// A step failed.
    #[error("{}: {cause}", .path.display())]
    Step {
        /// The directory.
        path: PathBuf,
        /// The system's error.
        cause: io::Error,
    },
    /// Sessions cannot pass through this parent directory.
    #[error("sessions cannot pass through {}; as root: `chmod o+x {}`", .0.display(), .0.display())]
    Closed(PathBuf),
}

impl SessionRoot {
    /// Makes an empty directory for the holder of a lease. For an ordinary user the directory is below the data
    /// directory.
    pub fn make(data: &Path, lease: &Lease, machine: &Machine) -> Result<Self, RootError> {
        let is_root = machine.user == 0;
        let parent = if is_root {
            PathBuf::from(OF_ROOT)
        } else {
            data.join("run/landlock")
        };
        let path = parent.join(lease.slot().to_string());
        let step = |cause| RootError::Step {
            path: path.clone(),
            cause,
        };
        // A killed holder of the same lease may have left files.
        jail::keeper::remove_tree(&path);
        DirBuilder::new()
            .recursive(true)
            .mode(if is_root { PASSAGE } else { 0o700 })
            .create(&path)
            .map_err(step)?;
        let root = Self {
            path: path.canonicalize().map_err(step)?,
        };
        if is_root && let Some(closed) = closed_above(&root.path) {
            return Err(RootError::Closed(closed));
        }
        root.write_guest().map_err(step)?;
        make(&root.tool_trees()).map_err(step)?;
        Ok(root)
    }

    pub fn guest(&self) -> PathBuf {
        self.path.join("guest")
    }

    pub fn fonts(&self) -> PathBuf {
        self.guest().join("fonts.conf")
    }

    /// Copies of trees of tools that sessions share.
    pub fn tool_trees(&self) -> PathBuf {
        self.path.join("trees")
    }

    /// The path of a session's directory, which does not exist yet.
    pub fn session(&self, number: u64) -> PathBuf {
        self.path.join(format!("s{number}"))
    }

    /// Removes the directory. All sessions must have ended.
    pub fn remove(&self) {
        jail::keeper::remove_tree(&self.path);
    }

    fn write_guest(&self) -> io::Result<()> {
        let python = guest::python_files()
            .iter()
            .map(|file| (self.guest().join(file.path), file.bytes));
        for (path, bytes) in python.chain([(self.fonts(), FONTS.as_bytes())]) {
            if let Some(parent) = path.parent() {
                make(parent)?;
            }
            fs::write(&path, bytes)?;
            fs::set_permissions(&path, Permissions::from_mode(0o644))?;
        }
        Ok(())
    }
}

/// Makes a directory and its missing parents. Every user may read the directory.
pub fn make(directory: &Path) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    fs::set_permissions(directory, Permissions::from_mode(0o755))
}

/// The first parent directory of a path, or the path itself, that other users may not pass through.
pub fn closed_above(path: &Path) -> Option<PathBuf> {
    const PASS: u32 = 0o001;
    let mut above: Vec<&Path> = path.ancestors().collect();
    above.reverse();
    let closed = |path: &&Path| !fs::metadata(path).is_ok_and(|found| found.mode() & PASS != 0);
    above.into_iter().find(closed).map(Path::to_owned)
}
