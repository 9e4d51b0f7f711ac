//! The template: the minimal read-only root in which a zygote lives and from which its sessions start.

use std::convert::Infallible;
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Mode};

use super::step::{During, StepError};
use super::sys;
use crate::attach::{EMPTY, MountPoint};
use crate::seccomp::{self, Namespaces};
use crate::session::wire::Guard;
use crate::spec::{Appearance, TextFile, ZygoteSpec};

/// Mount point during assembly: a directory that every system has. Only the zygote sees the mount.
const ASSEMBLY: &str = "/tmp";
/// Size of the template: the guest's own files and the directories.
const OPTIONS: &str = "size=32m,nr_inodes=8192,mode=0755";
const DEVICES: [&str; 5] = ["null", "zero", "full", "random", "urandom"];
/// Mount points of a session, one parent each, so that Landlock rules on the parent hold. A rule on a directory stops
/// holding when a later mount covers the directory.
const MOUNT_POINTS: &[&str] = &[
    "k/proc",
    "rw/d",
    "dev",
    "at/workspace",
    "at/session",
    // Empty until a tree is attached.
    "at/shared/tools",
    "at/shared/skills",
];
const LINKS: &[(&str, &str)] = &[
    ("proc", "k/proc"),
    ("workspace", "at/workspace"),
    ("results", "at/session/results"),
    ("scratch", "at/session/scratch"),
    ("tools", "at/shared/tools"),
    ("skills", "at/shared/skills"),
    ("tmp", "rw/d/tmp"),
    ("home", "rw/d/home"),
    ("dev/shm", "../rw/d/shm"),
];
/// For a session that looks like a container: real directories instead of links, with a Landlock rule for each.
const CONTAINER_MOUNT_POINTS: &[&str] = &[
    "proc",
    "dev/shm",
    "workspace",
    "tmp",
    "at/shared/tools",
    "at/shared/skills",
];
const CONTAINER_LINKS: &[(&str, &str)] = &[("tools", "at/shared/tools"), ("skills", "at/shared/skills")];
const LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/session_library.so"));
/// Paths at which the zygote loads its filters.
const FILTERS: [&str; 2] = [
    "opt/codeyard/filters/zygote.bpf",
    "opt/codeyard/filters/session.bpf",
];

pub struct Sources {
    trees: Vec<(OwnedFd, PathBuf)>,
    devices: Vec<(OwnedFd, PathBuf)>,
    copies: Vec<(Vec<u8>, PathBuf)>,
    library: OwnedFd,
}

/// Opens every source that only the host's own user may be able to open.
pub fn open_sources(spec: &ZygoteSpec) -> Result<Sources, StepError> {
    let mut sources = Sources {
        trees: Vec::new(),
        devices: Vec::new(),
        copies: Vec::new(),
        library: sys::sealed_file("library", LIBRARY).during("make the library's file")?,
    };
    for tree in &spec.trees {
        let opened = sys::open_tree(&tree.source).during(format!("open {}", tree.source.display()))?;
        sys::set_attributes(Some(opened.as_fd()), read_only(spec) | sys::NOSUID | sys::NODEV)
            .during(format!("make {} read-only", tree.source.display()))?;
        sources.trees.push((opened, tree.target.clone()));
    }
    for device in DEVICES {
        let path = Path::new("/dev").join(device);
        let opened = sys::open_tree(&path).during(format!("open {}", path.display()))?;
        sys::set_attributes(Some(opened.as_fd()), sys::RDONLY | sys::NOSUID | sys::NOEXEC)
            .during(format!("make {} read-only", path.display()))?;
        sources.devices.push((opened, path));
    }
    for copy in &spec.copies {
        match fs::read(&copy.source) {
            Ok(content) => sources.copies.push((content, copy.target.clone())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error).during(format!("read {}", copy.source.display())),
        }
    }
    Ok(sources)
}

/// Builds the template, makes it the root and executes the interpreter; returns only on failure.
pub fn become_zygote(spec: &ZygoteSpec, sources: Sources, control: &OwnedFd) -> StepError {
    match try_become_zygote(spec, sources, control) {
        Ok(never) => match never {},
        Err(error) => error,
    }
}

