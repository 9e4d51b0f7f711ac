//! What guests see of the host: system libraries, the interpreter, the managed environment and environment variables.

use std::fs;
use std::path::{Path, PathBuf};

use jail::spec::{Appearance, Tree};

use crate::guest_user::GuestUser;
use crate::python::{Environment, Interpreter};

/// The prefix that guests see if the interpreter's prefix is not a system directory. The path on the host would reveal
/// where users of the host keep their files.
const PYTHON_PREFIX: &str = "/opt/python";
/// System directories that programs and libraries need, if they exist.
const SYSTEM_DIRECTORIES: [&str; 9] = [
    "/usr/bin",
    "/usr/lib",
    "/usr/lib32",
    "/usr/lib64",
    "/usr/libexec",
    "/usr/share/zoneinfo",
    "/usr/share/fonts",
    "/usr/share/terminfo",
    "/etc/alternatives",
];
/// Names below `/` that are links on most systems and directories on some.
const ROOT_NAMES: [&str; 5] = ["bin", "sbin", "lib", "lib32", "lib64"];
/// Files of the host that the loader and libraries read. These files hold no secrets.
pub const COPIED_FILES: [&str; 2] = ["/etc/ld.so.cache", "/etc/mime.types"];

/// Why guests cannot see this interpreter.
#[derive(Debug, thiserror::Error)]
pub enum LayoutError {
    /// The interpreter is not below its own prefix.
    #[error("{executable} does not lie below its prefix {prefix}; name another Python in `[python] path`")]
    Outside {
        /// On the host.
        executable: String,
        /// On the host.
        prefix: String,
    },
}

/// The trees of the host that guests read and execute from.
#[derive(Debug)]
pub struct SystemView {
    /// Directories of the host, with their paths for guests.
    pub trees: Vec<Tree>,
    /// Symbolic links below `/`: name and target.
    pub links: Vec<(PathBuf, PathBuf)>,
    /// The interpreter's prefix as guests see it.
    pub prefix: PathBuf,
    /// The interpreter's executable as guests see it.
    pub executable: PathBuf,
}

impl SystemView {
    /// System directories and this interpreter.
    ///
    /// # Errors
    /// If the interpreter is outside its prefix.
    pub fn with(interpreter: &Interpreter) -> Result<Self, LayoutError> {
        let (mut trees, links) = system();
        let (prefix, executable) = place_interpreter(interpreter, &mut trees)?;
        Ok(Self {
            trees,
            links,
            prefix,
            executable,
        })
    }
}

/// Paths of the host that a session without a mount namespace reads and executes from: system libraries, the
/// interpreter, the managed environment.
///
/// # Errors
/// If the interpreter is outside its prefix.
pub fn readable(
    interpreter: &Interpreter,
    environment: Option<&Environment>,
) -> Result<Vec<PathBuf>, LayoutError> {
    let view = SystemView::with(interpreter)?;
    let links = view.links.into_iter().map(|(link, _)| link);
    let packages = environment.map(|environment| environment.site_packages.clone());
    let sources = view.trees.into_iter().map(|tree| tree.source);
    Ok(sources.chain(links).chain(packages).collect())
}

/// A tree with the same path on the host and for guests.
pub fn same_path(path: &Path) -> Tree {
    Tree {
        source: path.to_owned(),
        target: path.to_owned(),
    }
}

/// Adds the interpreter's prefix to the trees. Returns prefix and executable as guests see them.
fn place_interpreter(
    interpreter: &Interpreter,
    trees: &mut Vec<Tree>,
) -> Result<(PathBuf, PathBuf), LayoutError> {
    let Interpreter {
        base_prefix: prefix,
        executable,
        ..
    } = interpreter;
    let below = executable
        .strip_prefix(prefix)
        .map_err(|_| LayoutError::Outside {
            executable: executable.display().to_string(),
            prefix: prefix.display().to_string(),
        })?;
    if prefix == Path::new("/usr") {
        return Ok((prefix.clone(), executable.clone()));
    }
    if prefix == Path::new("/usr/local") {
        trees.extend(["bin", "lib"].iter().map(|name| same_path(&prefix.join(name))));
        return Ok((prefix.clone(), executable.clone()));
    }
    trees.push(Tree {
        source: prefix.clone(),
        target: PYTHON_PREFIX.into(),
    });
    Ok((PYTHON_PREFIX.into(), Path::new(PYTHON_PREFIX).join(below)))
}

/// The system's libraries and programs, and the links to them below `/`.
pub fn system() -> (Vec<Tree>, Vec<(PathBuf, PathBuf)>) {
    let mut trees: Vec<Tree> = SYSTEM_DIRECTORIES
        .iter()
        .map(Path::new)
        .filter(|path| path.is_dir())
        .map(same_path)
        .collect();
    let mut links = Vec::new();
    for name in ROOT_NAMES {
        let path = Path::new("/").join(name);
        match fs::read_link(&path) {
            Ok(target) => links.push((path, target)),
            Err(_) if path.is_dir() => trees.push(same_path(&path)),
            Err(_) => {}
        }
    }
    (trees, links)
}

/// The environment variables of a guest without Python.
pub fn plain_environment(appearance: Appearance) -> Vec<(String, String)> {
    let variables = common_environment("/usr/bin:/bin".to_owned(), appearance);
    variables
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

fn common_environment(path: String, appearance: Appearance) -> Vec<(&'static str, String)> {
    let user = GuestUser::of(appearance);
    vec![
        ("PATH", path),
        ("HOME", user.home.to_owned()),
        ("USER", user.name.to_owned()),
        ("LOGNAME", user.name.to_owned()),
        ("PWD", "/workspace".to_owned()),
        ("TMPDIR", "/tmp".to_owned()),
        ("LANG", "C.UTF-8".to_owned()),
        ("TZ", "UTC".to_owned()),
    ]
}

/// All environment variables of Python guests; none is copied from the host. `prefix` is the interpreter's prefix as guests
/// see it. `site` lists the directories of packages.
pub fn environment(
    prefix: &Path,
    interpreter: &Interpreter,
    site: &[&str],
    appearance: Appearance,
) -> Vec<(String, String)> {
    let prefix = prefix.display();
    let mut variables = common_environment(format!("{prefix}/bin:/usr/bin:/bin"), appearance);
    variables.extend([
        ("MPLBACKEND", "Agg".to_owned()),
        ("MPLCONFIGDIR", "/tmp/matplotlib".to_owned()),
        ("PYTHONDONTWRITEBYTECODE", "1".to_owned()),
        // BLAS threads do not survive the clone. Programs may start more BLAS threads themselves.
        ("OPENBLAS_NUM_THREADS", "1".to_owned()),
        ("OMP_NUM_THREADS", "1".to_owned()),
    ]);
    if !site.is_empty() {
        variables.push(("PYTHONPATH", site.join(":")));
    }
    if interpreter.libpython.is_some() && interpreter.base_prefix != Path::new("/usr") {
        variables.push(("LD_LIBRARY_PATH", format!("{prefix}/lib")));
    }
    variables
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}
