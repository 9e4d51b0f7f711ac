//! A server's command or address in full, because a person decides by this text.

use std::path::Path;

use jail::confinement::Confinement;
use serde_json::json;
use types::is_unseen;
use upstream::ServerConfig;
use upstream_wire::{Http, Stdio, Transport};

/// Replaces a secret.
const HIDDEN: &str = "[hidden]";

/// How to show literal values; a pure reference to a variable is always shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Literals {
    /// Headers by name only: their values may be secrets.
    Hidden,
    /// In full: secrets were removed before.
    Shown,
    /// Masks possible secrets in arguments and variables too, for text that nobody decides by.
    Masked,
}

/// The command or address and its details, indented.
pub fn start(server: &ServerConfig, headers: Literals) -> String {
    let mut out = String::new();
    match &server.transport {
        Transport::Stdio(stdio) => show_command(&mut out, &masked(stdio, headers)),
        Transport::Http(http) => show_address(&mut out, http, headers),
    }
    if server.trusted {
        out.push_str("    trusted: its statements about its tools are believed\n");
    }
    for (does, rules) in [("only", &server.tools.allow), ("not", &server.tools.deny)] {
        if !rules.is_empty() {
            out.push_str(&format!("    tools: {does} {}\n", listed(rules)));
        }
    }
    out
}

/// Masks possible secrets in the command, if the mode requires it.
fn masked(stdio: &Stdio, literals: Literals) -> Stdio {
    let mut stdio = stdio.clone();
    if literals != Literals::Masked {
        return stdio;
    }
    let entry = json!({"command": stdio.command, "args": stdio.args, "env": stdio.env});
    let plain = clients::plain_texts(&entry);
    let texts = stdio.args.iter_mut().chain(stdio.env.values_mut());
    for text in texts.filter(|text| !plain.contains(text)) {
        *text = match text.split_once('=').filter(|(name, _)| name.starts_with('-')) {
            Some((option, _)) => format!("{option}={HIDDEN}"),
            None => HIDDEN.to_owned(),
        };
    }
    stdio
}

/// Rules as an error quotes them; invisible characters are escaped.
fn listed(rules: &[String]) -> String {
    let quoted = rules.iter().map(|rule| format!("'{}'", rule.escape_debug()));
    quoted.collect::<Vec<_>>().join(", ")
}

fn show_address(out: &mut String, http: &Http, literals: Literals) {
    out.push_str(&format!("    at {}\n", quoted(&http.url)));
    for (name, value) in &http.headers {
        // The variable's name shows which secret belongs there.
        let is_reference = value.contains("${") && !value.contains(":-");
        let is_told = is_reference || literals == Literals::Shown;
        let value = if is_told {
            format!("={}", quoted(value))
        } else {
            String::new()
        };
        out.push_str(&format!("    with header {}{value}\n", quoted(name)));
    }
    if let Some(file) = &http.bearer_token_file {
        out.push_str(&format!("    with the token in {}\n", path(file)));
    }
    if let Some(id) = &http.oauth.client_id {
        out.push_str(&format!("    logged in to as client {}\n", quoted(id)));
    }
    if let Some(file) = &http.oauth.client_secret_file {
        out.push_str(&format!("    with the client's secret in {}\n", path(file)));
    }
    for scope in &http.oauth.scopes {
        out.push_str(&format!("    logged in to for scope {}\n", quoted(scope)));
    }
}

fn show_command(out: &mut String, stdio: &Stdio) {
    out.push_str(&format!("    {}", quoted(&stdio.command)));
    for argument in &stdio.args {
        out.push(' ');
        out.push_str(&quoted(argument));
    }
    out.push('\n');
    for (name, value) in &stdio.env {
        out.push_str(&format!("    with {}={}\n", quoted(name), quoted(value)));
    }
    if let Some(cwd) = &stdio.cwd {
        out.push_str(&format!("    in {}\n", path(cwd)));
    }
    if let Some(sandbox) = &stdio.sandbox {
        show_confinement(out, sandbox);
    }
    if let Some(bytes) = stdio.limits.memory {
        out.push_str(&format!("    with at most {bytes} bytes of memory\n"));
    }
    if let Some(processes) = stdio.limits.processes {
        out.push_str(&format!("    with at most {processes} processes\n"));
    }
}

fn show_confinement(out: &mut String, sandbox: &Confinement) {
    for (does, paths) in [("reads", &sandbox.read), ("changes", &sandbox.write)] {
        let paths: Vec<String> = paths.iter().map(|place| path(place)).collect();
        let paths = if paths.is_empty() {
            "nothing".to_owned()
        } else {
            paths.join(" ")
        };
        out.push_str(&format!("    confined: {does} {paths}\n"));
    }
    let network = if sandbox.network { "network" } else { "no network" };
    out.push_str(&format!("    confined: {network}\n"));
}

fn path(path: &Path) -> String {
    quoted(&path.display().to_string())
}

/// Quotes as a shell does, so that arguments stay apart; invisible characters are escaped.
fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,${}".contains(c);
    if text.chars().any(is_unseen) {
        format!("$'{}'", text.escape_debug())
    } else if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_argument_looks_different_from_two() {
        assert_eq!(quoted("--port=80"), "--port=80");
        assert_eq!(quoted("${HOME}/bin"), "${HOME}/bin");
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted(""), "''");
        assert_eq!(quoted("it's; rm"), "'it'\\''s; rm'");
        assert_eq!(quoted("a\n  fake"), "$'a\\n  fake'");
        assert_eq!(quoted("\u{61c}\u{200b}\u{2060}"), "$'\\u{61c}\\u{200b}\\u{2060}'");
        assert_eq!(
            quoted("a\u{200d}\u{ad}\u{e0041}b"),
            "$'a\\u{200d}\\u{ad}\\u{e0041}b'"
        );
    }
}
