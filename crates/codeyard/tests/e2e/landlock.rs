//! The backend without namespaces: its choice, name, requirements and limits, and its programs' view.

mod shell;
mod typescript;

use std::collections::BTreeSet;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::Path;
use std::process::Output;

use serde_json::{Value, json};
use test_support::limits::{Way, conform, endure};
use test_support::{CodeClient, CodeResult, Codeyard, Mode, ServerDefinition};
use types::Limit;

const BACKEND: &str = "[sandbox]\nbackend = \"landlock\"\n";
/// An ordinary user id without other processes.
const USER: u32 = 58_472;

fn codeyard() -> Codeyard {
    Codeyard::with_stub().unwrap().settings(BACKEND)
}

fn is_root() -> bool {
    fs::metadata("/proc/self").unwrap().uid() == 0
}

async fn client() -> CodeClient {
    CodeClient::of(codeyard()).await
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Runs a program that must complete with this result, in the default session.
async fn check(client: &mut CodeClient, code: &str, expected: Value) {
    check_completed(&client.run(code).await, code, &expected);
}

/// Checks the result of a run, and that this backend ran it.
fn check_completed(ran: &CodeResult, code: &str, expected: &Value) {
    assert_eq!(
        (ran.status(), ran.result()),
        ("completed", expected),
        "{code}\n{ran:?}"
    );
    assert_eq!(ran.fields()["backend"], "landlock", "{ran:?}");
}

#[tokio::test]
async fn programs_run_call_tools_and_keep_their_state() {
    let mut client = client().await;
    check(&mut client, "x = 6\nx * 7", json!(42)).await;
    check(&mut client, "x += 1\nx", json!(7)).await;
    check(&mut client, "await tools.stub.echo(message='up')", json!("up")).await;
    check(
        &mut client,
        "import asyncio\nlen(await asyncio.gather(*[tools.stub.echo(message=str(n)) for n in range(20)]))",
        json!(20),
    )
    .await;
    check(
        &mut client,
        "import subprocess\nsubprocess.run(['echo', 'hi'], capture_output=True).stdout.decode()",
        json!("hi\n"),
    )
    .await;
    check(
        &mut client,
        "import threading\nt = threading.Thread(target=print)\nt.start()\nt.join()\nx",
        json!(7),
    )
    .await;
    let ran = client.run("1 / 0").await;
    assert_eq!(ran.status(), "failed", "{ran:?}");
    assert!(
        ran.error().contains("line 1") && ran.error().contains("ZeroDivisionError"),
        "{ran:?}"
    );
    let ran = client.run("import os\nos._exit(3)").await;
    assert_eq!(ran.fields()["session_state"], "lost", "{ran:?}");
    let ran = client.run("'x' in globals()").await;
    assert_eq!(ran.result(), false);
    assert!(ran.fields()["notice"].is_string(), "{ran:?}");
}

#[tokio::test]
async fn files_lie_in_directories_of_the_host() {
    let mut client = client().await;
    check(
        &mut client,
        "open('a.txt', 'w').write('abc')\nimport os\nos.listdir()",
        json!(["a.txt"]),
    )
    .await;
    check(
        &mut client,
        "os.getcwd() == runtime.path('/workspace') == os.environ['PWD']",
        json!(true),
    )
    .await;
    check(&mut client, "import shutil\nshutil.copy('a.txt', 'b.txt')\nshutil.copytree('.', runtime.path('/scratch/c'))\nopen(runtime.path('/scratch/c/b.txt')).read()", json!("abc"))
        .await;
    check(
        &mut client,
        "import pathlib\npathlib.Path('new').touch()\nos.path.exists('new')",
        json!(true),
    )
    .await;
    check(&mut client, "import tempfile\nwith tempfile.TemporaryDirectory() as place: print(os.path.dirname(place) == runtime.path('/tmp'))", Value::Null)
        .await;
    let ran = client
        .run("open(runtime.path('/results/r.txt'), 'w').write('x')")
        .await;
    assert_eq!(ran.fields()["artifacts"], json!(["r.txt"]), "{ran:?}");
    check(
        &mut client,
        "write_file('n/note', 'text')\nread_file('/scratch/n/note')",
        json!("text"),
    )
    .await;
    // The path itself does not exist without mounts; the error names the path to write.
    let ran = client.run("open('/results/out.txt', 'w')").await;
    assert!(
        ran.error().contains("runtime.path('/results/out.txt')"),
        "{ran:?}"
    );
    let ran = client.run("open('/tmp/out.txt', 'w')").await;
    assert!(ran.error().contains("runtime.path('/tmp/out.txt')"), "{ran:?}");
    // The files of tools appear in a session that began earlier.
    check(
        &mut client,
        "sorted(os.listdir(runtime.path('/tools/stub')))[:1]",
        json!(["__init__.py"]),
    )
    .await;
    let ran = client
        .run("open(runtime.path('/tools/stub/__init__.py'), 'a')")
        .await;
    assert!(ran.error().contains("PermissionError"), "{ran:?}");
}

#[tokio::test]
async fn an_ordinary_users_files_are_kept_and_roots_sessions_have_separate_files() {
    let codeyard = codeyard();
    let run = |code: &'static str| codeyard.run_with_input(["run", "-"], code);
    let output = run("import os\nhome = os.environ['HOME']\nfor place in ['.', home]:\n    open(f'{place}/kept', 'w').write('yes')\nprint(os.getcwd(), home)")
        .await
        .unwrap();
    assert!(output.status.success(), "{}", told(&output));
    assert!(told(&output).contains("backend `landlock`"), "{}", told(&output));
    let printed = String::from_utf8(output.stdout).unwrap();
    let (workspace, home) = printed.trim().split_once(' ').unwrap();
    let output = run("import os\nprint(os.path.exists('kept'))").await.unwrap();
    let kept = String::from_utf8(output.stdout).unwrap() == "True\n";
    assert_eq!(kept, !is_root());
    // Another process's session may have the name of root's directory by now.
    let kept = |place: &str| fs::exists(Path::new(place).join("kept")).unwrap();
    assert_eq!(kept(workspace), !is_root());
    // The session's own directory is gone in any case.
    assert!(!kept(home));
}

#[tokio::test]
async fn folders_of_the_user_are_reached_at_their_paths() {
    let codeyard = codeyard();
    let folders = ["reading", "writing"].map(|name| codeyard.work_directory().join(name));
    for folder in &folders {
        fs::create_dir(folder).unwrap();
        fs::write(folder.join("table"), "1").unwrap();
        fs::set_permissions(folder, Permissions::from_mode(0o777)).unwrap();
        if is_root() {
            chown(folder, Some(USER), Some(USER)).unwrap();
        }
    }
    let [reading, writing] = folders.each_ref().map(|folder| folder.display().to_string());
    let mounts = format!(
        "[[mounts]]\npath = \"{reading}\"\ntarget = \"/reading\"\n[[mounts]]\npath = \"{writing}\"\ntarget = \"/writing\"\nmode = \"rw\"\n"
    );
    let mut client = CodeClient::of(codeyard.settings(&mounts)).await;
    check(
        &mut client,
        "open(runtime.path('/reading/table')).read()",
        json!("1"),
    )
    .await;
    check(
        &mut client,
        &format!("runtime.path('/reading') == {reading:?}"),
        json!(true),
    )
    .await;
    check(
        &mut client,
        "open(runtime.path('/writing/new'), 'w').write('x')",
        json!(1),
    )
    .await;
    let ran = client.run("open(runtime.path('/reading/new'), 'w')").await;
    assert!(ran.error().contains("PermissionError"), "{ran:?}");
    assert!(fs::exists(folders[1].join("new")).unwrap());
}

/// Checks the table of limits, except those that the backend only counts.
async fn every_limit_binds(way: Way) {
    let mode = Mode::of(&codeyard()).await.unwrap();
    // For an ordinary user without control groups, processes are counted too.
    let counted = [Limit::Disk, Limit::Inodes, Limit::Processes];
    let polled = if mode.groups || mode.is_root {
        &counted[..2]
    } else {
        &counted
    };
    conform(codeyard, way, mode, polled).await;
}

#[tokio::test]
async fn every_limit_of_the_settings_binds() {
    every_limit_binds(Way::Settings).await;
}

#[tokio::test]
async fn every_limit_of_a_call_binds() {
    every_limit_binds(Way::Call).await;
}

#[tokio::test]
async fn programs_that_exhaust_the_interpreter_end_within_their_limits() {
    endure(codeyard()).await;
}

#[tokio::test]
async fn leftovers_of_a_run_take_nothing_in_any_mode() {
    let codeyard = codeyard();
    let attack = codeyard
        .run(["doctor", "--attack", "--json", "--this-user"])
        .await
        .unwrap();
    let report: Value = serde_json::from_slice(&attack.stdout).unwrap();
    let rows = report["rows"].as_array().unwrap();
    assert!(attack.status.success(), "{report:#}");
    let names =
        |field: &str| -> BTreeSet<&str> { rows.iter().filter_map(|row| row[field].as_str()).collect() };
    // The variants between runs are in Python.
    let groups = ["between-runs/", "ts-", "sh-"].map(|group| {
        let probes = names("probe");
        probes.iter().filter(|name| name.starts_with(group)).count()
    });
    assert!(groups[0] >= 9 && groups[1] >= 28 && groups[2] >= 5, "{report:#}");
    assert_eq!(groups.iter().sum::<usize>(), names("probe").len());
    assert_eq!(names("backend"), BTreeSet::from(["landlock"]));
    let mode = Mode::of(&codeyard).await.unwrap();
    let modes = 1 + usize::from(mode.groups);
    assert_eq!(names("mode").len(), modes, "{report:#}");
    assert_eq!(rows.len(), names("probe").len() * modes);
    assert!(rows.iter().all(|row| row["verdict"] == "held"), "{report:#}");
}

#[tokio::test]
async fn a_program_that_does_not_stop_is_killed_and_the_name_works_again() {
    let mut client = CodeClient::of(codeyard().settings("[limits]\nwall_time = \"500ms\"")).await;
    let deaf = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nprint('before', flush=True)\nwhile True: pass";
    let ran = client.run(deaf).await;
    assert_eq!((ran.status(), ran.stdout()), ("timed_out", "before\n"), "{ran:?}");
    assert_eq!(ran.fields()["session_state"], "lost", "{ran:?}");
    let next = client.run("'fresh'").await;
    assert_eq!(next.result(), "fresh");
    assert!(next.fields()["notice"].is_string(), "{next:?}");
}

#[tokio::test]
async fn the_backend_reports_that_it_does_not_isolate_tenants() {
    let codeyard = codeyard().settings("require = \"tenant-isolation\"");
    let output = codeyard.run_with_input(["run", "-"], "print(1)").await.unwrap();
    assert!(!output.status.success() && output.stdout.is_empty());
    for word in [
        "tenant-isolation",
        "landlock",
        "namespaces",
        "backend = \"process\"",
    ] {
        assert!(told(&output).contains(word), "{word}: {}", told(&output));
    }
    let output = codeyard.run(["doctor", "--json"]).await.unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&report["serves"], &report["mode"]),
        (&json!(false), &Value::Null),
        "{report}"
    );
    let ran = CodeClient::of(codeyard).await.run("1").await;
    assert!(ran.shown().contains("tenant-isolation"), "{ran:?}");
}

