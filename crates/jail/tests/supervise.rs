//! Guarantees of the supervisor: whatever happens to its parent or to the server, no started process stays.

#![expect(
    clippy::disallowed_methods,
    reason = "the tests start and watch processes themselves"
)]

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

/// Processes that resist ending: signals ignored, double-forked, in their own sessions, one with its parent gone. Each
/// writes its pid to the directory, then waits forever.
const STUBBORN_TREE: &str = r#"
trap '' TERM INT HUP QUIT USR1
dir=$1
stay() { echo "$$" >"$dir/$1.part" && mv "$dir/$1.part" "$dir/$1"; while :; do sleep 1000; done; }
export dir
setsid sh -c 'trap "" TERM INT HUP; echo $$ >"$dir/b.part"; mv "$dir/b.part" "$dir/b"
  (setsid sh -c "trap \"\" TERM INT HUP; echo \$\$ >\"\$dir/c.part\"; mv \"\$dir/c.part\" \"\$dir/c\"; while :; do sleep 1000; done" &) 
  while :; do sleep 1000; done' </dev/null &
(setsid sh -c 'trap "" TERM INT HUP; echo $$ >"$dir/d.part"; mv "$dir/d.part" "$dir/d"; while :; do sleep 1000; done' </dev/null &)
stay a
"#;

/// A process that holds a supervised command, as codeyard holds its servers.
struct Holder {
    child: Child,
    stdout: BufReader<ChildStdout>,
    stderr: ChildStderr,
}

impl Holder {
    fn start(command: &[&str]) -> Holder {
        let mut child = Command::new(example())
            .args(command)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the example starts");
        let stdout = BufReader::new(child.stdout.take().expect("piped"));
        let stderr = child.stderr.take().expect("piped");
        Holder {
            child,
            stdout,
            stderr,
        }
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    fn supervisor(&self) -> Pid {
        let holder = self.pid().as_raw_nonzero();
        let path = format!("/proc/{holder}/task/{holder}/children");
        wait_until("the supervisor is there", || {
            let children = fs::read_to_string(&path).unwrap_or_default();
            children
                .split_whitespace()
                .next()
                .and_then(|pid| pid.parse().ok())
                .and_then(Pid::from_raw)
        })
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.stdout.read_line(&mut line).expect("stdout is readable");
        line.trim_end().to_owned()
    }

    fn end(mut self) -> (ExitStatus, String) {
        let status = self.child.wait().expect("the holder is waited for");
        let mut errors = String::new();
        self.stderr
            .read_to_string(&mut errors)
            .expect("stderr is readable");
        (status, errors)
    }
}

fn example() -> PathBuf {
    let test = std::env::current_exe().expect("the test knows its own path");
    let profile = test
        .parent()
        .and_then(Path::parent)
        .expect("tests lie in target/<profile>/deps");
    profile.join("examples/supervise")
}

fn wait_until<T>(what: &str, mut condition: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(value) = condition() {
            return value;
        }
        assert!(
            start.elapsed() < Duration::from_secs(20),
            "waited too long until {what}"
        );
        std::thread::yield_now();
    }
}

fn stubborn_tree(dir: &Path) -> (Holder, Vec<OwnedFd>) {
    let dir_name = dir.to_str().expect("temporary paths are text");
    let holder = Holder::start(&["sh", "-c", STUBBORN_TREE, "sh", dir_name]);
    let processes = ["a", "b", "c", "d"].map(|name| {
        let pid = wait_until("the tree has grown", || fs::read_to_string(dir.join(name)).ok());
        let pid = pid
            .trim()
            .parse()
            .ok()
            .and_then(Pid::from_raw)
            .expect("a process number");
        pidfd_open(pid, PidfdFlags::empty()).expect("the process lives")
    });
    let mut handles = Vec::from(processes);
    handles.push(pidfd_open(holder.supervisor(), PidfdFlags::empty()).expect("the supervisor lives"));
    (holder, handles)
}

fn assert_all_end(processes: &[OwnedFd]) {
    for process in processes {
        let mut events = [PollFd::new(process, PollFlags::IN)];
        let limit = Timespec {
            tv_sec: 20,
            tv_nsec: 0,
        };
        assert_eq!(
            poll(&mut events, Some(&limit)),
            Ok(1),
            "a process of the tree is still there"
        );
    }
}

