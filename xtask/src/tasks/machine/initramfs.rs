//! The machine's first file system: busybox, the modules to reach the host's files, and `init.sh`.

use std::fs::{self, File};
use std::io::{Seek, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use super::debian::Files;
use crate::{layout, run};

/// Modules that `init.sh` loads; all others come from the host's files later.
const MODULES: [&str; 6] = [
    "virtio_pci",
    "virtio_blk",
    "virtio_console",
    "9p",
    "9pnet_virtio",
    "overlay",
];

pub fn path() -> PathBuf {
    layout::machine().join("initramfs")
}

/// Packs the file system; `settings` are the lines that `init.sh` reads.
pub fn pack(files: &Files, settings: &[String]) -> Result<()> {
    let tree = tempfile::tempdir_in(layout::machine())?;
    let root = tree.path();
    copy(&files.busybox(), &root.join("bin/busybox"))?;
    let init = root.join("init");
    copy(&layout::root().join("xtask/machine/init.sh"), &init)?;
    fs::set_permissions(&init, fs::Permissions::from_mode(0o755))?;
    fs::write(root.join("settings"), settings.join("\n") + "\n")?;
    let modules = files.modules();
    let within = root
        .join("lib/modules")
        .join(modules.file_name().unwrap_or_default());
    let dependencies = fs::read_to_string(modules.join("modules.dep"))?;
    for file in needed(&dependencies)? {
        copy(&modules.join(file), &within.join(file))?;
    }
    fs::write(within.join("modules.dep"), &dependencies)?;
    archive(files, root)
}

/// Includes the modules' dependencies.
fn needed(dependencies: &str) -> Result<Vec<&str>> {
    let mut files = Vec::new();
    for module in MODULES {
        let line = dependencies
            .lines()
            .find(|line| is_of(line, module))
            .with_context(|| format!("the kernel has no module {module}"))?;
        files.extend(line.split([':', ' ']).filter(|file| !file.is_empty()));
    }
    Ok(files)
}

/// Whether a line of `modules.dep` belongs to the module: `kernel/fs/9p/9p.ko: kernel/net/9p/9pnet.ko`
fn is_of(line: &str, module: &str) -> bool {
    let file = line.split(':').next().and_then(|path| path.rsplit('/').next());
    file.and_then(|file| file.split(".ko").next()) == Some(module)
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to.parent().unwrap_or(to))?;
    fs::copy(from, to).with_context(|| format!("copy {}", from.display()))?;
    Ok(())
}

/// Writes the tree in the format that the kernel unpacks.
fn archive(files: &Files, root: &Path) -> Result<()> {
    let mut names = tempfile::tempfile()?;
    names.write_all(run::output("find", &["."], root)?.as_bytes())?;
    names.rewind()?;
    let packed = Command::new(files.busybox())
        .args(["cpio", "-o", "-H", "newc"])
        .current_dir(root)
        .stdin(names)
        .stdout(File::create(path())?)
        .stderr(Stdio::null())
        .status()?;
    if !packed.success() {
        bail!("cannot pack {}", path().display());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_brings_those_that_it_depends_on() {
        let others: String = MODULES
            .iter()
            .filter(|module| **module != "9p")
            .map(|module| format!("kernel/{module}.ko.xz:\n"))
            .collect();
        let with = format!("kernel/fs/9p/9p.ko: kernel/net/9p/9pnet.ko\n{others}");
        let files = needed(&with).expect("all are there");
        assert!(files.contains(&"kernel/net/9p/9pnet.ko") && files.contains(&"kernel/overlay.ko.xz"));
        assert!(needed(&others).is_err(), "9pnet_virtio is not 9p");
    }
}
