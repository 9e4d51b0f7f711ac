//! The positive control: the same program outside any session, unconfined.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};
use types::Language;

use crate::probe::{Control, Probe};
use crate::program::{self, answers, compose};

const PATIENCE: Duration = Duration::from_secs(60);
/// Appended to a companion's program: the companion stays until it is killed.
const STAY: &str = "\nimport sys\nsay('stays', 'allowed')\nsys.stdin.read()\n";

/// Runs controls; caches their answers, which depend only on machine and user.
#[derive(Debug)]
pub struct Controls {
    python: PathBuf,
    left_aside: bool,
    kept: HashMap<String, Result<BTreeMap<String, String>, String>>,
}

/// Plays B in a control; ends when dropped.
struct Companion {
    said: Value,
    _child: Child,
    _directory: tempfile::TempDir,
}

impl Controls {
    /// Controls under this interpreter of the host.
    pub fn new(python: PathBuf) -> Self {
        Self {
            python,
            left_aside: false,
            kept: HashMap::new(),
        }
    }

    /// Runs no controls, only H's programs: for tests that need only the attacks' results.
    pub fn left_aside(python: PathBuf) -> Self {
        Self {
            left_aside: true,
            ..Self::new(python)
        }
    }

    /// The output of the probe's program outside a session, or why the program did not run.
    pub(crate) async fn of(
        &mut self,
        probe: &Probe,
        given: &Value,
    ) -> Result<BTreeMap<String, String>, String> {
        if self.left_aside {
            return Err("controls are left aside".to_owned());
        }
        if let Some(kept) = self.kept.get(&probe.name) {
            return kept.clone();
        }
        let mut given = given.clone();
        given["inside"] = Value::Bool(false);
        let ran = self.run_probe(probe, given).await;
        self.kept.insert(probe.name.clone(), ran.clone());
        ran
    }

    async fn run_probe(&self, probe: &Probe, mut given: Value) -> Result<BTreeMap<String, String>, String> {
        // B speaks the attacker's language, and everything outside is Python.
        let before = probe.before.filter(|_| probe.plan.language == Language::Python);
        let _companion = match before {
            Some(before) => {
                let program = compose(Language::Python, before, &given);
                let companion = self.companion(&program).await?;
                given["before"] = companion.said.clone();
                Some(companion)
            }
            None => None,
        };
        let program =
            program::control(probe, &given).ok_or_else(|| "no program outside can try it".to_owned())?;
        self.run(&program, probe.plan.control).await
    }

    pub(crate) async fn run(
        &self,
        program: &str,
        control: Control,
    ) -> Result<BTreeMap<String, String>, String> {
        let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
        let mut command = self.command(program, control, &directory)?;
        let failed = |error: std::io::Error| format!("the control cannot run: {error}");
        let child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let group = child
            .id()
            .and_then(|pid| i32::try_from(pid).ok())
            .and_then(Pid::from_raw);
        let Ok(ended) = tokio::time::timeout(PATIENCE, child.wait_with_output()).await else {
            // Kill the whole process group, so that the program's children end too.
            if let Some(group) = group {
                let _ = kill_process_group(group, Signal::KILL);
            }
            return Err("the control did not end".to_owned());
        };
        let output = ended.map_err(failed)?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            let last = said.lines().next_back().unwrap_or_default();
            return Err(format!("the control failed: {}: {last}", output.status));
        }
        Ok(answers(&String::from_utf8_lossy(&output.stdout)))
    }

    async fn companion(&self, program: &str) -> Result<Companion, String> {
        let failed = |error: std::io::Error| format!("the control's companion cannot run: {error}");
        let directory = tempfile::tempdir().map_err(failed)?;
        let mut command = self.command(&format!("{program}{STAY}"), Control::Plain, &directory)?;
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let Some(stdout) = child.stdout.take() else {
            return Err("the control's companion has no output".to_owned());
        };
        let mut lines = BufReader::new(stdout).lines();
        let mut printed = String::new();
        let read = async {
            while let Some(line) = lines.next_line().await.map_err(failed)? {
                if line.starts_with("stays:") {
                    return Ok(());
                }
                printed.push_str(&line);
                printed.push('\n');
            }
            Err("the control's companion ended".to_owned())
        };
        tokio::time::timeout(PATIENCE, read)
            .await
            .map_err(|_| "the control's companion did not begin".to_owned())??;
        let said = answers(&printed)
            .into_iter()
            .map(|(name, value)| (name, Value::String(value)));
        Ok(Companion {
            said: Value::Object(said.collect()),
            _child: child,
            _directory: directory,
        })
    }

    /// The command that runs a program in its own directory.
    fn command(
        &self,
        program: &str,
        control: Control,
        directory: &tempfile::TempDir,
    ) -> Result<Command, String> {
        let file = directory.path().join("program.py");
        std::fs::write(&file, program).map_err(|error| format!("the control cannot be written: {error}"))?;
        let (wrapper, wrapped): (&str, &[&str]) = match control {
            Control::Plain => ("env", &[]),
            Control::Careless => ("bash", &["-c", "exec \"$@\" 7</etc/passwd", "bash"]),
            Control::Namespaces => ("unshare", &NAMESPACES),
        };
        #[expect(
            clippy::disallowed_methods,
            reason = "the control is this process's own child and dies with it"
        )]
        let mut command = Command::new(wrapper);
        command.args(wrapped).arg(&self.python).arg("-B").arg(&file);
        command
            .current_dir(directory.path())
            .stdin(Stdio::null())
            .process_group(0)
            .kill_on_drop(true);
        Ok(command)
    }
}

/// `unshare` arguments for new namespaces in which the program is root.
const NAMESPACES: [&str; 11] = [
    "--user",
    "--map-root-user",
    "--mount",
    "--net",
    "--ipc",
    "--uts",
    "--cgroup",
    "--pid",
    "--fork",
    "--kill-child",
    "--mount-proc",
];
