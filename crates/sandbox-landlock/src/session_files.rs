//! The files of one session: its directories, its Landlock rules and the environment of its interpreter.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, chown, symlink};
use std::path::{Path, PathBuf};

use jail::keeper::{GuestSpec, Rule};
use jail::session::PathAccess as Reach;
use sandbox::{Attachment, AttachmentAccess, SHARED};
use sandbox_host::{layout, rlimits};
use serde_json::{Map, Value, json};
use types::Limits;

use crate::guest_program::{GuestProgram, INTERPRETER};
use crate::host::HostResources;
use crate::tool_trees::TreeCopy;

const DEVICES: [&str; 5] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
];
/// Directories that are always the session's own: home, temporary files.
const PRIVATE: [&str; 2] = ["/home", "/tmp"];
/// Directories that belong to the session, unless the host attaches a directory there.
const ATTACHABLE: [&str; 3] = ["/workspace", "/results", "/scratch"];
/// The parts of the tree of tools and skills in the guest's contract.
const SHARED_PARTS: [&str; 2] = ["/tools", "/skills"];

#[derive(Debug)]
pub struct SessionFiles {
    /// Directory of the session, removed when the session ends.
    root: PathBuf,
    user: Option<u32>,
    /// Attached directories of the host: path in the contract, directory, access.
    attached: Vec<(String, PathBuf, Reach)>,
    /// The tree of tools and skills that the session sees.
    shown: Option<TreeCopy>,
}

impl SessionFiles {
    /// Makes the directories. Without `user` the session has this process's user.
    pub fn make(root: PathBuf, user: Option<u32>, files: &[Attachment]) -> io::Result<Self> {
        DirBuilder::new().mode(0o711).create(&root)?;
        let attached = files
            .iter()
            .filter(|file| file.target != SHARED)
            .flat_map(places)
            .collect();
        let session = Self {
            root,
            user,
            attached,
            shown: None,
        };
        for place in session.private() {
            let path = session.at(place);
            DirBuilder::new().mode(0o700).create(&path)?;
            if user.is_some() {
                chown(&path, user, user)?;
            }
        }
        Ok(session)
    }

    pub fn has(&self, file: &Attachment) -> bool {
        places(file).iter().all(|place| self.attached.contains(place))
    }

    /// The parent of all the session's own directories, removed with the session.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The session's own directories, by their paths in the contract.
    pub fn private(&self) -> impl Iterator<Item = &'static str> {
        let attached = |place: &&str| self.attached.iter().any(|(target, ..)| target == place);
        ATTACHABLE
            .into_iter()
            .filter(move |place| !attached(place))
            .chain(PRIVATE)
    }

    pub fn at(&self, place: &str) -> PathBuf {
        self.root.join(place.trim_start_matches('/'))
    }

    pub fn show(&mut self, tree: TreeCopy) -> io::Result<()> {
        let (link, next) = (self.at(SHARED), self.root.join(".shared"));
        symlink(&*tree, &next)?;
        fs::rename(next, link)?;
        self.shown = Some(tree);
        Ok(())
    }

    pub fn spec(
        &self,
        host: &HostResources,
        program: &GuestProgram<'_>,
        limits: &Limits,
        processes: u32,
    ) -> io::Result<GuestSpec> {
        Ok(GuestSpec {
            program: program.path().to_owned(),
            arguments: program.arguments(&host.root, &self.places().into(), limits),
            environment: self.environment(host, program),
            working_directory: self.host_path("/workspace"),
            rules: self.rules(host, program),
            user: self.user,
            rlimits: rlimits::of(limits, program.address_space()?, processes),
            memory: host.counting(),
            directory: self.root.clone(),
        })
    }

    fn places(&self) -> Map<String, Value> {
        let fixed = ATTACHABLE
            .into_iter()
            .chain(PRIVATE)
            .chain(SHARED_PARTS)
            .map(str::to_owned);
        let mounts = self.attached.iter().map(|(target, ..)| target.clone());
        fixed
            .chain(mounts)
            .map(|place| {
                let path = self.host_path(&place);
                (place, json!(path))
            })
            .collect()
    }

    fn host_path(&self, place: &str) -> PathBuf {
        let attached = self.attached.iter().find(|(target, ..)| target == place);
        match attached {
            Some((_, path, _)) => path.clone(),
            None if SHARED_PARTS.contains(&place) => self.at(SHARED).join(place.trim_start_matches('/')),
            None => self.at(place),
        }
    }

    /// The Landlock rules. INVARIANT: no rule reaches files of another session or file systems of the kernel.
    fn rules(&self, host: &HostResources, program: &GuestProgram<'_>) -> Vec<Rule> {
        let rule = |path: PathBuf, access| Rule { path, access };
        let system = program
            .readable()
            .into_iter()
            .map(|path| rule(path, Reach::Execute));
        let ours = [host.root.guest(), host.root.tool_trees()].map(|path| rule(path, Reach::Read));
        let files = layout::COPIED_FILES
            .iter()
            .map(|path| rule(path.into(), Reach::Read));
        let devices = DEVICES.iter().map(|path| rule(path.into(), Reach::Device));
        let private = self.private().map(|place| {
            let reach = match PRIVATE.contains(&place) {
                true if host.exec => Reach::OwnExecutable,
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
        optional.chain(ours).chain(private).chain(attached).collect()
    }

    fn environment(&self, host: &HostResources, program: &GuestProgram<'_>) -> Vec<(String, String)> {
        let mut variables = program.environment();
        let temporary = self.host_path("/tmp");
        let places = [
            ("HOME", self.host_path("/home")),
            ("PWD", self.host_path("/workspace")),
            ("MPLCONFIGDIR", temporary.join("matplotlib")),
            ("TMPDIR", temporary),
        ];
        for (name, value) in &mut variables {
            if let Some((_, path)) = places.iter().find(|(place, _)| place == name) {
                *value = path.display().to_string();
            }
        }
        let fonts = host.root.fonts().display().to_string();
        variables.push(("FONTCONFIG_FILE".to_owned(), fonts));
        // Each further heap would reserve 64 MiB of addresses, which the memory limit counts.
        variables.push(("MALLOC_ARENA_MAX".to_owned(), "1".to_owned()));
        variables
    }
}

/// Bytes of memory that all processes of a session may use together, including the interpreter.
pub fn total_memory(limits: &Limits) -> u64 {
    limits.memory.saturating_add(INTERPRETER)
}

/// Path in the contract, directory and access of each part of an attachment.
fn places(file: &Attachment) -> Vec<(String, PathBuf, Reach)> {
    let parts = file.places().into_iter();
    parts
        .map(|(place, source)| (place, source, reach(file.access)))
        .collect()
}

fn reach(access: AttachmentAccess) -> Reach {
    match access {
        AttachmentAccess::Shared | AttachmentAccess::ReadOnly => Reach::Read,
        AttachmentAccess::ReadWrite => Reach::Attached,
    }
}
