//! Records of everything that runs, in `codeyard runs` and in the bytes of the file.

mod database;
mod equal;
mod kept;
mod logs;
mod replayed;
mod required;
mod watched;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::Value;
use test_support::{Codeyard, run};

/// The recorded runs that these arguments select, the newest first.
pub(crate) async fn runs(codeyard: &Codeyard, args: &[&str]) -> Vec<Value> {
    let ended = run(codeyard, &[&["runs", "--json"], args].concat(), "").await;
    assert_eq!(ended.code, 0, "{ended:?}");
    let lines = ended.out.lines();
    lines.map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Every field of the JSON is a column of the CSV, with the same value; each time appears once.
#[tokio::test]
async fn runs_as_csv_have_the_fields_of_the_json() {
    let codeyard = Codeyard::with_stub().unwrap();
    for code in ["await tools.stub.add(a=1, b=2)", "1/0"] {
        run(&codeyard, &["run", "-c", code], "").await;
    }
    let listed = runs(&codeyard, &[]).await;
    assert_eq!(listed.len(), 2);
    let table = run(&codeyard, &["runs", "--csv"], "").await;
    let mut reader = csv::Reader::from_reader(table.out.as_bytes());
    let names = reader.headers().unwrap().clone();
    let records: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(records.len(), listed.len());
    for (record, entry) in records.iter().zip(&listed) {
        let fields = entry.as_object().unwrap().iter();
        for (name, value) in fields.filter(|(name, _)| !name.ends_with("_ms")) {
            let column = names.iter().position(|column| column == name);
            let cell = &record[column.unwrap_or_else(|| panic!("no column {name}"))];
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            assert_eq!(cell, text, "{name}");
        }
    }
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

/// Waits until a killed codeyard's runs are `interrupted`, after the end of its lease; returns the runs.
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
