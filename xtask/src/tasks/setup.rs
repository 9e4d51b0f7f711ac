//! Prepares a bare machine for a task, without changing existing installations.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use super::say;
use crate::{layout, run};

/// The search path of a user without own installations.
pub const PLAIN_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

pub struct Need {
    /// The Debian package of the program.
    package: &'static str,
    is_met: fn() -> bool,
}

const CERTIFICATES: Need = Need {
    package: "ca-certificates",
    is_met: || Path::new("/etc/ssl/certs/ca-certificates.crt").exists(),
};
const PYTHON: Need = Need {
    package: "python3",
    is_met: || run::succeeds("python3", &["-I", "-c", "import ctypes"]),
};
const VENV: Need = Need {
    package: "python3-venv",
    is_met: || run::succeeds("python3", &["-I", "-c", "import venv, ensurepip"]),
};
const PLAIN_VENV: Need = Need {
    package: "python3-venv",
    is_met: || {
        run::succeeds(
            "env",
            &[
                &format!("PATH={PLAIN_PATH}"),
                "python3",
                "-I",
                "-c",
                "import venv, ensurepip",
            ],
        )
    },
};
const GIT: Need = Need {
    package: "git",
    is_met: || run::succeeds("git", &["--version"]),
};
const CURL: Need = Need {
    package: "curl",
    is_met: || run::succeeds("curl", &["--version"]),
};
const NODE: Need = Need {
    package: "nodejs",
    is_met: || run::succeeds("node", &["--version"]),
};
const NPM: Need = Need {
    package: "npm",
    is_met: || run::succeeds("npm", &["--version"]),
};

const PROCPS: Need = Need {
    package: "procps",
    is_met: || run::succeeds("env", &["kill", "-L"]),
};

const NGINX: Need = Need {
    package: "nginx-light",
    is_met: || Path::new("/usr/sbin/nginx").exists(),
};

const CPP: Need = Need {
    package: "g++",
    is_met: || run::succeeds("c++", &["--version"]),
};

const E2FSPROGS: Need = Need {
    package: "e2fsprogs",
    is_met: || run::succeeds("mke2fs", &["-V"]),
};

const POSTGRES: Need = Need {
    package: "postgresql",
    is_met: || std::fs::read_dir("/usr/lib/postgresql").is_ok_and(|mut versions| versions.next().is_some()),
};

const PGBOUNCER: Need = Need {
    package: "pgbouncer",
    is_met: || {
        ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer"]
            .iter()
            .any(|path| Path::new(path).exists())
    },
};

/// Requirements on the host; the machine's kernel and QEMU are unpacked, not installed.
pub const FOR_MACHINE: &[Need] = &[CERTIFICATES, PYTHON, VENV, PLAIN_VENV, E2FSPROGS];
/// For listing the tracked files.
pub const FOR_TIDY: &[Need] = &[GIT];
pub const FOR_DEMO: &[Need] = &[CERTIFICATES, PYTHON, VENV];
/// libFuzzer must be compiled.
pub const FOR_FUZZ: &[Need] = &[CPP];
pub const FOR_CONFORMANCE: &[Need] = &[CERTIFICATES, NODE, NPM];
pub const FOR_REST: &[Need] = &[CERTIFICATES, PYTHON, VENV, CURL];
/// The ordinary user of the tests sees only the plain search path.
pub const FOR_TESTS: &[Need] = &[
    CERTIFICATES,
    PYTHON,
    VENV,
    PLAIN_VENV,
    GIT,
    CURL,
    NODE,
    NPM,
    PROCPS,
    POSTGRES,
    PGBOUNCER,
    NGINX,
];

pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// As root, installs missing packages; otherwise fails with the command to run.
pub fn packages(needs: &[Need]) -> Result<()> {
    let mut missing: Vec<&str> = needs
        .iter()
        .filter(|need| !(need.is_met)())
        .map(|need| need.package)
        .collect();
    missing.dedup();
    if missing.is_empty() {
        return Ok(());
    }
    let install = format!("apt-get install -y --no-install-recommends {}", missing.join(" "));
    if !is_root() || !run::succeeds("apt-get", &["--version"]) {
        bail!(
            "this machine lacks {}; run as root: apt-get update && {install}",
            missing.join(", ")
        );
    }
    say(&format!("installing {}", missing.join(", ")));
    run::visible(Command::new("apt-get").args(["update", "-qq"]))
        .context("installing Debian packages needs the network")?;
    let mut words = install.split(' ');
    let program = words.next().unwrap_or("apt-get");
    run::visible(
        Command::new(program)
            .args(words)
            .arg("-qq")
            .env("DEBIAN_FRONTEND", "noninteractive"),
    )
}

pub fn build_codeyard() -> Result<()> {
    run::visible(cargo().args(["build", "--locked", "--package=codeyard"]))
}

/// Builds codeyard at the product's speed, without the minutes of link-time optimisation.
pub fn build_optimised() -> Result<()> {
    run::visible(cargo().args(["build", "--locked", "--package=codeyard", "--profile=optimised"]))
}

/// Builds the tests and all programs that they start together, so that cargo compiles each library once.
pub fn build_tests() -> Result<()> {
    run::visible(cargo().args(["build", "--locked", "--workspace", "--all-targets"]))
}

/// Makes the managed environment below `target/` for the Python on this search path.
pub fn environment(search_path: Option<&OsStr>) -> Result<()> {
    environment_by(&layout::codeyard(), search_path)
}

/// Creates the environment with this binary of codeyard.
pub fn environment_by(codeyard: &Path, search_path: Option<&OsStr>) -> Result<()> {
    let mut command = Command::new(codeyard);
    command.args(["python", "sync", "--data"]).arg(layout::data());
    if let Some(search_path) = search_path {
        command.env("PATH", search_path);
    }
    run::visible(&mut command)
}

/// Installs the real upstream servers below `target/`, in the Python of a plain search path, so
/// that every user can start them.
pub fn upstreams() -> Result<()> {
    let script = layout::root().join("xtask/install-upstreams.sh");
    run::visible(
        Command::new("bash")
            .arg(script)
            .arg(layout::upstreams())
            .env("PYTHON_PATH", PLAIN_PATH)
            .stdout(Stdio::null()),
    )
    .context("cannot install the servers of the tests (from npm and PyPI; this needs the network)")
}

/// Installs the checkers of generated declarations below `target/`.
pub fn checkers() -> Result<()> {
    let script = layout::root().join("xtask/install-checkers.sh");
    run::visible(
        Command::new("bash")
            .arg(script)
            .arg(layout::checkers())
            .env("PYTHON_PATH", PLAIN_PATH)
            .stdout(Stdio::null()),
    )
    .context("cannot install the type checkers (from npm and PyPI; this needs the network)")
}

/// Installs the client libraries of docs/clients.md below `target/`, as far as possible.
pub fn clients() -> Result<()> {
    let script = layout::root().join("xtask/install-clients.sh");
    run::visible(
        Command::new("bash")
            .arg(script)
            .arg(layout::clients())
            .env("PYTHON_PATH", PLAIN_PATH)
            .stdout(Stdio::null()),
    )
    .context("cannot install the client libraries (from npm and PyPI; this needs the network)")
}

/// The cargo that runs this task, in the checkout.
pub fn cargo() -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.current_dir(layout::root());
    // Cargo's variables about this package would rerun build scripts that read them.
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text == "CARGO_MANIFEST_DIR" || text == "CARGO_MANIFEST_PATH" || text.starts_with("CARGO_PKG_") {
            command.env_remove(name);
        }
    }
    command
}
