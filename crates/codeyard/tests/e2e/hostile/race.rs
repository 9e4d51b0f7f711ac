//! The host reads and writes a session's virtual files while a program changes everything below its roots.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;
use types::{Principal, SessionName};
use workspace::virtual_files::{Browse, FileError, FileLimits, FilePolicy, VirtualFiles};
use workspace::{WorkspaceConfig, Workspaces};

use crate::hostile::yard::{Yard, program};

/// Reads and writes of the host in the ordinary suite.
const OPERATIONS: u64 = 4_000;
/// The number of reads and writes, for the long form: `cargo xtask race`.
const VARIABLE: &str = "CODEYARD_RACE_OPERATIONS";
/// What a program and the host write.
const INSIDE: [&str; 3] = ["", "inside", "host"];

/// What came of the host's reads and writes.
#[derive(Debug, Default)]
struct Score {
    operations: u64,
    read: u64,
    written: u64,
    listed: u64,
    refused: u64,
    /// Content that no program of the session wrote, and errors that say nothing.
    wrong: Vec<String>,
}

/// The host beside the program: opens the session's files again and again, and uses all functions on the paths that the
/// program changes.
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
        // The program may have put a link in the place of a root at this moment.
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
            Ok(text) if INSIDE.contains(&text.content.as_str()) => score.read += 1,
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
                let foreign = ["passwd", "canary", "workspace", "sessions"];
                let names = listing.entries.iter().map(|entry| entry.name.as_str());
                let found: Vec<&str> = names.filter(|name| foreign.contains(name)).collect();
                if !found.is_empty() {
                    score.wrong.push(format!("listed {path}: {found:?}"));
                }
            }
            Err(error) => refuse(score, error),
        }
    }
    for path in ["/scratch/x", "/scratch/d/e/secret", "/scratch/d/e/passwd2", "/results/y"] {
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

/// Everything in a directory, with sizes and times of change.
fn state(directory: &Path) -> Vec<(PathBuf, u64, std::time::SystemTime)> {
    let mut found = Vec::new();
    for entry in directory.read_dir().unwrap() {
        let entry = entry.unwrap();
        let metadata = entry.metadata().unwrap();
        found.push((entry.path(), metadata.len(), metadata.modified().unwrap()));
        if metadata.is_dir() {
            found.extend(state(&entry.path()));
        }
    }
    found.sort();
    found
}

async fn check(roots: bool) {
    let most = std::env::var(VARIABLE).ok().and_then(|number| number.parse().ok());
    let most: u64 = most.unwrap_or(OPERATIONS);
    let mut yard = Yard::new().await;
    let data = yard.client.codeyard.data_directory();
    let beside = yard
        .execute(json!({"code": "open('/workspace/canary', 'w').write('workspace')\nopen('/scratch/canary', 'w').write('beside')", "session": "beside"}))
        .await;
    assert_eq!(beside.status(), "completed", "{beside:?}");
    let kept = [data.join("workspaces/local/workspace"), data.join("workspaces/local/sessions/beside")];
    let before = kept.each_ref().map(|place| state(place));
    let secret = &yard.canaries.file;
    let given = json!({
        "seconds": if most > OPERATIONS { 15.0 } else { 2.0 },
        "roots": roots,
        "outside": [
            secret, yard.canaries.directory, "/etc/passwd", "/etc", "../../../workspace", "../../../../workspace/canary",
            "../../beside/scratch", "/at/workspace", "..", "/", kept[1].join("scratch/canary"),
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
        assert_eq!((ran.status(), ran.stdout()), ("completed", "raced: allowed\n"), "{ran:?}");
        assert_eq!(score.wrong, Vec::<String>::new());
        total.operations += score.operations;
        total.read += score.read;
        total.written += score.written;
        total.listed += score.listed;
        total.refused += score.refused;
    }
    println!("{total:?}");
    for often in [total.read, total.written, total.listed, total.refused] {
        assert!(often > most / 100, "{total:?}");
    }
    assert_eq!(kept.each_ref().map(|place| state(place)), before);
    yard.check_well().await;
    yard.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_swap_leads_the_host_outside() {
    check(false).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_swap_of_the_roots_leads_the_host_outside() {
    check(true).await;
}
