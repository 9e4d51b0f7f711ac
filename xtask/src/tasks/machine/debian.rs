//! Debian's kernel, busybox and QEMU: downloaded as packages and unpacked below `target/`, not installed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::tasks::{say, setup};
use crate::{layout, run};

/// The package that depends on the newest kernel.
const KERNEL: &str = "linux-image-amd64";
/// A statically linked shell with the machine's first commands.
const BUSYBOX: &str = "busybox-static";
const QEMU: &str = "qemu-system-x86";
const QEMU_PROGRAM: &str = "qemu-system-x86_64";
/// Lists the unpacked packages; written last.
const COMPLETE: &str = "complete";

pub struct Files {
    root: PathBuf,
    version: String,
}

/// Downloads missing packages.
pub fn files() -> Result<Files> {
    let root = layout::machine().join("debian");
    if !root.join(COMPLETE).exists() {
        unpack(&root)?;
    }
    Files::below(root)
}

fn unpack(root: &Path) -> Result<()> {
    let archives = layout::machine().join("archives");
    for directory in [root, &archives] {
        if directory.exists() {
            fs::remove_dir_all(directory)?;
        }
        fs::create_dir_all(directory)?;
    }
    if setup::is_root() {
        run::visible(Command::new("apt-get").args(["update", "-qq"]))?;
    }
    let packages = wanted()?;
    say(&format!("downloading {}", packages.join(", ")));
    run::visible(
        Command::new("apt-get")
            .args(["download", "-qq", "-o", "APT::Sandbox::User=root"])
            .args(&packages)
            .current_dir(&archives),
    )?;
    for archive in fs::read_dir(&archives)? {
        run::visible(Command::new("dpkg").arg("-x").arg(archive?.path()).arg(root))?;
    }
    fs::remove_dir_all(&archives)?;
    let files = Files::below(root.to_owned())?;
    run::visible(
        Command::new(files.busybox())
            .args(["depmod", "-b"])
            .arg(root)
            .arg(&files.version),
    )?;
    fs::write(root.join(COMPLETE), packages.join("\n"))?;
    Ok(())
}

/// The packages to unpack: the kernel, busybox, and QEMU with its dependencies unless it is installed.
fn wanted() -> Result<Vec<String>> {
    let depends = apt("apt-cache", &["depends", KERNEL])?;
    let kernel = words_after(&depends, "Depends:")
        .next()
        .with_context(|| format!("apt knows no package {KERNEL}: this task needs Debian's package lists"))?;
    let mut wanted = vec![kernel.to_owned(), BUSYBOX.to_owned()];
    if !run::succeeds(QEMU_PROGRAM, &["--version"]) {
        let simulated = apt(
            "apt-get",
            &["install", "--simulate", "--no-install-recommends", QEMU],
        )?;
        wanted.extend(words_after(&simulated, "Inst").map(str::to_owned));
    }
    Ok(wanted)
}

fn apt(program: &str, arguments: &[&str]) -> Result<String> {
    run::output(program, arguments, layout::root())
}

/// The word after `key` in each line that begins with `key`.
fn words_after<'a>(text: &'a str, key: &'a str) -> impl Iterator<Item = &'a str> {
    text.lines()
        .filter_map(move |line| line.trim().strip_prefix(key)?.split_whitespace().next())
}

impl Files {
    fn below(root: PathBuf) -> Result<Files> {
        let modules = root.join("lib/modules");
        let version = fs::read_dir(&modules)
            .with_context(|| modules.display().to_string())?
            .find_map(|entry| entry.ok()?.file_name().into_string().ok())
            .with_context(|| format!("{} is empty", modules.display()))?;
        Ok(Files { root, version })
    }

    pub fn kernel(&self) -> PathBuf {
        self.root.join("boot").join(format!("vmlinuz-{}", self.version))
    }

    pub fn modules(&self) -> PathBuf {
        self.root.join("lib/modules").join(&self.version)
    }

    pub fn busybox(&self) -> PathBuf {
        self.root.join("bin/busybox")
    }

    /// A command that runs QEMU; QEMU ends with the thread that starts it.
    pub fn qemu(&self) -> Command {
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL", "--"]);
        let unpacked = self.root.join("usr/bin").join(QEMU_PROGRAM);
        if !unpacked.exists() {
            command.arg(QEMU_PROGRAM);
            return command;
        }
        let libraries = ["usr/lib", "lib"].map(|path| self.root.join(path).join("x86_64-linux-gnu"));
        let [first, second] = libraries.map(|path| path.display().to_string());
        command.args(["env", &format!("LD_LIBRARY_PATH={first}:{second}")]);
        command.arg(unpacked);
        for firmware in ["qemu", "seabios"] {
            command.arg("-L").arg(self.root.join("usr/share").join(firmware));
        }
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_read_from_what_apt_prints() {
        let check = |text: &str, key: &str, expected: &[&str]| {
            assert_eq!(words_after(text, key).collect::<Vec<_>>(), expected);
        };
        let depends = "linux-image-amd64\n  Depends: linux-image-6.1.0-1-amd64\n";
        check(depends, "Depends:", &["linux-image-6.1.0-1-amd64"]);
        let simulated = "Remv old [1]\nInst libfdt1 (1.6 Debian:12 [amd64])\nInst seabios (1.16 Debian:12 [all])\nConf seabios\n";
        check(simulated, "Inst", &["libfdt1", "seabios"]);
    }
}
