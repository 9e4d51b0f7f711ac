//! Codeyard's entry for a client that connects over HTTP, with the reference to the token.

#[cfg(test)]
mod tests;

use serde_json::{Map, Value, json};

use super::entry::{DESCRIPTION, TIMEOUT, options_of, reference};
use super::step::{HttpEntry, OURS, Refused, Step};
use crate::client::{Client, TokenPlace};

/// Environment variable with the token, for clients whose entry can name a variable.
pub const TOKEN_VARIABLE: &str = "CODEYARD_TOKEN";

/// Id of VS Code's input for the token.
const INPUT: &str = "codeyard-token";

/// Top-level key of VS Code's list of inputs.
const INPUTS: &str = "inputs";

/// Keys of an address in the ten clients.
const ADDRESSES: [&str; 4] = ["serverUrl", "httpUrl", "url", "uri"];

/// Merges the intended entry into an existing entry for the same address: a person's additions stay.
///
/// # Errors
/// The existing entry starts or connects to another server, or the client's file cannot name addresses.
pub(super) fn entry(client: Client, wish: &HttpEntry, there: Option<&Value>) -> Result<Value, Refused> {
    if client.token_place() == TokenPlace::Nowhere {
        return Err(Refused::NoHttp(client));
    }
    let fresh = fresh(client, wish);
    let old = match there {
        None | Some(Value::Null) => return Ok(fresh),
        Some(old) => old,
    };
    let (Some(old), Some(fresh)) = (old.as_object(), fresh.as_object()) else {
        return Err(Refused::Taken);
    };
    match address(old) {
        Some(url) if url == wish.url => Ok(Value::Object(merged(old, fresh))),
        Some(url) => Err(leads_elsewhere(url)),
        None => Err(match options_of(old) {
            Some(there) => Refused::OtherOptions {
                there,
                wanted: format!("with `--url {}`", wish.url),
            },
            None => Refused::Taken,
        }),
    }
}

/// The refusal of an entry with another address. Omits the query, because it may hold a secret.
pub(super) fn leads_elsewhere(url: &str) -> Refused {
    Refused::OtherAddress(url.split('?').next().unwrap_or_default().to_owned())
}

/// Updates an entry for the same address.
fn merged(old: &Map<String, Value>, fresh: &Map<String, Value>) -> Map<String, Value> {
    let mut entry = old.clone();
    entry.shift_remove("disabled");
    for key in ADDRESSES.iter().filter(|key| !fresh.contains_key(**key)) {
        entry.shift_remove(*key);
    }
    for (field, value) in fresh {
        let merged = match (field.as_str(), old.get(field)) {
            ("headers", Some(Value::Object(old))) => with_headers(old, value),
            ("env_keys", Some(Value::Array(old))) => {
                let new = value.as_array().into_iter().flatten();
                let new = new.filter(|name| !old.contains(name));
                old.iter().chain(new).cloned().collect()
            }
            ("name" | "description" | "timeout", Some(old)) => old.clone(),
            _ => value.clone(),
        };
        entry.insert(field.clone(), merged);
    }
    entry
}

/// Replaces headers of our names, ignoring case.
fn with_headers(old: &Map<String, Value>, ours: &Value) -> Value {
    let mut headers = old.clone();
    for (name, value) in ours.as_object().into_iter().flatten() {
        let there = old.keys().find(|known| known.eq_ignore_ascii_case(name));
        headers.insert(there.unwrap_or(name).clone(), value.clone());
    }
    Value::Object(headers)
}

