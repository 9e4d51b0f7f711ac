//! Secrets in entries: hidden values, and commands that stay visible.

use serde_json::json;

use super::*;

#[test]
fn secrets_are_replaced_at_every_place() {
    let mut entry = json!({
        "command": "x",
        "args": ["--api-key", "abc1", "--token=abc2", "--port", "80", "--header", "Authorization: Bearer abc3",
            "ghp_0123456789abcdef", "postgres://localhost/x", "--verbose", "plain"],
        "env": {"MY_TOKEN": "abc4", "LEVEL": "debug", "KEPT": "${MY_TOKEN}"},
        "headers": {"Authorization": "Bearer abc5", "x-trace": "on"},
        "url": "https://h/mcp?key=abc6&x=1#y",
    });
    let fields = entry.as_object_mut().unwrap();
    let mut all = Vec::new();
    hide("my server", fields, &mut |name, value| {
        all.push(format!("{name}={value}"));
        name.to_owned()
    });
    assert_eq!(
        all,
        [
            "CODEYARD_MY_SERVER_MY_TOKEN=abc4",
            "CODEYARD_MY_SERVER_AUTHORIZATION=abc5",
            "CODEYARD_MY_SERVER_API_KEY=abc1",
            "CODEYARD_MY_SERVER_TOKEN=abc2",
            "CODEYARD_MY_SERVER_AUTHORIZATION=abc3",
            "CODEYARD_MY_SERVER_TOKEN=ghp_0123456789abcdef",
            "CODEYARD_MY_SERVER_KEY=abc6",
        ]
    );
    assert_eq!(
        entry,
        json!({
            "command": "x",
            "args": ["--api-key", "${CODEYARD_MY_SERVER_API_KEY}", "--token=${CODEYARD_MY_SERVER_TOKEN}", "--port", "80", "--header",
                "Authorization: Bearer ${CODEYARD_MY_SERVER_AUTHORIZATION}", "${CODEYARD_MY_SERVER_TOKEN}", "postgres://localhost/x",
                "--verbose", "plain"],
            "env": {"MY_TOKEN": "${CODEYARD_MY_SERVER_MY_TOKEN}", "LEVEL": "debug", "KEPT": "${MY_TOKEN}"},
            "headers": {"Authorization": "Bearer ${CODEYARD_MY_SERVER_AUTHORIZATION}", "x-trace": "on"},
            "url": "https://h/mcp?key=${CODEYARD_MY_SERVER_KEY}&x=1#y",
        })
    );
    hide("my server", entry.as_object_mut().unwrap(), &mut |_, value| {
        panic!("{value}")
    });
}

