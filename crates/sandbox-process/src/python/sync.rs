//! Makes the managed environment with the machine's own `venv` and `pip`, beside the old one, and swaps them when it is whole.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags};

use super::child::Step;
use super::discover::{Discovery, discover_afresh};
use super::environment::{self, Environment, Manifest};
use super::interpreter::Interpreter;
use super::{DEFAULT_REQUIREMENTS, GUEST_SITE_PACKAGES, Settings, scrub};

mod error;

pub use error::SyncError;

/// What to make.
#[derive(Debug, Clone, Default)]
pub struct SyncRequest {
    /// Where to look for Python.
    pub settings: Settings,
    /// The data directory.
    pub data: PathBuf,
    /// A requirements file instead of [`DEFAULT_REQUIREMENTS`].
    pub requirements: Option<PathBuf>,
    /// When to start over.
    pub refresh: Refresh,
    /// An argv prefix that ends pip when codeyard dies (`codeyard __supervise --`); may be empty.
    pub supervisor: Vec<OsString>,
}

/// When to make an environment that exists already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Refresh {
    /// Only if the requirements are others than last time.
    #[default]
    IfChanged,
    /// Always, to take newer versions.
    Always,
}

/// Makes or renews the managed environment; the old one stays in place until the new one is whole.
pub fn sync(request: &SyncRequest, progress: &mut dyn FnMut(&str)) -> Result<Environment, SyncError> {
    let Discovery { interpreter, skipped } = discover_afresh(&request.settings, &request.data);
    let interpreter = interpreter.ok_or(SyncError::NoPython { skipped })?;
    let requirements = match &request.requirements {
        None => DEFAULT_REQUIREMENTS.to_owned(),
        Some(path) => fs::read_to_string(path).map_err(|source| SyncError::Requirements {
            path: path.clone(),
            source,
        })?,
    };
    let _lock = lock(&request.data, progress)?;
    if request.refresh == Refresh::IfChanged
        && let Some(present) = environment::environment(&request.data, &interpreter)
        && present.was_made_from(&requirements)
    {
        progress("the environment is up to date");
        return Ok(present);
    }
    let pip = interpreter.pip.as_deref().ok_or_else(|| SyncError::NoVenv {
        executable: interpreter.executable.clone(),
    })?;
    remove_leftovers(&request.data);
    let site = Site::new(request, &interpreter, pip, &requirements);
    let built = site.build(progress).and_then(|()| site.put_in_place());
    if built.is_err() {
        // The reason is what the caller needs; what cannot be removed now goes at the next sync.
        let _ = fs::remove_dir_all(&site.draft);
    }
    built?;
    environment::environment(&request.data, &interpreter).ok_or(SyncError::Vanished { path: site.root })
}

/// Waits until no other codeyard makes an environment in this data directory.
fn lock(data: &Path, progress: &mut dyn FnMut(&str)) -> Result<File, SyncError> {
    let directory = environment::all_in(data);
    let refused = |source| SyncError::writing(&directory, source);
    fs::create_dir_all(&directory).map_err(refused)?;
    let file = File::create(directory.join(".lock")).map_err(refused)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            progress("waiting for another `codeyard python sync` to finish");
            file.lock().map_err(refused)?;
        }
        Err(TryLockError::Error(source)) => return Err(refused(source)),
    }
    Ok(file)
}

/// Removes drafts that a killed sync left and replaced environments that nobody reads any more.
fn remove_leftovers(data: &Path) {
    let Ok(entries) = fs::read_dir(environment::all_in(data)) else {
        return;
    };
    for entry in entries.flatten() {
        if entry
            .file_name()
            .as_encoded_bytes()
            .starts_with(DRAFT_PREFIX.as_bytes())
        {
            // Left for the next time if it cannot be removed.
            let _ = environment::remove_unless_in_use(&entry.path());
        }
    }
}

const DRAFT_PREFIX: &str = ".draft-";

/// One environment while it is made.
struct Site<'a> {
    request: &'a SyncRequest,
    interpreter: &'a Interpreter,
    pip: &'a Path,
    requirements: &'a str,
    draft: PathBuf,
    root: PathBuf,
}

