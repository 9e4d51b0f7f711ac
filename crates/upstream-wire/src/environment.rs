//! The environment variables that a server inherits, and the program that its definition names.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::definition::{Stdio, Transport};
use crate::error::StartError;

/// Servers inherit these variables. All others, such as credentials of other servers, stay with the host.
const INHERITED: [&str; 4] = ["PATH", "HOME", "LANG", "TMPDIR"];
const INHERITED_PREFIX: &str = "LC_";

/// Copies of the executable are recognised by this name.
const OWN_NAME: &str = "codeyard";
/// Commands that serve MCP from the configuration, and so would start every server again.
const SERVING: [&str; 2] = ["mcp", "run"];
/// The command that serves MCP without the configuration.
const DEMO_SERVER: &str = "demo-server";

/// How many codeyards started each other, down to this one. Only servers that are codeyard receive it.
const DEPTH: &str = "CODEYARD_DEPTH";
/// A codeyard at this depth starts no further codeyard.
const MAX_DEPTH: u32 = 3;

/// The part of the host's environment that servers inherit.
#[derive(Debug, Clone)]
pub struct Environment {
    variables: BTreeMap<OsString, OsString>,
    depth: u32,
}

impl Environment {
    /// Reads this process's environment.
    #[expect(
        clippy::disallowed_methods,
        reason = "servers inherit this process's own PATH, HOME, locale and TMPDIR, which are no settings; nor is the depth"
    )]
    pub fn of_this_process() -> Environment {
        let inherited = |name: &OsStr| {
            name.to_str()
                .is_some_and(|name| INHERITED.contains(&name) || name.starts_with(INHERITED_PREFIX))
        };
        let variables = std::env::vars_os().filter(|(name, _)| inherited(name)).collect();
        let depth = std::env::var(DEPTH).ok().and_then(|depth| depth.parse().ok());
        Environment {
            variables,
            depth: depth.unwrap_or_default(),
        }
    }

    /// The environment of a server that is itself codeyard; `None` at the greatest depth.
    pub fn deeper(&self) -> Option<Environment> {
        let depth = self.depth + 1;
        let mut variables = self.variables.clone();
        variables.insert(DEPTH.into(), depth.to_string().into());
        (self.depth < MAX_DEPTH).then_some(Environment { variables, depth })
    }

    pub(crate) fn for_server(&self, server: &Stdio) -> BTreeMap<OsString, OsString> {
        let mut variables = self.variables.clone();
        variables.extend(server.env.iter().map(|(name, value)| (name.into(), value.into())));
        variables
    }

    /// The definition's program, searched in the server's own `PATH`.
    pub(crate) fn program(&self, server: &Stdio) -> Result<PathBuf, StartError> {
        if server.command.contains('/') {
            let path = server.cwd.clone().unwrap_or_default().join(&server.command);
            // If the file does not exist, starting it returns the operating system's error.
            return Ok(std::path::absolute(&path).unwrap_or(path));
        }
        let path = match server.env.get("PATH") {
            Some(path) => OsString::from(path),
            None => self
                .variables
                .get(OsStr::new("PATH"))
                .cloned()
                .unwrap_or_default(),
        };
        std::env::split_paths(&path)
            .map(|directory| directory.join(&server.command))
            .find(|candidate| is_executable(candidate))
            .ok_or_else(|| StartError::CommandNotFound {
                command: server.command.clone(),
                path: path.to_string_lossy().into_owned(),
            })
    }

    /// Whether the definition would start codeyard itself, also through another program's arguments.
    pub fn is_self_reference(&self, server: &Stdio, own_executable: &Path) -> bool {
        if let Ok(program) = self.program(server)
            && is_same_file(&program, own_executable)
        {
            // Only this executable's demonstration servers do not read its configuration.
            return server.args.first().map(String::as_str) != Some(DEMO_SERVER);
        }
        let words: Vec<&str> = std::iter::once(&server.command)
            .chain(&server.args)
            .flat_map(|word| word.split_ascii_whitespace())
            .collect();
        let Some(own) = words.iter().position(|word| is_codeyard(word, own_executable)) else {
            return false;
        };
        words[own + 1..].iter().any(|word| SERVING.contains(word))
    }
}

/// Whether the definition starts codeyard itself, serving from its own configuration.
///
/// `own_executable` is the running program; its copies are recognised by their name.
pub fn is_self_reference(transport: &Transport, own_executable: &Path) -> bool {
    let environment = Environment::of_this_process();
    transport
        .stdio()
        .is_some_and(|stdio| environment.is_self_reference(stdio, own_executable))
}

