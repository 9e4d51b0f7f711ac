//! The ten supported clients: names, file formats, and the keys of their server lists.

use std::fmt;

use crate::document::Format;

/// A program that connects to MCP servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Client {
    /// Claude Desktop.
    ClaudeDesktop,
    /// Claude Code.
    ClaudeCode,
    /// Cursor.
    Cursor,
    /// Visual Studio Code.
    VsCode,
    /// Windsurf.
    Windsurf,
    /// Gemini CLI.
    GeminiCli,
    /// Codex.
    Codex,
    /// Zed.
    Zed,
    /// opencode.
    Opencode,
    /// Goose.
    Goose,
}

/// A client's switch to disable a server that stays in its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Switch {
    /// `"disabled": true` in the entry.
    Disabled,
    /// `"enabled": false` in the entry.
    Enabled,
    /// The server's name in the list `mcp.excluded`.
    Excluded,
    /// No switch: only removing the entry disables the server.
    None,
}

/// The place of the token for a server over HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenPlace {
    /// An environment variable that the entry names.
    Variable,
    /// An input: a person enters the token once, and the client stores it.
    Input,
    /// The entry itself.
    Entry,
    /// No place: the client's file cannot name a server over HTTP.
    Nowhere,
}

impl Client {
    /// All clients, in listed order.
    pub const ALL: [Client; 10] = [
        Client::ClaudeDesktop,
        Client::ClaudeCode,
        Client::Cursor,
        Client::VsCode,
        Client::Windsurf,
        Client::GeminiCli,
        Client::Codex,
        Client::Zed,
        Client::Opencode,
        Client::Goose,
    ];

    /// Name on the command line.
    pub fn id(self) -> &'static str {
        match self {
            Client::ClaudeDesktop => "claude-desktop",
            Client::ClaudeCode => "claude-code",
            Client::Cursor => "cursor",
            Client::VsCode => "vscode",
            Client::Windsurf => "windsurf",
            Client::GeminiCli => "gemini-cli",
            Client::Codex => "codex",
            Client::Zed => "zed",
            Client::Opencode => "opencode",
            Client::Goose => "goose",
        }
    }

    /// Finds a client by name, ignoring case, blanks and `-`.
    pub fn of_id(id: &str) -> Option<Client> {
        let plain = |text: &str| -> String {
            let letters = text.chars().filter(char::is_ascii_alphanumeric);
            letters.map(|c| c.to_ascii_lowercase()).collect()
        };
        let wanted = plain(id);
        let named = |client: &Client| plain(client.id()) == wanted || plain(&client.to_string()) == wanted;
        match wanted.as_str() {
            "gemini" => Some(Client::GeminiCli),
            "code" | "visualstudiocode" => Some(Client::VsCode),
            _ => Client::ALL.into_iter().find(named),
        }
    }

    /// Format of the client's file.
    pub fn format(self) -> Format {
        match self {
            Client::Codex => Format::Toml,
            Client::Goose => Format::Yaml,
            _ => Format::Json,
        }
    }

    /// Whether a disabled server can stay in the file.
    pub fn can_disable(self) -> bool {
        self.switch() != Switch::None
    }

    pub(crate) fn switch(self) -> Switch {
        match self {
            Client::Windsurf => Switch::Disabled,
            Client::Codex | Client::Zed | Client::Opencode | Client::Goose => Switch::Enabled,
            Client::GeminiCli => Switch::Excluded,
            Client::ClaudeDesktop | Client::ClaudeCode | Client::Cursor | Client::VsCode => Switch::None,
        }
    }

    /// Key of the server list.
    pub(crate) fn list(self) -> &'static str {
        match self {
            Client::VsCode => "servers",
            Client::Codex => "mcp_servers",
            Client::Zed => "context_servers",
            Client::Opencode => "mcp",
            Client::Goose => "extensions",
            Client::ClaudeDesktop
            | Client::ClaudeCode
            | Client::Cursor
            | Client::Windsurf
            | Client::GeminiCli => "mcpServers",
        }
    }

    /// Whether the client documents that it expands `${VAR}` in an entry.
    pub(crate) fn expands(self) -> bool {
        !matches!(
            self,
            Client::ClaudeDesktop | Client::Codex | Client::Zed | Client::Goose
        )
    }

    /// Whether an entry can name variables of the client's environment to pass to a server.
    pub fn hands_on(self) -> bool {
        !matches!(self, Client::ClaudeDesktop | Client::Zed | Client::Goose)
    }

    /// The place of the token for a server over HTTP.
    pub fn token_place(self) -> TokenPlace {
        match self {
            Client::ClaudeDesktop => TokenPlace::Nowhere,
            Client::VsCode => TokenPlace::Input,
            Client::Zed => TokenPlace::Entry,
            Client::ClaudeCode
            | Client::Cursor
            | Client::Windsurf
            | Client::GeminiCli
            | Client::Codex
            | Client::Opencode
            | Client::Goose => TokenPlace::Variable,
        }
    }

    /// Names of the client's processes in the system's list.
    pub fn processes(self) -> &'static [&'static str] {
        match self {
            Client::ClaudeDesktop => &["claude-desktop"],
            Client::ClaudeCode => &["claude"],
            Client::Cursor => &["cursor", "Cursor"],
            Client::VsCode => &["code", "Code"],
            Client::Windsurf => &["windsurf", "Windsurf"],
            Client::GeminiCli => &["gemini"],
            Client::Codex => &["codex"],
            Client::Zed => &["zed", "zed-editor"],
            Client::Opencode => &["opencode"],
            Client::Goose => &["goose", "goosed"],
        }
    }
}

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Client::ClaudeDesktop => "Claude Desktop",
            Client::ClaudeCode => "Claude Code",
            Client::Cursor => "Cursor",
            Client::VsCode => "VS Code",
            Client::Windsurf => "Windsurf",
            Client::GeminiCli => "Gemini CLI",
            Client::Codex => "Codex",
            Client::Zed => "Zed",
            Client::Opencode => "opencode",
            Client::Goose => "Goose",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_as_people_write_them() {
        for client in Client::ALL {
            assert_eq!(Client::of_id(client.id()), Some(client));
            assert_eq!(Client::of_id(&client.to_string()), Some(client));
        }
        assert_eq!(Client::of_id("gemini"), Some(Client::GeminiCli));
        assert_eq!(Client::of_id("VS-Code"), Some(Client::VsCode));
        assert_eq!(Client::of_id("emacs"), None);
    }
}
