//! Where sessions have their files: a directory of this process's own, which goes with it.
//!
//! ```text
//! <place>/<lease>/guest/            the guest's Python package
//! <place>/<lease>/trees/<name>/     copies of the tree of tools and skills
//! <place>/<lease>/s<number>/        one session
//! ```

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Where it is as root: sessions are other users, who must be able to pass through all that lies above.
const OF_ROOT: &str = "/var/lib/codeyard/landlock";
/// Where fonts are; their cache is in the session's home.
const FONTS: &str = "<?xml version=\"1.0\"?>\n<fontconfig><dir>/usr/share/fonts</dir>\
                     <cachedir prefix=\"xdg\">fontconfig</cachedir></fontconfig>\n";
/// Everybody passes, nobody lists.
const PASSAGE: u32 = 0o711;

/// The directory of one process.
#[derive(Debug)]
pub struct Place {
    path: PathBuf,
}

/// Why there is none.
#[derive(Debug, thiserror::Error)]
pub enum PlaceError {
    /// A step failed.
    #[error("{}: {cause}", .path.display())]
    Step {
        /// Where.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// Sessions could not get there.
    #[error("sessions cannot pass through {}; as root: `chmod o+x {}`", .0.display(), .0.display())]
    Closed(PathBuf),
}

impl Place {
    /// Makes the place of the holder of a lease, empty. An ordinary user's is below the data directory.
    pub fn make(data: &Path, lease: &str, is_root: bool) -> Result<Self, PlaceError> {
        let parent = if is_root {
            PathBuf::from(OF_ROOT)
        } else {
            data.join("run/landlock")
        };
        let path = parent.join(lease);
        let step = |cause| PlaceError::Step {
            path: path.clone(),
            cause,
        };
        // What a holder that was killed has left.
        jail::keeper::remove_tree(&path);
        DirBuilder::new()
            .recursive(true)
            .mode(if is_root { PASSAGE } else { 0o700 })
            .create(&path)
            .map_err(step)?;
        let place = Self {
            path: path.canonicalize().map_err(step)?,
        };
        if is_root && let Some(closed) = closed_above(&place.path) {
            return Err(PlaceError::Closed(closed));
        }
        place.write_guest().map_err(step)?;
        make(&place.trees()).map_err(step)?;
        Ok(place)
    }

    /// The guest's Python package is below it.
    pub fn guest(&self) -> PathBuf {
        self.path.join("guest")
    }

    /// What libraries are told of fonts.
    pub fn fonts(&self) -> PathBuf {
        self.guest().join("fonts.conf")
    }

    /// Copies of trees that sessions share.
    pub fn trees(&self) -> PathBuf {
        self.path.join("trees")
    }

    /// The directory of a session, which is not there yet.
    pub fn session(&self, number: u64) -> PathBuf {
        self.path.join(format!("s{number}"))
    }

    /// Removes all of it; no session may be left.
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

/// Makes a directory, and what is missing above it, that everybody may read.
pub fn make(directory: &Path) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    fs::set_permissions(directory, Permissions::from_mode(0o755))
}

/// The first directory above a path, or the path itself, that not everybody may pass through.
pub fn closed_above(path: &Path) -> Option<PathBuf> {
    const PASS: u32 = 0o001;
    let mut above: Vec<&Path> = path.ancestors().collect();
    above.reverse();
    let closed = |path: &&Path| !fs::metadata(path).is_ok_and(|found| found.mode() & PASS != 0);
    above.into_iter().find(closed).map(Path::to_owned)
}