/// A new entry for a client.
pub(super) fn fresh(client: Client, wish: &HttpEntry) -> Value {
    let url = &wish.url;
    let mut entry = match client {
        Client::ClaudeCode | Client::VsCode => json!({"type": "http", "url": url}),
        Client::Windsurf => json!({"serverUrl": url}),
        Client::GeminiCli => json!({"httpUrl": url}),
        Client::Codex | Client::Zed => json!({"url": url, "enabled": true}),
        Client::Opencode => json!({"type": "remote", "url": url, "enabled": true}),
        Client::Goose => json!({
            "enabled": true, "type": "streamable_http", "name": OURS, "description": DESCRIPTION,
            "uri": url, "timeout": TIMEOUT,
        }),
        Client::Cursor | Client::ClaudeDesktop => json!({"url": url}),
    };
    let (Some(fields), Some(token)) = (entry.as_object_mut(), &wish.token) else {
        return entry;
    };
    let header = match (client, client.token_place()) {
        (Client::Codex, _) => {
            fields.insert("bearer_token_env_var".to_owned(), TOKEN_VARIABLE.into());
            return entry;
        }
        (_, TokenPlace::Entry) => format!("Bearer {}", token.0),
        (_, _) => referring_header(client).unwrap_or_default(),
    };
    fields.insert("headers".to_owned(), json!({ "Authorization": header }));
    if client == Client::Goose {
        fields.insert("env_keys".to_owned(), json!([TOKEN_VARIABLE]));
    }
    entry
}

/// The header that refers to the token; `None` if an entry cannot refer to a token.
fn referring_header(client: Client) -> Option<String> {
    let token = match client.token_place() {
        TokenPlace::Input => format!("${{input:{INPUT}}}"),
        // Goose replaces variables in headers only.
        TokenPlace::Variable if client == Client::Goose => format!("${{{TOKEN_VARIABLE}}}"),
        TokenPlace::Variable => reference(client, TOKEN_VARIABLE)?,
        TokenPlace::Entry | TokenPlace::Nowhere => return None,
    };
    Some(format!("Bearer {token}"))
}

/// VS Code's input that holds the token.
fn own_input() -> Value {
    json!({"type": "promptString", "id": INPUT, "description": "Token of codeyard", "password": true})
}

/// Adds the input, if an entry refers to it and it is missing.
pub(super) fn input(client: Client, wish: &HttpEntry, document: &Value) -> Option<Step<'static>> {
    let is_wanted = client.token_place() == TokenPlace::Input && wish.token.is_some();
    (is_wanted && !has_input(document)).then(|| Step::Append(&[], INPUTS, own_input()))
}

/// Removes the input, unless it existed before, and removes the list if codeyard created it.
pub(super) fn input_taken_back(document: &Value, before: &Value) -> Option<Step<'static>> {
    let list = document[INPUTS].as_array()?;
    if !list.contains(&own_input()) || has_input(before) {
        return None;
    }
    let is_own_list = list.len() == 1 && before.get(INPUTS).is_none();
    Some(match is_own_list {
        true => Step::Remove(&[], INPUTS),
        false => Step::Drop(&[], INPUTS, own_input()),
    })
}

fn has_input(document: &Value) -> bool {
    let list = document[INPUTS].as_array();
    list.is_some_and(|list| list.iter().any(|input| input["id"] == INPUT))
}

/// The address of an entry.
pub(super) fn address(entry: &Map<String, Value>) -> Option<&str> {
    ADDRESSES.into_iter().find_map(|key| entry.get(key)?.as_str())
}

/// Texts of an entry that connects to codeyard. Omits the query, because it may hold a secret.
pub(super) fn own_texts(client: Client, entry: &Value) -> Vec<String> {
    let Some(entry) = entry.as_object() else {
        return Vec::new();
    };
    let Some(address) = address(entry) else {
        return Vec::new();
    };
    let mut texts = vec![TOKEN_VARIABLE.to_owned()];
    texts.extend((!address.contains('?')).then(|| address.to_owned()));
    texts.extend(referring_header(client));
    if client.token_place() == TokenPlace::Input {
        let input = own_input();
        let members = input.as_object().into_iter().flatten();
        texts.extend(members.filter_map(|(_, value)| value.as_str().map(str::to_owned)));
    }
    texts
}
