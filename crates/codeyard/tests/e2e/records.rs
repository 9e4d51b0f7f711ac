//! What is written down of everything that runs, as `codeyard runs` and the bytes of the file show it.

mod database;
mod kept;
mod required;
mod watched;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::Value;
use test_support::{Codeyard, run};

/// The recorded runs that these arguments choose, the newest first.
pub(crate) async fn runs(codeyard: &Codeyard, args: &[&str]) -> Vec<Value> {
    let ended = run(codeyard, &[&["runs", "--json"], args].concat(), "").await;
    assert_eq!(ended.code, 0, "{ended:?}");
    let lines = ended.out.lines();
    lines.map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// One recorded run with its calls and events.
pub(crate) async fn detail(codeyard: &Codeyard, id: &Value) -> Value {
    let ended = run(codeyard, &["runs", id.as_str().unwrap(), "--json"], "").await;
    assert_eq!(ended.code, 0, "{ended:?}");
    serde_json::from_str(&ended.out).unwrap()
}

/// Waits until this run is recorded with that status.
pub(crate) async fn recorded(codeyard: &Codeyard, id: &Value, status: &str) -> Value {
    for _ in 0..200 {
        let found = runs(codeyard, &["--limit", "1000"]).await;
        if let Some(run) = found
            .into_iter()
            .find(|run| run["id"] == *id && run["status"] == status)
        {
            return run;
        }
    }
    panic!(
        "{id} is not recorded as {status}: {:?}",
        runs(codeyard, &[]).await
    );
}

/// Waits until runs of a killed codeyard are `interrupted`, which they are once its lease has lapsed, and returns them.
async fn interrupted(codeyard: &Codeyard) -> Vec<Value> {
    let start = Instant::now();
    loop {
        let found = runs(codeyard, &["--status", "interrupted"]).await;
        if !found.is_empty() {
            return found;
        }
        assert!(start.elapsed() < Duration::from_secs(60), "no run is interrupted");
    }
}

fn file(codeyard: &Codeyard) -> PathBuf {
    codeyard.data_directory().join("codeyard.db")
}

/// Whether the file, its journal or its index holds these bytes.
pub(crate) fn holds(codeyard: &Codeyard, text: &str) -> bool {
    ["codeyard.db", "codeyard.db-wal", "codeyard.db-shm"]
        .iter()
        .any(|name| {
            let bytes = std::fs::read(codeyard.data_directory().join(name)).unwrap_or_default();
            bytes.windows(text.len()).any(|window| window == text.as_bytes())
        })
}
