//! Rivals that are commands: each program runs in a new process or container that ends with it.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::contender::{Class, Contender, Entry, Operation, RivalDirectory};

const PYTHON: [&str; 4] = ["/usr/bin/python3", "-I", "-c", "print(1 + 1)"];

/// Plain Python, and Python in the sandboxes that the machine offers.
pub(super) fn entries(rivals: &RivalDirectory) -> Vec<Entry> {
    let entry = |name: &str, contender: Result<Started>| Entry {
        name: name.to_owned(),
        class: Class::Server,
        contender: contender.map(|started| Box::new(started) as Box<dyn Contender>),
    };
    vec![
        entry("python3 -c (no wall)", Started::new("python3", Vec::new())),
        entry("bubblewrap, python3", bubblewrap()),
        entry("runc, python3", container(rivals, "runc")),
        entry("crun, python3", container(rivals, "crun")),
        entry("podman (runc), python3", podman(rivals)),
    ]
}

struct Started {
    command: Vec<String>,
    /// The prefix of a unique word at the command's end.
    named: Option<String>,
    count: u32,
}

impl Started {
    fn new(program: &str, arguments: Vec<String>) -> Result<Self> {
        let found = Command::new(program)
            .arg("--version")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        found.with_context(|| format!("{program} is not installed"))?;
        let command = if arguments.is_empty() {
            words(&PYTHON)
        } else {
            [vec![program.to_owned()], arguments].concat()
        };
        Ok(Self {
            command,
            named: None,
            count: 0,
        })
    }
}

impl Contender for Started {
    fn sample(&mut self, operation: Operation) -> Result<Option<Duration>> {
        if operation != Operation::Start {
            return Ok(None);
        }
        self.count += 1;
        let (program, arguments) = self.command.split_first().context("a program")?;
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null());
        if let Some(name) = &self.named {
            command.arg(format!("{name}-{}-{}", std::process::id(), self.count));
        }
        let started = Instant::now();
        let output = command.output()?;
        let took = started.elapsed();
        let complaint = String::from_utf8_lossy(&output.stderr);
        ensure!(output.stdout == b"2\n", "{}", complaint.trim());
        Ok(Some(took))
    }
}

fn bubblewrap() -> Result<Started> {
    let walls = "--unshare-all --die-with-parent --ro-bind /usr /usr --symlink usr/lib /lib --symlink usr/lib64 /lib64 \
                 --symlink usr/bin /bin --proc /proc --dev /dev --tmpfs /tmp";
    let walls: Vec<String> = walls.split_whitespace().map(str::to_owned).collect();
    Started::new("bwrap", [walls, words(&PYTHON)].concat())
}

/// The runtime's default container, with this machine's `/usr` read-only in its root.
fn container(rivals: &RivalDirectory, runtime: &str) -> Result<Started> {
    let bundle = rivals.directory.join("containers").join(runtime);
    root(&bundle)?;
    let spec = bundle.join("config.json");
    if spec.exists() {
        fs::remove_file(&spec)?;
    }
    let made = Command::new(runtime).arg("spec").current_dir(&bundle).output();
    let made = made.with_context(|| format!("{runtime} is not installed"))?;
    ensure!(
        made.status.success(),
        "{}",
        String::from_utf8_lossy(&made.stderr).trim()
    );
    let mut config: Value = serde_json::from_slice(&fs::read(&spec)?)?;
    config["process"]["terminal"] = json!(false);
    config["process"]["args"] = json!(PYTHON);
    let usr = json!({"destination": "/usr", "type": "bind", "source": "/usr", "options": ["rbind", "ro"]});
    config["mounts"]
        .as_array_mut()
        .context("the default container has mounts")?
        .push(usr);
    fs::write(&spec, serde_json::to_vec(&config)?)?;
    let arguments = vec!["run".to_owned(), "--bundle".to_owned(), text(&bundle)];
    let mut started = Started::new(runtime, arguments)?;
    started.named = Some("bench".to_owned());
    Ok(started)
}

fn podman(rivals: &RivalDirectory) -> Result<Started> {
    let directory = rivals.directory.join("containers/podman");
    let root = root(&directory)?;
    let store = |name: &str| text(&directory.join(name));
    // Explicit limits, because the default asks for more than a machine without CAP_SYS_RESOURCE may grant.
    let options =
        "--network none --ulimit nofile=1024:1024 --ulimit nproc=1024:1024 --volume /usr:/usr:ro --rootfs";
    let mut arguments = words(&[
        "--root",
        &store("store"),
        "--runroot",
        &store("run"),
        "--runtime",
        "runc",
    ]);
    arguments.extend(words(&["--cgroup-manager", "cgroupfs", "run", "--rm"]));
    arguments.extend(options.split_whitespace().map(str::to_owned));
    arguments.push(text(&root));
    Started::new("podman", [arguments, words(&PYTHON)].concat())
}

/// A root directory with empty mount points only.
fn root(bundle: &Path) -> Result<PathBuf> {
    let root = bundle.join("rootfs");
    for name in ["usr", "proc", "dev", "sys", "tmp"] {
        fs::create_dir_all(root.join(name))?;
    }
    for name in ["lib", "lib64", "bin"] {
        let link = root.join(name);
        if !link.is_symlink() {
            symlink(format!("usr/{name}"), link)?;
        }
    }
    Ok(root)
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}
