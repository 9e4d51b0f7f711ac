//! `[workspace]` and `[[mounts]]`: the files of sessions, and user directories in sessions.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use environment::Diagnostics;
use workspace::mount::{Mode, MountRequest};
use workspace::{DEFAULT_INODES, DEFAULT_QUOTA, Enforce, Keeping};

use super::table::{Section, Value, unknown};

const MIB: u64 = 1024 * 1024;

/// In bytes. A smaller quota has no room for a picture.
const QUOTA: RangeInclusive<u64> = MIB..=64 * 1024 * 1024 * MIB;
const INODES: RangeInclusive<u64> = 100..=100_000_000;
/// Any user except root; the kernel reserves the largest number.
const OWNER: RangeInclusive<u64> = 1..=4_294_967_294;

/// `[workspace]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workspace {
    /// `enabled`: store the files of sessions on the host.
    pub keeping: Keeping,
    /// Bytes of one principal's files; 0 for no limit.
    pub quota: u64,
    /// Files and directories of one principal.
    pub inodes: u64,
    /// User id that owns the files when root runs codeyard.
    pub owner: Option<u32>,
    /// Enforcement of quota and inodes.
    pub enforce: Enforce,
}

/// A mount of the file or the command line, to check later.
#[derive(Debug, Clone)]
pub(crate) struct UncheckedMount {
    /// The file, if the mount is in one.
    pub(crate) file: Option<PathBuf>,
    /// `mounts[2]`, or `--mount`.
    pub(crate) field: String,
    /// Base of a relative path.
    pub(crate) directory: PathBuf,
    pub(crate) request: MountRequest,
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
                format!("{wrong}; write the number of an ordinary user, as `id -u NAME` prints it")
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

/// The file's mounts, not yet checked against the file system.
pub(super) fn mounts(value: &Value<'_>, file: &Path, diagnostics: &mut Diagnostics) -> Vec<UncheckedMount> {
    let Some(tables) = value.tables() else {
        diagnostics.mistake("mounts", "write each mount as a separate section `[[mounts]]`");
        return Vec::new();
    };
    let mut written = Vec::new();
    for (index, table) in tables.into_iter().enumerate() {
        let field = format!("mounts[{index}]");
        let Some(request) = mount(&table, &field, diagnostics) else {
            continue;
        };
        written.push(UncheckedMount {
            file: Some(file.to_path_buf()),
            field,
            directory: file.parent().unwrap_or(Path::new("/")).to_path_buf(),
            request,
        });
    }
    written
}

fn mount(table: &Section<'_>, field: &str, diagnostics: &mut Diagnostics) -> Option<MountRequest> {
    let mut path = None;
    let mut target = None;
    let mut mode = Mode::default();
    let before = diagnostics.mistakes.len();
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
            diagnostics.mistake(&format!("{field}.{key}"), message);
        }
    }
    if diagnostics.mistakes.len() > before {
        return None;
    }
    if path.is_none() {
        diagnostics.mistake(field, "`path` is missing; name the directory for programs");
    }
    if target.is_none() {
        diagnostics.mistake(
            field,
            "`target` is missing; name the place in sessions, such as \"/data\"",
        );
    }
    Some(MountRequest {
        path: path?,
        target: target?,
        mode,
    })
}
