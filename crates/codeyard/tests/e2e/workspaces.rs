//! Files that outlive sessions, the user's own directories in sessions, and refusals.

mod hanging;
mod host_paths;
mod image;
mod kernel_quota;
mod owners;
mod quota;
mod read_only;
mod scratch;

use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, mkfifoat};
use serde_json::{Value, json};
use test_support::{CodeClient, Codeyard, Era, McpClient, ServerDefinition, codeyard_binary, run};

fn is_root() -> bool {
    std::fs::metadata("/proc/self").unwrap().uid() == 0
}

/// A directory of the user with a file, in the commands' current directory.
fn user_directory(codeyard: &Codeyard, name: &str) -> PathBuf {
    let directory = codeyard.work_directory().join(name);
    std::fs::create_dir(&directory).unwrap();
    std::fs::write(directory.join("table.csv"), "a,b\n1,2\n").unwrap();
    if is_root() {
        chown(&directory, Some(1234), Some(1234)).unwrap();
        chown(directory.join("table.csv"), Some(1234), Some(1234)).unwrap();
    }
    directory.canonicalize().unwrap()
}

fn workspace(codeyard: &Codeyard) -> PathBuf {
    codeyard.data_directory().join("workspaces/local/workspace")
}

#[tokio::test]
async fn files_stay_from_one_process_to_the_next_and_belong_to_an_ordinary_user() {
    let codeyard = Codeyard::with_stub().unwrap();
    let ended = run(
        &codeyard,
        &["run", "-"],
        "open('kept.txt', 'w').write('yes')\nimport os\nos.makedirs('/workspace/d/e')",
    )
    .await;
    assert_eq!(ended.code, 0, "{ended:?}");
    let ended = run(
        &codeyard,
        &["run", "-"],
        "print(open('/workspace/kept.txt').read())",
    )
    .await;
    assert_eq!(ended.out, "yes\n", "{ended:?}");
    let path = run(&codeyard, &["workspace", "path"], "").await.out;
    assert_eq!(Path::new(path.trim_end()), workspace(&codeyard));
    let owner = if is_root() {
        65_534
    } else {
        std::fs::metadata("/proc/self").unwrap().uid()
    };
    for file in ["kept.txt", "d/e"] {
        assert_eq!(
            workspace(&codeyard).join(file).metadata().unwrap().uid(),
            owner,
            "{file}"
        );
    }
    for private in ["workspaces", "workspaces/local", "workspaces/local/workspace"] {
        let mode = codeyard
            .data_directory()
            .join(private)
            .metadata()
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o077, 0, "{private}");
    }
}

#[tokio::test]
async fn sessions_share_the_workspace_and_have_separate_results() {
    let mut client = CodeClient::with_stub().await;
    client
        .run_in(
            "one",
            "open('/workspace/w', 'w').write('shared')\nopen('/results/r', 'w').write('one')",
        )
        .await;
    client.run_in("two", "open('/results/r', 'w').write('two')").await;
    let ran = client
        .run_in(
            "two",
            "return [open('/workspace/w').read(), open('/results/r').read()]",
        )
        .await;
    assert_eq!(ran.result(), &json!(["shared", "two"]));
    let ran = client.run_in("one", "return open('/results/r').read()").await;
    assert_eq!(ran.result(), "one");
}

#[tokio::test]
async fn sessions_without_files_leave_little_behind() {
    let codeyard = Codeyard::with_stub().unwrap().settings("[sessions]\nmax = 2\n");
    let mut client = CodeClient::of(codeyard).await;
    client.run_in("keeps", "open('/results/r', 'w').write('x')").await;
    for _ in 0..130 {
        assert_eq!(client.run_in("new", "return 1").await.result(), 1);
    }
    let sessions = client.codeyard.data_directory().join("workspaces/local/sessions");
    let left = sessions.read_dir().unwrap().count();
    assert!(left < 100, "{left}");
    assert!(sessions.join("keeps/results/r").exists());
}

