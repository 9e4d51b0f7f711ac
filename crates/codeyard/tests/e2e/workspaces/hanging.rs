//! A mounted folder whose file system hangs fails its own runs, with the folder's name, and no others.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::json;
use test_support::{CodeResult, Codeyard, wait_until};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use super::read_only::{client, codeyards};
use super::{is_root, workspace};

/// Longest time until a run fails on a folder that hung before; the first run waits longer.
const AT_ONCE: Duration = Duration::from_secs(4);

/// A file system in user space. Dropping the value unmounts it, which ends all waiting operations.
struct Hanging {
    stdin: ChildStdin,
    said: Lines<BufReader<ChildStdout>>,
    _server: Child,
}

impl Hanging {
    async fn mount(folder: &Path) -> Hanging {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/e2e/workspaces/hanging.py");
        #[expect(clippy::disallowed_methods, reason = "it ends when its input is closed")]
        let mut command = Command::new("python3");
        command.arg(script).arg(folder);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut server = command.spawn().unwrap();
        let mut hanging = Hanging {
            stdin: server.stdin.take().unwrap(),
            said: BufReader::new(server.stdout.take().unwrap()).lines(),
            _server: server,
        };
        hanging.hears("mounted").await;
        hanging
    }

    /// From now on, the file system answers nothing.
    async fn hang(&mut self) {
        self.stdin.write_all(b"hang").await.unwrap();
        self.hears("hangs").await;
    }

    async fn hears(&mut self, word: &str) {
        assert_eq!(self.said.next_line().await.unwrap().as_deref(), Some(word));
    }
}

fn check_names(ran: &CodeResult, words: &[&str]) {
    assert!(ran.is_error(), "{ran:?}");
    let text = format!("{}{}", ran.error(), ran.shown());
    for word in words {
        assert!(text.contains(word), "{word}: {ran:?}");
    }
}

#[tokio::test]
async fn a_hanging_folder_fails_its_runs_by_name_and_delays_nothing_else() {
    if !is_root() || !Path::new("/dev/fuse").exists() {
        return eprintln!("skipped: it takes root and /dev/fuse to mount a file system that hangs");
    }
    for (who, codeyard) in codeyards() {
        let folder = super::user_directory(&codeyard, "hanging");
        let mut hanging = Hanging::mount(&folder).await;
        let mut client = client(who, codeyard, &folder, "ro").await;
        let path = folder.to_str().unwrap();
        client
            .check("import os\nkept = os.listdir('/data')\nprint(kept)", "[]\n")
            .await;
        let files = workspace(&client.codeyard);
        let wait = "import os, time\nopen(f'/workspace/{name}', 'w').close()\n\
                    while not os.path.exists('/workspace/go'): time.sleep(0.01)\n";
        let begin = |name: &str, then: &str| {
            let code = format!("name = '{name}'\n{wait}{then}");
            json!({"code": code, "session": name, "limits": {"wall_time": "10s"}})
        };
        let other = client.start(begin("other", "print('went')")).await;
        let reader = client.start(begin("reader", "print(os.stat('/data'))")).await;
        for name in ["other", "reader"] {
            wait_until("the run began", || files.join(name).exists().then_some(())).await;
        }
        hanging.hang().await;
        let late = client.start(json!({"code": "print(kept)"})).await;
        // The server answers, and a run that does not use the folder ends, while others wait for the folder.
        assert!(!client.mcp.tools().await.unwrap().is_empty(), "{who}");
        std::fs::write(files.join("go"), "").unwrap();
        assert_eq!(client.ran(&other).await.stdout(), "went\n", "{who}");
        check_names(&client.ran(&late).await, &[path, "did not answer"]);
        let start = Instant::now();
        check_names(&client.run_in("new", "1").await, &[path, "did not answer"]);
        assert!(start.elapsed() < AT_ONCE, "{who}: {:?}", start.elapsed());
        // A process that waits in the kernel cannot be killed; the host still abandons the session.
        let stuck = client.ran(&reader).await;
        assert_eq!(stuck.status(), "timed_out", "{who}: {stuck:?}");
        assert_eq!(stuck.fields()["session_state"], "lost", "{who}: {stuck:?}");
        drop(hanging);
        if who == "ordinary user" {
            // The mounter of an ordinary user keeps the mounts of its start.
            continue;
        }
        // Once the waiting threads have returned, the folder is the original directory again.
        let mut ran = client.run("import os\n[kept, os.listdir('/data')]").await;
        let start = Instant::now();
        while ran.is_error() && start.elapsed() < Duration::from_secs(20) {
            ran = client.run("import os\n[kept, os.listdir('/data')]").await;
        }
        assert_eq!(ran.result(), &json!([[], ["table.csv"]]), "{who}: {ran:?}");
    }
}

#[tokio::test]
async fn a_folder_hanging_at_the_start_is_refused_by_name() {
    if !is_root() || !Path::new("/dev/fuse").exists() {
        return eprintln!("skipped: it takes root and /dev/fuse to mount a file system that hangs");
    }
    let codeyard = Codeyard::new().unwrap();
    let folder = super::user_directory(&codeyard, "hanging");
    let mut hanging = Hanging::mount(&folder).await;
    hanging.hang().await;
    let mount = format!("{}:/data", folder.display());
    let command = codeyard.command(["run", "-", "--mount", &mount]).unwrap();
    let mut client = test_support::McpClient::spawn(command).unwrap();
    let told = wait_until("the mistake is told", || {
        let told = client.stderr();
        told.contains("did not answer").then_some(told)
    })
    .await;
    assert!(
        told.contains("--mount") && told.contains(folder.to_str().unwrap()),
        "{told}"
    );
    // The program's thread waits for the file system and cannot be killed before the unmount.
    drop(hanging);
    assert_eq!(client.wait().await.unwrap().code(), Some(2));
}
