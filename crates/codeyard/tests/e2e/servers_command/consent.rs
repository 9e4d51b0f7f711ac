//! Only accepted commands are started, and no file can forge the text of a question.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;
use test_support::CommandOutput;

use crate::servers_command::{Yard, stub, stub_words};

/// Adds the stub with these words before its command.
async fn add(yard: &Yard, words: &[&str]) -> CommandOutput {
    let [program, kind] = stub_words();
    let add = ["servers", "add", "s", "--yes"];
    yard.done(&[&add[..], words, &["--", &program, &kind]].concat())
        .await
}

#[tokio::test]
async fn a_changed_command_is_not_started_before_consent() {
    let yard = Yard::new();
    let [program, kind] = stub_words();
    yard.done(&[
        "servers",
        "add",
        "s",
        "--yes",
        "--env",
        "TOKEN=one",
        "--",
        &program,
        &kind,
    ])
    .await;
    let entry = |args: &[&str], token: &str| json!({"s": {"command": program, "args": args, "env": {"TOKEN": token}}});
    yard.write(&entry(&["stub", "--extras"], "two"));
    assert_eq!(yard.server("s").await["state"], "changed");
    let call = ["call", "s.add", "{\"a\": 1, \"b\": 2}"];
    let refused = yard.run(&call).await;
    let told = "mcpServers.s: is not used: its definition has changed since you agreed to it; `codeyard servers enable`";
    assert!(refused.code == 2 && refused.err.contains(told), "{refused:?}");
    for args in [&["servers", "enable", "s"], &["servers", "test", "s"]] {
        let asked = yard.run(args).await;
        let told = asked.err.contains("stub --extras") && asked.err.contains("Say so with --yes");
        assert!(asked.code == 2 && told, "{args:?}: {asked:?}");
    }
    yard.done(&["servers", "enable", "s", "--yes"]).await;
    assert_eq!(yard.server("s").await["state"], "idle");
    yard.done(&call).await;
    // Its permissions need consent like its command.
    for (field, value) in [
        ("trusted", json!(true)),
        ("sandbox", json!({"read": ["/"]})),
        ("limits", json!({"processes": 5})),
    ] {
        let mut changed = entry(&["stub", "--extras"], "two");
        changed["s"][field] = value;
        yard.write(&changed);
        assert_eq!(yard.server("s").await["state"], "changed", "{field}");
        let asked = yard.run(&["servers", "enable", "s"]).await;
        let shown = ["trusted: ", "confined: reads /", "at most 5 processes"];
        assert!(
            shown.iter().any(|shown| asked.err.contains(shown)),
            "{field}: {asked:?}"
        );
    }
    // A person who edits a definition by hand has consented by the edit.
    yard.write(&json!({"s": stub(), "by-hand": stub()}));
    assert_eq!(yard.server("by-hand").await["state"], "idle");
    assert_eq!(yard.server("s").await["state"], "changed");
    // A damaged list causes a warning, and blocks nothing.
    let list = yard.codeyard.data_directory().join("consent.json");
    assert_eq!(list.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    std::fs::write(&list, "{\"version\": 1, \"fil").unwrap();
    let told = yard.done(&["tools"]).await;
    assert!(
        told.err.contains("the list of agreed commands is damaged"),
        "{told:?}"
    );
}

#[tokio::test]
async fn literal_values_need_consent_because_they_decide_what_runs() {
    let yard = Yard::new();
    add(&yard, &["--env", "PATH=/usr/bin:/bin", "--env", "TOKEN=${HOME}"]).await;
    let [program, kind] = stub_words();
    let entry = |path: &str, token: &str| {
        let env = json!({"PATH": path, "TOKEN": token});
        json!({"s": {"command": program, "args": [kind], "env": env}})
    };
    for (path, token, state) in [
        ("/usr/bin:/bin", "${HOME}", "idle"),
        ("/tmp/elsewhere:/bin", "${HOME}", "changed"),
        ("/usr/bin:/bin", "${PATH}", "changed"),
    ] {
        yard.write(&entry(path, token));
        assert_eq!(yard.server("s").await["state"], state, "{path} {token}");
    }
    // A variable's value may change.
    yard.write(&entry("/usr/bin:/bin", "${HOME}"));
    let mut yard = yard;
    yard.codeyard = yard.codeyard.env("HOME", "/nowhere");
    assert_eq!(yard.server("s").await["state"], "idle");
}

#[tokio::test]
async fn consent_to_an_address_does_not_depend_on_header_values() {
    let yard = Yard::new();
    let add = [
        "servers",
        "add",
        "far",
        "--yes",
        "--no-check",
        "--url",
        "https://one.example.com/mcp",
    ];
    yard.done(&add).await;
    let headers = json!({"x-a": "${HOME:-\n}"});
    yard.write(&json!({"far": {"url": "https://two.example.com/mcp", "headers": headers}}));
    assert_eq!(yard.server("far").await["state"], "changed");
    let checked = yard.done(&["config", "check"]).await;
    assert!(
        checked.out.contains("0 servers")
            && checked
                .err
                .contains("mcpServers.far: is not used: its definition has changed"),
        "{checked:?}"
    );
}

#[tokio::test]
async fn consent_holds_below_a_linked_directory() {
    let yard = Yard::new();
    let work = yard.codeyard.work_directory();
    std::fs::create_dir(work.join("real")).unwrap();
    std::os::unix::fs::symlink("real", work.join("link")).unwrap();
    let [program, kind] = stub_words();
    // Neither the file nor its directory exists yet.
    let config = ["--config", "link/new/mcp.json"];
    let run = async |args: &[&str]| {
        let mut command = yard.codeyard.command(config.iter().chain(args)).unwrap();
        let output = command.stdin(std::process::Stdio::null()).output().await.unwrap();
        let out = String::from_utf8(output.stdout).unwrap();
        assert!(
            output.status.success(),
            "{args:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        out
    };
    run(&["servers", "add", "s", "--yes", "--", &program, &kind]).await;
    let file = work.join("real/new/mcp.json");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("\"stub\"", "\"other\"")).unwrap();
    let shown = run(&["config", "show"]).await;
    assert!(shown.contains("mcp.json (changed)"), "{shown}");
}

#[tokio::test]
async fn a_disabled_and_changed_server_needs_consent_to_be_enabled() {
    let yard = Yard::new();
    add(&yard, &[]).await;
    let [program, _] = stub_words();
    let changed = json!({"s": {"command": program, "args": ["stub", "--extras"], "disabled": true}});
    yard.write(&changed);
    let asked = yard.run(&["servers", "enable", "s"]).await;
    assert!(
        asked.code == 2 && asked.err.contains("stub --extras") && asked.err.contains("Say so with --yes"),
        "{asked:?}"
    );
    assert_eq!(yard.server("s").await["state"], "disabled");
    let enabled = yard.done(&["servers", "enable", "s", "--yes"]).await;
    assert!(enabled.out.contains("is used from now on"), "{enabled:?}");
    assert_eq!(yard.server("s").await["state"], "idle");
}

#[tokio::test]
async fn nothing_is_added_where_consent_cannot_be_stored() {
    let yard = Yard::with(&json!({}));
    let before = yard.text();
    let list = yard.codeyard.data_directory().join("consent.json");
    std::fs::create_dir_all(list.parent().unwrap()).unwrap();
    std::fs::write(&list, "{\"version\": 1, \"fil").unwrap();
    let [program, kind] = stub_words();
    let ended = yard
        .run(&["servers", "add", "s", "--yes", "--", &program, &kind])
        .await;
    assert!(
        ended.code == 5 && ended.err.contains("consent.json") && ended.err.contains("remove it"),
        "{ended:?}"
    );
    assert_eq!(yard.text(), before);
}

#[tokio::test]
async fn a_file_cannot_add_lines_to_the_text_for_a_person() {
    let yard = Yard::new();
    let project = yard.codeyard.work_directory().join(".mcp.json");
    let fake = "A\n  safe\n    /bin/echo\n    with B";
    for (text, code) in [
        (
            json!({"mcpServers": {"s": {"command": "x", "env": {fake: "1"}}}}),
            2,
        ),
        (
            json!({"mcpServers": {"s": {"url": format!("https://a.example.com/{fake}\x1b[2J")}}}),
            0,
        ),
        (
            json!({"mcpServers": {"s": {"url": "https://a.example.com/", "headers": {fake: "1"}}}}),
            0,
        ),
        (json!({"mcpServers": {"s": {"command": "x", fake: 1}}}), 0),
        (json!({"mcpServers": {"s": {"command": "x"}}, fake: 1}), 0),
        (
            json!({"mcpServers": {"s": {"command": "x\x1b[2J", "args": [fake]}}}),
            0,
        ),
        (
            json!({"mcpServers": {format!("s{fake}\x1b[2J"): {"command": "x"}}}),
            2,
        ),
    ] {
        std::fs::write(&project, text.to_string()).unwrap();
        let command = yard
            .codeyard
            .command(["trust", "."])
            .unwrap()
            .output()
            .await
            .unwrap();
        let shown = [command.stdout, command.stderr].concat();
        let shown = String::from_utf8(shown).unwrap();
        assert_eq!(command.status.code(), Some(code), "{text}: {shown}");
        assert!(
            !shown.lines().any(|line| line == "  safe") && !shown.contains('\x1b'),
            "{text}: {shown}"
        );
    }
}