#[tokio::test]
async fn without_workspaces_nothing_stays() {
    let codeyard = Codeyard::with_stub()
        .unwrap()
        .settings("[workspace]\nenabled = false\n");
    let mut client = CodeClient::of(codeyard).await;
    let ran = client
        .run("open('/workspace/w', 'w').write('x')\nopen('/results/r', 'w').write('x')\nreturn 5")
        .await;
    assert_eq!(ran.result(), 5, "{ran:?}");
    assert!(!client.codeyard.data_directory().join("workspaces").exists());
    let listed = client.mcp.result("resources/list", json!({})).await.unwrap();
    assert_eq!(listed["resources"], json!([]));
}

#[tokio::test]
async fn tools_are_files_that_programs_and_shells_read() {
    let mut client = CodeClient::with_stub().await;
    let ran = client
        .run("import os\nfrom pathlib import Path\ntext = Path('/tools/stub/add.py').read_text()\nreturn ['async def add' in text, [name for name in os.listdir('/tools') if name[0] not in '._'], os.listdir('/skills')]")
        .await;
    assert_eq!(ran.result(), &json!([true, ["stub"], []]), "{ran:?}");
    let ran = client.run("import subprocess\nreturn subprocess.run('grep -l add /tools/stub/add.py', shell=True, capture_output=True, text=True).stdout").await;
    assert_eq!(ran.result(), "/tools/stub/add.py\n", "{ran:?}");
    for attempt in [
        "open('/tools/stub/add.py', 'w')",
        "open('/tools/new', 'w')",
        "os.remove('/tools/stub/add.py')",
    ] {
        let ran = client.run(&format!("import os\n{attempt}")).await;
        assert_eq!(ran.status(), "failed", "{attempt}: {ran:?}");
    }
}

#[tokio::test]
async fn mounts_appear_at_their_paths_and_are_writable_only_with_rw() {
    let codeyard = Codeyard::with_stub().unwrap();
    let read = user_directory(&codeyard, "tables");
    let written = user_directory(&codeyard, "reports");
    let settings = format!(
        "[[mounts]]\npath = \"{}\"\ntarget = \"/reports\"\nmode = \"rw\"\n",
        written.display()
    );
    let codeyard = codeyard.settings(&settings);
    let code = "print(open('/data/table.csv').read().strip())\nopen('/reports/new.txt', 'w').write('made')\n\
                try:\n    open('/data/new.txt', 'w')\nexcept OSError as error:\n    print(error.strerror)\n";
    let ended = run(&codeyard, &["run", "-", "--mount", "tables:/data"], code).await;
    assert_eq!(ended.out, "a,b\n1,2\nRead-only file system\n", "{ended:?}");
    let told = format!(
        "mount: {}:/reports:rw\nmount: {}:/data:ro\n",
        written.display(),
        read.display()
    );
    assert_eq!(ended.err, told);
    let made = written.join("new.txt").metadata().unwrap();
    assert_eq!(
        made.uid(),
        written.metadata().unwrap().uid(),
        "files belong to the directory's owner"
    );
    assert!(!read.join("new.txt").exists());
}

#[tokio::test]
async fn an_invalid_mount_is_refused_by_name_before_the_run() {
    let codeyard = Codeyard::with_stub().unwrap();
    let directory = user_directory(&codeyard, "tables");
    symlink("tables", codeyard.work_directory().join("link")).unwrap();
    std::fs::create_dir_all(codeyard.data_directory()).unwrap();
    let data = codeyard.data_directory().display().to_string();
    let real = format!("goes through a symbolic link; write {} if", directory.display());
    let file = format!("{}/table.csv:/data", directory.display());
    for (mount, expected) in [
        ("nothing:/data", "there is no such directory"),
        (file.as_str(), "this is not a directory"),
        ("/:/data", "the whole machine is not shown"),
        ("/proc:/data", "belongs to the kernel"),
        ("/sys/fs:/data", "belongs to the kernel"),
        (&format!("{data}:/data"), "codeyard's own data directory"),
        ("link:/data", real.as_str()),
        ("tables:data", "write DIR:/target"),
        ("tables:/data:wr", "write DIR:/target"),
        ("tables", "write DIR:/target"),
        ("tables:/workspace", "is reserved for sessions"),
        ("tables:/../etc", "cannot be a target"),
    ] {
        let ended = run(&codeyard, &["run", "-", "--mount", mount], "print('ran')").await;
        assert_eq!((ended.code, ended.out.as_str()), (2, ""), "{mount}: {ended:?}");
        assert!(
            ended.err.contains("--mount") && ended.err.contains(expected),
            "{mount}: {ended:?}"
        );
    }
    let several = [
        "run",
        "-",
        "--mount",
        "nothing:/a",
        "--mount",
        "tables:/b",
        "--mount",
        "tables:/b/c",
        "--mount",
        "/dev:/d",
    ];
    let ended = run(&codeyard, &several, "").await;
    assert_eq!(
        ended.err.matches("--mount ").count(),
        3,
        "expected all mistakes at once: {ended:?}"
    );
}

