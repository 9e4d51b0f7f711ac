//! Paths of clients' files on Linux, macOS and Windows, and recognition of a file's client.

use std::path::{Path, PathBuf};

use crate::client::Client;
use crate::document::{Format, Unreadable};

/// The facts that decide file paths, as values, so that one system can compute another system's paths.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// `linux`, `macos` or `windows`, as in `std::env::consts::OS`.
    pub os: String,
    /// The home directory.
    pub home: PathBuf,
    /// `XDG_CONFIG_HOME`, if set.
    pub config: Option<PathBuf>,
    /// `APPDATA`, if set.
    pub app_data: Option<PathBuf>,
    /// `CLAUDE_CONFIG_DIR`, if set.
    pub claude: Option<PathBuf>,
    /// `CODEX_HOME`, if set.
    pub codex: Option<PathBuf>,
    /// The current directory of the command.
    pub current: PathBuf,
}

/// A client's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientFile {
    /// The client that reads the file.
    pub client: Client,
    /// Its path.
    pub path: PathBuf,
    /// The project that the servers belong to; `None` for a user's own file.
    pub project: Option<PathBuf>,
}

impl Surroundings {
    /// Possible paths of a client's user file; the path for a new file comes first.
    pub fn files(&self, client: Client) -> Vec<PathBuf> {
        let one = |path: PathBuf| vec![path];
        match client {
            Client::ClaudeDesktop => one(self.applications("Claude").join("claude_desktop_config.json")),
            Client::ClaudeCode => {
                let directory = self.claude.as_ref().unwrap_or(&self.home);
                one(directory.join(".claude.json"))
            }
            Client::Cursor => one(self.home.join(".cursor/mcp.json")),
            Client::VsCode => one(self.applications("Code").join("User/mcp.json")),
            Client::Windsurf => one(self.home.join(".codeium/windsurf/mcp_config.json")),
            Client::GeminiCli => one(self.home.join(".gemini/settings.json")),
            Client::Codex => {
                let default = self.home.join(".codex");
                one(self.codex.as_ref().unwrap_or(&default).join("config.toml"))
            }
            Client::Zed if self.os == "windows" => one(self.applications("Zed").join("settings.json")),
            Client::Zed => one(self.dotted().join("zed/settings.json")),
            Client::Opencode => {
                let directory = self.dotted().join("opencode");
                ["opencode.json", "opencode.jsonc", "config.json"]
                    .map(|name| directory.join(name))
                    .to_vec()
            }
            Client::Goose if self.os == "windows" => {
                one(self.applications("Block").join("goose/config/config.yaml"))
            }
            Client::Goose => one(self.dotted().join("goose/config.yaml")),
        }
    }

    /// Settings directory of desktop applications.
    fn applications(&self, name: &str) -> PathBuf {
        match self.os.as_str() {
            "macos" => self.home.join("Library/Application Support").join(name),
            "windows" => {
                let default = self.home.join("AppData/Roaming");
                self.app_data.as_ref().unwrap_or(&default).join(name)
            }
            _ => self.dotted().join(name),
        }
    }

    /// `~/.config`, or the user's setting.
    fn dotted(&self) -> PathBuf {
        match &self.config {
            Some(config) if self.os != "macos" => config.clone(),
            _ => self.home.join(".config"),
        }
    }

    /// The client of the file at an absolute path: by path, by the file's name in a project, or by the key of its list.
    ///
    /// # Errors
    /// The file belongs to no client, or cannot be parsed.
    pub fn place_of(&self, path: &Path, text: &str) -> Result<ClientFile, Unreadable> {
        let place = |client, project: Option<&Path>| ClientFile {
            client,
            path: path.to_path_buf(),
            project: project.map(Path::to_path_buf),
        };
        let own = |client: &Client| self.files(*client).iter().any(|file| file == path);
        if let Some(client) = Client::ALL.into_iter().find(own) {
            return Ok(place(client, None));
        }
        let directory = path.parent().unwrap_or(Path::new("/"));
        if let Some(client) = of_project(path) {
            let in_dotted = directory
                .file_name()
                .is_some_and(|name| name.to_string_lossy().starts_with('.'));
            let project = if in_dotted {
                directory.parent()
            } else {
                Some(directory)
            };
            return Ok(place(client, project));
        }
        let format = match path.extension().and_then(|kind| kind.to_str()) {
            Some("toml") => Format::Toml,
            Some("yaml" | "yml") => Format::Yaml,
            _ => Format::Json,
        };
        let value = format.parse(text)?;
        let known = [
            Client::ClaudeCode,
            Client::VsCode,
            Client::Zed,
            Client::Opencode,
            Client::Codex,
            Client::Goose,
        ];
        let holds = |client: &Client| client.format() == format && value[client.list()].is_object();
        match known.into_iter().find(holds) {
            Some(client) => Ok(place(client, Some(directory))),
            None => Err(Unreadable::new(
                "holds no list of MCP servers; codeyard knows `mcpServers`, `servers`, `context_servers`, `mcp`, `mcp_servers` and `extensions`",
            )),
        }
    }
}

