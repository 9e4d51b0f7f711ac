//! The same attacks on the backend without namespaces: what a program may see, and that it reaches nothing else.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use test_support::{Codeyard, Traces, wait_until};

use crate::hostile::bombs::{HANG_UP, TERMINATE, ignoring};
use crate::hostile::table::answers;
use crate::hostile::yard::{LIMITS, Yard, program};

const BACKEND: &str = "[sandbox]\nbackend = \"landlock\"\n";

/// Programs of the probes whose attempts must all be refused with an error, except for these.
const PROBES: [(&str, &[&str]); 6] = [
    ("kernel-calls", &[]),
    ("namespaces", &[]),
    ("become-another", &["prctl_name"]),
    ("descriptor-calls", &["keepalive", "flock", "memfd"]),
    // Visible by name only, without its content.
    ("host-files", &["homes", "devices", "kernel_files"]),
    ("host-processes", &["see", "scheduler", "limits"]),
];

/// Errors of writes outside the writable places.
const REFUSED: [&str; 6] = ["EPERM", "EACCES", "EXDEV", "ENOTSUP", "EOPNOTSUPP", "ENOENT"];

/// A program of the probes of `doctor --attack`.
fn probe(name: &str, given: &Value) -> String {
    let probes = Path::new(env!("CARGO_MANIFEST_DIR")).join("../attack/probes");
    let read = |path: PathBuf| fs::read_to_string(path).unwrap();
    let (prelude, guest) = (
        read(probes.join("prelude.py")),
        read(probes.join(name).join("guest.py")),
    );
    let given = Value::String(given.to_string());
    format!("{prelude}\ngiven = json.loads({given})\n{guest}")
}

/// Attempts that were not refused.
fn allowed(printed: &str) -> BTreeMap<&str, &str> {
    let refused = |answer: &str| REFUSED.contains(&answer) || matches!(answer, "ENOSYS" | "EINVAL" | "ESRCH");
    let mut met = answers(printed);
    met.retain(|_, answer| !refused(answer));
    met
}

/// Runs a program outside, with the machine's Python in its own directory.
async fn outside(program: &str) -> String {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("program.py");
    fs::write(&file, program).unwrap();
    #[expect(
        clippy::disallowed_methods,
        reason = "the test owns the control and waits for its end"
    )]
    let mut command = tokio::process::Command::new("python3");
    let output = command
        .arg("-B")
        .arg(&file)
        .current_dir(directory.path())
        .output()
        .await
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A codeyard with this backend.
async fn yard() -> Yard {
    Yard::with(Codeyard::new().unwrap().settings(BACKEND).settings(LIMITS)).await
}

/// The session's directory on the host.
async fn directory_of(yard: &mut Yard, session: &str) -> PathBuf {
    let code = "import os\nos.path.dirname(os.environ['HOME'])";
    let ran = yard.execute(json!({"code": code, "session": session})).await;
    PathBuf::from(ran.result().as_str().unwrap())
}

#[tokio::test]
async fn without_namespaces_the_probes_are_refused() {
    let mut yard = yard().await;
    #[expect(
        clippy::disallowed_methods,
        reason = "the test owns the process and kills it on drop"
    )]
    let mut victim = tokio::process::Command::new("sleep");
    let victim = victim
        .arg("600")
        .process_group(0)
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let given = json!({
        "host": {"victim": victim.id().unwrap(), "file": yard.canaries.file},
        "token": "landlock",
        "inside": true,
    });
    for (name, exceptions) in PROBES {
        let ran = yard
            .execute(json!({"code": probe(name, &given), "session": "new"}))
            .await;
        assert_eq!(ran.status(), "completed", "{name}: {ran:?}");
        assert!(answers(ran.stdout()).len() > 10, "{name}: {ran:?}");
        let mut allowed = allowed(ran.stdout());
        allowed.retain(|attempt, _| !exceptions.contains(attempt));
        assert_eq!(allowed, BTreeMap::new(), "{name}");
    }
    let ran = yard
        .execute(json!({"code": probe("socket-families", &given), "session": "new"}))
        .await;
    assert_eq!(
        allowed(ran.stdout()),
        BTreeMap::from([("socket_unix", "allowed")]),
        "{ran:?}"
    );
    let ran = yard
        .execute(json!({"code": probe("x32-i386", &given), "session": "new"}))
        .await;
    for door in ["int80", "x32"] {
        assert_eq!(answers(ran.stdout())[door], "SIGSYS", "{ran:?}");
    }
    yard.end().await;
}