#[tokio::test]
async fn the_backend_is_chosen_by_name_and_named() {
    let doctor = codeyard().run(["doctor"]).await.unwrap();
    let shown = String::from_utf8(doctor.stdout).unwrap();
    assert!(doctor.status.success(), "{shown}");
    assert!(
        shown.contains("programs can run here (mode: landlock, "),
        "{shown}"
    );
    let promised = |line: &str| line.starts_with("not promised") && line.contains("mounts");
    assert!(shown.lines().any(promised), "{shown}");
    let attack = codeyard()
        .run(["doctor", "--attack", "--only", "suid"])
        .await
        .unwrap();
    assert!(!attack.status.success() && told(&attack).contains("backend `process`"));
    let run = codeyard()
        .run_with_input(["run", "--json", "-"], "1")
        .await
        .unwrap();
    let ran: Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!(ran["backend"], "landlock", "{ran}");
    // The default is another backend, and is not named.
    let mut client = CodeClient::of(Codeyard::new().unwrap()).await;
    let ran = client.run("1").await;
    assert!(ran.fields().get("backend").is_none(), "{ran:?}");
    let wrong = Codeyard::new()
        .unwrap()
        .settings("[sandbox]\nbackend = \"landlok\"");
    let output = wrong.run_with_input(["run", "-"], "1").await.unwrap();
    assert_eq!(output.status.code(), Some(2));
    for word in ["sandbox.backend", "process", "did you mean `landlock`"] {
        assert!(told(&output).contains(word), "{word}: {}", told(&output));
    }
}

