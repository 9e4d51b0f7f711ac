//! Declarations only declare, in both languages, whatever a server wrote; and they are right.

mod hostile;
mod typical;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use catalog::{Catalog, Language, Observed, declarations};
use serde_json::value::to_raw_value;
use serde_json::{Value, json};
use tempfile::TempDir;
use types::{ServerTools, Tool};

fn tool(name: &str, description: &str, input_schema: Value) -> Arc<Tool> {
    parsed(json!({"name": name, "description": description, "inputSchema": input_schema}))
}

fn parsed(definition: Value) -> Arc<Tool> {
    Arc::new(Tool::parse(to_raw_value(&definition).expect("JSON")).expect("a definition"))
}

fn server(name: &str, description: &str, tools: Vec<Arc<Tool>>) -> ServerTools {
    ServerTools {
        name: name.to_owned(),
        description: Some(description.to_owned()),
        cwd: None,
        tools: Some(tools.into()),
    }
}

/// The tree of all tools, as programs find it.
fn tree(catalog: &Catalog, observed: Observed<'_>) -> BTreeMap<String, String> {
    let files = catalog::tree(catalog, "codeyard", &|_| true, observed).into_iter();
    files
        .map(|(name, file)| (name, String::from_utf8(file.content()).expect("text")))
        .collect()
}

/// All files of a catalog: in `modules` as programs find them, in `python` and `typescript` the declarations.
fn written(catalog: &Catalog) -> TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    let write = |below: &str, files: BTreeMap<String, String>| {
        for (path, text) in files {
            // All tools of a server are in one index.
            let most = match path.rsplit('/').next() {
                Some("index.d.ts") => 160_000,
                Some("_catalog.json" | ".search_index") => 8_000_000,
                _ => 100_000,
            };
            assert!(text.len() < most, "{path} has {} bytes", text.len());
            let path = directory.path().join(below).join(path);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
            std::fs::write(path, text).expect("a file");
        }
    };
    let files = tree(catalog, &|_| None);
    // Beside the declarations, which have the same names.
    let typescript = files.iter().filter(|(path, _)| path.ends_with(".ts"));
    let beside = |path: &String| match path.ends_with(".d.ts") {
        true => path.clone(),
        false => path.replacen("tools", "stubs", 1),
    };
    write(
        "typescript",
        typescript
            .map(|(path, text)| (beside(path), text.clone()))
            .collect(),
    );
    write("modules", files);
    for server in catalog.servers() {
        let of = |language| declarations(server, language, &|_| true, &|_| None);
        write("python", of(Language::Python));
        write("typescript", of(Language::TypeScript));
    }
    directory
}

/// Checks that every Python file only imports and defines, by its syntax and when imported, and that its
/// types can be evaluated.
fn assert_inert(directory: &Path, files: usize) {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/catalogue/stubs.py");
    let modules = directory.join("modules");
    assert_eq!(
        said(
            "python3".as_ref(),
            &["-I", "-W", "error", script, &modules.to_string_lossy()],
            directory
        ),
        format!("{files} files")
    );
}

/// The objections of mypy and the TypeScript compiler, both at their strictest.
fn objections(directory: &Path) -> String {
    let checkers = test_support::checkers().expect("checkers");
    let mypy = checkers.join("python/bin/mypy");
    let strict = [
        "--strict",
        "--python-version=3.10",
        "--no-error-summary",
        "--cache-dir=/dev/null",
        "--explicit-package-bases",
        ".",
    ];
    let python = said(mypy.as_os_str(), &strict, &directory.join("python"));
    let config = json!({
        "compilerOptions": {"strict": true, "noEmit": true, "types": [], "target": "es2022", "module": "esnext",
                            "moduleResolution": "bundler"},
        "include": ["tools", "stubs", "program.ts"],
    });
    let typescript = directory.join("typescript");
    std::fs::write(typescript.join("tsconfig.json"), config.to_string()).expect("a file");
    let tsc = checkers.join("node_modules/.bin/tsc");
    let typescript = said(
        tsc.as_os_str(),
        &["--pretty", "false", "--project", "."],
        &typescript,
    );
    [python, typescript].join("\n").trim().to_owned()
}

/// Both output streams of a program.
#[expect(
    clippy::disallowed_methods,
    reason = "a test waits for this child, which starts none that outlives it"
)]
fn said(program: &OsStr, arguments: &[&str], directory: &Path) -> String {
    let run = Command::new(program)
        .args(arguments)
        .current_dir(directory)
        .output()
        .expect("a program that starts");
    let said = String::from_utf8_lossy(&run.stdout) + String::from_utf8_lossy(&run.stderr);
    said.trim().to_owned()
}

#[test]
fn every_real_tool_is_declared() {
    let catalog = Catalog::build(&super::servers());
    let directory = written(&catalog);
    assert_inert(directory.path(), 2_040 + 46);
    assert_eq!(objections(directory.path()), "");
}
