//! Commands that change the file of definitions, and their refusals.

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};
use test_support::stub_server;

use crate::servers_command::{Yard, stub, stub_words};

#[tokio::test]
async fn a_server_is_added_tested_shown_and_removed() {
    let yard = Yard::new();
    let [program, kind] = stub_words();
    let add = ["servers", "add", "my-stub", "--yes", "--description", "A stub"];
    let words = ["--env", "TOKEN=${HOME}", "--", &program, &kind];
    let added = yard.done(&[&add[..], &words].concat()).await;
    assert_eq!(
        added.out,
        format!("added `my-stub` to {}\n", yard.file().display())
    );
    for told in [
        format!("{program} stub"),
        "with TOKEN=${HOME}".to_owned(),
        "with your rights".to_owned(),
    ] {
        assert!(added.err.contains(&told), "{told}: {}", added.err);
    }
    let written: Value = serde_json::from_str(&yard.text()).unwrap();
    let expected =
        json!({"command": program, "args": ["stub"], "env": {"TOKEN": "${HOME}"}, "description": "A stub"});
    assert_eq!(written, json!({"mcpServers": {"my-stub": expected}}));
    let mode = yard.file().metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    let idle = yard.server("my-stub").await;
    assert_eq!(
        (&idle["state"], &idle["transport"], &idle["tools"], &idle["use"]),
        (&json!("idle"), &json!("stdio"), &Value::Null, &json!("used"))
    );
    let tried = yard.done(&["servers", "test", "my-stub"]).await;
    assert!(
        tried.out.starts_with("`my-stub` works: stdio, era ") && tried.out.contains("\n  add\n"),
        "{tried:?}"
    );
    let tried = yard.done(&["servers", "test", "my-stub", "--json"]).await.json();
    assert!(tried["tokens"].as_u64().unwrap() > 50, "{tried}");

    let disabled = yard.done(&["servers", "disable", "my-stub"]).await;
    assert!(disabled.out.contains("is not used any more"), "{disabled:?}");
    assert_eq!(yard.server("my-stub").await["state"], "disabled");
    let refused = yard.run(&["servers", "test", "my-stub"]).await;
    assert!(
        refused.code == 2 && refused.err.contains("servers enable my-stub"),
        "{refused:?}"
    );
    yard.done(&["servers", "enable", "my-stub"]).await;
    let call = yard.done(&["call", "my-stub.add", "{\"a\": 1, \"b\": 2}"]).await;
    assert!(call.out.contains('3'), "{call:?}");
    // The table shows the list that the call cached.
    let known = yard.server("my-stub").await;
    assert!(
        known["tools"].as_u64() > Some(0) && known["tokens"].as_u64() > Some(50),
        "{known}"
    );

    yard.done(&["servers", "remove", "my-stub", "--yes"]).await;
    assert_eq!(yard.text(), "{\n  \"mcpServers\": {}\n}\n");
    let none = yard.done(&["servers"]).await;
    assert_eq!(
        none.err,
        "no server is configured; `codeyard servers add` adds one\n"
    );
}

