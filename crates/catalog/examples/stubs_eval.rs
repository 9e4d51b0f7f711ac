//! Writes the declarations of all tools of 46 real servers, and measures time and size.

#![expect(clippy::print_stdout, reason = "a program whose purpose is to print a table")]

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

use catalog::{Catalog, Language};
use test_support::catalogue;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let out = match arguments.as_slice() {
        [] => None,
        [out] => Some(Path::new(out)),
        _ => return Err("usage: stubs_eval [DIRECTORY-TO-WRITE]".into()),
    };
    let catalog = Catalog::build(&catalogue::lists()?);
    println!("{} tools", catalog.entries().count());
    let modules = timed(|| {
        let files = catalog::tree(&catalog, "codeyard", &|_| true, &|_| None).into_iter();
        let text = |content: Vec<u8>| String::from_utf8_lossy(&content).into_owned();
        files.map(|(name, file)| (name, text(file.content()))).collect()
    });
    show("all below /tools, as programs find them", &modules);
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
        "{name:40}{files:>6} files{time:>7.0} ms{kilobytes:>7} KiB, median {median} bytes, p99 {high} bytes"
    );
}