#[tokio::test]
async fn without_namespaces_a_session_has_nothing_of_codeyards_process() {
    let mut yard = yard().await;
    let look = "import os\ndef is_open(number):\n    try:\n        os.fstat(number)\n    except OSError:\n        return False\n    \
                return True\n[[number for number in range(256) if is_open(number)], 'CANARY' in os.environ]";
    let ran = yard.execute(json!({"code": look, "session": "new"})).await;
    assert_eq!(ran.result(), &json!([[0, 1, 2, 3], false]), "{ran:?}");
    let pid = yard.pid();
    let names = "import os\nanswers = set()\n\
                 for name in ('exe', 'cwd', 'root', 'fd/0'):\n    for pid in (PID, os.getppid()):\n        try:\n            \
                 answers.add(os.readlink(f'/proc/{pid}/{name}'))\n        except OSError as error:\n            \
                 answers.add(error.errno)\nsorted(answers)";
    let code = names.replace("PID", &pid.to_string());
    let ran = yard.execute(json!({"code": code, "session": "new"})).await;
    assert_eq!(ran.result(), &json!([13]), "{ran:?}");
    yard.end().await;
}

#[tokio::test]
async fn without_namespaces_nothing_elsewhere_is_read_changed_or_contacted() {
    let mut yard = yard().await;
    let open = tempfile::tempdir().unwrap();
    let allow = |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    allow(open.path(), 0o777);
    for name in ["file", "spare"] {
        fs::write(open.path().join(name), "of the host").unwrap();
        allow(&open.path().join(name), 0o666);
    }
    fs::write(open.path().join("program"), "#!/bin/sh\n").unwrap();
    allow(&open.path().join("program"), 0o777);
    let (stream, datagram) = (open.path().join("stream"), open.path().join("datagram"));
    let _listener = UnixListener::bind(&stream).unwrap();
    let _receiver = UnixDatagram::bind(&datagram).unwrap();
    let abstract_name = format!("codeyard-test-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(&abstract_name).unwrap();
    let _abstract = UnixListener::bind_addr(&address).unwrap();
    for socket in [&stream, &datagram] {
        allow(socket, 0o777);
    }
    let given = json!({
        "directory": open.path(),
        "stream": stream,
        "datagram": datagram,
        "abstract": abstract_name,
    });
    let program = program("elsewhere", &given);
    let ran = yard.execute(json!({"code": program, "session": "new"})).await;
    let inside = answers(ran.stdout());
    assert!(inside.len() > 20, "{ran:?}");
    let reached: Vec<_> = inside
        .iter()
        .filter(|(_, answer)| !REFUSED.contains(answer))
        .collect();
    assert_eq!(reached, Vec::<(&&str, &&str)>::new());
    // The control: outside, each attempt succeeds, except links to another file system.
    let control = outside(&program).await;
    let mut refused = answers(&control);
    refused.retain(|_, answer| !matches!(*answer, "allowed" | "EXDEV"));
    assert_eq!(refused, BTreeMap::new());
    yard.end().await;
}

#[tokio::test]
async fn without_namespaces_sessions_do_not_reach_each_other() {
    let mut yard = yard().await;
    let first = "import os\nopen(runtime.path('/tmp/secret'), 'w').write('x')\n\
                 [os.getpid(), os.getppid()]";
    let ran = yard.execute(json!({"code": first, "session": "first"})).await;
    let processes = ran.result().clone();
    let directory = directory_of(&mut yard, "first").await;
    let second = format!(
        "import errno, os\n\
         def attempt(action):\n    try:\n        action()\n    except OSError as error:\n        return errno.errorcode[error.errno]\n    \
             return 'allowed'\n\
         place = {:?}\n\
         [attempt(lambda: open(place + '/tmp/secret')), attempt(lambda: os.listdir(place)), \
         attempt(lambda: open(place + '/tmp/planted', 'w')), *[attempt(lambda: os.kill(pid, 9)) for pid in {processes}]]",
        directory.display().to_string()
    );
    let ran = yard.execute(json!({"code": second, "session": "second"})).await;
    let refused = json!(["EACCES", "EACCES", "EACCES", "EPERM", "EPERM"]);
    assert_eq!(ran.result(), &refused, "{ran:?}");
    // A program may kill its own children.
    let ran = yard
        .execute(
            json!({"code": "import subprocess\nchild = subprocess.Popen(['sleep', '600'])\nchild.kill() or child.wait()", "session": "first"}),
        )
        .await;
    assert_eq!(ran.result(), -9, "{ran:?}");
    // Neither its keeper nor, with `-1`, processes of others.
    let ran = yard
        .execute(
            json!({"code": "import os, signal\nos.kill(os.getppid(), signal.SIGTERM)", "session": "first"}),
        )
        .await;
    assert_eq!(ran.status(), "failed", "{ran:?}");
    let everybody = json!({"code": "import os\nif os.fork() == 0:\n    os.kill(-1, 9)\nimport time\ntime.sleep(60)", "session": "everybody"});
    let ran = yard.execute(everybody).await;
    assert_eq!(ran.fields()["session_state"], "lost", "{ran:?}");
    yard.check_well().await;
    yard.end().await;
    // Another process's session may have the directory's name by now.
    assert!(!directory.join("tmp/secret").exists());
}

#[tokio::test]
async fn without_namespaces_a_bomb_and_daemons_end_with_their_session() {
    let mut yard = yard().await;
    let bomb = json!({"code": program("fork_bomb", &json!({"confined": true})), "session": "bomb", "timeout_ms": 4000});
    let ran = yard.execute(bomb).await;
    if yard.mode.groups || yard.mode.is_root {
        assert_eq!(
            (ran.status(), ran.stdout()),
            ("timed_out", "fork: EAGAIN\n"),
            "{ran:?}"
        );
    } else {
        assert_eq!(ran.fields()["limit"], "processes", "{ran:?}");
    }

    if ran.fields()["session_state"] != "lost" {
        yard.close("bomb").await;
    }
    yard.check_well().await;

    let count = 8;
    let code = program("daemons", &json!({"count": count, "confined": true}));
    let ran = yard.execute(json!({"code": code, "session": "daemons"})).await;
    assert_eq!(
        (ran.status(), ran.stdout()),
        ("completed", "daemons: allowed\n"),
        "{ran:?}"
    );

    let daemons = ignoring(&yard, TERMINATE | HANG_UP);
    assert!(daemons.pids().is_empty(), "{daemons:?}");
    let started = Traces::of(yard.pid());
    yard.close("daemons").await;
    yard.check_well().await;
    yard.end().await;
    assert!(started.running().is_empty(), "{started:?}");
}

#[tokio::test]
async fn without_namespaces_nothing_outlives_a_killed_codeyard() {
    let mut yard = yard().await;
    let code = program("daemons", &json!({"count": 8, "confined": true}));
    let ran = yard.execute(json!({"code": code, "session": "daemons"})).await;
    assert_eq!(ran.status(), "completed", "{ran:?}");
    let directory = directory_of(&mut yard, "daemons").await;
    let traces = Traces::of(yard.pid());
    yard.client.mcp.kill().unwrap();
    wait_until("every process is gone", || {
        traces.running().is_empty().then_some(())
    })
    .await;
    wait_until("the session's files are gone", || {
        (!directory.exists()).then_some(())
    })
    .await;
}
