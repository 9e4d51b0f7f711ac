//! A new environment under construction, next to the one that it replaces when complete.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags};

use super::discover::Settings;
use super::environment::{self, Environment, GUEST_SITE_PACKAGES, MANIFEST, Manifest, Package};
use super::error::{SATISFIED, SyncError};
use super::interpreter::Interpreter;
use super::requirement::key;
use super::requirement_set::RequirementSet;
use super::scrub;
use crate::child::{ReportedProcess, StepEnd};

const STAGED_PREFIX: &str = ".draft-";
const REQUIREMENTS: &str = "requirements.txt";

/// The data directory and the Python of an environment.
#[derive(Debug, Clone, Default)]
pub struct Target {
    /// Where to look for Python.
    pub settings: Settings,
    /// The data directory.
    pub data: PathBuf,
    /// An argv prefix that ends pip when codeyard dies (`codeyard __supervise --`); may be empty.
    pub supervisor: Vec<OsString>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Compile {
    All,
    /// Modules that are not compiled yet.
    New,
}

/// A new environment that is not in place yet. Dropping it changes nothing.
#[derive(Debug)]
pub struct StagedEnvironment {
    target: Target,
    interpreter: Interpreter,
    pip: PathBuf,
    path: PathBuf,
    root: PathBuf,
    before: Vec<Package>,
    before_set: RequirementSet,
    packages: Vec<Package>,
    is_placed: bool,
    _lock: File,
}

impl StagedEnvironment {
    /// Starts an environment that will replace `present`. `lock` comes from [`lock`].
    pub(super) fn new(
        target: &Target,
        interpreter: Interpreter,
        present: Option<&Environment>,
        lock: File,
    ) -> Result<StagedEnvironment, SyncError> {
        let pip = interpreter.pip.clone().ok_or_else(|| SyncError::NoVenv {
            executable: interpreter.executable.clone(),
        })?;
        remove_leftovers(&target.data);
        let root = environment::root_of(&target.data, &interpreter);
        let name = format!("{STAGED_PREFIX}{}-{}", interpreter.key(), std::process::id());
        let path = root.with_file_name(name);
        fs::create_dir_all(&path).map_err(|source| SyncError::writing(&path, source))?;
        Ok(StagedEnvironment {
            target: target.clone(),
            interpreter,
            pip,
            path,
            root,
            before: present
                .map(|present| present.packages.clone())
                .unwrap_or_default(),
            before_set: present.map(|present| present.set.clone()).unwrap_or_default(),
            packages: Vec::new(),
            is_placed: false,
            _lock: lock,
        })
    }

    /// Packages of the previous environment that this one lacks.
    pub fn lost(&self) -> Vec<Package> {
        missing(&self.before, &self.packages)
    }

    /// Whether a package of [`StagedEnvironment::lost`] was requested, and was not only a dependency.
    pub fn loses_what_was_asked_for(&self) -> bool {
        self.lost()
            .iter()
            .any(|package| self.before_set.asks_for(&package.name))
    }

    pub(super) fn site_packages(&self) -> PathBuf {
        self.interpreter.site_packages_below(&self.path)
    }

    pub(super) fn make(&self, progress: &mut dyn FnMut(&str)) -> Result<(), SyncError> {
        progress(&format!(
            "making an environment for Python {} ({})",
            self.interpreter.version_text(),
            self.interpreter.executable.display()
        ));
        // pip runs from outside the environment. Programs cannot install packages, so the environment needs no pip.
        self.step(
            "python -m venv",
            &self.interpreter.executable,
            &["-I", "-m", "venv", "--without-pip", "."],
            progress,
        )
    }

    /// Makes hard links to an environment's files in this one. pip replaces files and never writes into them.
    pub(super) fn copy(&self, present: &Environment) -> Result<(), SyncError> {
        link_tree(&present.root, &self.path, &[MANIFEST, REQUIREMENTS])
            .map_err(|source| SyncError::writing(&self.path, source))
    }