/// The program that a definition starts.
///
/// # Errors
/// If the program does not exist or cannot be executed, or the working directory does not exist.
pub fn find_program(server: &Stdio) -> Result<PathBuf, StartError> {
    if let Some(cwd) = server.cwd.as_ref().filter(|cwd| !cwd.is_dir()) {
        return Err(StartError::WorkingDirectory {
            cwd: cwd.display().to_string(),
        });
    }
    let program = Environment::of_this_process().program(server)?;
    let why = match std::fs::metadata(&program) {
        Err(error) => error.to_string(),
        Ok(_) if !is_executable(&program) => "it is not an executable program".to_owned(),
        Ok(_) => return Ok(program),
    };
    Err(StartError::Spawn {
        command: server.command.clone(),
        cause: why,
    })
}

fn is_codeyard(word: &str, own_executable: &Path) -> bool {
    let path = Path::new(word);
    path.file_name() == Some(OsStr::new(OWN_NAME))
        || (path.is_absolute() && is_same_file(path, own_executable))
}

fn is_same_file(one: &Path, other: &Path) -> bool {
    matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}

fn is_executable(path: &Path) -> bool {
    path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(path: &str) -> Environment {
        Environment {
            variables: BTreeMap::from([("PATH".into(), path.into())]),
            depth: 0,
        }
    }

    fn server(command: &str, args: &[&str]) -> Stdio {
        Stdio {
            command: command.to_owned(),
            args: args.iter().map(|arg| (*arg).to_owned()).collect(),
            ..Stdio::default()
        }
    }

    #[test]
    fn entries_that_would_start_codeyard_are_recognised() {
        // Any file can stand in for the test's own executable.
        let own = Path::new("/bin/sh");
        let check = |command: &str, args: &[&str], expected: bool| {
            let found = environment("/usr/bin:/bin").is_self_reference(&server(command, args), own);
            assert_eq!(found, expected, "{command} {args:?}");
        };
        check("/bin/sh", &["mcp"], true);
        check("sh", &[], true);
        check("sh", &["demo-server", "orders"], false);
        check("codeyard", &["mcp"], true);
        check("/opt/elsewhere/codeyard", &["--verbose", "mcp"], true);
        check("codeyard", &["demo-server", "orders"], false);
        check("env", &["A=1", "codeyard", "mcp"], true);
        check("bash", &["-c", "exec codeyard mcp"], true);
        check("env", &["/bin/sh", "mcp"], true);
        check("codeyard", &["run"], true);
        check("npx", &["-y", "some-server", "mcp"], false);
        check("mcp-server-git", &["--repository", "/home/me/codeyard"], false);
    }

    #[test]
    fn nested_codeyards_are_limited_in_depth() {
        let mut environment = environment("/bin");
        let mut depths = Vec::new();
        while let Some(deeper) = environment.deeper() {
            depths.push(deeper.variables[OsStr::new(DEPTH)].clone());
            environment = deeper;
        }
        assert_eq!(depths, ["1", "2", "3"]);
    }

    #[test]
    fn a_command_is_looked_up_on_the_servers_path() {
        let found = environment("/usr/bin:/bin")
            .program(&server("sh", &[]))
            .expect("sh is there");
        assert!(found.ends_with("sh") && found.is_absolute(), "{found:?}");
        let mut other = server("sh", &[]);
        other.env.insert("PATH".to_owned(), "/nowhere".to_owned());
        let error = environment("/usr/bin:/bin")
            .program(&other)
            .expect_err("not on that path");
        assert_eq!(
            error.to_string(),
            "command 'sh' was not found on PATH (/nowhere); give its full path in `command`"
        );
        let mut relative = server("./bin/tool", &[]);
        relative.cwd = Some("/srv".into());
        assert_eq!(
            environment("").program(&relative).expect("a path"),
            Path::new("/srv/./bin/tool")
        );
    }

    #[test]
    fn only_listed_variables_and_the_definitions_own_reach_a_server() {
        let mut own = server("sh", &[]);
        own.env.insert("TOKEN".to_owned(), "t".to_owned());
        let names: Vec<OsString> = environment("/bin").for_server(&own).into_keys().collect();
        assert_eq!(names, ["PATH", "TOKEN"]);
        for name in Environment::of_this_process()
            .variables
            .keys()
            .filter_map(|name| name.to_str())
        {
            assert!(INHERITED.contains(&name) || name.starts_with("LC_"), "{name}");
        }
    }
}
