//! Path confinement: whatever a session leaves in its directories, the host reads, lists, writes,
//! mounts and removes nothing outside them.
//!
//! Input: lines, each a word and its operands; `@` stands for a directory outside the session.
//!
//! Words of the session, in its results (in upper case: in the workspace):
//! - `d NAME` makes a directory
//! - `f NAME` makes a file
//! - `l NAME TARGET` makes a symbolic link
//! - `h NAME NAME` makes a hard link
//! - `p NAME` makes a FIFO
//! - `v NAME NAME` renames
//!
//! Then the host acts: `r SESSION PATH` reads a result, `t PATH` lists, reads and writes a virtual
//! path, `m TEXT` mounts.

#![no_main]

use std::ffi::OsStr;
use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use libfuzzer_sys::fuzz_target;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags};
use types::{Principal, SessionName};
use workspace::mount::{MountRequest, Surroundings};
use workspace::virtual_files::{Browse, FileLimits, FilePolicy};
use workspace::{Extent, WorkspaceConfig, Workspaces};

const INSIDE: &[u8] = b"INSIDE";
const OUTSIDE: &[u8] = b"OUTSIDE";
const WRITTEN: &str = "WRITTEN";
/// Lines that are executed.
const MOST: usize = 48;

fuzz_target!(|data: &[u8]| {
    let ground = Ground::new();
    let files = ground
        .workspaces
        .open(&ground.ann, &SessionName::new("s"))
        .expect("a session");
    let lines: Vec<&[u8]> = data.split(|byte| *byte == b'\n').take(MOST).collect();
    for line in &lines {
        let Some((word, [b' ', rest @ ..])) = line.split_first() else {
            continue;
        };
        let top = if word.is_ascii_uppercase() {
            files.workspace.clone()
        } else {
            files.results()
        };
        // The kernel's refusals to a session apply here too.
        let _ = ground.obey(word.to_ascii_lowercase(), rest, &top);
    }
    ground.read_all();
    for line in &lines {
        match line {
            [b'r', b' ', rest @ ..] => ground.read(rest),
            [b't', b' ', rest @ ..] => ground.use_virtual_path(rest),
            [b'm', b' ', rest @ ..] => ground.mount(rest),
            _ => {}
        }
    }
    drop(files);
    ground.clean();
});

struct Ground {
    home: tempfile::TempDir,
    workspaces: Workspaces,
    ann: Principal,
}

impl Ground {
    /// A data directory with files of two principals, and other files next to it.
    fn new() -> Ground {
        let memory = Path::new("/dev/shm");
        let place = if memory.is_dir() {
            memory.to_owned()
        } else {
            std::env::temp_dir()
        };
        let home = tempfile::Builder::new()
            .prefix("codeyard-fuzz-")
            .tempdir_in(place)
            .expect("a directory");
        for (path, content) in [
            ("outside/secret", OUTSIDE),
            ("project/table", OUTSIDE),
            ("data/trust.json", OUTSIDE),
        ] {
            let path = home.path().join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
            fs::write(path, content).expect("a file");
        }
        let workspaces = Workspaces::new(WorkspaceConfig::below(&home.path().join("data")));
        let bob: Principal = "bob".parse().expect("a principal");
        let his = workspaces.open(&bob, &SessionName::new("s")).expect("a session");
        fs::write(his.results().join("a"), OUTSIDE).expect("a file");
        fs::write(his.workspace.join("a"), OUTSIDE).expect("a file");
        Ground {
            home,
            workspaces,
            ann: "ann".parse().expect("a principal"),
        }
    }

    fn outside(&self) -> PathBuf {
        self.home.path().join("outside")
    }

    fn expand(&self, text: &[u8]) -> Vec<u8> {
        let outside = self.outside();
        let pieces: Vec<&[u8]> = text.split(|byte| *byte == b'@').collect();
        pieces.join(outside.as_os_str().as_bytes())
    }

    /// Does what a session could do below one of its directories; follows no link out of it.
    fn obey(&self, word: u8, rest: &[u8], top: &Path) -> Option<()> {
        let mut words = rest.splitn(2, |byte| *byte == b' ');
        let (parent, name) = place(top, words.next()?)?;
        let second = words.next();
        let mode = Mode::from_raw_mode(0o755);
        match word {
            b'd' => rustix::fs::mkdirat(&parent, &name, mode).ok(),
            b'f' => {
                let flags =
                    OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                let file = rustix::fs::openat(&parent, &name, flags, mode).ok()?;
                rustix::io::write(&file, INSIDE).ok().map(|_| ())
            }
            b'l' => rustix::fs::symlinkat(self.expand(second?).as_slice(), &parent, &name).ok(),
            b'p' => rustix::fs::mknodat(&parent, &name, FileType::Fifo, mode, 0).ok(),
            b'h' => {
                let (other, new) = place(top, second?)?;
                rustix::fs::linkat(&parent, &name, &other, &new, AtFlags::empty()).ok()
            }
            b'v' => {
                let (other, new) = place(top, second?)?;
                rustix::fs::renameat(&parent, &name, &other, &new).ok()
            }
            _ => None,
        }
    }

