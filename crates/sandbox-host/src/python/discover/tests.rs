//! Searches over directories of scripts that act as Pythons; most call the machine's own.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Instant;

use super::*;

struct Machine {
    root: tempfile::TempDir,
}

impl Machine {
    fn new() -> Machine {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("bin")).unwrap();
        Machine { root }
    }

    fn bin(&self) -> PathBuf {
        self.root.path().join("bin")
    }

    fn data(&self) -> PathBuf {
        self.root.path().join("data")
    }

    /// Adds a shell script that counts its starts in a file.
    fn script(&self, name: &str, body: &str) -> PathBuf {
        let path = self.bin().join(name);
        let starts = self.root.path().join(format!("{name}.starts"));
        fs::write(
            &path,
            format!("#!/bin/sh\necho started >> {}\n{body}\n", starts.display()),
        )
        .unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    fn starts(&self, name: &str) -> usize {
        fs::read_to_string(self.root.path().join(format!("{name}.starts")))
            .unwrap_or_default()
            .lines()
            .count()
    }

    fn search(&self) -> Discovery {
        discover(
            &Settings {
                path: None,
                search_path: Some(self.bin().into()),
            },
            &self.data(),
        )
    }
}

fn hand_over() -> String {
    let real = ["/usr/bin/python3", "/usr/local/bin/python3"]
        .into_iter()
        .find(|path| Path::new(path).exists());
    format!("exec {} \"$@\"", real.expect("python3 is installed"))
}

#[test]
fn a_shim_leads_to_the_real_prefix() {
    let machine = Machine::new();
    let shim = machine.script("python3", &hand_over());
    let found = machine.search().interpreter.expect("the shim leads to a Python");
    assert_eq!(found.found_at, shim);
    assert!(
        !found.executable.starts_with(machine.root.path()),
        "{}",
        found.executable.display()
    );
    assert!(found.stdlib.join("os.py").is_file());
    assert!(found.version >= (3, 10, 0));
}

#[test]
fn the_second_search_starts_no_process_until_the_candidate_changes() {
    let machine = Machine::new();
    machine.script("python3", &hand_over());
    let first = machine.search().interpreter.unwrap();
    assert_eq!(machine.search().interpreter, Some(first));
    assert_eq!(machine.starts("python3"), 1);
    machine.script("python3", &format!("# another size\n{}", hand_over()));
    machine.search().interpreter.unwrap();
    assert_eq!(machine.starts("python3"), 2);
}

#[test]
fn a_candidate_without_an_answer_is_skipped_with_its_last_output() {
    let machine = Machine::new();
    machine.script(
        "python3",
        "echo 'pyenv: python3: command not found' >&2; exit 127",
    );
    machine.script("python3.12", &hand_over());
    let Discovery { interpreter, skipped } = machine.search();
    assert!(interpreter.is_some());
    let words: Vec<String> = skipped.iter().map(ToString::to_string).collect();
    assert_eq!(words.len(), 1, "{words:?}");
    assert!(
        words[0].ends_with("bin/python3 did not describe itself: pyenv: python3: command not found"),
        "{words:?}"
    );
}

#[test]
fn a_candidate_that_hangs_is_ended_with_what_it_started() {
    let machine = Machine::new();
    let pid_file = machine.root.path().join("pid");
    machine.script(
        "python3",
        &format!("sleep 1000 & echo $! > {}; wait", pid_file.display()),
    );
    let settings = Settings {
        path: None,
        search_path: Some(machine.bin().into()),
    };
    let found = search(&settings, &machine.data(), Cache::empty(), Duration::from_secs(2));
    assert_eq!(found.skipped.len(), 1);
    assert!(
        found.skipped[0]
            .to_string()
            .ends_with("did not describe itself within 2 s")
    );
    let pid = fs::read_to_string(&pid_file).unwrap().trim().to_owned();
    let deadline = Instant::now() + Duration::from_secs(10);
    loop {
        // A killed process is a zombie until its new parent reaps it, and runs nothing.
        let state = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        if state.is_empty() || state.contains(") Z ") {
            return;
        }
        assert!(Instant::now() < deadline, "the sleeper still runs: {state}");
        std::thread::yield_now();
    }
}

#[test]
fn a_configured_path_is_the_only_candidate() {
    let machine = Machine::new();
    machine.script("python3", &hand_over());
    let settings = Settings {
        path: Some(machine.bin().join("python-that-is-not-there")),
        search_path: Some(machine.bin().into()),
    };
    let found = discover(&settings, &machine.data());
    assert_eq!(found.interpreter, None);
    assert!(
        found.skipped[0]
            .to_string()
            .ends_with("python-that-is-not-there does not exist")
    );
}

#[test]
fn two_names_of_one_python_are_one_candidate_and_relative_directories_are_none() {
    let machine = Machine::new();
    let real = machine.script("python-real", "exit 1");
    std::os::unix::fs::symlink(&real, machine.bin().join("python3")).unwrap();
    std::os::unix::fs::symlink(&real, machine.bin().join("python3.13")).unwrap();
    let mut search_path = machine.bin().into_os_string();
    search_path.push(":.:bin");
    let settings = Settings {
        path: None,
        search_path: Some(search_path),
    };
    assert_eq!(candidates(&settings), [machine.bin().join("python3")]);
}

#[test]
fn a_data_directory_that_cannot_be_written_costs_only_the_memory() {
    let machine = Machine::new();
    machine.script("python3", &hand_over());
    fs::write(machine.data(), "a file where the directory should be").unwrap();
    assert!(machine.search().interpreter.is_some());
}
