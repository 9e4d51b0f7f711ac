//! Exit codes and streams of `codeyard run`, for scripts.

use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;
use test_support::{Codeyard, run};
use tokio::io::{AsyncRead, AsyncReadExt as _};

/// C343: each end of a program has its exit code and message.
#[tokio::test]
async fn c343_every_end_of_a_program_has_its_exit_code() {
    let codeyard = Codeyard::new().unwrap();
    let work = codeyard.work_directory();
    std::fs::write(work.join("ok.py"), "print('ok')").unwrap();
    std::fs::write(
        work.join("raises.py"),
        "print('before')\nraise ValueError('boom')",
    )
    .unwrap();
    std::fs::write(
        work.join("slow.py"),
        "print('begun', flush=True)\nimport time\ntime.sleep(60)",
    )
    .unwrap();
    std::fs::create_dir(work.join("directory")).unwrap();
    for (args, out, err, code) in [
        (&["ok.py"][..], "ok\n", "", 0),
        (&["raises.py"], "before\n", "ValueError: boom", 1),
        (&["missing.py"], "", "Script not found: missing.py", 1),
        (&["directory"], "", "Not a file: directory", 1),
        (&["ok.py/below.py"], "", "ok.py/below.py: ", 2),
        (
            &["slow.py", "--timeout", "1s"],
            "begun\n",
            "Execution timed out after 1000ms",
            124,
        ),
    ] {
        let ended = run(&codeyard, &[&["run"], args].concat(), "").await;
        assert_eq!(
            (ended.out.as_str(), ended.code),
            (out, code),
            "{args:?}: {ended:?}"
        );
        assert!(ended.err.contains(err), "{args:?}: {ended:?}");
    }
    let json = run(&codeyard, &["run", "slow.py", "--timeout", "1s", "--json"], "").await;
    let described: Value = json.json();
    assert_eq!(
        (json.code, described["status"].as_str()),
        (124, Some("timed_out")),
        "{json:?}"
    );
}

/// Output appears during the run, on both streams, and once.
#[tokio::test]
async fn output_appears_while_the_program_runs() {
    let codeyard = Codeyard::new().unwrap();
    let code = "import os, sys, time\nprint('first')\nprint('aside', file=sys.stderr)\nprint('half', end='', flush=True)\n\
        while not os.path.exists('/workspace/go'): time.sleep(0.02)\nprint(' and half')\nraise SystemExit(3)";
    std::fs::write(codeyard.work_directory().join("talks.py"), code).unwrap();
    let mut child = codeyard
        .command(["run", "talks.py"])
        .unwrap()
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut out, mut err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    assert_eq!(read_until(&mut out, "half").await, "first\nhalf");
    assert_eq!(read_until(&mut err, "aside\n").await, "aside\n");
    let workspace = run(&codeyard, &["workspace", "path"], "").await.out;
    std::fs::write(std::path::Path::new(workspace.trim()).join("go"), "").unwrap();
    let (mut rest, mut told) = (String::new(), String::new());
    out.read_to_string(&mut rest).await.unwrap();
    err.read_to_string(&mut told).await.unwrap();
    assert_eq!(rest, " and half\n");
    assert!(
        !told.contains("aside") && told.contains("exit status 3"),
        "{told}"
    );
    assert_eq!(child.wait().await.unwrap().code(), Some(1));
}

/// Reads until the output ends with these words.
async fn read_until(stream: &mut (impl AsyncRead + Unpin), words: &str) -> String {
    let mut read = String::new();
    let mut piece = [0; 64];
    while !read.ends_with(words) {
        let reading = tokio::time::timeout(Duration::from_secs(60), stream.read(&mut piece));
        let count = reading.await.unwrap().unwrap();
        assert_ne!(count, 0, "{read}");
        read.push_str(std::str::from_utf8(&piece[..count]).unwrap());
    }
    read
}