    /// Every listed file is readable or refused, and belongs to the session.
    fn read_all(&self) {
        let artifacts = self.workspaces.artifacts(&self.ann).expect("a listing");
        for artifact in &artifacts.files {
            assert_eq!(artifact.session.as_str(), "s");
            let plain = artifact
                .path
                .components()
                .all(|part| matches!(part, Component::Normal(_)));
            assert!(plain, "{artifact:?}");
            let content = self
                .workspaces
                .read_artifact(&self.ann, &artifact.session, &artifact.path, 1000);
            assert_eq!(content.ok().as_deref(), Some(INSIDE), "{artifact:?} is listed");
        }
    }

    fn read(&self, asked: &[u8]) {
        let mut words = asked.splitn(2, |byte| *byte == b' ');
        let session = SessionName::new(String::from_utf8_lossy(words.next().unwrap_or_default()));
        let path = self.expand(words.next().unwrap_or_default());
        let path = Path::new(OsStr::from_bytes(&path));
        if let Ok(content) = self.workspaces.read_artifact(&self.ann, &session, path, 1000) {
            assert!(is_own(&content), "{session} {} leads outside", path.display());
        }
    }

    fn use_virtual_path(&self, text: &[u8]) {
        let path = String::from_utf8_lossy(&self.expand(text)).into_owned();
        let session = SessionName::new("s");
        let (policy, limits) = (FilePolicy::default(), FileLimits::default());
        let files = self
            .workspaces
            .virtual_files(&self.ann, &session, policy, limits)
            .expect("a session");
        if let Ok(text) = files.read(&path) {
            assert!(is_own(text.content.as_bytes()), "{path} leads outside");
        }
        let asked = Browse {
            path: &path,
            include_hidden: true,
            max_entries: 10,
        };
        let is_foreign = |name: &str| ["secret", "table", "trust.json"].contains(&name);
        if let Ok(listing) = files.browse(&asked) {
            let foreign = listing.entries.iter().find(|entry| is_foreign(&entry.name));
            assert!(foreign.is_none() || path.contains("results"), "{path} lists {foreign:?}");
        }
        // What is written outside is found by the clean-up.
        let _ = files.write(&path, Some(WRITTEN));
    }

    fn mount(&self, text: &[u8]) {
        let text = String::from_utf8_lossy(&self.expand(text)).into_owned();
        let Ok(asked) = text.parse::<MountRequest>() else { return };
        let (data, project) = (self.home.path().join("data"), self.home.path().join("project"));
        let surroundings = Surroundings {
            data: &data,
            before: &[],
        };
        let Ok(mount) = asked.resolve(&project, surroundings) else {
            return;
        };
        let real = fs::canonicalize(&mount.source).expect("a mount exists");
        assert_eq!(real, mount.source, "a mount is no link");
        assert!(real.is_dir() && real != Path::new("/"), "{mount}");
        assert!(
            !real.starts_with(&data) && !data.starts_with(&real),
            "{mount} shows the data directory"
        );
        assert!(
            !["/proc", "/sys", "/dev/pts"]
                .iter()
                .any(|kernel| real.starts_with(kernel)),
            "{mount}"
        );
        let target = Path::new(&mount.target);
        let plain = target
            .components()
            .skip(1)
            .all(|part| matches!(part, Component::Normal(_)));
        assert!(
            target.is_absolute() && target != Path::new("/") && plain,
            "{mount}"
        );
        for own in [
            "/workspace",
            "/results",
            "/tools",
            "/usr",
            "/etc",
            "/proc",
            "/dev",
            "/tmp",
        ] {
            assert!(!target.starts_with(own), "{mount} hides a place of sessions");
        }
    }

    /// Clean-up of the session's files removes nothing else.
    fn clean(&self) {
        let holdings = self.workspaces.list().expect("a list");
        let ann = holdings
            .iter()
            .find(|holding| holding.name == "ann")
            .expect("her files");
        self.workspaces
            .clean(ann, Extent::Everything)
            .expect("they can be removed");
        assert!(!ann.path.exists(), "something of hers is left");
        let data = self.home.path().join("data");
        let bob = data.join("workspaces/bob");
        let kept = [
            self.outside().join("secret"),
            self.home.path().join("project/table"),
            data.join("trust.json"),
            bob.join("sessions/s/results/a"),
            bob.join("workspace/a"),
        ];
        for file in kept {
            assert_eq!(
                fs::read(&file).ok().as_deref(),
                Some(OUTSIDE),
                "{} was touched",
                file.display()
            );
        }
    }
}

/// Whether the session or the host wrote the content.
fn is_own(content: &[u8]) -> bool {
    content == INSIDE || content == WRITTEN.as_bytes()
}

/// The directory of a path below `top`, reached without links, and the last name.
fn place(top: &Path, path: &[u8]) -> Option<(OwnedFd, Vec<u8>)> {
    let path = Path::new(OsStr::from_bytes(path));
    let Some(Component::Normal(name)) = path.components().next_back() else {
        return None;
    };
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let top = rustix::fs::openat(CWD, top, flags | OFlags::NOFOLLOW, Mode::empty()).ok()?;
    let above = path
        .parent()
        .filter(|above| !above.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let parent = rustix::fs::openat2(top, above, flags, Mode::empty(), resolve).ok()?;
    Some((parent, name.as_bytes().to_vec()))
}