impl<'a> Site<'a> {
    fn new(
        request: &'a SyncRequest,
        interpreter: &'a Interpreter,
        pip: &'a Path,
        requirements: &'a str,
    ) -> Site<'a> {
        let root = environment::root_of(&request.data, interpreter);
        let draft_name = format!("{DRAFT_PREFIX}{}-{}", interpreter.key(), std::process::id());
        Site {
            request,
            interpreter,
            pip,
            requirements,
            draft: root.with_file_name(draft_name),
            root,
        }
    }

    fn build(&self, progress: &mut dyn FnMut(&str)) -> Result<(), SyncError> {
        fs::create_dir_all(&self.draft).map_err(|source| SyncError::writing(&self.draft, source))?;
        progress(&format!(
            "making an environment for Python {} ({})",
            self.interpreter.version_text(),
            self.interpreter.executable.display()
        ));
        let base = self.interpreter.executable.as_path();
        // pip runs from where it is: programs cannot install anything, so inside it would only be more to read.
        self.step(
            "python -m venv",
            base,
            &["-I", "-m", "venv", "--without-pip", "."],
            progress,
        )?;
        self.install(progress)?;
        let site_packages = self.interpreter.site_packages_below(&self.draft);
        let packages = environment::installed(&site_packages)
            .map_err(|source| SyncError::writing(&site_packages, source))?;
        self.compile(&site_packages, progress)?;
        scrub::remove_commands(&self.draft)
            .and_then(|()| scrub::scrub(&self.draft))
            .map_err(|source| SyncError::writing(&self.draft, source))?;
        Manifest::new(self.interpreter, self.requirements, packages)
            .write(&self.draft)
            .map_err(|source| SyncError::writing(&self.draft, source))
    }

    fn install(&self, progress: &mut dyn FnMut(&str)) -> Result<(), SyncError> {
        let file = match &self.request.requirements {
            Some(path) => std::path::absolute(path).map_err(|source| SyncError::Requirements {
                path: path.clone(),
                source,
            })?,
            None => {
                let file = self.draft.join("requirements.txt");
                fs::write(&file, DEFAULT_REQUIREMENTS).map_err(|source| SyncError::writing(&file, source))?;
                file
            }
        };
        // A wheel is a zip file, and Python runs the package inside it.
        let pip = self.pip.join("pip");
        let mut args = vec![OsStr::new("-I"), pip.as_os_str()];
        let options = [
            "install",
            "--prefer-binary",
            "--no-compile",
            "--progress-bar=off",
            "--retries=2",
            "-r",
        ];
        args.extend(options.iter().map(OsStr::new));
        args.push(file.as_os_str());
        // Which file asked for a package is a path of the draft and tells a person nothing.
        let mut shorter = |line: &str| progress(line.split(" (from ").next().unwrap_or(line));
        self.step("pip", &self.draft.join("bin/python"), &args, &mut shorter)
    }

    /// Compiles every module once, so that no session does; the files name the guest's path, not the builder's home.
    ///
    /// The tests that packages bring are left out: they are half of all modules and nobody imports them.
    fn compile(&self, site_packages: &Path, progress: &mut dyn FnMut(&str)) -> Result<(), SyncError> {
        progress("compiling modules");
        // Relative paths, so that a data directory below some `tests` does not look like one of a package.
        let options = [
            "-I",
            "-m",
            "compileall",
            "-f",
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
        let end = self.run(&self.interpreter.executable, &args, site_packages, &mut |_| {})?;
        // 1 means that some file is not for this version, as packages' own test data are; anything else is a failure.
        match end.status.code() {
            Some(0 | 1) => Ok(()),
            _ => Err(SyncError::of_step("compileall", &self.draft, &end.tail)),
        }
    }

    /// Runs one step that must succeed.
    fn step<S: AsRef<OsStr>>(
        &self,
        name: &'static str,
        program: &Path,
        args: &[S],
        progress: &mut dyn FnMut(&str),
    ) -> Result<(), SyncError> {
        let args: Vec<&OsStr> = args.iter().map(AsRef::as_ref).collect();
        let end = self.run(program, &args, &self.draft, progress)?;
        if end.status.success() {
            Ok(())
        } else {
            Err(SyncError::of_step(name, &self.draft, &end.tail))
        }
    }

    fn run(
        &self,
        program: &Path,
        args: &[&OsStr],
        directory: &Path,
        progress: &mut dyn FnMut(&str),
    ) -> Result<super::child::StepEnd, SyncError> {
        let step = Step {
            prefix: &self.request.supervisor,
            program,
            args,
            directory,
        };
        step.run(progress).map_err(|source| SyncError::Start {
            program: program.to_owned(),
            source,
        })
    }

    /// Swaps the finished draft with the environment of before; whoever reads the old one keeps it.
    fn put_in_place(&self) -> Result<(), SyncError> {
        let refused = |source: io::Error| SyncError::writing(&self.root, source);
        if self.root.exists() {
            rustix::fs::renameat_with(CWD, &self.draft, CWD, &self.root, RenameFlags::EXCHANGE)
                .map_err(|errno| refused(errno.into()))?;
            // The old one now bears the draft's name; if it is in use, a later sync removes it.
            let _ = environment::remove_unless_in_use(&self.draft);
            return Ok(());
        }
        fs::rename(&self.draft, &self.root).map_err(refused)
    }
}

#[cfg(test)]
mod tests;
