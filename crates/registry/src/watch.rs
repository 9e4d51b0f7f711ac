//! Polls the files that define servers, and reloads them after a change.

use std::fmt;
use std::path::{Path, PathBuf};

use consent::{AcceptedCommands, trusted_files};
use environment::{Diagnostics, Environment, Mistakes, Warning};
use upstream::ServerConfig;

use crate::file_version::FileVersion;
use crate::load::load_servers;
use crate::secrets;
use crate::sources::{Sources, definition_paths};

/// Polls the files that define servers.
pub struct DefinitionWatcher {
    sources: Sources,
    data: PathBuf,
    env: Box<dyn Environment + Send>,
    files: Vec<PathBuf>,
    /// Versions of the files at the last read.
    versions: Vec<FileVersion>,
    /// Warnings of the last read, to report only new warnings.
    reported: Vec<Warning>,
    /// A file was missing at the last poll. Some editors remove a file before writing it.
    is_waiting: bool,
}

/// The definitions after a change.
#[derive(Debug)]
pub struct Reload {
    /// The servers to use, or all mistakes.
    pub servers: Result<Vec<ServerConfig>, Mistakes>,
    /// New warnings since the previous read.
    pub warnings: Vec<Warning>,
    /// Servers that are not used because of an unset variable.
    pub left_out: Vec<Warning>,
}

impl DefinitionWatcher {
    /// Starts with the files' current versions. Call this before reading the files, to miss no change.
    pub fn new(sources: Sources, env: impl Environment + Send + 'static) -> DefinitionWatcher {
        let data = sources.data_directory(&env).unwrap_or_default();
        let mut files = definition_paths(&sources, &env);
        // Trust, consent and secrets also decide which definitions are used.
        files.extend([
            trusted_files(&data),
            AcceptedCommands::path(&data),
            secrets::path(&data),
        ]);
        let versions = versions(&files);
        DefinitionWatcher {
            sources,
            data,
            env: Box::new(env),
            files,
            versions,
            reported: Vec::new(),
            is_waiting: false,
        }
    }

    /// Watched files, including missing ones.
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// Adds warnings that were already reported.
    #[must_use]
    pub fn reported(self, warnings: &[Warning]) -> DefinitionWatcher {
        DefinitionWatcher {
            reported: warnings.to_vec(),
            ..self
        }
    }

    /// Reads the files after a change. `None` without a change, or while a program may still be writing a file. A
    /// missing file counts as removed at the second poll, with a warning.
    pub fn poll(&mut self) -> Option<Reload> {
        let now = versions(&self.files);
        let gone: Vec<_> = self.gone(&now).cloned().collect();
        let was_waiting = std::mem::replace(&mut self.is_waiting, !gone.is_empty());
        let same =
            |(before, now): (&FileVersion, &FileVersion)| before.has_same_content(now) || before == now;
        if self.versions.iter().zip(&now).all(same) || now.iter().any(FileVersion::is_fresh) {
            return None;
        }
        if self.is_waiting && !was_waiting {
            return None;
        }
        self.is_waiting = false;
        self.versions = now;
        let mut diagnostics = Diagnostics::of(None);
        for file in gone {
            diagnostics.warning_in(&file, "", "was removed, so its definitions are no longer used");
        }
        let servers = load_servers(&self.sources, &self.data, &*self.env, &mut diagnostics);
        let Diagnostics {
            mistakes,
            mut warnings,
            left_out,
            ..
        } = diagnostics;
        warnings.extend(left_out.iter().cloned());
        let news = warnings.iter().filter(|warning| !self.reported.contains(warning));
        let news = news.cloned().collect();
        self.reported = warnings;
        Some(Reload {
            servers: if mistakes.is_empty() {
                Ok(servers)
            } else {
                Err(Mistakes(mistakes))
            },
            warnings: news,
            left_out,
        })
    }
}

impl DefinitionWatcher {
    /// Files that existed and are now missing.
    fn gone<'a>(&'a self, now: &'a [FileVersion]) -> impl Iterator<Item = &'a PathBuf> {
        let versions = self.versions.iter().zip(now);
        let files = self.files.iter().zip(versions);
        files
            .filter(|(_, (before, now))| !before.is_absent() && now.is_absent())
            .map(|(file, _)| file)
    }
}

impl fmt::Debug for DefinitionWatcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DefinitionWatcher")
            .field("files", &self.files)
            .finish_non_exhaustive()
    }
}

fn versions(files: &[PathBuf]) -> Vec<FileVersion> {
    files
        .iter()
        .map(|file| FileVersion::of(Path::new(file)))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use environment::Machine;

    use super::*;

    #[test]
    fn a_missing_file_counts_as_removed_at_the_second_poll() {
        let home = tempfile::tempdir().unwrap();
        let (there, away) = (home.path().join("there"), home.path().join("away"));
        std::fs::create_dir(&there).unwrap();
        let file = there.join("mcp.json");
        std::fs::write(&file, "{\"mcpServers\": {}}").unwrap();
        let begun = Instant::now();
        while FileVersion::of(&file).is_fresh() && begun.elapsed() < Duration::from_secs(10) {
            std::thread::yield_now();
        }
        let sources = Sources {
            files: vec![file],
            data: Some(home.path().join("data")),
        };
        let mut watcher = DefinitionWatcher::new(sources, Machine);
        assert!(watcher.poll().is_none(), "nothing has changed");
        for _ in 0..2 {
            // Move its directory, so that the file returns unchanged.
            std::fs::rename(&there, &away).unwrap();
            assert!(watcher.poll().is_none(), "the file may come back");
            std::fs::rename(&away, &there).unwrap();
            assert!(watcher.poll().is_none(), "the file is back");
        }
        std::fs::rename(&there, &away).unwrap();
        assert!(watcher.poll().is_none(), "the file may come back");
        let gone = watcher.poll().unwrap();
        assert!(gone.warnings[0].message.contains("was removed"), "{gone:?}");
        assert!(watcher.poll().is_none(), "the warning is not repeated");
    }
}
