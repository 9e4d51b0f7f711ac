//! Two sets of forty programs for nine real servers, by authors who saw only the declarations of the tools.

use std::fs;
use std::path::Path;

use serde_json::json;
use test_support::{CodeClient, Codeyard};

/// A set of programs.
pub struct Programs {
    /// Below the directory of programs.
    pub directory: &'static str,
    pub language: &'static str,
    /// The number of programs.
    pub all: usize,
    /// The number of programs that complete.
    pub complete: usize,
}

/// 33 needs a missing module, and the server of 37 refuses the query.
pub const FIRST: Programs = Programs {
    directory: "typescript",
    language: "typescript",
    all: 40,
    complete: 38,
};

pub const SECOND: Programs = Programs {
    directory: "typescript_later",
    language: "typescript",
    all: 40,
    complete: 40,
};

#[tokio::test]
async fn nearly_all_of_forty_programs_work() {
    check_in_new_installation(&FIRST).await;
}

#[tokio::test]
async fn all_of_forty_later_programs_work() {
    check_in_new_installation(&SECOND).await;
}

pub async fn check_in_new_installation(programs: &Programs) {
    let codeyard = Codeyard::new().unwrap().real_servers().unwrap();
    let data = codeyard.upstreams_data();
    let mut client = CodeClient::of(codeyard).await;
    check_programs(&mut client, &data, programs).await;
}

/// Checks the number of completed programs; `data` is the servers' data directory.
pub async fn check_programs(client: &mut CodeClient, data: &Path, programs: &Programs) {
    let data = data.display().to_string();
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../test-support/programs");
    let directory = directory.join(programs.directory);
    let mut files: Vec<_> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.extension()
                .is_some_and(|ending| ending == "ts" || ending == "sh")
        })
        .collect();
    files.sort();
    assert_eq!(files.len(), programs.all);
    let (mut complete, mut failed) = (0, Vec::new());
    for file in files {
        let code = fs::read_to_string(&file).unwrap().replace("DATA", &data);
        let asked = json!({"code": code, "language": programs.language, "session": "new"});
        let ran = client.execute(asked).await;
        match ran.status() {
            "completed" => complete += 1,
            _ => failed.push(format!(
                "{}: {}\n{}",
                file.display(),
                ran.error(),
                ran.fields()["stderr"]
            )),
        }
    }
    assert!(
        complete >= programs.complete,
        "{complete} of {}\n{}",
        programs.all,
        failed.join("\n")
    );
}
