//! `codeyard doctor --attack`: every probe, in every mode of this user, on fresh and pooled sessions.

use std::collections::BTreeSet;

use serde_json::Value;
use test_support::{Codeyard, Mode};

/// Runs the doctor with these arguments; returns exit status, standard output and standard error.
async fn doctor(codeyard: &Codeyard, arguments: &[&str]) -> (i32, String, String) {
    let output = codeyard.run([&["doctor"], arguments].concat()).await.unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        output.status.code().unwrap(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

fn texts<'a>(rows: &'a [Value], field: &str) -> BTreeSet<&'a str> {
    rows.iter()
        .map(|row| row[field].as_str().expect("a text"))
        .collect()
}

#[tokio::test]
async fn every_promised_guard_holds_in_every_mode_of_this_user() {
    let codeyard = Codeyard::new().unwrap().managed_environment().unwrap();
    let mode = Mode::of(&codeyard).await.unwrap();
    let (status, printed, said) = doctor(&codeyard, &["--attack", "--json", "--this-user"]).await;
    let report: Value = serde_json::from_str(&printed).unwrap_or_else(|_| panic_with(&said));
    let rows = report["rows"].as_array().unwrap();
    let with =
        |verdict: &str| -> Vec<&Value> { rows.iter().filter(|row| row["verdict"] == verdict).collect() };
    assert_eq!((status, with("broken")), (0, vec![]), "{said}");
    if mode.own_users && mode.groups {
        let best = with("not_promised")
            .into_iter()
            .filter(|row| row["mode"] == "root with control groups");
        assert_eq!(best.collect::<Vec<_>>(), Vec::<&Value>::new());
    }
    // Each stage ran each probe, and tested nearly all of them.
    let modes = if mode.is_root { 2 } else { 1 };
    let profiles = texts(rows, "profile").len();
    assert!(
        texts(rows, "mode").len() >= modes.min(1 + usize::from(mode.groups)),
        "{said}"
    );
    assert_eq!(texts(rows, "session"), BTreeSet::from(["fresh", "pooled"]));
    // Profiles are packages of Python.
    let probes = texts(rows, "probe");
    let (typescript, others): (Vec<&str>, Vec<&str>) =
        probes.into_iter().partition(|name| name.starts_with("ts-"));
    let (shell, python): (Vec<&str>, Vec<&str>) =
        others.into_iter().partition(|name| name.starts_with("sh-"));
    assert!(
        python.len() >= 50 && typescript.len() >= 25 && shell.len() >= 7,
        "{shell:?}"
    );
    assert_eq!(
        rows.len(),
        (python.len() * profiles + typescript.len() + shell.len()) * texts(rows, "mode").len() * 2
    );
    assert!(
        with("held").len() * 10 >= rows.len() * 9,
        "{:?}",
        with("not_tested")
    );
}

fn panic_with(said: &str) -> Value {
    Value::String(format!("no report: {said}"))
}

#[tokio::test]
async fn one_probe_is_run_alone_and_shown_in_a_table() {
    let codeyard = Codeyard::new().unwrap();
    let (status, printed, _) = doctor(&codeyard, &["--attack", "--this-user", "--only", "suid"]).await;
    assert_eq!(status, 0, "{printed}");
    let line = printed.lines().find(|line| line.starts_with("suid ")).unwrap();
    assert!(
        line.contains(" + ") && line.contains("set-user-id program"),
        "{line}"
    );
    assert!(
        printed.contains("every guard that is promised holds: "),
        "{printed}"
    );
}

#[tokio::test]
async fn mistakes_are_reported_with_their_remedy() {
    let codeyard = Codeyard::new().unwrap();
    let (status, _, said) = doctor(&codeyard, &["--attack", "--only", "no-such-probe"]).await;
    assert!(
        status != 0 && said.contains("there is no probe no-such-probe"),
        "{said}"
    );
    let (status, _, said) = doctor(&codeyard, &["--only", "suid"]).await;
    assert!(status == 2 && said.contains("--attack"), "{said}");
}
