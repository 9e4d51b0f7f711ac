//! HTTP entries in the ten fixtures: each client's syntax and the place of the token.

use serde_json::{Value, json};

use super::*;
use crate::edit::step::BearerToken;
use crate::edit::tests::{FIXTURES, differences, scalars, wish as process_wish};
use crate::edit::{Change, OwnEntry, ReplacedServer, change, fresh, installed, own_texts, restore};

const URL: &str = "http://127.0.0.1:8700/mcp";
const TOKEN: &str = "s3cret-0123456789abcdef";

fn address_of(url: &str) -> HttpEntry {
    HttpEntry {
        url: url.to_owned(),
        token: None,
    }
}

fn with_token(token: &str) -> HttpEntry {
    HttpEntry {
        token: Some(BearerToken(token.to_owned())),
        ..address_of(URL)
    }
}

fn entering(entry: HttpEntry) -> Change {
    Change {
        entry: OwnEntry::Http(entry),
        take: Vec::new(),
    }
}

/// Fixtures of clients whose files can name addresses.
fn fixtures() -> impl Iterator<Item = (Client, &'static str)> {
    let all = FIXTURES.into_iter();
    all.filter(|(client, _)| client.token_place() != TokenPlace::Nowhere)
}

#[test]
fn each_client_has_its_own_syntax() {
    for (client, text) in fixtures() {
        let edited = change(client, text, &entering(with_token(TOKEN))).unwrap();
        let (gone, new) = differences(text, &edited);
        let lines = |sign: &str, lines: &[String]| -> String {
            lines.iter().map(|line| format!("{sign}{line}\n")).collect()
        };
        let shown = format!("{}{}", lines("-", &gone), lines("+", &new));
        insta::assert_snapshot!(client.id(), shown);
        // A line may only gain a comma, when another line now follows.
        let bare = |line: &str| line.trim_end_matches(',').to_owned();
        for line in &gone {
            assert!(new.iter().any(|new| bare(new) == bare(line)), "{client}: {line}");
        }
        assert_eq!(
            change(client, &edited, &entering(with_token(TOKEN))).unwrap(),
            edited,
            "{client}: a second edit changes nothing"
        );
        let windows = format!("\u{feff}{}", text.replace('\n', "\r\n"));
        let on_windows = change(client, &windows, &entering(with_token(TOKEN))).unwrap();
        assert_eq!(on_windows[3..].replace("\r\n", "\n"), edited, "{client}");
    }
}

#[test]
fn only_files_of_clients_without_references_contain_the_token() {
    for (client, text) in fixtures() {
        let edited = change(client, text, &entering(with_token(TOKEN))).unwrap();
        assert_eq!(
            edited.contains(TOKEN),
            client == Client::Zed,
            "{client}: {edited}"
        );
        let without = change(client, text, &entering(address_of(URL))).unwrap();
        let document = client.format().parse(&without).unwrap();
        let entry = installed(client, &document).unwrap();
        for field in ["headers", "env_keys", "bearer_token_env_var"] {
            assert_eq!(entry.get(field), None, "{client}");
        }
        assert_eq!(
            document.get(INPUTS),
            client.format().parse(text).unwrap().get(INPUTS)
        );
    }
    assert_eq!(format!("{:?}", BearerToken(TOKEN.to_owned())), "BearerToken");
}

#[test]
fn the_entry_is_removed_from_a_changed_file() {
    for (client, text) in fixtures().chain([(Client::VsCode, "{\n}\n")]) {
        let wish = Change {
            take: process_wish(client, &["crm"]).take,
            ..entering(with_token(TOKEN))
        };
        let take: &[ReplacedServer] = if text.contains("crm") { &wish.take } else { &[] };
        let wish = Change {
            take: take.to_vec(),
            ..wish
        };
        let edited = change(client, text, &wish).unwrap();
        let document = client.format().parse(&edited).unwrap();
        let written = installed(client, &document).unwrap();
        let restored = restore(client, &format!("{edited}\n"), text, take, written).unwrap();
        let now = client.format().parse(&restored.text).unwrap();
        let mut before = client.format().parse(text).unwrap();
        if text == "{\n}\n" {
            before = json!({"servers": {}});
        }
        assert_eq!(now, before, "{client}: {}", restored.text);
    }
}