#[tokio::test]
async fn files_that_outgrow_their_quota_end_the_run_and_name_the_limit() {
    let codeyard = Codeyard::with_stub()
        .unwrap()
        .settings("[workspace]\nquota = \"4 MiB\"\n[limits]\nwall_time = \"60s\"\n");
    let mut client = CodeClient::of(codeyard).await;
    client.run("kept = 1").await;
    let code = "import time\nfor n in range(100000):\n    with open(f'/workspace/f{n}', 'wb') as file: file.write(b'x' * 200_000)\n    time.sleep(0.1)";
    let ran = client.run(code).await;
    assert_eq!(ran.status(), "limit_exceeded", "{ran:?}");
    assert!(ran.error().contains("workspace"), "{ran:?}");
    // A program may free space, in another session or in a later run.
    let code = "import os, time\nfor name in os.listdir('/workspace'): os.remove('/workspace/' + name)\ntime.sleep(2.5)\nreturn os.listdir('/workspace')";
    let ran = client.run_in("other", code).await;
    assert_eq!((ran.status(), ran.result()), ("completed", &json!([])), "{ran:?}");
}

#[tokio::test]
async fn invalid_settings_are_all_reported_at_once() {
    let settings = "[workspace]\nquota = \"0 B\"\ninodes = 5\nowner = 0\nenforce = \"maybe\"\nsize = 1\n\
                    [pool]\nsize = 100000\nrecycle_minutes = 0\n[sessions]\nmax = 0\nidle_memory = \"1 MiB\"\n\
                    [[mounts]]\npath = \"/nowhere\"\ntarget = \"/data\"\n[[mounts]]\ntarget = \"/x\"\n[[mounts]]\npath = 5\n";
    let codeyard = Codeyard::new().unwrap().settings(settings);
    let ended = run(&codeyard, &["workspace", "list"], "").await;
    assert_eq!(ended.code, 2);
    for expected in [
        "workspace.quota: \"0 B\" is out of range",
        "workspace.inodes: 5 is out of range; write 100 to 100000000",
        "workspace.owner: 0 is out of range",
        "workspace.enforce: expected \"auto\" or \"kernel\"",
        "workspace.size: unknown key `size`",
        "pool.size: 100000 is out of range; write 0 to 256",
        "pool.recycle_minutes: 0 is out of range",
        "sessions.max: 0 is out of range",
        "sessions.idle_memory: \"1 MiB\" is out of range",
        "mounts[0]: /nowhere: there is no such directory",
        "mounts[1]: `path` is missing",
        "mounts[2].path: expected a string",
    ] {
        assert!(ended.err.contains(expected), "{expected}: {}", ended.err);
    }
}

#[tokio::test]
async fn an_obstacle_to_a_workspace_is_named() {
    let codeyard = Codeyard::with_stub().unwrap();
    let place = codeyard.data_directory().join("workspaces");
    std::fs::create_dir_all(codeyard.data_directory()).unwrap();
    std::fs::write(&place, "").unwrap();
    let ended = run(&codeyard, &["run", "-"], "print(1)").await;
    assert_eq!((ended.code, ended.out.as_str()), (3, ""), "{ended:?}");
    let expected = format!("{}: is a file, not a directory; move it away", place.display());
    assert!(ended.err.contains(&expected), "{ended:?}");
    let ended = run(&codeyard, &["workspace", "list"], "").await;
    assert!(ended.code == 5 && ended.err.contains(&expected), "{ended:?}");
}

