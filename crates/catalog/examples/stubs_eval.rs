//! Measures the declarations of all tools of a directory of lists: how long they take, how large they are; and writes them.

#![expect(clippy::print_stdout, reason = "a program whose purpose is to print a table")]

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use catalog::{Catalog, Language};
use serde_json::value::RawValue;
use types::{ServerTools, Tool};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (lists, out) = match arguments.as_slice() {
        [lists] => (lists, None),
        [lists, out] => (lists, Some(Path::new(out))),
        _ => return Err("usage: stubs_eval DIRECTORY-OF-TOOL-LISTS [DIRECTORY-TO-WRITE]".into()),
    };
    let catalog = Catalog::build(&servers(Path::new(lists))?);
    println!("{} tools", catalog.entries().count());
    let modules = timed(|| catalog::modules(&catalog, &|_| true, &|_| None));
    show("Python, as programs find them", &modules);
    let mut written = vec![modules.0];
    for (name, language) in [
        ("Python, to be checked with", Language::Python),
        ("TypeScript", Language::TypeScript),
    ] {
        let of = |server| catalog::declarations(server, language, &|_| true, &|_| None);
        let files = timed(|| catalog.servers().flat_map(of).collect());
        show(name, &files);
        written.push(files.0);
    }
    if let Some(out) = out {
        for (path, text) in written.iter().flatten() {
            let path = out.join(path);
            std::fs::create_dir_all(path.parent().unwrap_or(out))?;
            std::fs::write(path, text)?;
        }
    }
    Ok(())
}

type Files = BTreeMap<String, String>;

fn timed(work: impl FnOnce() -> Files) -> (Files, Duration) {
    let start = Instant::now();
    let files = work();
    (files, start.elapsed())
}

fn show(name: &str, (files, time): &(Files, Duration)) {
    let mut sizes: Vec<usize> = files.values().map(String::len).collect();
    sizes.sort_unstable();
    let at = |percent: usize| {
        sizes
            .get(sizes.len() * percent / 100)
            .copied()
            .unwrap_or_default()
    };
    let (files, kilobytes) = (sizes.len(), sizes.iter().sum::<usize>() / 1024);
    let (median, high) = (at(50), at(99));
    let time = time.as_secs_f64() * 1000.0;
    println!(
        "{name:30}{files:>6} files{time:>7.0} ms{kilobytes:>7} KiB, median {median} bytes, p99 {high} bytes"
    );
}

fn servers(directory: &Path) -> Result<Vec<ServerTools>, Box<dyn Error>> {
    let mut servers = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        let file = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let Some(name) = file.strip_suffix(".tools.json") else {
            continue;
        };
        let list: Vec<Box<RawValue>> = serde_json::from_slice(&std::fs::read(&path)?)?;
        let tools: Result<Vec<Tool>, _> = list.into_iter().map(Tool::parse).collect();
        servers.push(ServerTools {
            name: name.to_owned(),
            description: None,
            cwd: None,
            tools: Some(tools?.into_iter().map(Arc::new).collect()),
        });
    }
    servers.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(servers)
}
