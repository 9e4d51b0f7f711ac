//! Runs npm in a directory under construction.

use std::ffi::OsString;
use std::path::Path;

use super::error::SyncError;
use crate::child::ReportedProcess;

/// Options of every installation: no package scripts, no network beyond the registry, no extra output.
const OPTIONS: [&str; 5] = [
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
    "--no-update-notifier",
    "--loglevel=error",
];

/// npm, and a command-line prefix that ends npm when codeyard dies.
pub struct Npm<'a> {
    pub program: &'a Path,
    pub supervisor: &'a [OsString],
}

impl Npm<'_> {
    /// Runs `npm <args>` in `directory`. `what` names the installed parts in an error.
    pub fn run(
        &self,
        directory: &Path,
        args: &[&str],
        what: &str,
        progress: &mut dyn FnMut(&str),
    ) -> Result<(), SyncError> {
        let args: Vec<OsString> = args.iter().chain(&OPTIONS).map(OsString::from).collect();
        let args: Vec<&std::ffi::OsStr> = args.iter().map(OsString::as_os_str).collect();
        let process = ReportedProcess {
            prefix: self.supervisor,
            program: self.program,
            args: &args,
            directory,
        };
        let failed = |tail: String| SyncError::Npm {
            what: what.to_owned(),
            tail,
        };
        let end = process.run(progress).map_err(|error| failed(error.to_string()))?;
        if end.status.success() {
            return Ok(());
        }
        Err(failed(end.tail.join("\n")))
    }
}
