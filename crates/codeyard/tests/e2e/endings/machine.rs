//! Codeyard on a machine without Python, a writable data directory, disk space or descriptors.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Output, Stdio};

use serde_json::json;
use test_support::{CodeClient, Codeyard, Mode};

use crate::endings::trees::installation;

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Runs `codeyard run` of one line, below a wrapper that restricts the process.
async fn run_below(wrapper: &[&str], codeyard: &Codeyard) -> Output {
    let program = codeyard.work_directory().join("program.py");
    fs::write(&program, "print('ran')\n").unwrap();
    let args = ["run", &program.to_string_lossy()];
    let mut command = codeyard.command_below(wrapper, args).unwrap();
    command.stdin(Stdio::null());
    let ended = tokio::time::timeout(std::time::Duration::from_secs(60), command.output()).await;
    ended.unwrap().unwrap()
}

#[tokio::test]
async fn without_python_the_message_says_what_to_install() {
    let codeyard = installation().env("PATH", "/nonexistent");
    let output = codeyard.run_with_input(["run", "-"], "print(1)").await.unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", told(&output));
    let mut client = CodeClient::of(codeyard).await;
    let ran = client.run("1").await;
    assert!(ran.is_error());
    for words in [told(&output), ran.shown().to_owned()] {
        assert!(
            words.contains("Python 3.10") && words.contains("install python3"),
            "{words}"
        );
        assert!(words.contains("[python] path"), "{words}");
    }
    // Commands without a program still work.
    client.check_healthy().await;
    let found = client.search(json!({"query": "echo"})).await;
    assert_eq!(found["structuredContent"]["tools"][0]["tool"], "echo", "{found}");
}

#[tokio::test]
async fn an_error_names_the_unwritable_data_directory() {
    let codeyard = Codeyard::new().unwrap();
    let closed = codeyard.directory().join("closed");
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o555)).unwrap();
    let is_root = Mode::of(&codeyard).await.unwrap().is_root;
    // Root may write everywhere except below a file.
    let place = if is_root {
        closed.join("file")
    } else {
        closed.clone()
    };
    if is_root {
        fs::write(&place, "in the way").unwrap();
    }
    let data = place.join("data");
    let codeyard = codeyard.data(&data);
    let output = codeyard.run(["python", "sync"]).await.unwrap();
    assert_eq!(output.status.code(), Some(5), "{}", told(&output));
    assert!(
        told(&output).contains(&*data.to_string_lossy()),
        "{}",
        told(&output)
    );
    assert!(told(&output).contains("--data"), "{}", told(&output));
    let output = codeyard
        .run_with_input(["run", "-"], "print('ran')")
        .await
        .unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", told(&output));
    assert!(
        told(&output).contains(&*data.to_string_lossy()),
        "{}",
        told(&output)
    );
    assert!(told(&output).contains("--data"), "{}", told(&output));
    assert!(!data.exists());
}

#[tokio::test]
async fn without_descriptors_the_message_says_which_limit_to_raise() {
    let codeyard = Codeyard::new().unwrap();
    let mut refused = 0;
    for most in [6, 9, 12, 24, 40, 64, 512] {
        let limit = format!("--nofile={most}:{most}");
        let output = run_below(&["prlimit", &limit], &codeyard).await;
        let told = told(&output);
        if output.status.success() {
            assert_eq!(output.stdout, b"ran\n");
        } else {
            refused += 1;
            assert!(matches!(output.status.code(), Some(3 | 5)), "{most}: {told}");
            assert!(told.contains("ulimit -n"), "{most}: {told}");
        }
        assert_eq!(
            output.status.success(),
            most == 512 || output.stdout == b"ran\n",
            "{most}: {told}"
        );
    }
    assert!(refused > 0);
}

#[tokio::test]
async fn on_a_full_disk_programs_run_and_no_partial_file_stays() {
    let codeyard = Codeyard::new().unwrap();
    if !Mode::of(&codeyard).await.unwrap().is_root {
        return; // Only root can mount a small disk to fill.
    }
    let disk = codeyard.directory().join("disk");
    fs::create_dir(&disk).unwrap();
    let codeyard = codeyard.data(disk.join("data"));
    // The disk's mount namespace ends with the process, so the command lists the data directory at its end.
    let script = "mount -t tmpfs -o size=64k disk \"$0\" && mkdir \"$0/data\" && \
                  head -c 1M /dev/zero > \"$0/filler\" 2>/dev/null; \"$@\"; status=$?; \
                  find \"$0/data\" -type f -size +0 -printf 'left %f\\n'; exit $status";
    let disk = disk.to_string_lossy().into_owned();
    let wrapper = [
        "unshare",
        "--mount",
        "--propagation",
        "private",
        "bash",
        "-c",
        script,
        &disk,
    ];
    let output = run_below(&wrapper, &codeyard).await;
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "ran\n",
        "{}",
        told(&output)
    );
    assert!(output.status.success());
    assert!(
        Path::new(&disk).read_dir().unwrap().next().is_none(),
        "the mount was its own"
    );
}
