//! Makes the specification of a zygote: the file system, program and identity that its sessions inherit.

use std::path::{Path, PathBuf};

use jail::spec::{Appearance, Counting, TextFile, Tree, ZygoteSpec};
use sandbox_host::guest_user::GuestUser;
use sandbox_host::layout::{self, COPIED_FILES, LayoutError, SystemView, same_path};
use sandbox_host::python::{self, Environment, GUEST_SITE_PACKAGES, Interpreter};
use sandbox_host::shell::Bash;
use sandbox_host::typescript::{Engine, Found};
use serde_json::{Value, json};

use crate::config::ProcessConfig;
use crate::mode::Mode;

/// First components of the paths that sessions use for their own purposes.
const RESERVED: [&str; 20] = [
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
/// Path of this program for its own zygote.
const TYPESCRIPT_PROGRAM: &str = "/opt/codeyard/typescript";
/// Directory of what an engine of its own runs first, and of the packages that it imports.
const ENGINE_DIRECTORY: &str = "/opt/codeyard/engine";
/// Path of an engine that lies outside the directories that every session sees.
const ENGINE_PROGRAM: &str = "/opt/codeyard/engine-program";
/// Path of this program for the zygote of shells, and the directories of the files and programs that shells see.
const SHELL_PROGRAM: &str = "/opt/codeyard/shell";
const SHELL_FILES: &str = "/opt/codeyard/bash";
const SHELL_PROGRAMS: &str = "/opt/codeyard/programs";
/// Names of a process's own descriptors, which programs in bash use: `<(…)` is one below `/dev/fd`.
const DESCRIPTOR_LINKS: [(&str, &str); 4] = [
    ("/dev/fd", "/proc/self/fd"),
    ("/dev/stdin", "/proc/self/fd/0"),
    ("/dev/stdout", "/proc/self/fd/1"),
    ("/dev/stderr", "/proc/self/fd/2"),
];
/// Configuration of fontconfig, which matplotlib reads: paths of the fonts and of their cache.
const FONTS: &str = "<?xml version=\"1.0\"?>\n<fontconfig><dir>/usr/share/fonts</dir>\
                     <cachedir>/tmp/fontconfig</cachedir></fontconfig>\n";

/// The zygotes of the backend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ZygoteKind {
    /// Python with its standard library.
    Plain,
    /// Python with numpy and pandas too.
    Data,
    /// The engine for TypeScript, which is part of this program.
    TypeScript,
    /// Bash, and this program as its first process.
    Shell,
}

impl ZygoteKind {
    /// The name in logs and in the settings of a Python zygote.
    pub fn name(self) -> &'static str {
        match self {
            ZygoteKind::Plain => "plain",
            ZygoteKind::Data => "data",
            ZygoteKind::TypeScript => "typescript",
            ZygoteKind::Shell => "shell",
        }
    }
}

/// The specification of the zygote of shells: this program, which starts bash in every session.
pub fn shell(config: &ProcessConfig, mode: &Mode, bash: &Bash) -> ZygoteSpec {
    let (trees, mut links) = own_view(config, SHELL_PROGRAM);
    let settings = &config.host.shell;
    let descriptors = DESCRIPTOR_LINKS.iter();
    links.extend(descriptors.map(|(name, target)| (PathBuf::from(name), PathBuf::from(target))));
    for name in settings.missing_programs() {
        links.push((Path::new(SHELL_PROGRAMS).join(name), SHELL_PROGRAM.into()));
    }
    let files = settings.files.iter().map(|(name, text)| TextFile {
        path: Path::new(SHELL_FILES).join(name),
        text: (*text).to_owned(),
    });
    let shell = bash.settings(Path::new(SHELL_FILES), Path::new(SHELL_PROGRAMS));
    let settings = json!({ "zygote": { "exec": config.host.exec, "shell": shell } });
    ZygoteSpec {
        program: SHELL_PROGRAM.into(),
        arguments: vec![guest::SHELL_ARGUMENT.to_owned(), settings.to_string()],
        environment: layout::plain_environment(config.host.appearance),
        ..base(config, mode, trees, links, files.collect())
    }
}

/// What a zygote that is this program itself sees of the host: the system, and this program at `target`.
fn own_view(config: &ProcessConfig, target: &str) -> (Vec<Tree>, Vec<(PathBuf, PathBuf)>) {
    let (mut trees, mut links) = layout::system();
    let host_links = config.host_links.iter();
    links.extend(host_links.filter(|(path, _)| is_free(path)).cloned());
    trees.push(Tree {
        source: config.host.helper.first().map(PathBuf::from).unwrap_or_default(),
        target: target.into(),
    });
    (trees, links)
}

/// The specification of the zygote that is this program itself. `engine` is what its sessions start, if programs do
/// not run in this program.
pub fn typescript(config: &ProcessConfig, mode: &Mode, engine: Option<&Found>) -> ZygoteSpec {
    let (mut trees, links) = own_view(config, TYPESCRIPT_PROGRAM);
    let appearance = config.host.appearance;
    let (engine, files) = match engine {
        Some(found) => (
            Some(engine_settings(found, &mut trees)),
            engine_files(&config.host.typescript.modules),
        ),
        None => (None, Vec::new()),
    };
    let settings = json!({ "zygote": { "exec": config.host.exec, "engine": engine } });
    ZygoteSpec {
        program: TYPESCRIPT_PROGRAM.into(),
        arguments: vec![guest::TYPESCRIPT_ARGUMENT.to_owned(), settings.to_string()],
        environment: layout::plain_environment(appearance),
        ..base(config, mode, trees, links, files)
    }
}

