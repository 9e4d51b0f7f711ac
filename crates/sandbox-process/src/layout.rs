//! What sessions see of the host: system libraries, the interpreter, the managed environment; nothing else.

use std::fs;
use std::path::{Path, PathBuf};

use jail::guards::Removed;
use jail::spec::{Appearance, Counting, Estate, Identity, TextFile, Tree, ZygoteSpec};
use serde_json::json;

use crate::appearance::Person;
use crate::config::Floor;
use crate::python::{Environment, GUEST_SITE_PACKAGES, Interpreter};

/// Where an interpreter lies inside whose prefix is no system directory: its path on the host would tell about the host.
const OWN_PREFIX: &str = "/opt/python";
/// System directories that programs and libraries need, if they exist.
const SYSTEM: [&str; 9] = [
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
/// Directories of the root that are links on most systems and real on some.
const ROOTS: [&str; 5] = ["bin", "sbin", "lib", "lib32", "lib64"];
/// Beginnings of paths that mean something else in sessions.
const TAKEN: [&str; 20] = [
    "at",
    "bin",
    "dev",
    "etc",
    "home",
    "k",
    "lib",
    "lib32",
    "lib64",
    "opt",
    "proc",
    "results",
    "rw",
    "sbin",
    "scratch",
    "skills",
    "tmp",
    "tools",
    "usr",
    "workspace",
];
/// Where fonts are and where their cache may be: matplotlib asks for both.
const FONTS: &str = "<?xml version=\"1.0\"?>\n<fontconfig><dir>/usr/share/fonts</dir>\
                     <cachedir>/tmp/fontconfig</cachedir></fontconfig>\n";
/// Small files of the host, not secret: what the loader and libraries look up.
pub const COPIES: [&str; 2] = ["/etc/ld.so.cache", "/etc/mime.types"];

/// Why no template can be described.
#[derive(Debug, thiserror::Error)]
pub enum LayoutError {
    /// The interpreter is not below its own prefix.
    #[error("{executable} does not lie below its prefix {prefix}; name another Python in `[python] path`")]
    Outside {
        /// The executable.
        executable: String,
        /// Its prefix.
        prefix: String,
    },
}

/// Everything a zygote is made from.
pub struct Plan<'a> {
    /// The machine's Python.
    pub interpreter: &'a Interpreter,
    /// The managed environment, if it was made.
    pub environment: Option<&'a Environment>,
    /// `plain` or `data`.
    pub profile: &'a str,
    /// Who it is outside.
    pub identity: Identity,
    /// What its sessions look like from inside.
    pub appearance: Appearance,
    /// Whether a cgroup counts kernel memory.
    pub memory: Counting,
    /// What a killed host leaves.
    pub estate: Estate,
    /// Whether unconfined guests can be had.
    pub floor: Floor,
    /// Whether sessions may execute files of their own.
    pub exec: bool,
    /// Guards that tests leave away.
    pub removed: Removed,
    /// Where folders of the settings appear.
    pub mounts: &'a [String],
    /// Paths of the host that lead to a place in sessions too.
    pub host_links: &'a [(PathBuf, PathBuf)],
}

impl Plan<'_> {
    /// The zygote's specification.
    pub fn spec(&self) -> Result<ZygoteSpec, LayoutError> {
        let (mut trees, mut links) = system();
        links.extend(self.host_links.iter().filter(|(path, _)| is_free(path)).cloned());
        let (prefix, executable) = place_interpreter(self.interpreter, &mut trees)?;
        if let Some(environment) = self.environment {
            trees.push(Tree {
                source: environment.site_packages.clone(),
                target: GUEST_SITE_PACKAGES.into(),
            });
        }
        let site: &[&str] = if self.environment.is_some() {
            &[GUEST_SITE_PACKAGES]
        } else {
            &[]
        };
        let settings = json!({
            "profile": self.profile,
            "site": site,
            "floor": u32::from(self.floor == Floor::Offered),
            "exec": self.exec,
        });
        Ok(ZygoteSpec {
            trees,
            files: files(self.appearance),
            copies: COPIES.iter().map(|path| same(Path::new(path))).collect(),
            mounts: self.mounts.iter().map(PathBuf::from).collect(),
            links,
            program: executable,
            arguments: ["-I", "-S", "-B", "-X", "utf8", "/opt/codeyard/codeyard/zygote.py"]
                .map(str::to_owned)
                .into_iter()
                .chain([settings.to_string()])
                .collect(),
            environment: environment(&prefix, self.interpreter, site, self.appearance),
            identity: self.identity,
            appearance: self.appearance,
            memory: self.memory,
            removed: self.removed,
            estate: self.estate.clone(),
        })
    }
}

