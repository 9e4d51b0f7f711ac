//! One session: its directories, what it may reach of the host, and what its interpreter is told.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, chown, symlink};
use std::path::{Path, PathBuf};

use jail::keeper::{GuestSpec, Rule};
use jail::session::Access as Reach;
use sandbox::{Access, Attachment};
use sandbox_process::{Appearance, layout, rlimits};
use serde_json::{Map, Value, json};
use types::Limits;

use crate::ground::Ground;
use crate::trees::Copied;

/// Devices that programs use.
const DEVICES: [&str; 5] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
];
/// Directories of a session's own, where it may do everything: its scratch directory, its home, its temporary files.
const OWN: [&str; 3] = ["/scratch", "/home", "/tmp"];
/// Directories of a session's own unless they are attached.
const KEPT: [&str; 2] = ["/workspace", "/results"];
/// Where the tree of tools and skills appears, and its parts by their names in the contract.
pub const SHARED: &str = "/shared";
const PARTS: [&str; 2] = ["/tools", "/skills"];
/// What an interpreter takes before its first program, in addresses 30 to 50 MiB and in memory a dozen: it does not count.
const INTERPRETER: u64 = 64 << 20;

/// The directories of one session.
#[derive(Debug)]
pub struct Directories {
    /// Goes with the session.
    root: PathBuf,
    user: Option<u32>,
    /// What it is shown of the host's: place in the contract, directory, and what it may do there.
    attached: Vec<(String, PathBuf, Reach)>,
    /// The tree of tools and skills that it is shown.
    shown: Option<Copied>,
}

impl Directories {
    /// Makes them for a session of this user, who is this process's own if there is none.
    pub fn make(root: PathBuf, user: Option<u32>, files: &[Attachment]) -> io::Result<Self> {
        DirBuilder::new().mode(0o711).create(&root)?;
        let attached = files
            .iter()
            .filter(|file| file.target != SHARED)
            .map(|file| (file.target.clone(), file.source.clone(), reach(file.access)))
            .collect();
        let directories = Self {
            root,
            user,
            attached,
            shown: None,
        };
        for place in directories.own() {
            let path = directories.at(place);
            DirBuilder::new().mode(0o700).create(&path)?;
            if user.is_some() {
                chown(&path, user, user)?;
            }
        }
        Ok(directories)
    }

    /// Whether it has this directory since its start.
    pub fn has(&self, file: &Attachment) -> bool {
        let own = (file.target.clone(), file.source.clone(), reach(file.access));
        self.attached.contains(&own)
    }