#[tokio::test]
async fn the_backend_runs_where_user_namespaces_are_forbidden() {
    let codeyard = Codeyard::new().unwrap();
    let data = codeyard.directory().join("of-user");
    fs::create_dir(&data).unwrap();
    let wrapper = if is_root() {
        chown(&data, Some(USER), Some(USER)).unwrap();
        format!("setpriv --reuid {USER} --regid {USER} --clear-groups --inh-caps=-all --bounding-set=-all")
    } else {
        "env".to_owned()
    };
    let forbid = "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$@\"";
    let run = async |settings: &str| {
        let file = codeyard.directory().join("settings.toml");
        fs::write(&file, settings).unwrap();
        let wrapped = codeyard.command(["run", "-"]).unwrap();
        let wrapped = wrapped.as_std();
        let mut words = wrapper.split(' ');
        #[expect(clippy::disallowed_methods, reason = "the test waits for the process's end")]
        let mut command = tokio::process::Command::new(words.next().unwrap());
        command
            .args(words)
            .args(["unshare", "--user", "--map-current-user", "--keep-caps"]);
        command
            .args(["sh", "-c", forbid, "sh"])
            .arg(wrapped.get_program());
        command
            .args(["run", "-", "--settings"])
            .arg(&file)
            .arg("--data")
            .arg(&data);
        command
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", &data);
        command
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped());
        command.stderr(std::process::Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        tokio::io::AsyncWriteExt::write_all(&mut input, b"print(6 * 7)")
            .await
            .unwrap();
        drop(input);
        child.wait_with_output().await.unwrap()
    };
    let refused = run("").await;
    assert!(
        told(&refused).contains("user namespaces are switched off"),
        "{}",
        told(&refused)
    );
    let ran = run(BACKEND).await;
    assert_eq!(String::from_utf8_lossy(&ran.stdout), "42\n", "{}", told(&ran));
}

#[tokio::test]
async fn concurrent_sessions_do_not_affect_each_other() {
    let codeyard = Codeyard::new()
        .unwrap()
        .server("stub", &ServerDefinition::stub())
        .settings(BACKEND);
    let mut client = CodeClient::of(codeyard).await;
    let mut started = Vec::new();
    for number in 0..8 {
        let code = format!(
            "import os\nawait tools.stub.echo(message='x')\nopen(runtime.path('/scratch/own'), 'w').write('{number}')\nopen(runtime.path('/scratch/own')).read()"
        );
        started.push(
            client
                .start(json!({"code": code, "session": format!("s{number}")}))
                .await,
        );
    }
    for (number, id) in started.iter().enumerate() {
        let ran = client.ran(id).await;
        assert_eq!(ran.result(), &json!(number.to_string()), "{ran:?}");
    }
}
