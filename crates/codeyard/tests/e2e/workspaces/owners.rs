//! Files of another user in a workspace: reported before a program meets them, with the command that repairs them.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;

use serde_json::Value;
use test_support::{CodeClient, Codeyard, run};

use super::{is_root, workspace};

/// An ordinary user id without other files.
const USER: u32 = 58_473;
/// The owner of sessions' files if the data directory is root's.
const NOBODY: u32 = 65_534;

#[expect(clippy::print_stderr, reason = "why a test has nothing to say")]
fn skip() {
    eprintln!("skipped: only root can give files to another user and run as one");
}

/// An installation whose workspace has another user's file with this mode; `None` as an ordinary user, who cannot
/// create one.
async fn with_foreign_file(mode: u32) -> Option<Codeyard> {
    if !is_root() {
        skip();
        return None;
    }
    let codeyard = Codeyard::with_stub().unwrap();
    let ended = run(&codeyard, &["run", "-"], "open('theirs', 'w').write('x')").await;
    assert_eq!(ended.code, 0, "{ended:?}");
    let file = workspace(&codeyard).join("theirs");
    chown(&file, Some(1234), Some(1234)).unwrap();
    fs::set_permissions(&file, Permissions::from_mode(mode)).unwrap();
    Some(codeyard)
}

/// The command between the backticks of a message.
fn command(message: &str) -> &str {
    let (_, rest) = message.split_once('`').expect(message);
    rest.split_once('`').expect(message).0
}

/// Runs a command named in a message.
fn repair(message: &str) {
    let command = command(message).strip_prefix("sudo ").unwrap();
    #[expect(clippy::disallowed_methods, reason = "the test waits for the process's end")]
    let done = std::process::Command::new("sh").args(["-c", command]).status();
    assert!(done.unwrap().success(), "{command}");
}

async fn owners(codeyard: &Codeyard) -> Value {
    let output = codeyard.run(["doctor", "--json"]).await.unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = report["checks"].as_array().unwrap();
    let row = rows.iter().find(|row| row["name"] == "owners").unwrap();
    assert_eq!(report["serves"], row["state"] != "missing", "{report}");
    row.clone()
}

#[tokio::test]
async fn no_program_runs_beside_an_unreadable_file_of_another_user() {
    let Some(codeyard) = with_foreign_file(0o600).await else {
        return;
    };
    let row = owners(&codeyard).await;
    assert_eq!(row["state"], "missing", "{row}");
    let mut client = CodeClient::of(codeyard).await;
    let ran = client.run("open('ran', 'w')").await;
    let said = ran.shown();
    let top = workspace(&client.codeyard);
    let expected = format!(
        "{}: belongs to user 1234, but files of sessions belong to user {NOBODY}; run `sudo chown -R {NOBODY}:{NOBODY} {}`",
        top.join("theirs").display(),
        top.display()
    );
    assert!(ran.is_error() && said.contains(&expected), "{ran:?}");
    assert!(!top.join("ran").exists(), "nothing has run");
    repair(said);
    client.check("print(open('theirs').read())", "x\n").await;
    assert_eq!(owners(&client.codeyard).await["state"], "ok");
}

#[tokio::test]
async fn a_readable_file_of_another_user_is_named_with_the_first_result() {
    let Some(codeyard) = with_foreign_file(0o644).await else {
        return;
    };
    assert_eq!(owners(&codeyard).await["state"], "weaker");
    let mut client = CodeClient::of(codeyard).await;
    let ran = client.run("open('theirs').read()").await;
    assert_eq!(ran.result(), "x", "{ran:?}");
    let notice = ran.fields()["notice"].as_str().unwrap();
    assert!(
        notice.contains("theirs: belongs to user 1234, so programs cannot change it"),
        "{notice}"
    );
    assert!(ran.shown().contains("notice: "), "{ran:?}");
    let next = client.run("1").await;
    assert!(next.fields()["notice"].is_null(), "said once: {next:?}");
    repair(notice);
    client.check("print(open('theirs', 'a').write('y'))", "1\n").await;
}

#[tokio::test]
async fn an_ordinary_user_after_root_gets_a_remedy() {
    if !is_root() {
        return skip();
    }
    let codeyard = Codeyard::with_stub().unwrap();
    let data = codeyard.directory().join("of-user");
    fs::create_dir(&data).unwrap();
    chown(&data, Some(USER), Some(USER)).unwrap();
    let codeyard = codeyard.data(&data);
    let ended = run(&codeyard, &["run", "-"], "open('shared', 'w').write('x')").await;
    assert_eq!(ended.code, 0, "{ended:?}");
    let words = format!("setpriv --reuid {USER} --regid {USER} --clear-groups --bounding-set=-all");
    let codeyard = codeyard.below(words.split(' '));
    let ended = run(&codeyard, &["run", "-"], "print(open('shared').read())").await;
    assert_ne!(ended.code, 0, "{ended:?}");
    let root = data.join("workspaces");
    assert_eq!(
        command(&ended.err),
        format!("sudo chown -R {USER}:{USER} {}", root.display()),
        "{ended:?}"
    );
    assert!(ended.err.contains("belongs to user 0"), "{ended:?}");
    assert!(Path::new(&root).exists());
    repair(&ended.err);
    let ended = run(&codeyard, &["run", "-"], "print(open('shared').read())").await;
    assert_eq!((ended.code, ended.out.as_str()), (0, "x\n"), "{ended:?}");
}

#[tokio::test]
async fn a_data_directory_that_root_has_closed_is_named_with_its_repair() {
    if !is_root() {
        return skip();
    }
    let codeyard = Codeyard::with_stub().unwrap();
    let home = codeyard.directory().join("of-user");
    fs::create_dir(&home).unwrap();
    chown(&home, Some(USER), Some(USER)).unwrap();
    // As `sudo codeyard run` leaves the directory if HOME stays.
    let codeyard = codeyard.data(home.join("share/codeyard"));
    let ended = run(&codeyard, &["run", "-"], "1").await;
    assert_eq!(ended.code, 0, "{ended:?}");
    let words = format!("setpriv --reuid {USER} --regid {USER} --clear-groups --bounding-set=-all");
    let codeyard = codeyard.below(words.split(' '));
    for arguments in [["run", "-"].as_slice(), &["doctor"]] {
        let ended = run(&codeyard, arguments, "1").await;
        let expected = format!("sudo chown -R {USER}:{USER} {}", home.join("share").display());
        assert_eq!(
            (ended.code, command(&ended.err)),
            (2, expected.as_str()),
            "{ended:?}"
        );
    }
    repair(&run(&codeyard, &["run", "-"], "1").await.err);
    let ended = run(&codeyard, &["run", "-"], "print(6 * 7)").await;
    assert_eq!((ended.code, ended.out.as_str()), (0, "42\n"), "{ended:?}");
}
