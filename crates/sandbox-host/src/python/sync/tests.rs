//! Whole syncs with the machine's `venv` and `pip`, from a wheel made here, without a network.

use std::os::unix::fs::PermissionsExt;

use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::super::discover::Settings;
use super::super::staged::remove_leftovers;
use super::*;
use crate::child::ReportedProcess;

/// A data directory, an index of one wheel, and requirements that name it.
struct Machine {
    root: tempfile::TempDir,
}

const PACK: &str = "import sys, zipfile
with zipfile.ZipFile(sys.argv[1], 'w') as wheel:
    for name, text in zip(sys.argv[2::2], sys.argv[3::2]):
        wheel.writestr(name, text)
";

impl Machine {
    fn new() -> Machine {
        let machine = Machine {
            root: tempfile::tempdir().unwrap(),
        };
        fs::create_dir(machine.path("wheels")).unwrap();
        machine.wheel("1.0");
        machine.require("tiny");
        machine
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// Adds a version of the distribution `tiny`, which contains its version and an index address with a password.
    fn wheel(&self, version: &str) {
        let info = format!("tiny-{version}.dist-info");
        let files = [
            ("tiny.py".to_owned(), format!("VERSION = {version:?}\n")),
            (
                format!("{info}/METADATA"),
                format!("Metadata-Version: 2.1\nName: tiny\nVersion: {version}\n"),
            ),
            (
                format!("{info}/WHEEL"),
                "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n".to_owned(),
            ),
            (
                format!("{info}/entry_points.txt"),
                "[console_scripts]\ntiny = tiny:VERSION\n".to_owned(),
            ),
            (
                format!("{info}/pip.conf"),
                "index-url = https://me:secret@index.example/".to_owned(),
            ),
            (format!("{info}/RECORD"), "tiny.py,,\n".to_owned()),
        ];
        let target = self
            .path("wheels")
            .join(format!("tiny-{version}-py3-none-any.whl"));
        let mut args = vec!["-c".into(), PACK.into(), target.into_os_string()];
        args.extend(
            files
                .into_iter()
                .flat_map(|(name, text)| [name.into(), text.into()]),
        );
        let args: Vec<&OsStr> = args.iter().map(OsString::as_os_str).collect();
        let step = ReportedProcess {
            prefix: &[],
            program: Path::new("/usr/bin/python3"),
            args: &args,
            directory: self.root.path(),
        };
        assert!(step.run(&mut |_| {}).unwrap().status.success());
    }

    fn require(&self, line: &str) {
        let text = format!(
            "--no-index\n--find-links {}\n{line}\n",
            self.path("wheels").display()
        );
        fs::write(self.path("requirements.txt"), text).unwrap();
    }

    fn request(&self) -> SyncRequest {
        SyncRequest {
            target: Target {
                settings: Settings {
                    path: Some("/usr/bin/python3".into()),
                    search_path: None,
                },
                data: self.relative("data"),
                ..Target::default()
            },
            requirements: Some(self.relative("requirements.txt")),
            ..SyncRequest::default()
        }
    }

    fn sync(&self) -> Result<(Environment, Vec<String>), SyncError> {
        let mut lines = Vec::new();
        let made = match sync(&self.request(), &mut |line| lines.push(line.to_owned()))? {
            Synced::UpToDate(environment) => environment,
            Synced::Staged(staged) => staged.put_in_place()?,
        };
        Ok((made, lines))
    }

    /// A path relative to the current directory, as a person may type it.
    fn relative(&self, name: &str) -> PathBuf {
        let here = std::env::current_dir().unwrap();
        let up: PathBuf = here.components().skip(1).map(|_| "..").collect();
        up.join(self.path(name).strip_prefix("/").unwrap())
    }

    /// Entries of the directory of environments, without this module's own files.
    fn environments(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.path("data/python"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name != ".lock" && name != "interpreters.json")
            .collect();
        names.sort();
        names
    }
}

fn files_below(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(files_below(&path))
        } else {
            files.push(path)
        }
    }
    files
}

fn holds(file: &Path, text: &str) -> bool {
    fs::read(file)
        .unwrap()
        .windows(text.len())
        .any(|window| window == text.as_bytes())
}

fn version_in(environment: &Environment) -> &str {
    &environment
        .packages
        .iter()
        .find(|package| package.name == "tiny")
        .unwrap()
        .version
}

