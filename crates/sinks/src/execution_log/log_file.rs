//! Appends whole lines to a file, and moves a full file away.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use crate::config::FileTarget;

#[derive(Debug)]
pub(super) struct LogFile {
    target: FileTarget,
}

// === impl LogFile ===

impl LogFile {
    pub(super) fn new(target: FileTarget) -> LogFile {
        LogFile { target }
    }

    /// Appends all lines, in as many files as they need. After a failure, lines of a full file may be there already.
    pub(super) fn append(&self, lines: &[u8]) -> io::Result<()> {
        let mut rest = lines;
        while !rest.is_empty() {
            let file = self.open()?;
            let length = file.metadata()?.len();
            let room = self.target.max_size.saturating_sub(length);
            let (fitting, later) = rest.split_at(whole_lines(rest, room));
            rest = later;
            if !fitting.is_empty() {
                write(file, length, fitting)?;
            } else if length > 0 {
                self.rotate()?;
            } else {
                // A line that is longer than a file has one of its own.
                let (line, later) = rest.split_at(first_line(rest));
                rest = later;
                write(file, length, line)?;
            }
        }
        Ok(())
    }

    fn open(&self) -> io::Result<File> {
        let open = || {
            let mut options = OpenOptions::new();
            options
                .read(true)
                .append(true)
                .create(true)
                .mode(0o600)
                .open(&self.target.path)
        };
        match (open(), self.target.path.parent()) {
            (Err(error), Some(directory)) if error.kind() == ErrorKind::NotFound => {
                DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
                open()
            }
            (opened, _) => opened,
        }
    }

    /// Moves each file to the next number, and so replaces the oldest.
    fn rotate(&self) -> io::Result<()> {
        let path = &self.target.path;
        if self.target.max_files <= 1 {
            return fs::remove_file(path);
        }
        for number in (1..self.target.max_files - 1).rev() {
            match fs::rename(numbered(path, number), numbered(path, number + 1)) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        fs::rename(path, numbered(path, 1))
    }
}

/// Appends to a file of this length, or leaves it as it was.
fn write(mut file: File, length: u64, lines: &[u8]) -> io::Result<()> {
    // A process that was killed while it wrote leaves half a line.
    let begin: &[u8] = if ends_in_line(&mut file, length)? {
        b"\n"
    } else {
        b""
    };
    let written = file.write_all(begin).and_then(|()| file.write_all(lines));
    if written.is_err() {
        // The same lines are written again later. If half a line stays, the next attempt ends it.
        let _ = file.set_len(length);
    }
    written
}

/// Length of the whole lines that fit.
fn whole_lines(lines: &[u8], room: u64) -> usize {
    let room = usize::try_from(room).unwrap_or(usize::MAX).min(lines.len());
    let last = lines[..room].iter().rposition(|byte| *byte == b'\n');
    last.map_or(0, |end| end + 1)
}

fn first_line(lines: &[u8]) -> usize {
    let end = lines.iter().position(|byte| *byte == b'\n');
    end.map_or(lines.len(), |end| end + 1)
}

/// Whether the file ends in the middle of a line.
fn ends_in_line(file: &mut File, length: u64) -> io::Result<bool> {
    if length == 0 {
        return Ok(false);
    }
    let mut last = [0];
    file.seek(SeekFrom::Start(length - 1))?;
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}

fn numbered(path: &Path, number: u32) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{number}"));
    name.into()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn log(directory: &Path, max_size: u64, max_files: u32) -> LogFile {
        LogFile::new(FileTarget {
            path: directory.join("new/executions.log"),
            max_size,
            max_files,
        })
    }

    /// All files by name, with their texts.
    fn files(directory: &Path) -> Vec<(String, String)> {
        let mut files: Vec<_> = fs::read_dir(directory.join("new"))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .map(|path| {
                let name = path.file_name().unwrap().to_str().unwrap().to_owned();
                (name, fs::read_to_string(path).unwrap())
            })
            .collect();
        files.sort();
        files
    }

    fn check(max_files: u32, expected: &[(&str, &str)]) {
        let directory = tempfile::tempdir().unwrap();
        let log = log(directory.path(), 8, max_files);
        for number in 1..=9 {
            log.append(format!("{number}23\n").as_bytes()).unwrap();
        }
        let expected: Vec<_> = expected
            .iter()
            .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()))
            .collect();
        assert_eq!(files(directory.path()), expected);
    }

    #[test]
    fn full_files_are_moved_and_the_oldest_is_replaced() {
        check(1, &[("executions.log", "923\n")]);
        check(
            2,
            &[("executions.log", "923\n"), ("executions.log.1", "723\n823\n")],
        );
        check(
            3,
            &[
                ("executions.log", "923\n"),
                ("executions.log.1", "723\n823\n"),
                ("executions.log.2", "523\n623\n"),
            ],
        );
    }

    #[test]
    fn a_batch_is_spread_over_files_and_a_long_line_has_one_of_its_own() {
        let directory = tempfile::tempdir().unwrap();
        log(directory.path(), 8, 9)
            .append(b"12\n34\n56\n78901234567890\n1\n")
            .unwrap();
        let texts: Vec<String> = files(directory.path())
            .into_iter()
            .map(|(_, text)| text)
            .collect();
        assert_eq!(texts, ["1\n", "78901234567890\n", "56\n", "12\n34\n"]);
    }

    #[test]
    fn half_a_line_is_ended_and_the_file_is_private() {
        let directory = tempfile::tempdir().unwrap();
        let log = log(directory.path(), 1000, 2);
        log.append(b"one\n").unwrap();
        let path = directory.path().join("new/executions.log");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        fs::write(&path, "one\ntw").unwrap();
        log.append(b"three\n").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "one\ntw\nthree\n");
    }

    #[test]
    fn a_full_disk_is_an_error() {
        let target = FileTarget {
            path: PathBuf::from("/dev/full"),
            max_size: 1000,
            max_files: 2,
        };
        let error = LogFile::new(target).append(b"one\n").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::StorageFull);
    }
}
