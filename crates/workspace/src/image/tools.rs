//! Runs the programs of e2fsprogs that create and check images.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::error::WorkspaceError;
use crate::image::size::Size;

/// Directories of administrators' programs. The search does not use `PATH`, because the caller controls it.
const DIRECTORIES: [&str; 4] = ["/usr/sbin", "/sbin", "/usr/local/sbin", "/usr/bin"];
const MAKE: &str = "mkfs.ext4";
const CHECK: &str = "e2fsck";

/// Highest exit status of `e2fsck` with which the file system is in order.
const REPAIRED: i32 = 1;
/// Longest quoted output of a program, in bytes.
const LONGEST: usize = 400;

/// Checks that the programs exist; the error names a missing program.
pub(super) fn available() -> Result<(), String> {
    for name in [MAKE, CHECK] {
        find(name, &DIRECTORIES)?;
    }
    Ok(())
}

/// Creates an image with a copy of a directory's content.
pub(super) fn make(image: &Path, content: &Path, size: Size) -> Result<(), WorkspaceError> {
    let failed = |cause| WorkspaceError::io("make the image", image, cause);
    let file = std::fs::File::options().write(true).create_new(true).open(image);
    let file = file.map_err(failed)?;
    file.set_len(size.bytes()).map_err(failed)?;
    // A percentage is the only way to reserve blocks in the same command.
    let reserved = format!(
        "{:.9}",
        100.0 * approximate(size.reserved()) / approximate(size.blocks())
    );
    let block = size.block();
    let arguments = [
        "-q".to_owned(),
        "-F".to_owned(),
        format!("-b{block}"),
        format!("-N{}", size.inodes()),
        "-I256".to_owned(),
        format!("-m{reserved}"),
        format!("-Jsize={}", size.journal()),
        format!("-L{}", size.label()),
        "-O^resize_inode".to_owned(),
        "-eremount-ro".to_owned(),
    ];
    let done = command(MAKE, &arguments, |command| {
        command.arg("-d").arg(content).arg(image);
    })?;
    if done.status.success() {
        // Sync first, because the copied files may be removed as soon as the image has its name.
        return file.sync_all().map_err(failed);
    }
    Err(WorkspaceError::Tool {
        program: MAKE,
        image: image.to_path_buf(),
        said: said(&done),
        remedy: "nothing was changed; if the files in the directory take more than `[workspace] quota` or `inodes`, raise it or delete some",
    })
}

/// Replays the journal and makes the repairs that need no decision of a person.
pub(super) fn check(image: &Path) -> Result<(), WorkspaceError> {
    let done = command(CHECK, &["-p".to_owned()], |command| {
        command.arg(image);
    })?;
    if done.status.code().is_some_and(|code| code <= REPAIRED) {
        return Ok(());
    }
    Err(WorkspaceError::Tool {
        program: CHECK,
        image: image.to_path_buf(),
        said: said(&done),
        remedy: "repair it by hand with `e2fsck`, or remove it with `codeyard workspace clean`",
    })
}

#[expect(
    clippy::disallowed_methods,
    reason = "a program of the system that ends by itself, waited for"
)]
fn command(
    name: &'static str,
    arguments: &[String],
    more: impl FnOnce(&mut Command),
) -> Result<Output, WorkspaceError> {
    let failed = |cause: String| WorkspaceError::NoImage { cause };
    let program = find(name, &DIRECTORIES).map_err(failed)?;
    let mut command = Command::new(&program);
    command.env_clear().env("LC_ALL", "C").args(arguments);
    more(&mut command);
    command
        .output()
        .map_err(|cause| failed(format!("{}: {cause}", program.display())))
}

fn find(name: &str, directories: &[&str]) -> Result<PathBuf, String> {
    let mut places = directories
        .iter()
        .map(|directory| Path::new(directory).join(name));
    let found = places.find(|path| is_program(path));
    found.ok_or_else(|| {
        format!(
            "`{name}` is not in {}; install the package e2fsprogs",
            directories.join(", ")
        )
    })
}

fn is_program(path: &Path) -> bool {
    rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok() && path.is_file()
}

/// A program's complaint on one line. It may name sessions' files.
fn said(done: &Output) -> String {
    let text = String::from_utf8_lossy(&done.stderr);
    let text = if text.trim().is_empty() {
        String::from_utf8_lossy(&done.stdout)
    } else {
        text
    };
    let mut line = String::new();
    for word in text.split_whitespace() {
        if line.len() + word.len() > LONGEST {
            line.push('…');
            break;
        }
        let _ = write!(
            line,
            "{}{}",
            if line.is_empty() { "" } else { " " },
            word.escape_debug()
        );
    }
    if line.is_empty() {
        line = done.status.to_string();
    }
    line
}

#[expect(clippy::cast_precision_loss, reason = "a share, not a count")]
fn approximate(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

    use super::*;

    const MIB: u64 = 1024 * 1024;
    const GIB: u64 = 1024 * MIB;

    fn number(image: &Path, at: u64) -> u64 {
        let mut bytes = [0; 4];
        let file = std::fs::File::open(image).unwrap();
        file.read_exact_at(&mut bytes, 1024 + at).unwrap();
        u32::from_le_bytes(bytes).into()
    }

    #[test]
    fn images_of_all_sizes_have_room_for_the_quota_and_little_more() {
        if let Err(missing) = available() {
            println!("skipped: {missing}");
            return;
        }
        let directory = tempfile::tempdir().unwrap();
        let empty = tempfile::tempdir().unwrap();
        for quota in [
            MIB,
            2 * MIB,
            10 * MIB,
            31 * MIB,
            32 * MIB,
            511 * MIB,
            512 * MIB,
            2 * GIB,
            300 * GIB,
        ] {
            for inodes in [0, 100, 200_000] {
                let size = Size::of(quota, inodes).unwrap();
                let image = directory.path().join(format!("{quota}-{inodes}"));
                make(&image, empty.path(), size).unwrap();
                let [blocks, reserved, free, inodes_free] = [4, 8, 12, 16].map(|at| number(&image, at));
                // The kernel's reserve for the growth of its own blocks.
                let kept = (blocks / 50).min(4096);
                let room = (free - reserved - kept) * size.block();
                let most = quota + quota / 50 + 512 * 1024;
                assert!((quota..=most).contains(&room), "{quota} {inodes}: {room}");
                let rounding = 16 * blocks.div_ceil(8 * size.block());
                let most = size.inodes() + rounding;
                assert!(inodes_free <= most, "{quota} {inodes}: {inodes_free}");
                if inodes > 0 {
                    let least = inodes.min(quota / size.block());
                    assert!(inodes_free >= least, "{quota} {inodes}: {inodes_free}");
                }
            }
        }
    }

    #[test]
    fn a_program_that_is_missing_is_named_with_its_package() {
        let missing = find("mkfs.nothing", &["/usr/sbin"]).unwrap_err();
        assert_eq!(
            missing,
            "`mkfs.nothing` is not in /usr/sbin; install the package e2fsprogs"
        );
    }
}