#[test]
fn secrets_in_addresses_and_objects_are_replaced() {
    #[track_caller]
    fn check(text: &str, secrets: &[&str], expected: &str) {
        for field in ["env", "args", "flag", "url"] {
            let mut entry = match field {
                "env" => json!({"env": {"X": text}}),
                "args" => json!({"args": ["-v", text]}),
                "flag" => json!({"args": [format!("--x={text}")]}),
                _ if !text.contains("://") => continue,
                _ => json!({"url": text}),
            };
            let mut found = Vec::new();
            hide("s", entry.as_object_mut().unwrap(), &mut |_, value| {
                found.push(value.to_owned());
                "V".to_owned()
            });
            assert_eq!(found, secrets, "{field}: {text}");
            let shown = entry.to_string().replace("--x=", "");
            assert!(
                shown.contains(&serde_json::Value::from(expected).to_string()),
                "{shown}"
            );
        }
    }
    check(
        "postgres://u:p@ss@db:5432/x",
        &["p@ss"],
        "postgres://u:${V}@db:5432/x",
    );
    check(
        "https://h/x?api_key=k&y=1#z",
        &["k"],
        "https://h/x?api_key=${V}&y=1#z",
    );
    check(
        "https://ghp_0123456789@h/x",
        &["ghp_0123456789"],
        "https://${V}@h/x",
    );
    check("postgres://u@db/x", &[], "postgres://u@db/x");
    check("postgres://u:${PW}@db/x", &[], "postgres://u:${PW}@db/x");
    let headers = r#"{"Authorization": "Bearer ntn_0123456789", "V": "1"}"#;
    check(
        headers,
        &["ntn_0123456789"],
        r#"{"Authorization": "Bearer ${V}", "V": "1"}"#,
    );
    check(r#"{"V": "1"}"#, &[], r#"{"V": "1"}"#);
    check("ntn_0123456789", &["ntn_0123456789"], "${V}");
}

#[test]
fn names_of_secrets_contain_the_server() {
    for (server, name, expected) in [
        ("crm", "CRM_TOKEN", "CODEYARD_CRM_TOKEN"),
        ("crm", "TOKEN", "CODEYARD_CRM_TOKEN"),
        ("my server", "--api-key", "CODEYARD_MY_SERVER_API_KEY"),
        ("数", "TOKEN", "CODEYARD_TOKEN"),
        ("crm", "CRM", "CODEYARD_CRM_CRM"),
    ] {
        assert_eq!(variable(server, name), expected);
    }
}

/// The arguments as shown, and the secrets in them.
fn hidden(command: &str, args: &[&str]) -> (Vec<String>, Vec<String>) {
    let mut entry = json!({"command": command, "args": args});
    let mut found = Vec::new();
    hide("s", entry.as_object_mut().unwrap(), &mut |_, value| {
        found.push(value.to_owned());
        "V".to_owned()
    });
    let words = entry["args"].as_array().unwrap().iter();
    (
        words.map(|word| word.as_str().unwrap().to_owned()).collect(),
        found,
    )
}

#[test]
fn commands_are_never_hidden() {
    for (command, args) in [
        ("sh", &["-c", "KEY=x; touch PWNED; exec server"][..]),
        ("sh", &["-c", "KEY=evil"]),
        ("bash", &["-lc", "echo --token abcdefgh"]),
        ("sh", &["-c", "echo http://u:$(touch evil)@h"]),
        ("sh", &["-c", "curl http://u:pw@h | sh"]),
        ("node", &["-e", "sk-12345678"]),
        ("x", &["sk-12345678; touch evil"]),
        ("x", &["--db=http://u:$(touch evil)@h"]),
        ("x", &["--auth-script", "/x/evil.js"]),
        ("x", &["--key", "evil.js"]),
        ("npx", &["-y", "sk-evilpackage"]),
        ("npx", &["--token", "evilpackage"]),
        ("npx", &["-p", "evil", "server"]),
        ("uv", &["run", "secret_evilscript"]),
        ("docker", &["run", "sk-evilimage"]),
        ("node", &["-p", "evil"]),
    ] {
        assert_eq!(
            hidden(command, args),
            (args.iter().map(|word| (*word).to_owned()).collect(), vec![])
        );
    }
}

#[test]
fn secrets_among_arguments_are_hidden() {
    for (command, args, secrets) in [
        ("x", &["--password", "-s3cretA"][..], &["-s3cretA"][..]),
        ("x", &["-u", "root", "-p", "hunter2"], &["hunter2"]),
        ("npx", &["-y", "db", "-u", "root", "-p", "hunter2"], &["hunter2"]),
        ("x", &["-p", "8080"], &[]),
        ("x", &["--password", "--verbose"], &[]),
        ("x", &["--auth", "oauth"], &[]),
        ("x", &["--pass-through", "yes", "--token-limit", "400"], &[]),
        (
            "npx",
            &["-y", "server", "--api-key", "sk-0123456789"],
            &["sk-0123456789"],
        ),
        (
            "docker",
            &["run", "-e", "API_KEY=abc", "image", "ghp_0123456789"],
            &["abc", "ghp_0123456789"],
        ),
        ("env", &["API_KEY=abc", "server"], &["abc"]),
        ("x", &["host=h password=abc"], &["abc"]),
        ("x", &["https://h/?x=1&sig=a%2Fb&code=abc"], &["a%2Fb", "abc"]),
        ("x", &["--key=abcd-${HOME}"], &["abcd-"]),
    ] {
        let (shown, found) = hidden(command, args);
        assert_eq!(found, secrets, "{args:?}");
        for secret in secrets {
            assert!(!shown.iter().any(|word| word.contains(secret)), "{shown:?}");
        }
    }
}

#[test]
fn variables_with_secret_names_are_hidden() {
    let mut entry = json!({"env": {
        "PGCONN": "host=h password='a!b' dbname=d",
        "ADO": "Server=tcp:h,1433;User ID=u;Password=p@ss#1;",
        "OPENAI_KEY": "s3cretE-${HOME}",
        "API_TOKENS": "a1,b2",
        "REFERRED": "${X}",
        "TOKEN": "Bearer ${X}",
        "SECRET_CMD": "rm -rf /",
        "LD_PRELOAD": "/tmp/evil.so",
        "DB_PASSWORD": "a b",
    }});
    let stayed = hide("s", entry.as_object_mut().unwrap(), &mut |name, _| {
        name.to_owned()
    });
    assert_eq!(stayed, [RemainingSecret::Runnable("DB_PASSWORD".to_owned())]);
    assert_eq!(
        entry["env"],
        json!({
            "PGCONN": "host=h password='${CODEYARD_S_PASSWORD}' dbname=d",
            "ADO": "Server=tcp:h,1433;User ID=u;Password=${CODEYARD_S_PASSWORD};",
            "OPENAI_KEY": "${CODEYARD_S_OPENAI_KEY}${HOME}",
            "API_TOKENS": "${CODEYARD_S_API_TOKENS}",
            "REFERRED": "${X}",
            "TOKEN": "Bearer ${X}",
            "SECRET_CMD": "rm -rf /",
            "LD_PRELOAD": "/tmp/evil.so",
            "DB_PASSWORD": "a b",
        })
    );
}

#[test]
fn a_secret_default_is_reported() {
    let told = |entry: Value| {
        let mut entry = entry;
        let stayed = hide("s", entry.as_object_mut().unwrap(), &mut |name, _| {
            name.to_owned()
        });
        stayed.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    for entry in [
        json!({"env": {"TOKEN": "${X:-ghp_bbbbbbbbbbbbbbbbbbbb}"}}),
        json!({"env": {"PLAIN": "${X:-ghp_bbbbbbbbbbbbbbbbbbbb}"}}),
        json!({"env": {"API_KEY": "a${X:-hunter-two-three}"}}),
        json!({"headers": {"Authorization": "Bearer ${X:-hunter-two-three}"}}),
        json!({"command": "x", "args": ["--key", "${X:-ghp_bbbbbbbbbbbbbbbbbbbb}", "${X:-ghp_bbbbbbbbbbbbbbbbbbbb}"]}),
        json!({"command": "x", "args": ["--api-key", "${X:-hunter-two-three}"]}),
        json!({"command": "x", "args": ["--token=${X:-hunter-two-three}"]}),
        json!({"url": "https://h/?k=${X:-ghp_bbbbbbbbbbbbbbbbbbbb}"}),
    ] {
        let stayed = told(entry.clone());
        assert_eq!(stayed.len(), 1, "{entry}: {stayed:?}");
        assert!(
            stayed[0].starts_with("the default of `${X:-...}` looks like a secret"),
            "{stayed:?}"
        );
    }
    for entry in [
        json!({"env": {"TOKEN": "${X:-}", "REGION": "${REGION:-eu-west}", "LEVEL": "${TOKEN}"}}),
        json!({"url": "https://${HOST:-example.com}/mcp"}),
        json!({"env": {"TOKEN": "${env:X:-ghp_bbbbbbbbbbbbbbbbbbbb}"}}),
    ] {
        assert_eq!(told(entry.clone()), [""; 0], "{entry}");
    }
}
