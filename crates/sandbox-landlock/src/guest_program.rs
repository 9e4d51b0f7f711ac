//! What the first process of a session executes: Python, or this program itself for TypeScript and shells.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::{FileExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use jail::machine::Machine;
use jail::spec::Appearance;
use sandbox_host::layout::{self, LayoutError};
use sandbox_host::python::{Environment, Interpreter};
use sandbox_host::shell;
use serde_json::{Value, json};
use types::Limits;

use crate::session_root::{SessionRoot, closed_above, make};

/// Bytes that an interpreter uses before its first program: 30 to 50 MiB of address space, 12 MiB of memory. The
/// session's limit does not count them.
pub const INTERPRETER: u64 = 64 << 20;
/// Bytes of address space that the engine for TypeScript takes before its first program, besides the program file.
const ENGINE: u64 = 16 << 20;

/// The Python of sessions.
#[derive(Debug)]
pub struct PythonGuest {
    pub interpreter: Interpreter,
    pub environment: Option<Environment>,
    /// Paths of the host that sessions read and execute from.
    readable: Vec<PathBuf>,
}

/// A program that a session executes.
#[derive(Debug)]
pub enum GuestProgram<'a> {
    Python(&'a PythonGuest),
    TypeScript(&'a Path),
    Shell(&'a ShellGuest),
}

/// Bash, and this program as its first process.
#[derive(Debug)]
pub struct ShellGuest {
    program: PathBuf,
    /// The guest's settings.
    settings: Value,
}

impl ShellGuest {
    /// Writes the files that bash reads, and the links by which shells execute this program.
    pub fn make(settings: &shell::ShellFiles, program: &Path, root: &SessionRoot) -> Result<Self, String> {
        let bash = shell::find().map_err(|missing| missing.to_string())?;
        let files = root.guest().join("bash");
        let programs = root.guest().join(guest::SHELL_PROGRAMS);
        let written = (|| {
            make(&files)?;
            for (name, text) in &settings.files {
                let path = files.join(name);
                fs::write(&path, text)?;
                fs::set_permissions(&path, Permissions::from_mode(0o644))?;
            }
            make(&programs)?;
            for name in settings.missing_programs() {
                symlink(program, programs.join(name))?;
            }
            Ok(())
        })();
        written.map_err(|error: io::Error| format!("{}: {error}", root.guest().display()))?;
        Ok(Self {
            program: program.to_owned(),
            settings: bash.settings(&files, &programs),
        })
    }
}

impl PythonGuest {
    pub fn new(interpreter: Interpreter, environment: Option<Environment>) -> Result<Self, LayoutError> {
        Ok(Self {
            readable: layout::readable(&interpreter, environment.as_ref())?,
            interpreter,
            environment,
        })
    }

    fn site(&self) -> impl Iterator<Item = &Path> {
        self.environment
            .iter()
            .map(|environment| environment.site_packages.as_path())
    }
}

/// The path from which sessions execute this program. If this process is root, other users may not reach the program;
/// sessions then execute a copy.
pub fn share(program: &Path, machine: &Machine, root: &SessionRoot) -> io::Result<PathBuf> {
    let program = program.canonicalize()?;
    if machine.user != 0 || closed_above(&program).is_none() {
        return Ok(program);
    }
    let copy = root.guest().join("own-program");
    fs::copy(&program, &copy)?;
    fs::set_permissions(&copy, Permissions::from_mode(0o755))?;
    Ok(copy)
}

impl GuestProgram<'_> {
    pub fn path(&self) -> &Path {
        match self {
            GuestProgram::Python(python) => &python.interpreter.executable,
            GuestProgram::TypeScript(program) => program,
            GuestProgram::Shell(shell) => &shell.program,
        }
    }

    /// The arguments of a session with these places.
    pub fn arguments(&self, root: &SessionRoot, places: &Value, limits: &Limits) -> Vec<String> {
        match self {
            GuestProgram::Python(python) => {
                let site: Vec<&Path> = python.site().collect();
                let settings = json!({ "guest": root.guest(), "site": site, "places": places });
                let entry = root.guest().join("codeyard/alone.py");
                let flags = ["-I", "-S", "-B", "-X", "utf8"].map(str::to_owned);
                let last = [entry.display().to_string(), settings.to_string()];
                flags.into_iter().chain(last).collect()
            }
            GuestProgram::TypeScript(_) => {
                let settings = json!({ "alone": { "places": places, "memory": limits.memory } });
                vec![guest::TYPESCRIPT_ARGUMENT.to_owned(), settings.to_string()]
            }
            GuestProgram::Shell(shell) => {
                let settings = json!({ "alone": { "places": places, "shell": shell.settings } });
                vec![guest::SHELL_ARGUMENT.to_owned(), settings.to_string()]
            }
        }
    }

    /// The environment, with the paths of a session that has mounts.
    pub fn environment(&self) -> Vec<(String, String)> {
        match self {
            GuestProgram::Python(python) => {
                let site: Vec<String> = python.site().map(|path| path.display().to_string()).collect();
                let site: Vec<&str> = site.iter().map(String::as_str).collect();
                let Interpreter { base_prefix, .. } = &python.interpreter;
                layout::environment(base_prefix, &python.interpreter, &site, Appearance::Codeyard)
            }
            GuestProgram::TypeScript(_) | GuestProgram::Shell(_) => {
                layout::plain_environment(Appearance::Codeyard)
            }
        }
    }

    /// Paths of the host that the session reads and executes from.
    pub fn readable(&self) -> Vec<PathBuf> {
        match self {
            GuestProgram::Python(python) => python.readable.clone(),
            GuestProgram::TypeScript(_) | GuestProgram::Shell(_) => {
                let (trees, links) = layout::system();
                let trees = trees.into_iter().map(|tree| tree.source);
                let links = links.into_iter().map(|(link, _)| link);
                trees.chain(links).chain([self.path().to_owned()]).collect()
            }
        }
    }

    /// Bytes of address space that the program takes before it runs anything.
    pub fn address_space(&self) -> io::Result<u64> {
        match self {
            GuestProgram::Python(_) => Ok(INTERPRETER),
            GuestProgram::TypeScript(_) | GuestProgram::Shell(_) => Ok(ENGINE + mapped_size(self.path())?),
        }
    }
}

/// Bytes of address space that the kernel gives an executable file of 64 bits.
fn mapped_size(program: &Path) -> io::Result<u64> {
    const HEADER: usize = 64;
    const PROGRAM_HEADER: usize = 56;
    const LOAD: u32 = 1;
    let file = File::open(program)?;
    let mut header = [0; HEADER];
    file.read_exact_at(&mut header, 0)?;
    let table = u64::from_le_bytes(field(&header, 32));
    let count = u16::from_le_bytes(field(&header, 56));
    let mut range = (u64::MAX, 0);
    for index in 0..u64::from(count) {
        let mut entry = [0; PROGRAM_HEADER];
        file.read_exact_at(&mut entry, table.saturating_add(index * PROGRAM_HEADER as u64))?;
        if u32::from_le_bytes(field(&entry, 0)) == LOAD {
            let address = u64::from_le_bytes(field(&entry, 16));
            let end = address.saturating_add(u64::from_le_bytes(field(&entry, 40)));
            range = (range.0.min(address), range.1.max(end));
        }
    }
    Ok(range.1.saturating_sub(range.0))
}

/// The bytes of a header's field.
fn field<const SIZE: usize>(header: &[u8], offset: usize) -> [u8; SIZE] {
    let found = header.get(offset..).and_then(|rest| rest.first_chunk());
    found.copied().unwrap_or([0; SIZE])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kernel maps the file's segments without gaps.
    #[test]
    fn the_mapped_size_is_that_in_the_maps_of_the_process() {
        let own = std::env::current_exe().unwrap();
        let maps = fs::read_to_string("/proc/self/maps").unwrap();
        let mapped: u64 = maps
            .lines()
            .filter(|line| line.ends_with(own.to_str().unwrap()))
            .map(|line| {
                let (start, end) = line.split(' ').next().unwrap().split_once('-').unwrap();
                let number = |text| u64::from_str_radix(text, 16).unwrap();
                number(end) - number(start)
            })
            .sum();
        let found = mapped_size(&own).unwrap();
        // Of the last segment the maps show only the part that is in the file.
        assert!(
            found + (1 << 20) > mapped && found < mapped + (1 << 20),
            "{found} {mapped}"
        );
    }
}