#[tokio::test]
async fn an_unusable_server_is_refused_before_the_save() {
    let yard = Yard::with(&json!({"my-stub": stub()}));
    let before = yard.text();
    let [program, kind] = stub_words();
    let line = format!("{program} {kind}");
    let own = test_support::codeyard_binary().to_string_lossy().into_owned();
    for (args, told) in [
        (&["my-stub", "--", &program][..], "there is a server `my-stub`"),
        (
            &["My Stub", "--", &program],
            "the same name in programs (`my_stub`)",
        ),
        (&["", "--", &program], "is empty"),
        (&[" a", "--", &program], "blanks around it"),
        (&["a\u{7}", "--", &program], "printable"),
        (&["codeyard", "--", &program], "is reserved"),
        (&["a", "--", &line], "one word with blanks"),
        (&["a", "--", "cat x | grep y"], "it runs without a shell, so `|`"),
        (&["a", "--", "no-such-program-anywhere"], "was not found on PATH"),
        (&["a", "--", "/no/such/program"], "No such file"),
        (&["a", "--", "/etc/passwd"], "not an executable program"),
        (
            &["a", "--cwd", "/no/such/place", "--", &program],
            "`cwd` '/no/such/place' is not a directory",
        ),
        (
            &["a", "--env", "X=${NOT_SET_ANYWHERE}", "--", &program],
            "NOT_SET_ANYWHERE is not set",
        ),
        (&["a", "--env", "X", "--", &program], "write NAME=VALUE"),
        (&["a", "--", &own, "mcp"], "this entry starts codeyard itself"),
        (
            &["a", "--no-check", "--", &own, "mcp"],
            "this entry starts codeyard itself",
        ),
        (&["a"], "required"),
        (
            &["a", "--url", "http://127.0.0.1:1/mcp", "--", &program],
            "cannot be used with",
        ),
        (
            &["a", "--url", "http://127.0.0.1:1/mcp"],
            "127.0.0.1:1 cannot be reached",
        ),
        (&["a", "--url", "nonsense"], "url"),
        (&["a", "--url", "http://example.com/mcp"], "is plain HTTP"),
        (
            &["a", "--url", "https://me:s3cret@example.com/"],
            "put credentials in",
        ),
        (&["a", "--url", "ftp://example.com/"], "begins with `ftp:`"),
        (&["a", "--header", "X=y", "--", &program], "cannot be used with"),
    ] {
        let all = [&["servers", "add", "--yes"], args].concat();
        let ended = yard.run(&all).await;
        assert!(ended.code == 2 && ended.err.contains(told), "{args:?}: {ended:?}");
        assert_eq!(yard.text(), before, "{args:?}");
    }
    let unasked = yard.run(&["servers", "add", "a", "--", &program, &kind]).await;
    assert!(
        unasked.code == 2 && unasked.err.contains("Say so with --yes"),
        "{unasked:?}"
    );
    for args in [
        &["remove", "zzz", "--yes"][..],
        &["disable", "zzz"],
        &["test", "zzz"],
        &["logs", "zzz"],
    ] {
        let ended = yard.run(&[&["servers"], args].concat()).await;
        let told = ended
            .err
            .contains("MCP server 'zzz' not found in configuration; there is my-stub");
        assert!(ended.code == 2 && told, "{args:?}: {ended:?}");
    }
    assert_eq!(yard.text(), before);
    // A missing program can be saved on purpose.
    yard.done(&[
        "servers",
        "add",
        "later",
        "--yes",
        "--no-check",
        "--",
        "not-installed-yet",
    ])
    .await;
    let failed = yard.run(&["servers", "test", "later"]).await;
    assert!(
        failed.code == 4 && failed.err.contains("was not found on PATH"),
        "{failed:?}"
    );
}

#[tokio::test]
async fn a_remote_server_is_added_by_its_address() {
    let yard = Yard::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let add = ["servers", "add", "far", "--yes", "--url", &url, "--type", "http"];
    let added = yard
        .done(&[&add[..], &["--header", "Authorization=Bearer ${HOME}"]].concat())
        .await;
    let told = [
        format!("at {url}"),
        "with header authorization='Bearer ${HOME}'".to_owned(),
    ];
    assert!(told.iter().all(|told| added.err.contains(told)), "{added:?}");
    let written: Value = serde_json::from_str(&yard.text()).unwrap();
    let headers = json!({"Authorization": "Bearer ${HOME}"});
    assert_eq!(
        written["mcpServers"]["far"],
        json!({"type": "http", "url": url, "headers": headers})
    );
    let far = yard.server("far").await;
    assert_eq!(
        (&far["transport"], &far["state"]),
        (&json!("http"), &json!("idle")),
        "{far}"
    );
    // The consent covers the address.
    let elsewhere = url.replace("/mcp", "/other");
    yard.write(&json!({"far": {"type": "http", "url": elsewhere}}));
    assert_eq!(yard.server("far").await["state"], "changed");
    yard.done(&["servers", "remove", "far", "--yes"]).await;
    let gone = [
        "servers",
        "add",
        "far",
        "--yes",
        "--no-check",
        "--url",
        "https://nowhere.example.com/mcp",
    ];
    yard.done(&gone).await;
}