#[tokio::test]
async fn workspaces_are_listed_and_cleaned_while_unused() {
    let codeyard = Codeyard::with_stub().unwrap();
    let ended = run(&codeyard, &["workspace", "list"], "").await;
    assert_eq!(ended.out, "no session has kept files yet\n");
    let mut client = CodeClient::of(codeyard).await;
    client
        .run("open('/workspace/w', 'w').write('x')\nopen('/results/r', 'w').write('x')")
        .await;
    let ended = run(&client.codeyard, &["workspace", "list", "--json"], "").await;
    let listed: Value = serde_json::from_str(&ended.out).unwrap();
    let local = &listed["workspaces"][0];
    assert_eq!(
        (&local["name"], &local["in_use"], &local["complete"]),
        (&json!("local"), &json!(true), &json!(true))
    );
    assert!(
        local["bytes"].as_u64().unwrap() > 0 && local["quota"]["bytes"].as_u64().unwrap() > 0,
        "{local}"
    );
    let ended = run(&client.codeyard, &["workspace", "clean", "--yes"], "").await;
    assert!(
        ended.code == 5 && ended.err.contains("is in use by a running codeyard process"),
        "{ended:?}"
    );

    let CodeClient { mcp, codeyard } = client;
    mcp.finish().await.unwrap();
    let ended = run(&codeyard, &["workspace", "clean", "--results"], "y\n").await;
    assert!(
        ended.code == 2 && ended.err.contains("Say so with --yes"),
        "{ended:?}"
    );
    let ended = run(&codeyard, &["workspace", "clean", "--results", "--yes"], "").await;
    assert_eq!(
        (ended.code, ended.out.as_str()),
        (
            0,
            "removed the results and scratch files of all sessions of `local`\n"
        ),
        "{ended:?}"
    );
    assert!(workspace(&codeyard).join("w").exists());
    let ended = run(&codeyard, &["workspace", "clean", "--yes", "--json"], "").await;
    assert_eq!(
        serde_json::from_str::<Value>(&ended.out).unwrap(),
        json!({"removed": "local", "results_only": false})
    );
    assert!(!workspace(&codeyard).exists());
    let ended = run(&codeyard, &["workspace", "clean", "--yes"], "").await;
    assert_eq!((ended.code, ended.out.as_str()), (0, "`local` has no files\n"));
}

/// A client of either era that receives the files of its programs.
async fn check_artifacts(era: Era) {
    let codeyard = Codeyard::with_stub().unwrap();
    let mut mcp: McpClient = codeyard.mcp(era).await.unwrap();
    let code = "import os, socket\n\
        open('/results/table.csv', 'w').write('a,b\\n')\nos.mkdir('/results/d')\nopen('/results/d/ü 1.bin', 'wb').write(b'\\x00\\xff')\n\
        os.symlink('/etc/passwd', '/results/link')\nos.symlink('/proc/self/mem', '/results/mem')\n\
        open(b'/results/\\xff.txt', 'w').write('odd')\nopen('/results/large', 'wb').truncate(9 * 1024 * 1024)\n\
        open('/workspace/private', 'w').write('x')";
    let ran = mcp
        .call_tool("execute_code", json!({"code": code}))
        .await
        .unwrap();
    assert_eq!(ran["structuredContent"]["status"], "completed", "{ran}");
    // Programs cannot create these, but another user may have.
    let results = codeyard
        .data_directory()
        .join("workspaces/local/sessions/default/results");
    mkfifoat(CWD, results.join("fifo"), Mode::from_raw_mode(0o600)).unwrap();
    // The whole path may exceed the length of a socket's path.
    let directory = std::fs::File::open(&results).unwrap();
    let short = format!("/proc/self/fd/{}/socket", directory.as_raw_fd());
    let _socket = UnixListener::bind(short).unwrap();
    let listed = mcp.result("resources/list", json!({})).await.unwrap();
    let mut uris: Vec<&str> = listed["resources"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["uri"].as_str().unwrap())
        .collect();
    uris.sort_unstable();
    let prefix = "codeyard://results/default";
    assert_eq!(
        uris,
        ["%FF.txt", "d/%C3%BC%201.bin", "large", "table.csv"].map(|path| format!("{prefix}/{path}"))
    );
    for (path, expected) in [
        ("table.csv", json!({"mimeType": "text/csv", "text": "a,b\n"})),
        (
            "d/%C3%BC%201.bin",
            json!({"mimeType": "application/octet-stream", "blob": "AP8="}),
        ),
        ("%FF.txt", json!({"mimeType": "text/plain", "text": "odd"})),
    ] {
        let uri = format!("{prefix}/{path}");
        let read = mcp.result("resources/read", json!({"uri": uri})).await.unwrap();
        let mut expected = expected;
        expected["uri"] = json!(uri);
        assert_eq!(read["contents"], json!([expected]));
    }
    for (path, expected) in [
        ("link", "only regular files are read"),
        ("mem", "only regular files are read"),
        ("fifo", "it is a FIFO"),
        ("socket", "it is a socket"),
        ("d", "it is a directory"),
        ("large", "at most 8388608 are read at once"),
        ("gone", "Resource not found"),
        ("../../workspace/private", "Resource not found"),
        ("%2e%2e/%2e%2e/workspace/private", "Resource not found"),
        ("%2Fetc%2Fpasswd", "Resource not found"),
    ] {
        let answer = mcp
            .request("resources/read", json!({"uri": format!("{prefix}/{path}")}))
            .await
            .unwrap();
        let message = answer["error"]["message"].as_str().unwrap_or_default();
        assert!(message.contains(expected), "{path}: {answer}");
    }
    let ran = mcp
        .call_tool("execute_code", json!({"code": "return 1"}))
        .await
        .unwrap();
    assert_eq!(
        ran["structuredContent"]["result"], 1,
        "the session must still work"
    );
}