    pub(super) fn install(&self, text: &str, progress: &mut dyn FnMut(&str)) -> Result<(), SyncError> {
        let file = self.path.join(REQUIREMENTS);
        fs::write(&file, text).map_err(|source| SyncError::writing(&file, source))?;
        self.install_file(&file, progress)
    }

    pub(super) fn install_file(&self, file: &Path, progress: &mut dyn FnMut(&str)) -> Result<(), SyncError> {
        let options = [
            "install",
            "--prefer-binary",
            "--no-compile",
            "--progress-bar=off",
            "--retries=2",
            "-r",
        ];
        let mut args: Vec<&OsStr> = options.iter().map(OsStr::new).collect();
        args.push(file.as_os_str());
        // Drop lines on packages that were already installed. Also drop the name of the requirements file: it is a
        // path in the staged environment.
        let mut shorter = |line: &str| {
            if !line.starts_with(SATISFIED) {
                progress(line.split(" (from ").next().unwrap_or(line));
            }
        };
        self.pip(&args, &mut shorter)
    }

    pub(super) fn uninstall(&self, names: &[String]) -> Result<(), SyncError> {
        let mut args = vec![OsStr::new("uninstall"), OsStr::new("--yes"), OsStr::new("--")];
        args.extend(names.iter().map(OsStr::new));
        self.pip(&args, &mut |_| {})?;
        // pip removes the directories that it has emptied.
        let site_packages = self.site_packages();
        fs::create_dir_all(&site_packages).map_err(|source| SyncError::writing(&site_packages, source))
    }

    /// Compiles the packages, makes them readable and writes the manifest. Later syncs compare with `requirements`.
    pub(super) fn finish(
        &mut self,
        compile: Compile,
        requirements: &str,
        set: RequirementSet,
        progress: &mut dyn FnMut(&str),
    ) -> Result<(), SyncError> {
        let site_packages = self.site_packages();
        self.packages = environment::installed(&site_packages)
            .map_err(|source| SyncError::writing(&site_packages, source))?;
        self.compile(&site_packages, compile, progress)?;
        scrub::remove_commands(&self.path)
            .and_then(|()| scrub::scrub(&self.path))
            .map_err(|source| SyncError::writing(&self.path, source))?;
        Manifest::new(&self.interpreter, requirements, set, self.packages.clone())
            .write(&self.path)
            .map_err(|source| SyncError::writing(&self.path, source))
    }

    /// Replaces the previous environment. Processes that read the previous environment keep it.
    pub fn put_in_place(mut self) -> Result<Environment, SyncError> {
        let refused = |source: io::Error| SyncError::writing(&self.root, source);
        if self.root.exists() {
            rustix::fs::renameat_with(CWD, &self.path, CWD, &self.root, RenameFlags::EXCHANGE)
                .map_err(|errno| refused(errno.into()))?;
            // The replaced environment now has the staged name. If it is in use, a later sync removes it.
            let _ = environment::remove_unless_in_use(&self.path);
        } else {
            fs::rename(&self.path, &self.root).map_err(refused)?;
        }
        self.is_placed = true;
        environment::environment(&self.target.data, &self.interpreter).ok_or_else(|| SyncError::Vanished {
            path: self.root.clone(),
        })
    }

    /// Compiles the modules, so that no session has to compile them. Compiled files contain the guest's path, not the
    /// host's.
    ///
    /// Excludes the tests of packages: tests are half of all modules, and programs do not import them.
    fn compile(
        &self,
        site_packages: &Path,
        compile: Compile,
        progress: &mut dyn FnMut(&str),
    ) -> Result<(), SyncError> {
        progress("compiling modules");
        // Use relative paths. Otherwise a data directory below a directory `tests` would count as a package's tests.
        let options = [
            "-I",
            "-m",
            "compileall",
            "-q",
            "-q",
            "-j",
            "0",
            "-x",
            "/tests?/",
            "-s",
            ".",
            "-p",
        ];
        let mut args: Vec<&OsStr> = options.iter().map(OsStr::new).collect();
        args.extend([OsStr::new(GUEST_SITE_PACKAGES), OsStr::new(".")]);
        if compile == Compile::All {
            args.push(OsStr::new("-f"));
        }
        let end = self.run(&self.interpreter.executable, &args, site_packages, &mut |_| {})?;
        // Status 1 means that some file is not for this version, such as test data of packages. Other statuses are
        // failures.
        match end.status.code() {
            Some(0 | 1) => Ok(()),
            _ => Err(SyncError::of_step("compileall", &self.path, &end.tail)),
        }
    }