    /// The directory that goes with the session.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// What it has to itself, by its places in the contract.
    pub fn own(&self) -> impl Iterator<Item = &'static str> {
        let attached = |place: &&str| self.attached.iter().any(|(target, ..)| target == place);
        KEPT.into_iter().filter(move |place| !attached(place)).chain(OWN)
    }

    /// Where it has a place of its own.
    pub fn at(&self, place: &str) -> PathBuf {
        self.root.join(place.trim_start_matches('/'))
    }

    /// Shows it a tree of tools and skills from now on.
    pub fn show(&mut self, tree: Copied) -> io::Result<()> {
        let (link, next) = (self.at(SHARED), self.root.join(".shared"));
        symlink(&*tree, &next)?;
        fs::rename(next, link)?;
        self.shown = Some(tree);
        Ok(())
    }

    /// What the session is, ready to be started.
    pub fn spec(&self, ground: &Ground, limits: &Limits, processes: u32) -> GuestSpec {
        let site: Vec<PathBuf> = ground
            .environment
            .iter()
            .map(|environment| environment.site_packages.clone())
            .collect();
        let settings = json!({ "guest": ground.place.guest(), "site": site, "places": self.places() });
        let entry = ground.place.guest().join("codeyard/alone.py");
        let flags = ["-I", "-S", "-B", "-X", "utf8"].map(str::to_owned);
        let last = [entry.display().to_string(), settings.to_string()];
        GuestSpec {
            program: ground.interpreter.executable.clone(),
            arguments: flags.into_iter().chain(last).collect(),
            environment: self.environment(ground, &site),
            working_directory: self.place("/workspace"),
            rules: self.rules(ground),
            user: self.user,
            rlimits: rlimits::of(limits, INTERPRETER, processes),
            memory: ground.counting(),
            directory: self.root.clone(),
        }
    }

    /// Where each place of the contract really is.
    fn places(&self) -> Map<String, Value> {
        let own = KEPT.into_iter().chain(OWN).chain(PARTS).map(str::to_owned);
        let mounts = self.attached.iter().map(|(target, ..)| target.clone());
        own.chain(mounts)
            .map(|place| {
                let path = self.place(&place);
                (place, json!(path))
            })
            .collect()
    }

    /// Where one place of the contract really is.
    fn place(&self, place: &str) -> PathBuf {
        let attached = self.attached.iter().find(|(target, ..)| target == place);
        match attached {
            Some((_, path, _)) => path.clone(),
            None if PARTS.contains(&place) => self.at(SHARED).join(place.trim_start_matches('/')),
            None => self.at(place),
        }
    }

    /// What it may reach. INVARIANT: nothing of another session, nothing of the kernel's file systems.
    fn rules(&self, ground: &Ground) -> Vec<Rule> {
        let rule = |path: PathBuf, access| Rule { path, access };
        let system = ground
            .readable
            .iter()
            .cloned()
            .map(|path| rule(path, Reach::Execute));
        let ours = [ground.place.guest(), ground.place.trees()].map(|path| rule(path, Reach::Read));
        let files = layout::COPIES.iter().map(|path| rule(path.into(), Reach::Read));
        let devices = DEVICES.iter().map(|path| rule(path.into(), Reach::Device));
        let own = self.own().map(|place| {
            let reach = match OWN.contains(&place) {
                true if ground.exec => Reach::OwnExecutable,
                true => Reach::Own,
                false => Reach::Attached,
            };
            rule(self.at(place), reach)
        });
        let attached = self
            .attached
            .iter()
            .map(|(_, path, reach)| rule(path.clone(), *reach));
        let optional = system
            .chain(files)
            .chain(devices)
            .filter(|rule| rule.path.exists());
        optional.chain(ours).chain(own).chain(attached).collect()
    }

    fn environment(&self, ground: &Ground, site: &[PathBuf]) -> Vec<(String, String)> {
        let site: Vec<String> = site.iter().map(|path| path.display().to_string()).collect();
        let site: Vec<&str> = site.iter().map(String::as_str).collect();
        let prefix = &ground.interpreter.base_prefix;
        let mut variables = layout::environment(prefix, &ground.interpreter, &site, Appearance::Codeyard);
        let temporary = self.place("/tmp");
        let places = [
            ("HOME", self.place("/home")),
            ("PWD", self.place("/workspace")),
            ("MPLCONFIGDIR", temporary.join("matplotlib")),
            ("TMPDIR", temporary),
        ];
        for (name, value) in &mut variables {
            if let Some((_, path)) = places.iter().find(|(place, _)| place == name) {
                *value = path.display().to_string();
            }
        }
        let fonts = ground.place.fonts().display().to_string();
        variables.push(("FONTCONFIG_FILE".to_owned(), fonts));
        // Each further heap would reserve 64 MiB of addresses, which the memory limit counts.
        variables.push(("MALLOC_ARENA_MAX".to_owned(), "1".to_owned()));
        variables
    }
}

/// Bytes that the processes of a session may hold together, its interpreter included.
pub fn memory(limits: &Limits) -> u64 {
    limits.memory.saturating_add(INTERPRETER)
}

fn reach(access: Access) -> Reach {
    match access {
        Access::Shared | Access::ReadOnly => Reach::Read,
        Access::ReadWrite => Reach::Attached,
    }
}
