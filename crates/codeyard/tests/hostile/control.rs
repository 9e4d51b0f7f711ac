//! Runs a hostile program outside of any session, as the control of what it meets inside.

use std::time::Duration;

use tokio::process::Command;

/// How a program runs as its own control.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Control {
    /// As any program of this user.
    Plain,
    /// As root of namespaces of its own, so that what it mounts and renames is nobody else's.
    Namespaces,
    /// With descriptors, variables and mappings that a session must not have.
    Careless,
    /// Not at all, for this reason.
    None(&'static str),
}

/// Longest run of a control.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs the program with the machine's Python in a directory of its own; gives what it printed.
pub async fn run(program: &str, control: Control) -> Option<String> {
    let (wrapper, wrapped): (&str, &[&str]) = match control {
        Control::None(_why) => return None,
        Control::Plain => ("env", &[]),
        Control::Careless => ("bash", &["-c", "exec \"$@\" 7</etc/passwd", "bash"]),
        Control::Namespaces => (
            "unshare",
            &[
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
            ],
        ),
    };
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("program.py");
    std::fs::write(&file, program).unwrap();
    #[expect(
        clippy::disallowed_methods,
        reason = "the test owns the control and kills it on drop"
    )]
    let mut command = Command::new(wrapper);
    command.args(wrapped).args(["python3", "-B"]).arg(&file);
    command.current_dir(directory.path()).kill_on_drop(true);
    let ended = tokio::time::timeout(PATIENCE, command.output()).await;
    let output = ended.expect("the control ends in time").unwrap();
    assert!(
        output.status.success(),
        "the control failed: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}
