//! The host reads and writes a session's virtual files while a program changes everything below the roots.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;
use test_support::long_form;
use types::{Principal, SessionName};
use workspace::virtual_files::{Browse, FileError, FileLimits, FilePolicy, VirtualFiles};
use workspace::{WorkspaceConfig, Workspaces};

use crate::hostile::yard::{Yard, program};

/// Reads and writes of the host in the ordinary suite.
const OPERATIONS: u64 = 3_000;
/// The number of reads and writes, for the long form: `cargo xtask race`.
const VARIABLE: &str = "CODEYARD_RACE_OPERATIONS";
/// The letters of text that the program and the host write: `inside` and `host`. A file rewritten during a read holds
/// a mixture; text outside has other letters.
const INSIDE: &str = "insidehost";

/// Counts and errors of the host's reads and writes.
#[derive(Debug, Default)]
struct Score {
    operations: u64,
    read: u64,
    written: u64,
    listed: u64,
    refused: u64,
    /// Content that no program of the session wrote, and errors without information.
    wrong: Vec<String>,
}

/// The host's part: reopens the session's files again and again, and uses all functions on the changing paths.
fn race(data: &Path, done: &AtomicBool) -> Score {
    let workspaces = Workspaces::new(WorkspaceConfig::below(data));
    let principal: Principal = "local".parse().unwrap();
    let mut score = Score::default();
    while !done.load(Ordering::Relaxed) {
        let files = workspaces.virtual_files(
            &principal,
            &SessionName::new("race"),
            FilePolicy::default(),
            FileLimits::default(),
        );
        // The program may just have replaced a root by a link.
        let Ok(files) = files else {
            score.refused += 1;
            continue;
        };
        for _ in 0..20 {
            use_once(&files, &mut score);
        }
    }
    score
}

fn use_once(files: &VirtualFiles, score: &mut Score) {
    for path in ["/scratch/x", "/scratch/d/e/secret", "/results/y"] {
        score.operations += 1;
        match files.read(path) {
            Ok(text)
                if text.content.len() <= INSIDE.len() && text.content.chars().all(|c| INSIDE.contains(c)) =>
            {
                score.read += 1;
            }
            Ok(text) => score.wrong.push(format!("read {path}: {:?}", text.content)),
            Err(error) => refuse(score, error),
        }
    }
    for path in ["/scratch", "/scratch/d", "/scratch/d/e"] {
        let asked = Browse {
            path,
            include_hidden: true,
            max_entries: 100,
        };
        match files.browse(&asked) {
            Ok(listing) => {
                score.listed += 1;
                let foreign = ["passwd", "canary", "workspace", "sessions", "only-outside"];
                let names = listing.entries.iter().map(|entry| entry.name.as_str());
                let found: Vec<&str> = names.filter(|name| foreign.contains(name)).collect();
                if !found.is_empty() {
                    score.wrong.push(format!("listed {path}: {found:?}"));
                }
            }
            Err(error) => refuse(score, error),
        }
    }
    for path in [
        "/scratch/x",
        "/scratch/d/e/secret",
        "/scratch/d/e/passwd2",
        "/results/y",
    ] {
        score.operations += 1;
        match files.write(path, Some("host")) {
            Ok(_) => score.written += 1,
            Err(error) => refuse(score, error),
        }
    }
}

fn refuse(score: &mut Score, error: FileError) {
    score.refused += 1;
    if let FileError::System { .. } = error {
        score.wrong.push(error.to_string());
    }
}

/// Everything in a directory, with the content of files.
fn state(directory: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in directory.read_dir().unwrap() {
        let path = entry.unwrap().path();
        let metadata = path.symlink_metadata().unwrap();
        if metadata.is_dir() {
            found.extend(state(&path));
        }
        let content = if metadata.is_file() {
            std::fs::read(&path).unwrap()
        } else {
            Vec::new()
        };
        found.push((path, content));
    }
    found.sort();
    found
}

#[expect(clippy::print_stdout, reason = "the result of the long form")]
fn show(score: &Score) {
    println!("{score:?}");
}

async fn check(roots: bool) {
    let most = long_form(VARIABLE, OPERATIONS);
    let mut yard = Yard::new().await;
    let data = yard.client.codeyard.data_directory();
    let code =
        "open('/workspace/canary', 'w').write('workspace')\nopen('/scratch/canary', 'w').write('beside')";
    let planted = yard.execute(json!({"code": code, "session": "beside"})).await;
    assert_eq!(planted.status(), "completed", "{planted:?}");
    let own = data.join("workspaces/local");
    let (workspace, beside) = (own.join("workspace"), own.join("sessions/beside"));
    // The same names as below the roots, so that a followed link leads to a file.
    let outside = yard.client.codeyard.directory().join("outside");
    std::fs::create_dir_all(outside.join("d/e")).unwrap();
    std::fs::create_dir_all(outside.join("e")).unwrap();
    for name in [
        "x",
        "only-outside",
        "secret",
        "e/secret",
        "e/only-outside",
        "d/e/secret",
    ] {
        std::fs::write(outside.join(name), &yard.secrets.file).unwrap();
    }
    let before = (state(&beside), state(&outside), state(&workspace));
    let given = json!({
        "seconds": if most > OPERATIONS { 15.0 } else { 2.0 },
        "roots": roots,
        "outside": [
            outside, outside.join("e"), outside.join("secret"), outside.join("d"), yard.canaries.file, "/etc/passwd",
            "../../../workspace", "../../../../workspace/canary", "../../beside/scratch", "/at/workspace", "..",
            beside.join("scratch/canary"),
        ],
    });
    let mut total = Score::default();
    while total.operations < most {
        let done = Arc::new(AtomicBool::new(false));
        let (stopped, place) = (done.clone(), data.clone());
        let host = tokio::task::spawn_blocking(move || race(&place, &stopped));
        let ran = yard
            .execute(json!({"code": program("race", &given), "session": "race"}))
            .await;
        done.store(true, Ordering::Relaxed);
        let score = host.await.unwrap();
        assert_eq!(
            (ran.status(), ran.stdout()),
            ("completed", "raced: allowed\n"),
            "{ran:?}"
        );
        assert_eq!(score.wrong, Vec::<String>::new());
        total.operations += score.operations;
        total.read += score.read;
        total.written += score.written;
        total.listed += score.listed;
        total.refused += score.refused;
    }
    show(&total);
    for often in [total.read, total.written, total.listed, total.refused] {
        assert!(often > most / 100, "{total:?}");
    }
    let after = (state(&beside), state(&outside), state(&workspace));
    if roots {
        // The program writes to its workspace itself, through its links.
        assert_eq!((&after.0, &after.1), (&before.0, &before.1));
        let is_of_host = |(_, content): &&(PathBuf, Vec<u8>)| content == b"host";
        assert_eq!(after.2.iter().find(is_of_host), None);
    } else {
        assert_eq!(after, before);
    }
    yard.check_well().await;
    yard.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_swap_of_files_leads_the_host_outside() {
    check(false).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_swap_of_the_roots_leads_the_host_outside() {
    check(true).await;
}