#[test]
fn an_environment_is_made_once_and_holds_only_what_guests_may_read() {
    let machine = Machine::new();
    fs::create_dir_all(machine.path("data/python/.draft-of-a-killed-sync/lib")).unwrap();
    let (made, lines) = machine.sync().unwrap();
    assert!(
        lines.iter().any(|line| line.contains("tiny")),
        "progress names the packages: {lines:?}"
    );
    assert_eq!(version_in(&made), "1.0");
    assert!(made.has("Tiny") && !made.has("pip") && !made.has("numpy"));
    let site = &made.site_packages;
    assert!(site.join("tiny.py").is_file());
    assert!(!site.join("pip").exists() && !made.root.join("bin/tiny").exists());
    assert!(!site.join("tiny-1.0.dist-info/pip.conf").exists());
    let files = files_below(site);
    let host = machine.root.path().to_str().unwrap();
    let telling: Vec<&PathBuf> = files.iter().filter(|file| holds(file, host)).collect();
    assert!(telling.is_empty(), "these name a path of the host: {telling:?}");
    let compiled = files
        .iter()
        .find(|file| file.starts_with(site.join("__pycache__")))
        .unwrap();
    assert!(holds(compiled, "/opt/codeyard/site-packages/tiny.py"));
    assert_eq!(
        fs::metadata(compiled).unwrap().permissions().mode() & 0o444,
        0o444
    );

    let (_, lines) = machine.sync().unwrap();
    assert_eq!(lines, ["the environment is up to date"]);
    assert_eq!(machine.environments().len(), 1);
}

#[test]
fn a_replaced_environment_stays_while_in_use() {
    let machine = Machine::new();
    let (old, _) = machine.sync().unwrap();
    let old_file = fs::File::open(old.site_packages.join("tiny.py")).unwrap();
    machine.wheel("2.0");
    machine.require("tiny>=2");
    let (new, _) = machine.sync().unwrap();
    assert_eq!(version_in(&new), "2.0");
    assert!(
        fs::read_to_string(new.site_packages.join("tiny.py"))
            .unwrap()
            .contains("2.0")
    );
    assert_eq!(machine.environments().len(), 2, "the old one is still in use");
    assert!(std::os::unix::fs::MetadataExt::nlink(&old_file.metadata().unwrap()) > 0);

    drop(old);
    remove_leftovers(&machine.path("data"));
    assert_eq!(machine.environments().len(), 1);
}

#[test]
fn a_failed_sync_states_the_reason_and_changes_nothing() {
    let machine = Machine::new();
    machine.sync().unwrap();
    machine.require("tiny\nno-such-distribution");
    let error = machine.sync().unwrap_err();
    assert!(matches!(error, SyncError::NotFound { .. }), "{error}");
    assert!(error.to_string().contains("no-such-distribution"), "{error}");
    assert_eq!(machine.environments().len(), 1, "nothing half-made stays");
    let interpreter = discover_afresh(&machine.request().target.settings, &machine.path("data"))
        .interpreter
        .unwrap();
    let kept = environment::environment(&machine.path("data"), &interpreter).expect("the old environment");
    assert_eq!(version_in(&kept), "1.0");
}

#[test]
fn without_a_way_to_the_index_the_message_says_what_to_check() {
    let machine = Machine::new();
    fs::write(
        machine.path("requirements.txt"),
        "--index-url http://127.0.0.1:9/simple\ntiny\n",
    )
    .unwrap();
    let error = machine.sync().unwrap_err();
    assert!(matches!(error, SyncError::Offline { .. }), "{error}");
    assert!(error.to_string().contains("HTTPS_PROXY"), "{error}");
}

#[test]
fn missing_files_and_places_are_named() {
    let check = |change: fn(&Machine), expected: &str| {
        let machine = Machine::new();
        change(&machine);
        let error = machine.sync().unwrap_err().to_string();
        assert!(
            error.contains(expected),
            "{error:?} does not contain {expected:?}"
        );
    };
    check(
        |machine| fs::remove_file(machine.path("requirements.txt")).unwrap(),
        "cannot read the requirements file",
    );
    check(
        |machine| fs::write(machine.path("data"), "").unwrap(),
        "another data directory with --data",
    );
}

#[test]
fn output_that_tells_of_a_full_disk_becomes_that() {
    let tail = [
        "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device".to_owned(),
    ];
    let error = SyncError::of_step("pip", Path::new("/data/python"), &tail);
    assert!(
        error.to_string().starts_with("the disk of /data/python is full"),
        "{error}"
    );
}
