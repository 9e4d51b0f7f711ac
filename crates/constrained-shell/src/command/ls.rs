//! `ls`: the entries of directories, directories first.

use std::ffi::OsStr;

use crate::command_name::CommandName;
use crate::done::Done;
use crate::failure::{Failure, Stop};
use crate::line::Word;
use crate::path::VirtualPath;
use crate::printed::Printed;
use crate::surroundings::Surroundings;
use crate::virtual_files::{EntryKind, FileError};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hidden {
    Listed,
    Skipped,
}

pub(super) fn run(
    around: &Surroundings<'_>,
    arguments: &[Word],
    printed: &mut Printed,
) -> Result<Done, Stop> {
    let mut hidden = Hidden::Skipped;
    let mut paths = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match word.text.as_str() {
            "-a" | "--all" => hidden = Hidden::Listed,
            "--" => paths.extend(words.by_ref()),
            option if word.is_option() => return Err(CommandName::Ls.unsupported(option).into()),
            _ => paths.push(word),
        }
    }
    let mut paths = paths.into_iter().map(Word::path).collect::<Result<Vec<_>, _>>()?;
    if paths.is_empty() {
        paths.push(VirtualPath::parse(".")?);
    }
    let has_headings = paths.len() > 1;
    for (index, path) in paths.iter().enumerate() {
        around.check_time()?;
        if has_headings {
            let gap = if index == 0 { "" } else { "\n" };
            printed.push(&[gap.as_bytes(), path.to_string().as_bytes(), b":\n"])?;
        }
        list(around, path, hidden, printed)?;
    }
    Ok(Done::default())
}

fn list(
    around: &Surroundings<'_>,
    path: &VirtualPath,
    hidden: Hidden,
    printed: &mut Printed,
) -> Result<(), Stop> {
    let mut entries = match around.files.list(path) {
        Ok(entries) => entries,
        Err(FileError::NotDirectory) => return printed.push(&[shown(path.name()).as_bytes(), b"\n"]),
        Err(FileError::Missing) => return Err(Failure::NotFound(path.to_string()).into()),
        Err(error) => return Err(error.at(path).into()),
    };
    entries.sort_by_cached_key(|entry| {
        let name = entry.name.to_string_lossy();
        (
            entry.kind != EntryKind::Directory,
            name.to_lowercase(),
            entry.name.clone(),
        )
    });
    for entry in entries {
        if hidden == Hidden::Skipped && entry.is_hidden() {
            continue;
        }
        let end: &[u8] = match entry.kind {
            EntryKind::Directory => b"/\n",
            EntryKind::File | EntryKind::Special => b"\n",
        };
        printed.push(&[shown(&entry.name).as_bytes(), end])?;
    }
    Ok(())
}

fn shown(name: &OsStr) -> String {
    types::spelled_out(&name.to_string_lossy())
}