#[tokio::test]
async fn artifacts_are_resources() {
    check_artifacts(Era::Legacy).await;
}

#[tokio::test]
async fn artifacts_are_resources_in_the_stateless_era() {
    check_artifacts(Era::Modern).await;
}

#[tokio::test]
async fn the_page_about_files_works_as_documented() {
    let page = include_str!("../../../../docs/files.md");
    let blocks = || {
        page.split("```")
            .skip(1)
            .step_by(2)
            .filter_map(|block| block.split_once('\n'))
    };
    let settings = blocks()
        .find(|(kind, _)| *kind == "toml")
        .unwrap()
        .1
        .replace("/home/me/tables", "tables");
    let file = Codeyard::with_stub().unwrap();
    user_directory(&file, "tables");
    std::fs::write(file.work_directory().join("page.toml"), settings).unwrap();
    let run_on_it = ["run", "-", "--settings", "page.toml"];
    let ended = run(&file, &run_on_it, "import os\nprint(os.listdir('/data'))").await;
    assert_eq!(ended.out, "['table.csv']\n", "{ended:?}");
    let program = blocks().find(|(kind, _)| *kind == "python").unwrap().1;
    let printed = blocks().find(|(kind, _)| *kind == "text").unwrap().1;
    assert_eq!(run(&file, &run_on_it, program).await.out, printed);
    for line in blocks()
        .filter(|(kind, _)| *kind == "sh")
        .flat_map(|(_, text)| text.lines())
    {
        let words: Vec<&str> = line
            .split_whitespace()
            .skip(1)
            .take_while(|word| *word != "#")
            .collect();
        let mut help: Vec<&str> = words.clone();
        help.push("--help");
        let ended = run(&file, &help, "").await;
        assert_eq!(ended.code, 0, "{line}: {ended:?}");
        for option in words.iter().filter(|word| word.starts_with("--")) {
            assert!(ended.out.contains(option), "{line}: {ended:?}");
        }
    }
}

#[tokio::test]
async fn tools_of_a_later_server_appear_in_an_open_session() {
    let definition = ServerDefinition::new(codeyard_binary().to_string_lossy(), &["demo-server", "crm"]);
    let codeyard = Codeyard::with_stub().unwrap().server("crm", &definition);
    let mut client = CodeClient::of(codeyard).await;
    client.run("x = 1").await;
    let ran = client.run("import os\nreturn [x, sorted(name for name in os.listdir('/tools') if name[0] not in '._'), 'get_customer.py' in os.listdir('/tools/crm')]").await;
    assert_eq!(ran.result(), &json!([1, ["crm", "stub"], true]), "{ran:?}");
}