fn assert_all_live(processes: &[OwnedFd]) {
    for process in processes {
        let mut events = [PollFd::new(process, PollFlags::IN)];
        let now = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        assert_eq!(
            poll(&mut events, Some(&now)),
            Ok(0),
            "a process of the tree has ended by itself"
        );
    }
}

#[test]
fn a_killed_parent_leaves_nothing_of_a_stubborn_tree() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (holder, processes) = stubborn_tree(dir.path());
    assert_all_live(&processes);
    kill_process(holder.pid(), Signal::KILL).expect("the holder is killed");
    assert_all_end(&processes);
    holder.end();
}

#[test]
fn sigusr1_kills_the_tree_and_tells_how_the_server_ended() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (holder, processes) = stubborn_tree(dir.path());
    // SIGTERM is forwarded, and this tree ignores it.
    kill_process(holder.supervisor(), Signal::TERM).expect("SIGTERM is sent");
    assert_all_live(&processes);
    kill_process(holder.supervisor(), Signal::USR1).expect("SIGUSR1 is sent");
    assert_all_end(&processes);
    assert_eq!(holder.end().0.code(), Some(137));
}

#[test]
fn what_the_server_leaves_behind_ends_with_it() {
    let mut holder = Holder::start(&[
        "sh",
        "-c",
        "setsid sleep 1000 <&- >&- 2>&- & echo $!; exec >&-; read _; exit 3",
    ]);
    let left: i32 = holder.line().parse().expect("a process number");
    let left = Pid::from_raw(left).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
    let left = [left.expect("the left process lives")];
    assert_all_live(&left);
    drop(holder.child.stdin.take());
    assert_all_end(&left);
    assert_eq!(holder.end().0.code(), Some(3));
}

#[test]
fn the_status_is_the_servers_own() {
    let check = |command: &[&str], status: i32, message: &str| {
        let (ended, errors) = Holder::start(command).end();
        assert_eq!(ended.code(), Some(status), "{command:?}");
        assert_eq!(errors.trim_end(), message, "{command:?}");
    };
    check(&["true"], 0, "");
    check(&["sh", "-c", "exit 42"], 42, "");
    check(&["sh", "-c", "kill -SEGV $$"], 128 + 11, "");
    check(
        &["/nowhere/at-all"],
        127,
        "codeyard: cannot start '/nowhere/at-all': No such file or directory (os error 2)",
    );
    check(
        &["/etc/passwd"],
        126,
        "codeyard: cannot start '/etc/passwd': Permission denied (os error 13)",
    );
}

#[test]
fn sigterm_reaches_the_whole_group_of_the_server() {
    let script = "trap 'echo ended; exit 0' TERM; echo ready; while :; do sleep 1000 & wait; done";
    let mut holder = Holder::start(&["sh", "-c", script]);
    assert_eq!(holder.line(), "ready");
    kill_process(holder.supervisor(), Signal::TERM).expect("SIGTERM is sent");
    assert_eq!(holder.line(), "ended");
    assert_eq!(holder.end().0.code(), Some(0));
}

#[test]
fn the_server_starts_with_default_signals_its_own_session_and_three_descriptors() {
    // An ignored signal of the parent would be inherited across exec.
    let report =
        "grep -E '^Sig(Blk|Ign)' /proc/self/status; ls /proc/self/fd; cut -d' ' -f6 /proc/$$/stat; echo $$";
    let mut ignoring = Command::new("sh");
    ignoring
        .args(["-c", "trap '' HUP INT PIPE USR2; exec \"$@\" 9</dev/null", "sh"])
        .arg(example());
    let output = ignoring
        .args(["sh", "-c", report])
        .output()
        .expect("the example starts");
    let text = String::from_utf8(output.stdout).expect("text");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "SigBlk:\t0000000000000000", "{text}");
    assert_eq!(lines[1], "SigIgn:\t0000000000000000", "{text}");
    // The fourth is the directory that `ls` has opened.
    assert_eq!(lines[2..6], ["0", "1", "2", "3"], "{text}");
    assert_eq!(lines[6], lines[7], "the server leads its session: {text}");
}

#[test]
fn a_wrong_parent_is_refused() {
    let output = Command::new(example())
        .args(["__supervise", "--parent", "1", "--", "true"])
        .output()
        .expect("the example starts");
    assert_eq!(output.status.code(), Some(125));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(
        errors,
        "codeyard: the process that started the supervisor is gone\n"
    );
}