/// How sessions start an engine of its own. Adds to `trees` what they do not see yet.
fn engine_settings(found: &Found, trees: &mut Vec<Tree>) -> Value {
    let is_seen = trees
        .iter()
        .any(|tree| found.executable.starts_with(&tree.source) && tree.source == tree.target);
    let program = if is_seen {
        found.executable.clone()
    } else {
        let target = PathBuf::from(ENGINE_PROGRAM);
        trees.push(Tree {
            source: found.executable.clone(),
            target: target.clone(),
        });
        target
    };
    if let Some(packages) = &found.packages {
        trees.push(Tree {
            source: packages.clone(),
            target: Path::new(ENGINE_DIRECTORY).join("node_modules"),
        });
    }
    let label = match found.engine {
        Engine::Deno => "Deno",
        Engine::Node | Engine::QuickJs => "Node.js",
    };
    json!({
        "kind": found.engine,
        "program": program,
        "name": format!("{label} {}", found.version),
    })
}

/// The modules that an engine of its own runs first.
fn engine_files(modules: &[(&'static str, String)]) -> Vec<TextFile> {
    let files = modules.iter().map(|(name, text)| TextFile {
        path: Path::new(ENGINE_DIRECTORY).join(name),
        text: text.clone(),
    });
    files.collect()
}

/// What all zygotes have alike.
fn base(
    config: &ProcessConfig,
    mode: &Mode,
    trees: Vec<Tree>,
    links: Vec<(PathBuf, PathBuf)>,
    guest_files: Vec<TextFile>,
) -> ZygoteSpec {
    let appearance = config.host.appearance;
    ZygoteSpec {
        trees,
        files: guest_files.into_iter().chain(etc(appearance)).collect(),
        copies: COPIED_FILES
            .iter()
            .map(|path| same_path(Path::new(path)))
            .collect(),
        mounts: config.mounts.iter().map(PathBuf::from).collect(),
        links,
        program: PathBuf::new(),
        arguments: Vec::new(),
        environment: Vec::new(),
        identity: mode.identity,
        appearance,
        memory: match mode.groups {
            Ok(_) => Counting::Counted,
            Err(_) => Counting::Uncounted,
        },
        removed: config.removed,
        cleanup: mode.cleanup_paths(),
    }
}

/// The specification of a Python zygote. `profile` is `plain` or `data`; `bytecode` is that of the guest's package.
///
/// # Errors
/// If the interpreter is outside its prefix.
pub fn python(
    config: &ProcessConfig,
    mode: &Mode,
    interpreter: &Interpreter,
    environment: Option<&Environment>,
    profile: &str,
    bytecode: Vec<Tree>,
) -> Result<ZygoteSpec, LayoutError> {
    let SystemView {
        mut trees,
        mut links,
        prefix,
        executable,
    } = SystemView::with(interpreter)?;
    let host_links = config.host_links.iter();
    links.extend(host_links.filter(|(path, _)| is_free(path)).cloned());
    let mut site: &[&str] = &[];
    if let Some(environment) = environment {
        site = &[GUEST_SITE_PACKAGES];
        trees.push(Tree {
            source: environment.site_packages.clone(),
            target: GUEST_SITE_PACKAGES.into(),
        });
    }
    let settings = json!({
        "profile": profile,
        "site": site,
        "exec": config.host.exec,
    });
    let appearance = config.host.appearance;
    let base = base(config, mode, trees, links, python_package());
    Ok(ZygoteSpec {
        program: executable,
        arguments: ["-I", "-S", "-B", "-X", "utf8", "/opt/codeyard/codeyard/zygote.py"]
            .map(str::to_owned)
            .into_iter()
            .chain([settings.to_string()])
            .collect(),
        environment: layout::environment(&prefix, interpreter, site, appearance),
        copies: base.copies.iter().cloned().chain(bytecode).collect(),
        ..base
    })
}

/// Whether the template may have a link of the host at this path. Sessions make links below their own file systems
/// themselves.
fn is_free(path: &Path) -> bool {
    let mut parts = path.components().skip(1);
    let first = parts.next().map(|part| part.as_os_str().to_string_lossy());
    parts.next().is_some() && first.is_some_and(|first| !RESERVED.contains(&&*first))
}

/// The guest's Python package.
fn python_package() -> Vec<TextFile> {
    let files = guest::python_files().iter();
    files
        .map(|file| TextFile {
            path: Path::new("/opt/codeyard").join(file.path),
            text: String::from_utf8_lossy(file.bytes).into_owned(),
        })
        .collect()
}

/// The bytecode of the guest's Python package. Blocks while it is compiled, unless an earlier start did that.
pub fn bytecode(data: &Path, interpreter: &Interpreter) -> Vec<Tree> {
    let sources = guest::python_files().iter().map(|file| (file.path, file.bytes));
    let files = python::bytecode(data, interpreter, &sources.collect::<Vec<_>>());
    let trees = files.into_iter().map(|(source, target)| Tree { source, target });
    trees.collect()
}

/// The files of `/etc` that libraries read.
fn etc(appearance: Appearance) -> Vec<TextFile> {
    let [passwd, group] = GuestUser::of(appearance).passwd_and_group(appearance);
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
    etc.map(|(path, text)| TextFile {
        path: path.into(),
        text,
    })
    .into()
}