/// The client that reads this file in a project.
fn of_project(path: &Path) -> Option<Client> {
    let ends = |end: &str| path.ends_with(end);
    match () {
        () if ends(".mcp.json") => Some(Client::ClaudeCode),
        () if ends(".cursor/mcp.json") => Some(Client::Cursor),
        () if ends(".vscode/mcp.json") => Some(Client::VsCode),
        () if ends(".gemini/settings.json") => Some(Client::GeminiCli),
        () if ends(".codex/config.toml") => Some(Client::Codex),
        () if ends(".zed/settings.json") => Some(Client::Zed),
        () if ends("opencode.json") || ends("opencode.jsonc") => Some(Client::Opencode),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(os: &str) -> Surroundings {
        Surroundings {
            os: os.to_owned(),
            home: "/h".into(),
            app_data: Some("/h/roaming".into()),
            current: "/h/shop".into(),
            ..Surroundings::default()
        }
    }

    #[test]
    fn each_system_has_its_paths() {
        for (os, client, file) in [
            (
                "linux",
                Client::ClaudeDesktop,
                "/h/.config/Claude/claude_desktop_config.json",
            ),
            (
                "macos",
                Client::ClaudeDesktop,
                "/h/Library/Application Support/Claude/claude_desktop_config.json",
            ),
            (
                "windows",
                Client::ClaudeDesktop,
                "/h/roaming/Claude/claude_desktop_config.json",
            ),
            ("linux", Client::ClaudeCode, "/h/.claude.json"),
            ("linux", Client::Cursor, "/h/.cursor/mcp.json"),
            (
                "macos",
                Client::VsCode,
                "/h/Library/Application Support/Code/User/mcp.json",
            ),
            ("linux", Client::VsCode, "/h/.config/Code/User/mcp.json"),
            ("linux", Client::Windsurf, "/h/.codeium/windsurf/mcp_config.json"),
            ("linux", Client::GeminiCli, "/h/.gemini/settings.json"),
            ("linux", Client::Codex, "/h/.codex/config.toml"),
            ("macos", Client::Zed, "/h/.config/zed/settings.json"),
            ("windows", Client::Zed, "/h/roaming/Zed/settings.json"),
            ("linux", Client::Opencode, "/h/.config/opencode/opencode.json"),
            ("macos", Client::Goose, "/h/.config/goose/config.yaml"),
            (
                "windows",
                Client::Goose,
                "/h/roaming/Block/goose/config/config.yaml",
            ),
        ] {
            assert_eq!(on(os).files(client)[0], Path::new(file), "{os} {client}");
        }
    }

    #[test]
    fn variables_change_paths() {
        let moved = Surroundings {
            config: Some("/x".into()),
            claude: Some("/c".into()),
            codex: Some("/d".into()),
            ..on("linux")
        };
        assert_eq!(moved.files(Client::Zed)[0], Path::new("/x/zed/settings.json"));
        assert_eq!(moved.files(Client::ClaudeCode)[0], Path::new("/c/.claude.json"));
        assert_eq!(moved.files(Client::Codex)[0], Path::new("/d/config.toml"));
    }

    #[test]
    fn a_file_s_client_is_recognised() {
        #[track_caller]
        fn check(path: &str, text: &str, client: Client, project: Option<&str>) {
            let place = on("linux").place_of(Path::new(path), text).unwrap();
            assert_eq!(
                (place.client, place.project.as_deref()),
                (client, project.map(Path::new))
            );
        }
        check("/h/.cursor/mcp.json", "", Client::Cursor, None);
        check("/h/shop/.cursor/mcp.json", "", Client::Cursor, Some("/h/shop"));
        check("/h/shop/.mcp.json", "", Client::ClaudeCode, Some("/h/shop"));
        check("/h/shop/.vscode/mcp.json", "", Client::VsCode, Some("/h/shop"));
        check(
            "/tmp/a.json",
            "{\"mcpServers\": {}}",
            Client::ClaudeCode,
            Some("/tmp"),
        );
        check("/tmp/a.json", "{\"servers\": {}}", Client::VsCode, Some("/tmp"));
        check(
            "/tmp/a.toml",
            "[mcp_servers.a]\ncommand = 'a'",
            Client::Codex,
            Some("/tmp"),
        );
        check(
            "/tmp/a.yaml",
            "extensions:\n  a: {}\n",
            Client::Goose,
            Some("/tmp"),
        );
        let error = on("linux").place_of(Path::new("/tmp/a.json"), "{}").unwrap_err();
        assert!(error.to_string().contains("`mcpServers`"), "{error}");
    }
}