/// Adds the interpreter's prefix; returns prefix and executable as seen inside.
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
        trees.extend(["bin", "lib"].iter().map(|name| same(&prefix.join(name))));
        return Ok((prefix.clone(), executable.clone()));
    }
    trees.push(Tree {
        source: prefix.clone(),
        target: OWN_PREFIX.into(),
    });
    Ok((OWN_PREFIX.into(), Path::new(OWN_PREFIX).join(below)))
}

/// Trees of the host that a session without a template of its own reads and executes from: system libraries, the
/// interpreter, the managed environment.
///
/// # Errors
/// If the interpreter lies outside of its prefix.
pub fn readable(
    interpreter: &Interpreter,
    environment: Option<&Environment>,
) -> Result<Vec<PathBuf>, LayoutError> {
    let (mut trees, links) = system();
    place_interpreter(interpreter, &mut trees)?;
    let links = links.into_iter().map(|(link, _)| link);
    let packages = environment.map(|environment| environment.site_packages.clone());
    let sources = trees.into_iter().map(|tree| tree.source);
    Ok(sources.chain(links).chain(packages).collect())
}

/// System directories and the links of the root.
fn system() -> (Vec<Tree>, Vec<(PathBuf, PathBuf)>) {
    let mut trees: Vec<Tree> = SYSTEM
        .iter()
        .map(Path::new)
        .filter(|path| path.is_dir())
        .map(same)
        .collect();
    let mut links = Vec::new();
    for name in ROOTS {
        let path = Path::new("/").join(name);
        match fs::read_link(&path) {
            Ok(target) => links.push((path, target)),
            Err(_) if path.is_dir() => trees.push(same(&path)),
            Err(_) => {}
        }
    }
    (trees, links)
}

/// Whether sessions have nothing of their own where a path begins. They make links below their own file system themselves.
fn is_free(path: &Path) -> bool {
    let mut parts = path.components().skip(1);
    let first = parts.next().map(|part| part.as_os_str().to_string_lossy());
    parts.next().is_some() && first.is_some_and(|first| !TAKEN.contains(&&*first))
}

/// A tree that lies inside where it lies outside.
fn same(path: &Path) -> Tree {
    Tree {
        source: path.to_owned(),
        target: path.to_owned(),
    }
}

/// The guest's own files and the few files of /etc that libraries read.
fn files(appearance: Appearance) -> Vec<TextFile> {
    let [passwd, group] = Person::of(appearance).files(appearance);
    let etc = [
        ("/etc/passwd", passwd),
        ("/etc/group", group),
        ("/etc/hosts", "127.0.0.1 localhost sandbox\n".to_owned()),
        ("/etc/hostname", "sandbox\n".to_owned()),
        (
            "/etc/nsswitch.conf",
            "passwd: files\ngroup: files\nhosts: files\n".to_owned(),
        ),
        ("/etc/fonts/fonts.conf", FONTS.to_owned()),
    ];
    let guest = guest::python_files().iter().map(|file| TextFile {
        path: Path::new("/opt/codeyard").join(file.path),
        text: String::from_utf8_lossy(file.bytes).into_owned(),
    });
    let etc = etc.map(|(path, text)| TextFile {
        path: path.into(),
        text,
    });
    guest.chain(etc).collect()
}

/// The whole environment of guests: nothing of the host's. `prefix` is the interpreter's as they see it, `site` what they
/// import packages from.
pub fn environment(
    prefix: &Path,
    interpreter: &Interpreter,
    site: &[&str],
    appearance: Appearance,
) -> Vec<(String, String)> {
    let prefix = prefix.display();
    let person = Person::of(appearance);
    let mut variables = vec![
        ("PATH", format!("{prefix}/bin:/usr/bin:/bin")),
        ("HOME", person.home.to_owned()),
        ("USER", person.name.to_owned()),
        ("LOGNAME", person.name.to_owned()),
        ("PWD", "/workspace".to_owned()),
        ("TMPDIR", "/tmp".to_owned()),
        ("LANG", "C.UTF-8".to_owned()),
        ("TZ", "UTC".to_owned()),
        ("MPLBACKEND", "Agg".to_owned()),
        ("MPLCONFIGDIR", "/tmp/matplotlib".to_owned()),
        ("PYTHONDONTWRITEBYTECODE", "1".to_owned()),
        // Threads of BLAS would not survive the clone; programs may ask for more themselves.
        ("OPENBLAS_NUM_THREADS", "1".to_owned()),
        ("OMP_NUM_THREADS", "1".to_owned()),
    ];
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
