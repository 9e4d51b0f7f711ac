//! Writes modules of the tools as files for Deno, which loads the workspace modules' imports itself.

use std::fs;
use std::io;
use std::path::Path;

use serde_json::{Value, json};

use crate::places::Places;
use crate::resolve::{ImportedTool, RUNTIME, is_identifier};

/// The import map from `/tools/` and `/servers/` to these files.
pub const IMPORT_MAP: &str = "/tmp/.codeyard/imports.json";

const DIRECTORY: &str = "/tmp/.codeyard/tools";

/// Writes the import map, which Deno reads when it starts.
///
/// # Errors
/// If the session's own file system cannot hold the file.
pub fn write_import_map() -> io::Result<()> {
    fs::create_dir_all(DIRECTORY)?;
    let target = format!("file://{DIRECTORY}/");
    let map = json!({"imports": {"/tools/": target, "/servers/": target}});
    fs::write(IMPORT_MAP, map.to_string())
}

/// Writes a module for each server and each tool of the session.
///
/// # Errors
/// If the session's own file system is full.
pub fn write() -> io::Result<()> {
    if let Some(name) = Path::new(RUNTIME)
        .file_name()
        .filter(|_| Path::new(RUNTIME).exists())
    {
        fs::write(Path::new(DIRECTORY).join(name), fs::read(RUNTIME)?)?;
    }
    for entry in fs::read_dir("/tools")? {
        let server = entry?.file_name().to_string_lossy().into_owned();
        let imported = ImportedTool { server, tool: None };
        let tools = imported.exports(&Places::default());
        if !tools.is_empty() {
            write_server(&imported.server, &tools)?;
        }
    }
    Ok(())
}

fn write_server(server: &str, tools: &[String]) -> io::Result<()> {
    let directory = Path::new(DIRECTORY).join(server);
    fs::create_dir_all(&directory)?;
    let value = format!("globalThis.tools[{}]", Value::from(server));
    let mut index = format!("const server = {value};\nexport default server;\n");
    for tool in tools.iter().filter(|tool| is_identifier(tool)) {
        index.push_str(&format!("export const {tool} = server.{tool};\n"));
        let module = format!("export const {tool} = {value}.{tool};\nexport default {tool};\n");
        fs::write(directory.join(format!("{tool}.ts")), module)?;
    }
    fs::write(directory.join("index.ts"), index)
}