fn try_become_zygote(
    spec: &ZygoteSpec,
    sources: Sources,
    control: &OwnedFd,
) -> Result<Infallible, StepError> {
    sys::die_with_parent().during("ask to die with the first process")?;
    sys::unshare(libc::CLONE_NEWNS).during("make a mount namespace")?;
    rustix::process::umask(Mode::WGRP | Mode::WOTH);
    let root = Path::new(ASSEMBLY);
    sys::mount("tmpfs", root, libc::MS_NOSUID | libc::MS_NODEV, OPTIONS).during("mount the template")?;
    fill(root, spec, &sources)?;
    // Mount proc before detaching the old root: the kernel allows a new proc mount only where a full proc mount is
    // visible.
    sys::mount(
        "proc",
        &root.join("proc"),
        libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC,
        "subset=pid,hidepid=2",
    )
    .during("mount /proc (inside a container, its /proc may be masked)")?;
    rustix::process::chdir(root).during("enter the template")?;
    sys::pivot().during("pivot_root")?;
    sys::set_attributes(None, read_only(spec) | sys::NOSUID | sys::NODEV)
        .during("make the template read-only")?;
    let null = File::options()
        .read(true)
        .write(true)
        .open("/dev/null")
        .during("open /dev/null")?;
    let null = null.as_fd();
    let control_copy = control.try_clone().during("copy the control socket")?;
    let library = sources.library.try_clone().during("copy the library's file")?;
    sys::keep_capabilities().during("keep the zygote's capabilities over exec")?;
    sys::place(&[null, null, null, control_copy.as_fd(), library.as_fd()]).during("place the descriptors")?;
    let cause = sys::execute(&spec.program, &spec.arguments, &spec.environment);
    Err(cause).during(format!("execute {}", spec.program.display()))
}

fn fill(root: &Path, spec: &ZygoteSpec, sources: &Sources) -> Result<(), StepError> {
    let (mount_points, links, namespaces) = match spec.appearance {
        Appearance::Codeyard => (MOUNT_POINTS, LINKS, Namespaces::Own),
        Appearance::Container { .. } => (CONTAINER_MOUNT_POINTS, CONTAINER_LINKS, Namespaces::Mapped),
    };
    for directory in mount_points {
        make_directory(&root.join(directory))?;
    }
    for (tree, target) in &sources.trees {
        let target = inside(root, target);
        make_mount_point(tree, &target)?;
        sys::attach(tree.as_fd(), &target).during(format!("attach {}", target.display()))?;
    }
    for (device, path) in &sources.devices {
        let target = inside(root, path);
        File::create(&target).during(format!("create {}", target.display()))?;
        sys::attach(device.as_fd(), &target).during(format!("attach {}", target.display()))?;
    }
    let filters = seccomp::filters(spec.memory.into(), namespaces)
        .map_err(io::Error::other)
        .during("compile the filters")?;
    for (path, content) in FILTERS.iter().zip([filters.zygote, filters.session]) {
        let content = if spec.removed.contains(Guard::Seccomp) {
            seccomp::ALLOW_ALL.to_vec()
        } else {
            content
        };
        write_file(&root.join(path), &content)?;
    }
    for TextFile { path, text } in &spec.files {
        write_file(&inside(root, path), text.as_bytes())?;
    }
    for (content, path) in &sources.copies {
        write_file(&inside(root, path), content)?;
    }
    make_directory(&inside(root, Path::new(EMPTY)))?;
    for (number, target) in (0..).zip(&spec.mounts) {
        let place = MountPoint::Mount(number).path();
        make_directory(&inside(root, &place))?;
        let link = inside(root, target);
        link.parent().map(make_directory).transpose()?;
        symlink(&place, &link).during(format!("link {}", link.display()))?;
    }
    let fixed_links = links
        .iter()
        .map(|(name, target)| (Path::new(name), Path::new(target)));
    let asked = spec
        .links
        .iter()
        .map(|(name, target)| (name.as_path(), target.as_path()));
    for (name, target) in fixed_links.chain(asked) {
        let name = inside(root, name);
        name.parent().map(make_directory).transpose()?;
        symlink(target, &name).during(format!("link {}", name.display()))?;
    }
    Ok(())
}

/// The read-only attribute, unless a test removed the guard.
fn read_only(spec: &ZygoteSpec) -> u64 {
    if spec.removed.contains(Guard::ReadOnly) {
        0
    } else {
        sys::RDONLY
    }
}

fn inside(root: &Path, path: &Path) -> PathBuf {
    root.join(path.strip_prefix("/").unwrap_or(path))
}

fn make_directory(path: &Path) -> Result<(), StepError> {
    fs::create_dir_all(path).during(format!("create {}", path.display()))
}

/// A mount point of the same kind as what is mounted on it: a file for a file.
fn make_mount_point(mounted: &OwnedFd, path: &Path) -> Result<(), StepError> {
    let kind = rustix::fs::fstat(mounted).map(|stat| FileType::from_raw_mode(stat.st_mode));
    match kind.during(format!("look at what belongs to {}", path.display()))? {
        FileType::Directory => make_directory(path),
        _ => write_file(path, b""),
    }
}

fn write_file(path: &Path, content: &[u8]) -> Result<(), StepError> {
    path.parent().map(make_directory).transpose()?;
    fs::write(path, content).during(format!("write {}", path.display()))
}