#[test]
fn an_existing_input_stays() {
    let text = r#"{"inputs": [{"id": "codeyard-token", "type": "promptString"}]}"#;
    let edited = change(Client::VsCode, text, &entering(with_token(TOKEN))).unwrap();
    let document = Client::VsCode.format().parse(&edited).unwrap();
    assert_eq!(document[INPUTS].as_array().unwrap().len(), 1, "{edited}");
    let written = installed(Client::VsCode, &document).unwrap();
    let restored = restore(Client::VsCode, &edited, text, &[], written).unwrap();
    assert!(restored.text.contains("codeyard-token"), "{}", restored.text);
}

#[test]
fn a_person_s_additions_stay_and_a_new_token_replaces_the_old() {
    let text = format!(
        r#"{{"context_servers": {{"codeyard": {{"url": "{URL}", "headers": {{"authorization": "Bearer old", "X-Mine": "1"}}, "enabled": false}}}}}}"#
    );
    let edited = change(Client::Zed, &text, &entering(with_token(TOKEN))).unwrap();
    let entry = &Client::Zed.format().parse(&edited).unwrap()["context_servers"]["codeyard"];
    let headers = json!({"authorization": format!("Bearer {TOKEN}"), "X-Mine": "1"});
    assert_eq!(*entry, json!({"url": URL, "headers": headers, "enabled": true}));
    let text = format!(r#"{{"mcpServers": {{"codeyard": {{"url": "{URL}", "disabled": true}}}}}}"#);
    let edited = change(Client::Windsurf, &text, &entering(address_of(URL))).unwrap();
    let entry = &Client::Windsurf.format().parse(&edited).unwrap()["mcpServers"]["codeyard"];
    assert_eq!(*entry, json!({"serverUrl": URL}));
}

/// Checks the refusal for an existing entry.
#[track_caller]
fn check_refused(entry: Value, wish: &Change, told: &str) {
    let text = json!({"mcpServers": {"codeyard": entry}}).to_string();
    let error = change(Client::Cursor, &text, wish).unwrap_err().to_string();
    assert!(error.contains(told), "{error}");
}

#[test]
fn an_entry_with_another_address_is_not_replaced() {
    let here = entering(address_of(URL));
    let there = json!({"url": "https://example.com/mcp"});
    check_refused(
        there.clone(),
        &here,
        "connects to https://example.com/mcp; give the same --url",
    );
    check_refused(
        there,
        &process_wish(Client::Cursor, &[]),
        "undo that installation first",
    );
    let started = json!({"command": "/usr/bin/codeyard", "args": ["mcp", "--data", "/d"]});
    check_refused(
        started,
        &here,
        "starts codeyard with `--data /d`, and this command was called with `--url http",
    );
    check_refused(json!({"command": "npx"}), &here, "give it another name first");
    check_refused(json!("npx"), &here, "give it another name first");
}

#[test]
fn a_client_without_addresses_is_refused_with_a_remedy() {
    let error = change(Client::ClaudeDesktop, "{}", &entering(address_of(URL))).unwrap_err();
    assert_eq!(
        error.to_string(),
        "Claude Desktop's configuration file cannot hold a server address; leave out `--url`, and Claude Desktop starts codeyard itself, or list the address in a FILE like mcp.json and enter `codeyard mcp --surface standard --config FILE` by hand"
    );
}

#[test]
fn own_texts_except_the_token_may_be_shown() {
    for client in Client::ALL {
        let mut entry = fresh(client, &OwnEntry::Http(with_token(TOKEN)));
        let texts = own_texts(client, &entry);
        let mut all = Vec::new();
        scalars(&entry, &mut all);
        all.retain(|text| !["http", "streamable_http", "remote", "true"].contains(&text.as_str()));
        all.retain(|text| !texts.contains(text));
        let hidden = match client {
            Client::Zed => vec![format!("Bearer {TOKEN}")],
            _ => Vec::new(),
        };
        if client != Client::ClaudeDesktop {
            assert_eq!(all, hidden, "{client}");
        }
        entry["url"] = "https://example.com/mcp?key=s3cret".into();
        entry["headers"] = json!({"X-Mine": "s3cret"});
        let shown = own_texts(client, &entry);
        assert!(!shown.iter().any(|text| text.contains("s3cret")), "{client}");
    }
}
