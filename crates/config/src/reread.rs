//! The configuration of servers while codeyard runs: read again when one of its files has changed.

use std::fmt;
use std::path::{Path, PathBuf};

use upstream::ServerConfig;

use crate::consent;
use crate::definitions::Stamp;
use crate::host::Host;
use crate::load::{Sources, data_directory, load_servers};
use crate::mistakes::{Findings, Mistakes, Warning};
use crate::secrets;
use crate::sources::possible_files;
use crate::trust;

/// Looks whether the files of the servers have changed.
pub struct Reread {
    sources: Sources,
    data: PathBuf,
    host: Box<dyn Host + Send>,
    files: Vec<PathBuf>,
    /// The files as they were when they were last read.
    stamps: Vec<Stamp>,
    /// Warnings of the last reading, which are not told twice.
    told: Vec<Warning>,
    /// Whether a file was gone at the last look: some editors remove a file before they write it anew.
    is_waiting: bool,
}

/// What a changed configuration says.
#[derive(Debug)]
pub struct Reloaded {
    /// The servers that are to be used now, or every mistake.
    pub servers: Result<Vec<ServerConfig>, Mistakes>,
    /// What is not used and why, as far as the reading before did not say so.
    pub warnings: Vec<Warning>,
    /// Servers that are not used because a variable that they refer to is not set.
    pub left_out: Vec<Warning>,
}

impl Reread {
    /// Takes the files as they are now for read; call it before they are read, so that no change is missed.
    pub fn new(sources: Sources, host: impl Host + Send + 'static) -> Reread {
        let data = data_directory(&sources, &host);
        let places = possible_files(&sources, &host).into_iter();
        let mut files: Vec<PathBuf> = places.map(|place| place.path).collect();
        // What a person trusts and agrees to counts as soon as it is said.
        files.extend([trust::path(&data), consent::path(&data), secrets::path(&data)]);
        let stamps = stamps(&files);
        Reread {
            sources,
            data,
            host: Box::new(host),
            files,
            stamps,
            told: Vec::new(),
            is_waiting: false,
        }
    }

    /// The files that are looked at, those that are not there too.
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// Takes the warnings for told.
    #[must_use]
    pub fn told(self, warnings: &[Warning]) -> Reread {
        Reread {
            told: warnings.to_vec(),
            ..self
        }
    }

    /// Reads the files if one of them has changed; `None` if none has, or one is still being written. A file that is gone
    /// counts as that at the second look, and is a warning.
    pub fn look(&mut self) -> Option<Reloaded> {
        let now = stamps(&self.files);
        let gone: Vec<_> = self.gone(&now).cloned().collect();
        let was_waiting = std::mem::replace(&mut self.is_waiting, !gone.is_empty());
        let same = |(before, now): (&Stamp, &Stamp)| before.holds(now) || before == now;
        if self.stamps.iter().zip(&now).all(same) || now.iter().any(Stamp::is_fresh) {
            return None;
        }
        if self.is_waiting && !was_waiting {
            return None;
        }
        self.is_waiting = false;
        self.stamps = now;
        let mut findings = Findings::of(None);
        for file in gone {
            let mut lost = Findings::of(Some(&file));
            lost.warning("", "is gone, and with it what it said");
            findings.absorb(lost);
        }
        let servers = load_servers(&self.sources, &self.data, &*self.host, &mut findings);
        let Findings {
            mistakes,
            mut warnings,
            left_out,
            ..
        } = findings;
        warnings.extend(left_out.iter().cloned());
        let news = warnings.iter().filter(|warning| !self.told.contains(warning));
        let news = news.cloned().collect();
        self.told = warnings;
        Some(Reloaded {
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

impl Reread {
    /// The files that were there and are not any more.
    fn gone<'a>(&'a self, now: &'a [Stamp]) -> impl Iterator<Item = &'a PathBuf> {
        let stamps = self.stamps.iter().zip(now);
        let files = self.files.iter().zip(stamps);
        files
            .filter(|(_, (before, now))| !before.is_absent() && now.is_absent())
            .map(|(file, _)| file)
    }
}

impl fmt::Debug for Reread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reread")
            .field("files", &self.files)
            .finish_non_exhaustive()
    }
}

fn stamps(files: &[PathBuf]) -> Vec<Stamp> {
    files.iter().map(|file| Stamp::of(Path::new(file))).collect()
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::host::Machine;

    #[test]
    fn a_file_that_is_gone_is_waited_for_each_time() {
        let home = tempfile::tempdir().unwrap();
        let (there, away) = (home.path().join("there"), home.path().join("away"));
        std::fs::create_dir(&there).unwrap();
        let file = there.join("mcp.json");
        std::fs::write(&file, "{\"mcpServers\": {}}").unwrap();
        let begun = Instant::now();
        while Stamp::of(&file).is_fresh() && begun.elapsed() < Duration::from_secs(10) {
            std::thread::yield_now();
        }
        let sources = Sources {
            servers: vec![file],
            data: Some(home.path().join("data")),
            ..Sources::default()
        };
        let mut reread = Reread::new(sources, Machine);
        assert!(reread.look().is_none(), "nothing has changed");
        for _ in 0..2 {
            // Its directory is moved, so it comes back as it was.
            std::fs::rename(&there, &away).unwrap();
            assert!(reread.look().is_none(), "it may come back");
            std::fs::rename(&away, &there).unwrap();
            assert!(reread.look().is_none(), "it is back");
        }
        std::fs::rename(&there, &away).unwrap();
        assert!(reread.look().is_none(), "it may come back");
        let gone = reread.look().unwrap();
        assert!(gone.warnings[0].message.contains("is gone"), "{gone:?}");
        assert!(reread.look().is_none(), "it is told once");
    }
}