    fn pip(&self, args: &[&OsStr], progress: &mut dyn FnMut(&str)) -> Result<(), SyncError> {
        // A wheel is a zip file, and Python runs the package inside it.
        let pip = self.pip.join("pip");
        let mut all = vec![OsStr::new("-I"), pip.as_os_str()];
        all.extend(args);
        self.step("pip", &self.path.join("bin/python"), &all, progress)
    }

    fn step<S: AsRef<OsStr>>(
        &self,
        name: &'static str,
        program: &Path,
        args: &[S],
        progress: &mut dyn FnMut(&str),
    ) -> Result<(), SyncError> {
        let args: Vec<&OsStr> = args.iter().map(AsRef::as_ref).collect();
        let end = self.run(program, &args, &self.path, progress)?;
        if end.status.success() {
            Ok(())
        } else {
            Err(SyncError::of_step(name, &self.path, &end.tail))
        }
    }

    fn run(
        &self,
        program: &Path,
        args: &[&OsStr],
        directory: &Path,
        progress: &mut dyn FnMut(&str),
    ) -> Result<StepEnd, SyncError> {
        let step = ReportedProcess {
            prefix: &self.target.supervisor,
            program,
            args,
            directory,
        };
        step.run(progress).map_err(|source| SyncError::Start {
            program: program.to_owned(),
            source,
        })
    }
}

impl Drop for StagedEnvironment {
    fn drop(&mut self) {
        if !self.is_placed {
            // The next sync removes files that remain.
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

pub(super) fn missing(of: &[Package], list: &[Package]) -> Vec<Package> {
    let is_missing = |package: &&Package| !list.iter().any(|other| key(&other.name) == key(&package.name));
    of.iter().filter(is_missing).cloned().collect()
}

/// Waits until no other codeyard makes an environment in this data directory.
pub(super) fn lock(data: &Path, progress: &mut dyn FnMut(&str)) -> Result<File, SyncError> {
    let directory = environment::all_in(data);
    let refused = |source| SyncError::writing(&directory, source);
    fs::create_dir_all(&directory).map_err(refused)?;
    let file = File::create(directory.join(".lock")).map_err(refused)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            progress("waiting for another `codeyard python` command to finish");
            file.lock().map_err(refused)?;
        }
        Err(TryLockError::Error(source)) => return Err(refused(source)),
    }
    Ok(file)
}

/// Removes staged environments of a killed sync, and replaced environments without readers.
pub(super) fn remove_leftovers(data: &Path) {
    let Ok(entries) = fs::read_dir(environment::all_in(data)) else {
        return;
    };
    for entry in entries.flatten() {
        if entry
            .file_name()
            .as_encoded_bytes()
            .starts_with(STAGED_PREFIX.as_bytes())
        {
            // The next sync tries again.
            let _ = environment::remove_unless_in_use(&entry.path());
        }
    }
}

/// Makes a tree of hard links to the same files. A file that cannot be linked is copied.
fn link_tree(from: &Path, to: &Path, but: &[&str]) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (kind, source, target) = (entry.file_type()?, entry.path(), to.join(entry.file_name()));
        if but.iter().any(|name| entry.file_name() == *name) {
            continue;
        } else if kind.is_dir() {
            fs::create_dir(&target)?;
            link_tree(&source, &target, &[])?;
        } else if kind.is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(&source)?, &target)?;
        } else if fs::hard_link(&source, &target).is_err() {
            fs::copy(&source, &target)?;
        }
    }
    Ok(())
}
