//! Configuration and settings: every file gives a configuration that all parts accept, or mistakes
//! that name file and remedy without secrets.
//!
//! Input: `mcp.json`, `codeyard.toml` and `trust.json`, in this order, separated by lines `---`.

#![no_main]

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use environment::{Environment, Mistake, NotUnicode};
use settings::{Arguments, Loaded, Program};
use libfuzzer_sys::fuzz_target;

/// The value of every variable that is set.
const SECRET: &str = "hunter2-e5f1c8";
const HOME: &str = "/nonexistent/home";
const USER: &str = "/nonexistent/home/.config/codeyard/mcp.json";
const SETTINGS: &str = "/nonexistent/home/.config/codeyard/codeyard.toml";
const PROJECT: &str = "/nonexistent/project/.mcp.json";
const TRUST: &str = "/nonexistent/home/.local/share/codeyard/trust.json";

fuzz_target!(|data: &[u8]| {
    let host = Files::of(data);
    let loaded = settings::load(&Arguments::default(), &host);
    match &loaded {
        Ok(loaded) => accepted(loaded, &host),
        Err(mistakes) => {
            assert!(!mistakes.0.is_empty());
            told(&mistakes.0);
        }
    }
    let again = settings::load(&Arguments::default(), &host);
    assert_eq!(
        format!("{loaded:?}"),
        format!("{again:?}"),
        "the same files say the same"
    );
    review(&host);
});

/// An accepted configuration is accepted by every part.
fn accepted(loaded: &Loaded, host: &Files) {
    told(&loaded.warnings);
    let mut names: Vec<&str> = loaded.servers.iter().map(|server| server.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), loaded.servers.len(), "a name is one server's");
    for server in &loaded.servers {
        assert!(!server.name.contains('\0'), "{server:?}");
        let Some(process) = server.transport.stdio() else {
            continue;
        };
        let mut texts = process
            .args
            .iter()
            .chain(process.env.values())
            .chain([&process.command]);
        assert!(texts.all(|text| !text.contains('\0')), "{server:?}");
        assert!(!process.command.is_empty(), "{server:?}");
        assert!(
            process
                .env
                .keys()
                .all(|name| !name.is_empty() && !name.contains(['=', '\0'])),
            "{server:?}"
        );
    }
    let program = Program {
        executable: PathBuf::from("/nonexistent/codeyard"),
        principal: types::Principal::local(),
    };
    let parts = loaded.clone().into_parts(program, host);
    let limits = &parts.policy.limits;
    assert!(limits.wall_time <= parts.policy.max_wall_time, "{limits:?}");
    assert!(limits.cpu_rate.is_finite() && limits.cpu_rate > 0.0, "{limits:?}");
    policy::Policy::new(parts.policy).expect("a policy that was accepted");
}

/// A mistake has a message and a subject, and reveals no variable's value.
fn told(mistakes: &[Mistake]) {
    for mistake in mistakes {
        assert!(!mistake.message.trim().is_empty(), "{mistake:?}");
        assert!(
            mistake.file.is_some() || !mistake.message.is_empty(),
            "{mistake:?}"
        );
        assert!(
            !mistake.to_string().contains(SECRET),
            "a secret is told: {mistake}"
        );
    }
}

/// A review shows variables as written, without their values.
fn review(host: &Files) {
    let Ok(review) = registry::review(Path::new(PROJECT), host) else {
        return;
    };
    told(&review.warnings);
    assert!(
        !format!("{:?}", review.servers).contains(SECRET),
        "a secret is shown"
    );
}

/// A file system in memory.
struct Files(BTreeMap<PathBuf, Vec<u8>>);

impl Files {
    fn of(data: &[u8]) -> Files {
        let mut parts = split(data).into_iter();
        let servers = parts.next().unwrap_or_default();
        let mut files = BTreeMap::from([
            (PathBuf::from(USER), servers.to_vec()),
            (PathBuf::from(PROJECT), servers.to_vec()),
        ]);
        for (path, part) in [SETTINGS, TRUST].into_iter().zip(parts) {
            files.insert(PathBuf::from(path), part.to_vec());
        }
        Files(files)
    }
}

/// The parts between lines `---`.
fn split(data: &[u8]) -> Vec<&[u8]> {
    const MARK: &[u8] = b"\n---\n";
    let mut parts = Vec::new();
    let mut rest = data;
    while let Some(at) = rest.windows(MARK.len()).position(|window| window == MARK) {
        parts.push(&rest[..at]);
        rest = &rest[at + MARK.len()..];
    }
    parts.push(rest);
    parts
}

impl Environment for Files {
    fn var(&self, name: &str) -> Result<Option<String>, NotUnicode> {
        match name {
            "HOME" => Ok(Some(HOME.to_owned())),
            "SECRET" | "T" => Ok(Some(SECRET.to_owned())),
            "BYTES" => Err(NotUnicode),
            _ => Ok(None),
        }
    }

    fn names(&self, _prefix: &str) -> Vec<String> {
        Vec::new()
    }

    fn current_dir(&self) -> io::Result<PathBuf> {
        Ok(PathBuf::from("/nonexistent/project"))
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        self.read(path).map(|_| path.to_path_buf())
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.0
            .get(path)
            .cloned()
            .ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn replace(&self, _path: &Path, _bytes: &[u8]) -> io::Result<()> {
        Ok(())
    }
}
