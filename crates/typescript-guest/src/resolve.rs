//! Resolves the specifiers of imports.

use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::places::Places;

/// Path prefixes of importable tools.
const TOOL_ROOTS: [&str; 2] = ["/tools/", "/servers/"];

/// A file among the tools that is a module of its own.
pub const RUNTIME: &str = "/tools/_runtime.ts";

/// Extensions that a specifier may omit.
const ENDINGS: [&str; 7] = ["", ".ts", ".js", ".mts", ".mjs", "/index.ts", "/index.js"];

/// A resolved specifier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImportTarget {
    /// A server or tool, see [`ImportedTool`].
    Tool(String),
    /// The absolute path of a file.
    File(String),
    /// A module of the platform, or a package.
    Builtin(String),
}

/// A server whose tools are imported, or one of its tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedTool {
    pub server: String,
    pub tool: Option<String>,
}

/// Resolves `specifier` as written in the module `base`, an absolute path. Programs have no path: pass any other text for
/// them, and relative specifiers start at the working directory.
///
/// # Errors
/// The file does not exist. The text is the error message that the program sees.
pub fn module(places: &Places, base: &str, specifier: &str) -> Result<ImportTarget, String> {
    if specifier == RUNTIME {
        return file(places, Path::new(RUNTIME), specifier);
    }
    if TOOL_ROOTS.iter().any(|root| specifier.starts_with(root)) {
        return Ok(ImportTarget::Tool(specifier.to_owned()));
    }
    if let Some(path) = specifier.strip_prefix("file://") {
        // Any other path could match the name of an own module.
        return file(places, &Path::new("/").join(path), specifier);
    }
    if specifier.starts_with(['.', '/']) {
        let directory = match Path::new(base).parent() {
            Some(directory) if base.starts_with('/') => directory.to_owned(),
            _ => places.current_directory().into(),
        };
        return file(places, &directory.join(specifier), specifier);
    }
    // The platform has the list of its modules, and suggests an alternative for any other.
    let name = specifier.strip_prefix("node:").unwrap_or(specifier);
    Ok(ImportTarget::Builtin(name.to_owned()))
}

/// Resolves a path, perhaps without its extension.
fn file(places: &Places, path: &Path, specifier: &str) -> Result<ImportTarget, String> {
    let path = normal(&Path::new("/").join(path));
    let path = path.display().to_string();
    let written = places.actual(&path);
    let candidates = ENDINGS.iter().map(|ending| format!("{written}{ending}"));
    // TypeScript's own rule: `./a.js` may stand for `a.ts`.
    let typed = written.strip_suffix(".js").map(|stem| format!("{stem}.ts"));
    let found = candidates
        .chain(typed)
        .find(|candidate| Path::new(candidate).is_file());
    found
        .map(ImportTarget::File)
        .ok_or_else(|| format!("Cannot find module '{specifier}': the file {path} does not exist"))
}

/// The path with `.` and `..` resolved.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(normal.pop()),
            Component::CurDir => {}
            part => normal.push(part),
        }
    }
    normal
}

impl ImportedTool {
    /// Reads `/tools/crm` or `/tools/crm/find.ts`; `None` for any other module.
    ///
    /// # Errors
    /// The message for the program if the path is deeper or has no server.
    pub fn of(name: &str) -> Option<Result<Self, String>> {
        if name == RUNTIME {
            return None;
        }
        let path = TOOL_ROOTS.iter().find_map(|root| name.strip_prefix(root))?;
        let endings = ENDINGS.iter().rev();
        let path = endings
            .filter_map(|ending| path.strip_suffix(ending))
            .next()
            .unwrap_or(path);
        let (server, tool) = match path.split_once('/') {
            Some((server, tool)) => (server, Some(tool)),
            None => (path, None),
        };
        if server.is_empty() || tool.is_some_and(|tool| tool.contains('/')) {
            return Some(Err(format!(
                "Cannot find module '{name}': a tool is imported from /tools/<server>/<tool>.ts, a server from \
                 /tools/<server>"
            )));
        }
        Some(Ok(Self {
            server: server.to_owned(),
            tool: tool.map(str::to_owned),
        }))
    }

    /// The module's named exports: the tool, or the tools that the server's index declares.
    pub fn exports(&self, places: &Places) -> Vec<String> {
        if let Some(tool) = &self.tool {
            return Some(tool.clone())
                .into_iter()
                .filter(|tool| is_identifier(tool))
                .collect();
        }
        let index = format!("/tools/{}/index.d.ts", self.server);
        let index = fs::read_to_string(&*places.actual(&index)).unwrap_or_default();
        let names = index
            .lines()
            .filter_map(|line| line.strip_prefix("export declare function ")?.split('(').next());
        names
            .filter(|name| is_identifier(name))
            .map(str::to_owned)
            .collect()
    }
}

/// Whether the name is valid as an identifier.
pub fn is_identifier(name: &str) -> bool {
    !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$')
}
