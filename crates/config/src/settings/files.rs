//! `[workspace]` and `[[mounts]]`: the files that sessions keep, and those of the user that they see.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use workspace::mount::{Asked, Mode};
use workspace::{DEFAULT_INODES, DEFAULT_QUOTA, Enforce, Keeping};

use super::table::{Section, Value};
use super::unknown;
use crate::mistakes::Findings;

const MIB: u64 = 1024 * 1024;

/// Below the lower end a program could not even save a picture.
const QUOTA: RangeInclusive<u64> = MIB..=64 * 1024 * 1024 * MIB;
const INODES: RangeInclusive<u64> = 100..=100_000_000;
/// Any user but root; the last number means nobody at all to the kernel.
const OWNER: RangeInclusive<u64> = 1..=4_294_967_294;

/// `[workspace]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workspace {
    /// `enabled`: whether sessions keep files on the host at all.
    pub keeping: Keeping,
    /// Bytes that one principal's files may take; 0 for no bound.
    pub quota: u64,
    /// Files and directories that one principal may have.
    pub inodes: u64,
    /// Who owns the files on disk when root runs codeyard.
    pub owner: Option<u32>,
    /// What must hold the bounds.
    pub enforce: Enforce,
}

/// A mount as a file or the command line has it.
#[derive(Debug, Clone)]
pub(crate) struct WrittenMount {
    /// The file, if it is in one.
    pub(crate) file: Option<PathBuf>,
    /// `mounts[2]`, or `--mount`.
    pub(crate) field: String,
    /// From where a relative path counts.
    pub(crate) directory: PathBuf,
    pub(crate) asked: Asked,
}

impl Default for Workspace {
    fn default() -> Self {
        Self {
            keeping: Keeping::default(),
            quota: DEFAULT_QUOTA,
            inodes: DEFAULT_INODES,
            owner: None,
            enforce: Enforce::default(),
        }
    }
}

pub(super) fn set(workspace: &mut Workspace, key: &str, value: &Value<'_>) -> Result<(), String> {
    match key {
        "enabled" => {
            workspace.keeping = if value.boolean()? {
                Keeping::Kept
            } else {
                Keeping::Own
            }
        }
        "quota" => workspace.quota = quota(value)?,
        "inodes" => workspace.inodes = value.written().count(INODES)?,
        "owner" => {
            workspace.owner = Some(value.written().count(OWNER).map_err(|wrong| {
                format!("{wrong}; it is the number of an ordinary user, as `id -u NAME` prints it")
            })?);
        }
        "enforce" => {
            workspace.enforce = value.one_of([
                ("auto", Enforce::Auto),
                ("kernel", Enforce::Kernel),
                ("image", Enforce::Image),
            ])?;
        }
        _ => {
            return Err(unknown(
                "key",
                key,
                ["enabled", "quota", "inodes", "owner", "enforce"],
            ));
        }
    }
    Ok(())
}

fn quota(value: &Value<'_>) -> Result<u64, String> {
    match value.string() {
        Ok("none") => Ok(0),
        _ => value
            .written()
            .size(QUOTA)
            .map_err(|wrong| format!("{wrong}; \"none\" means no quota")),
    }
}

/// The mounts of the file, without asking the file system.
pub(super) fn mounts(value: &Value<'_>, file: &Path, findings: &mut Findings) -> Vec<WrittenMount> {
    let Some(tables) = value.tables() else {
        findings.mistake(
            "mounts",
            "write each mount as a section of its own, headed `[[mounts]]`",
        );
        return Vec::new();
    };
    let mut written = Vec::new();
    for (index, table) in tables.into_iter().enumerate() {
        let field = format!("mounts[{index}]");
        let Some(asked) = mount(&table, &field, findings) else {
            continue;
        };
        written.push(WrittenMount {
            file: Some(file.to_path_buf()),
            field,
            directory: file.parent().unwrap_or(Path::new("/")).to_path_buf(),
            asked,
        });
    }
    written
}

fn mount(table: &Section<'_>, field: &str, findings: &mut Findings) -> Option<Asked> {
    let mut path = None;
    let mut target = None;
    let mut mode = Mode::default();
    let before = findings.mistakes.len();
    for (key, value) in table.entries() {
        let read = match key {
            "path" => value.string().map(|text| path = Some(PathBuf::from(text))),
            "target" => value.string().map(|text| target = Some(text.to_owned())),
            "mode" => value
                .one_of([("ro", Mode::ReadOnly), ("rw", Mode::ReadWrite)])
                .map(|chosen| mode = chosen),
            _ => Err(unknown("key", key, ["path", "target", "mode"])),
        };
        if let Err(message) = read {
            findings.mistake(&format!("{field}.{key}"), message);
        }
    }
    if findings.mistakes.len() > before {
        return None;
    }
    if path.is_none() {
        findings.mistake(
            field,
            "`path` is missing; name the directory that programs are to see",
        );
    }
    if target.is_none() {
        findings.mistake(
            field,
            "`target` is missing; name the place in sessions, such as \"/data\"",
        );
    }
    Some(Asked {
        path: path?,
        target: target?,
        mode,
    })
}
