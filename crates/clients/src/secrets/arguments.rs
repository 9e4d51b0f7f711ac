//! Hides secrets in a command's arguments, but never a word that decides which program runs.

use serde_json::Value;

use super::Hider;
use super::signs::{Position, begins_secret, is_secret, secret_word};

/// Options without a value.
const ALONE: [&str; 5] = ["-y", "--yes", "-q", "--quiet", "--"];

/// Options for a user name; after them, `-p` is the user's password.
const USERS: [&str; 4] = ["-u", "-U", "--user", "--username"];

/// The number of leading non-option words that select what a program runs. These words stay visible.
fn leading(program: &str) -> usize {
    match program {
        "npx" | "bunx" | "pnpx" | "uvx" | "sh" | "bash" | "dash" | "zsh" | "fish" | "node" | "nodejs"
        | "python" | "python3" | "ruby" | "perl" | "php" | "java" | "tsx" | "ts-node" | "pwsh"
        | "powershell" | "cmd" => 1,
        "npm" | "pnpm" | "yarn" | "bun" | "deno" | "uv" | "pipx" | "docker" | "podman" | "nerdctl"
        | "cargo" | "go" | "dotnet" => 2,
        "env" | "sudo" | "doas" | "timeout" | "nice" | "nohup" | "setsid" | "xargs" => 3,
        _ => 0,
    }
}

/// Whether an option's value is code to run.
fn is_script(program: &str, option: &str) -> bool {
    let is_short = option.len() <= 5 && !option.starts_with("--") && option.ends_with(['c', 'e', 'C']);
    let is_container = matches!(program, "docker" | "podman" | "nerdctl") && option == "-e";
    let is_long = matches!(
        option,
        "--eval" | "--command" | "--exec" | "--print" | "-Command" | "/c"
    );
    (is_short || is_long) && !is_container
}

struct Words<'a> {
    program: &'a str,
    leading: usize,
    /// Number of words so far that are neither options nor option values.
    seen: usize,
    has_user: bool,
    /// The previous option.
    option: String,
}

/// Hides secrets in place.
pub(super) fn hide(hider: &mut Hider<'_>, command: &str, args: &mut [Value]) {
    let program = command.rsplit(['/', '\\']).next().unwrap_or_default();
    let program = program.strip_suffix(".exe").unwrap_or(program);
    let mut words = Words {
        program,
        leading: leading(program),
        seen: 0,
        has_user: false,
        option: String::new(),
    };
    for word in args {
        if let Some(text) = word.as_str() {
            let hidden = words.read(hider, text);
            // Report defaults outside options and pairs.
            hider.defaults("", text);
            if let Some(hidden) = hidden {
                *word = hidden.into();
            }
        }
    }
}

impl Words<'_> {
    /// The next word with its secrets hidden; `None` without secrets.
    fn read(&mut self, hider: &mut Hider<'_>, text: &str) -> Option<String> {
        let option = std::mem::take(&mut self.option);
        let is_option = text.starts_with('-') && !(secret_word(&option).is_some() && is_odd(text));
        if is_option && !text.contains('=') {
            self.has_user |= USERS.contains(&text);
            self.option = text.to_owned();
            return None;
        }
        let decides = self.seen < self.leading;
        if !is_option && (option.is_empty() || ALONE.contains(&option.as_str())) && !text.contains('=') {
            self.seen += 1;
        }
        if is_script(self.program, &option) {
            return None;
        }
        let is_variable = self.program == "env" || matches!(option.as_str(), "-e" | "--env");
        if let Some((name, value)) = text.split_once('=')
            && !name.contains(char::is_whitespace)
            && !name.contains("://")
            && (is_option || is_variable || !decides)
        {
            let hidden = hider.value(Position::Argument, name, value);
            return hidden.map(|hidden| format!("{name}={hidden}"));
        }
        if text.contains("://") {
            return hider.address(Position::Argument, text);
        }
        if decides {
            return None;
        }
        self.whole(hider, &option, text)
    }

    /// Reads a word that is not a pair and does not select what runs.
    fn whole(&self, hider: &mut Hider<'_>, option: &str, text: &str) -> Option<String> {
        // `--header "Authorization: Bearer x"`, as for mcp-remote.
        if let Some((name, value)) = text.split_once(':')
            && !name.contains(['/', '{', ' '])
            && let bare = value.trim_start()
            && let Some(hidden) = hider.value(Position::Argument, name, bare)
        {
            let blank = &value[..value.len() - bare.len()];
            return Some(format!("{name}:{blank}{hidden}"));
        }
        let is_password = option == "-p" && (self.leading == 0 || self.has_user);
        // A port is not a password.
        if is_password && is_secret(Position::Argument, "token", text) {
            return Some(hider.kept("password", text));
        }
        let name = match secret_word(option) {
            None if begins_secret(text) => "token",
            _ => option,
        };
        hider.value(Position::Argument, name, text)
    }
}

/// Whether a word that starts with a dash is nevertheless a value: options are lower case.
fn is_odd(text: &str) -> bool {
    let has_odd = text.contains(|c: char| c.is_ascii_digit() || c.is_ascii_uppercase());
    text.len() > 2 && !text.starts_with("--") && has_odd
}
