//! What a confined server can reach, tested by programs that try, as root and as an ordinary user.

#![expect(clippy::disallowed_methods, reason = "the tests start processes themselves")]

use std::fs;
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use jail::confinement::{self, Confinement};
use tempfile::TempDir;

const PYTHON: &str = "/usr/bin/python3";
const EPERM: i32 = 1;
const EOPNOTSUPP: i32 = 95;

/// Three directories: readable, writable, and closed.
struct Ground {
    directory: TempDir,
    network: bool,
}

impl Ground {
    /// `None` if the kernel cannot confine; then tests the refusal.
    fn new() -> Option<Ground> {
        if confinement::check().is_err() {
            return None;
        }
        let directory = tempfile::tempdir().expect("a temporary directory");
        for name in ["read", "write", "other"] {
            fs::create_dir(directory.path().join(name)).expect("made");
            fs::write(directory.path().join(name).join("file"), format!("{name}\n")).expect("written");
        }
        Some(Ground {
            directory,
            network: false,
        })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn confinement(&self) -> Confinement {
        Confinement {
            read: vec![self.path("read")],
            write: vec![self.path("write")],
            network: self.network,
        }
    }

    fn run(&self, command: &[&str]) -> Output {
        run(&self.confinement(), self.directory.path(), command)
    }

    /// Runs a script in the parent of the three directories and compares its output.
    fn check(&self, script: &str, expected: &str) {
        let output = self.run(&["/bin/sh", "-c", script]);
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(said, expected, "{script}: {output:?}");
    }

    fn refuses(&self, script: &str) {
        self.check(&format!("{script} 2>/dev/null || echo refused"), "refused\n");
    }

    /// Checks the error number of a statement in the machine's Python, if there is one.
    fn fails_in_python(&self, imports: &str, statement: &str, expected: i32) {
        if Path::new(PYTHON).exists() {
            let program =
                format!("import {imports}\ntry: {statement}\nexcept OSError as error: print(error.errno)");
            let output = self.run(&[PYTHON, "-c", &program]);
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            assert_eq!(said, format!("{expected}\n"), "{statement}: {output:?}");
        }
    }
}

fn run(confinement: &Confinement, directory: &Path, command: &[&str]) -> Output {
    let json = serde_json::to_string(confinement).expect("JSON");
    Command::new(example())
        .args(["--confine", &json])
        .args(command)
        .current_dir(directory)
        .output()
        .expect("the example starts")
}

fn example() -> PathBuf {
    let test = std::env::current_exe().expect("the test knows its own path");
    let profile = test
        .parent()
        .and_then(Path::parent)
        .expect("tests lie in target/<profile>/deps");
    profile.join("examples/supervise")
}

#[test]
fn files_are_read_and_written_where_that_is_allowed_and_nowhere_else() {
    let Some(ground) = Ground::new() else { return };
    ground.check("cat read/file write/file", "read\nwrite\n");
    ground.check(
        "echo new >write/new && mv write/new write/moved && mkdir write/d && cat write/moved",
        "new\n",
    );
    ground.check("rm write/moved && rmdir write/d && ls write", "file\n");
    ground.refuses("cat other/file");
    ground.refuses("ls .");
    ground.refuses("ls other");
    ground.refuses("echo x >read/file");
    ground.refuses("echo x >read/new");
    ground.refuses("rm read/file");
    ground.refuses("mv read/file write/stolen");
    ground.refuses("ln other/file write/link");
    ground.refuses("ln -s ../other/file write/link && cat write/link");
    ground.refuses("cat write/../other/file");
    ground.refuses("cat /etc/shadow");
    ground.refuses("cat /proc/1/environ");
    ground.refuses("cat /proc/$PPID/environ");
    ground.refuses("cat /proc/$PPID/cmdline");
    assert_eq!(fs::read_to_string(ground.path("read/file")).unwrap(), "read\n");
}

#[test]
fn modes_times_and_owners_stay_as_they_are() {
    let Some(ground) = Ground::new() else { return };
    for place in ["other", "read", "write"] {
        ground.refuses(&format!("chmod 777 {place}/file"));
        ground.refuses(&format!("touch -d 2001-01-01 {place}/file"));
    }
    ground.refuses("chown 1:1 write/file");
    // FS_IOC_SETFLAGS with FS_NODUMP_FL, FS_IOC_FSSETXATTR, FS_IOC_ENABLE_VERITY.
    for request in ["0x40086602", "0x401c5820", "0x40806685"] {
        let statement = format!("fcntl.ioctl(open('read/file'), {request}, bytes([64]) + bytes(127))");
        ground.fails_in_python("fcntl", &statement, EPERM);
    }
}

#[test]
fn other_processes_are_out_of_reach_and_its_own_are_not() {
    let Some(ground) = Ground::new() else { return };
    let own = std::process::id();
    ground.refuses(&format!("kill -0 {own}"));
    ground.refuses("kill -0 $PPID");
    ground.check("sleep 1000 & kill $! && wait $!; echo $?", "143\n");
    // Relative, since the tests themselves may be niced.
    ground.check("expr $(nice -n 3 nice) - $(nice)", "3\n");
    // Sets the value that most processes already have: if not refused, it harms no process.
    ground.fails_in_python("os", "os.setpriority(os.PRIO_USER, 0, 0)", EPERM);
    ground.fails_in_python("os", &format!("os.setpriority(os.PRIO_PROCESS, {own}, 1)"), EPERM);
}

#[test]
fn of_files_elsewhere_no_events_and_no_attributes_show() {
    let Some(ground) = Ground::new() else { return };
    let watch = "libc = ctypes.CDLL(None, use_errno=True); \
                 watch = libc.inotify_add_watch(libc.inotify_init(), b'other', 256); \
                 raise OSError(ctypes.get_errno() if watch < 0 else 0, '')";
    ground.fails_in_python("ctypes", watch, EPERM);
    // As on a file system without attributes, so that programs which look for them continue.
    ground.fails_in_python("os", "os.listxattr('other')", EOPNOTSUPP);
    ground.fails_in_python("os", "os.getxattr('other/file', 'user.name')", EOPNOTSUPP);
}

#[test]
fn privileges_are_gone() {
    let Some(ground) = Ground::new() else { return };
    let status = "grep -E 'CapPrm|CapEff|CapBnd|NoNewPrivs|^Seccomp:' /proc/self/status";
    // The shell reads its own status; a started program would be another process.
    let read = "while read -r key value; do case $key in CapPrm:|CapEff:|NoNewPrivs:|Seccomp:) echo $key $value;; esac; \
                done </proc/self/status";
    ground.check(
        read,
        "CapPrm: 0000000000000000\nCapEff: 0000000000000000\nNoNewPrivs: 1\nSeccomp: 2\n",
    );
    ground.refuses(status);
    ground.refuses("unshare -r true");
    ground.refuses("mount -t tmpfs none write");
}

#[test]
fn without_network_there_is_no_socket_of_any_kind() {
    let Some(mut ground) = Ground::new() else { return };
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let _engine = UnixListener::bind(ground.path("write/engine.sock")).expect("a socket");
    let connect = format!("exec 3<>/dev/tcp/127.0.0.1/{port} && echo connected");
    let shell = |ground: &Ground, script: &str| {
        let output = ground.run(&["/bin/bash", "-c", script]);
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    assert_eq!(shell(&ground, &connect), "");
    ground.network = true;
    assert_eq!(shell(&ground, &connect), "connected\n");
    // A container engine's socket stays out of reach even then.
    let python = "import socket\ntry:\n    socket.socket(socket.AF_UNIX).connect('write/engine.sock')\n\
                  except PermissionError: print('refused')\nprint(len(socket.socketpair()))";
    if Path::new(PYTHON).exists() {
        let output = ground.run(&[PYTHON, "-c", python]);
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            "refused\n2\n",
            "{output:?}"
        );
    }
}

#[test]
fn an_impossible_confinement_prevents_the_start() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let missing = Confinement {
        read: vec![directory.path().join("missing")],
        ..Confinement::default()
    };
    let output = run(&missing, directory.path(), &["/bin/sh", "-c", "echo started"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(
        (output.status.code(), &*output.stdout),
        (Some(126), &b""[..]),
        "{said}"
    );
    let expected = match confinement::check() {
        Ok(()) => "missing, which cannot be opened: No such file or directory",
        Err(_) => "Linux 6.12",
    };
    assert!(said.contains(expected), "{said}");
}

#[test]
fn a_script_whose_interpreter_is_out_of_reach_says_so() {
    let Some(ground) = Ground::new() else { return };
    let shell = ground.path("other/shell");
    fs::copy("/bin/sh", &shell).expect("copied");
    let script = ground.path("read/script");
    fs::write(&script, format!("#!{}\necho ran\n", shell.display())).expect("written");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&script, mode).expect("set");
    let output = ground.run(&[script.to_str().expect("text")]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        said.contains("`sandbox.read` must name the interpreter"),
        "{output:?}"
    );
}