#[tokio::test]
async fn other_entries_stay_unchanged_and_a_lossy_edit_is_refused() {
    let yard = Yard::new();
    let mine = "{\n  \"theirs\": [1,  2.50],\n  \"mcpServers\": {\n    \"b\": {\"command\": \"b\",  \"x\": 1}\n  }\n}\n";
    yard.write_text(mine);
    let [program, _] = stub_words();
    yard.done(&["servers", "add", "a", "--yes", "--", &program]).await;
    let kept = "\"theirs\": [1,  2.50],\n  \"mcpServers\": {\n    \"b\": {\"command\": \"b\",  \"x\": 1},\n    \"a\": {";
    assert!(yard.text().contains(kept), "{}", yard.text());
    yard.done(&["servers", "remove", "a", "--yes"]).await;
    assert_eq!(yard.text(), mine);
    for (text, told) in [
        (
            "{\"mcpServers\": {} // mine\n}",
            "has comments, which would be lost",
        ),
        ("{\"mcpServers\": {\"a\": ", "line 1"),
        (
            "{\"mcpServers\": {\"a\": {\"command\": \"a\"}, \"a\": {\"command\": \"a\"}}}",
            "more than once",
        ),
    ] {
        yard.write_text(text);
        let ended = yard
            .run(&["servers", "add", "new", "--yes", "--", &program])
            .await;
        assert!(ended.code == 2 && ended.err.contains(told), "{text}: {ended:?}");
        assert_eq!(yard.text(), text);
    }
}

#[tokio::test]
async fn a_file_keeps_its_mode_and_may_begin_with_a_byte_order_mark() {
    let yard = Yard::with(&json!({}));
    let mode = || yard.file().metadata().unwrap().permissions().mode() & 0o777;
    let [program, kind] = stub_words();
    for (index, wanted) in [0o644, 0o660].into_iter().enumerate() {
        std::fs::set_permissions(yard.file(), PermissionsExt::from_mode(wanted)).unwrap();
        let name = format!("s{index}");
        yard.done(&["servers", "add", &name, "--yes", "--", &program, &kind])
            .await;
        assert_eq!(mode(), wanted);
    }
    yard.write_text("\u{feff}{\"mcpServers\": {\"marked\": {\"command\": \"sh\"}}}");
    assert_eq!(yard.server("marked").await["state"], "idle");
    yard.done(&["servers", "disable", "marked"]).await;
    assert_eq!(yard.server("marked").await["state"], "disabled");
    yard.write_text("\u{feff}{\"mcpServers\": ");
    let broken = yard.run(&["servers", "disable", "marked"]).await;
    assert!(broken.code == 2 && broken.err.contains("line 1"), "{broken:?}");
}

#[tokio::test]
async fn an_unusable_entry_is_an_error_and_does_not_affect_others() {
    let yard =
        Yard::with(&json!({"good": stub(), "no-object": "x", "unset": {"command": "${NOT_SET_ANYWHERE}"}}));
    for (args, told) in [
        (
            ["disable", "no-object"],
            "mcpServers.no-object: expected an object",
        ),
        (
            ["enable", "no-object"],
            "mcpServers.no-object: expected an object",
        ),
        (["enable", "unset"], "NOT_SET_ANYWHERE is not set"),
    ] {
        let before = yard.text();
        let ended = yard.run(&[&["servers"], &args[..]].concat()).await;
        assert!(ended.code == 2 && ended.err.contains(told), "{args:?}: {ended:?}");
        assert_eq!(yard.text(), before);
    }
    let [program, kind] = stub_words();
    yard.write(&json!({"good": stub()}));
    yard.done(&["call", "good.add", "{\"a\": 1, \"b\": 2}"]).await;
    yard.write(&json!({"good": {"command": program, "args": [kind]}, "bad": {"command": 1}}));
    let settings = yard.codeyard.work_directory().join("own.toml");
    std::fs::write(&settings, "[limits]\nmemroy = \"1 GiB\"").unwrap();
    let listed = yard.run(&["servers", "--json", "--settings", "own.toml"]).await;
    assert_eq!(listed.code, 2, "{listed:?}");
    let listed = listed.json();
    let [good, bad] = [&listed["servers"][0], &listed["servers"][1]];
    assert!(
        good["tokens"].as_u64() > Some(50) && !good["era"].is_null(),
        "{listed}"
    );
    assert_eq!(bad["state"], "mistaken");
    assert_eq!(listed["mistakes"].as_array().unwrap().len(), 2, "{listed}");
}

#[tokio::test]
async fn the_configuration_is_checked_shown_and_found() {
    let yard = Yard::with(&json!({
        "s": {"command": stub_server(), "env": {"A": "s3cret-value", "B": "${HOME}", "C": "${HOME:-s3cret-value}"}},
        "off": {"command": "x", "disabled": true},
    }));
    let checked = yard.done(&["config", "check"]).await;
    assert_eq!(checked.out, "no mistakes; 1 server is used\n");
    let shown = yard.done(&["config", "show"]).await;
    assert!(!shown.out.contains("s3cret"), "{}", shown.out);
    for (key, value, from) in [
        ("limits.wall_time", "\"60s\"", "default"),
        ("mcpServers.s.env.A", "set", "servers.json"),
        ("mcpServers.s.env.B", "${HOME}", "servers.json"),
        ("mcpServers.s.env.C", "set", "servers.json"),
        ("mcpServers.off.disabled", "true", "servers.json (disabled)"),
    ] {
        let line = shown.out.lines().find(|line| line.split(' ').next() == Some(key));
        let line = line.unwrap_or_else(|| panic!("no {key} in {}", shown.out));
        assert!(line.contains(value) && line.ends_with(from), "{line}");
    }
    let settings = yard.codeyard.work_directory().join("own.toml");
    std::fs::write(
        &settings,
        "[limits]\nwall_time = \"5s\"\n[python]\npath = \"/usr/bin/python3\"\n",
    )
    .unwrap();
    let with = ["config", "show", "--json", "--settings", "own.toml"];
    let shown = yard.done(&with).await.json();
    let find = |key: &str| {
        shown
            .as_array()
            .unwrap()
            .iter()
            .find(|shown| shown["key"] == key)
            .cloned()
    };
    assert_eq!(
        find("limits.wall_time").unwrap(),
        json!({"key": "limits.wall_time", "value": "\"5s\"", "from": settings})
    );
    assert_eq!(find("python.path").unwrap()["value"], "\"/usr/bin/python3\"");
    // The command line overrides the level of the log.
    for (args, value, from) in [
        (&[][..], "\"warn\"", "default"),
        (&["--log", "debug"], "\"debug\"", "--log"),
    ] {
        let shown = yard
            .done(&[&["config", "show", "--json"], args].concat())
            .await
            .json();
        let level = shown
            .as_array()
            .unwrap()
            .iter()
            .find(|shown| shown["key"] == "log.level");
        assert_eq!(
            *level.unwrap(),
            json!({"key": "log.level", "value": value, "from": from})
        );
        assert_eq!(shown[0]["from"], "--data");
    }
    let paths = yard.done(&["config", "path", "--json"]).await.json();
    assert_eq!(
        paths[0],
        json!({"what": "servers", "path": yard.file(), "exists": true})
    );

    yard.write(&json!({"a": {"args": 1}, "b": {"command": "${NOT_SET_ANYWHERE}"}}));
    std::fs::write(&settings, "[limits]\nmemroy = \"1 GiB\"").unwrap();
    for args in [["config", "check"], ["config", "show"]] {
        let broken = yard.run(&[&args[..], &["--settings", "own.toml"]].concat()).await;
        assert_eq!(broken.code, 2, "{broken:?}");
        for told in [
            "mcpServers.a.command: is missing",
            "mcpServers.b.command: the server is not used: the variable",
            "did you mean `memory`?",
        ] {
            assert!(broken.err.contains(told), "{told}: {broken:?}");
        }
    }
    let broken = yard.run(&["config", "check", "--json"]).await;
    assert_eq!(
        (broken.code, broken.json()["mistakes"].as_array().unwrap().len()),
        (2, 3),
        "{broken:?}"
    );
    // The table appears first, and then the mistakes.
    let listed = yard.run(&["servers"]).await;
    let told = listed.out.contains("mistaken") && listed.err.contains("mcpServers.a.command: is missing");
    assert!(listed.code == 2 && told, "{listed:?}");
}
