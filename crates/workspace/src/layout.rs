//! Files of a session: its principal's workspace, its own results and scratch files, the shared tree and the user's
//! mounts.
//!
//! ```text
//! <root>/<principal>/workspace            /workspace of all sessions of the principal
//! <root>/<principal>/sessions/<session>   /results and /scratch of the sessions with one name
//! <root>/<principal>/lock                 held by every process that uses them
//! ```

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use types::{Principal, SessionName};

use crate::config::{Enforce, Keeping, Mount, RESULTS, SCRATCH, WORKSPACE, WorkspaceConfig};
use crate::directory::{Directory, DirectoryOwner, Ids, make_all};
use crate::error::WorkspaceError;
use crate::image::{self, Images, Size};
use crate::lease::{Lease, Lock};
use crate::name::encode;
use crate::ownership::{Foreign, look};
use crate::quota;
use crate::sessions::{self, SessionDirectory, owned};
use crate::tree::{Tree, Trees};

/// Restarts of an opening that a cleaning interrupts. One cleaning takes a directory away at most once.
const ATTEMPTS: usize = 64;

/// All principals' files. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Workspaces {
    pub(crate) shared: Arc<SharedWorkspaces>,
}

#[derive(Debug)]
pub(crate) struct SharedWorkspaces {
    pub(crate) config: WorkspaceConfig,
    /// Path of all principals' files without symbolic links; set at first use.
    root: OnceLock<PathBuf>,
    /// Whether the kernel can enforce quotas on the principals' files, or the reason why not; set at first use.
    kernel: OnceLock<Result<(), String>>,
    /// Whether images can be mounted, or the reason why not; set at first use.
    images: OnceLock<Result<(), String>>,
    /// Owner of sessions' files; set at first use.
    ids: OnceLock<Ids>,
    /// Locks of principals with sessions, by file name. Adding a lock removes the entries of released locks.
    locks: Mutex<HashMap<String, Weak<Lock>>>,
    trees: Trees,
}

/// Host directories of one session, with the lease that keeps them.
#[derive(Debug, Clone)]
pub struct SessionFiles {
    /// `/workspace`: absolute, without symbolic links, owned by the session's user on disk.
    pub workspace: PathBuf,
    /// Holds `results` and `scratch`, which are `/results` and `/scratch`: absolute, without symbolic links, owned by
    /// the session's user on disk.
    pub session: PathBuf,
    /// Files of another user there, which programs cannot change.
    pub foreign: Option<Foreign>,
    /// The caller holds this lease while the session lives. Without the lease, another process may clean these
    /// directories away.
    pub lease: Lease,
}

// === impl Workspaces ===

impl Workspaces {
    /// Makes the value without opening a file.
    pub fn new(config: WorkspaceConfig) -> Workspaces {
        let trees = Trees::new(config.trees.clone());
        Workspaces {
            shared: Arc::new(SharedWorkspaces {
                config,
                root: OnceLock::new(),
                kernel: OnceLock::new(),
                images: OnceLock::new(),
                ids: OnceLock::new(),
                locks: Mutex::default(),
                trees,
            }),
        }
    }

    /// Opens a session's directories and creates missing ones.
    ///
    /// # Errors
    /// If the directories cannot be created, something else is in their place, or another user owns them.
    pub fn open(&self, principal: &Principal, session: &SessionName) -> Result<SessionFiles, WorkspaceError> {
        let shared = &*self.shared;
        shared
            .open(principal, session)
            .map_err(|error| shared.explained(error))
    }

    /// Whether the kernel enforces quotas; known after the first session opened. Otherwise the code that runs programs
    /// must measure the files.
    pub fn kernel_holds_quota(&self) -> bool {
        let shared = &self.shared;
        let known = match shared.config.enforce {
            Enforce::Image => shared.images.get(),
            Enforce::Auto | Enforce::Kernel => shared.kernel.get(),
        };
        matches!(known, Some(Ok(())))
    }

    /// Why the kernel cannot enforce principals' quotas; `None` if it can. Creates the directory of
    /// their files.
    pub fn why_no_kernel_quota(&self) -> Option<String> {
        if self.shared.config.enforce == Enforce::Image {
            return self.shared.images().clone().err();
        }
        let root = match self.shared.root() {
            Ok(root) => root,
            Err(error) => return Some(error.to_string()),
        };
        self.shared.kernel(&root).clone().err()
    }

    /// Fails if the kernel cannot enforce the bounds for which the settings require the kernel. Does nothing without
    /// such settings.
    ///
    /// # Errors
    /// The reason with the remedy.
    pub fn check(&self) -> Result<(), WorkspaceError> {
        let config = &self.shared.config;
        match (config.keeping, config.enforce) {
            (Keeping::Own, _) | (_, Enforce::Auto) => Ok(()),
            (_, Enforce::Kernel) => {
                let root = self.shared.root()?;
                self.shared
                    .kernel(&root)
                    .clone()
                    .map_err(|cause| WorkspaceError::NoQuota {
                        path: root.path().to_path_buf(),
                        cause,
                    })
            }
            (_, Enforce::Image) => self.shared.sized().map(drop),
        }
    }

    /// Fails if the kernel does not enforce the bounds. Tenants that must be isolated from each other need this check.
    ///
    /// # Errors
    /// The reason with the remedy.
    pub fn check_enforced(&self) -> Result<(), WorkspaceError> {
        let config = &self.shared.config;
        let cause = match (config.keeping, config.quota) {
            (Keeping::Own, _) => return Ok(()),
            (Keeping::Kept, 0) => Some("`[workspace] quota` is \"none\"".to_owned()),
            (Keeping::Kept, _) => self.why_no_kernel_quota(),
        };
        cause.map_or(Ok(()), |cause| Err(WorkspaceError::QuotaNotEnforced(cause)))
    }

    /// Mounts a principal's image, if there is one, so that a person can look into the directory.
    ///
    /// # Errors
    /// If it cannot be mounted.
    pub fn mount(&self, principal: &Principal) -> Result<(), WorkspaceError> {
        let file = encode(&principal.to_string());
        let Some(root) = self.shared.existing_root()? else {
            return Ok(());
        };
        match Images::existing(&root)?.filter(|images| images.has(&file)) {
            Some(images) => images.mounted(&file).map(drop),
            None => Ok(()),
        }
    }

    /// Unmounts unused images.
    ///
    /// # Errors
    /// If one cannot be unmounted.
    pub fn unmount_unused(&self) -> Result<(), WorkspaceError> {
        let Some(root) = self.shared.existing_root()? else {
            return Ok(());
        };
        let Some(images) = Images::existing(&root)? else {
            return Ok(());
        };
        images
            .files()?
            .iter()
            .try_for_each(|file| images.unmount_unused(file))
    }

    /// Whether the files of sessions outlive them.
    pub fn keeping(&self) -> Keeping {
        self.shared.config.keeping
    }

    /// User directories that every session sees.
    pub fn mounts(&self) -> &[Mount] {
        &self.shared.config.mounts
    }

    /// Makes these files, named `tools/<server>/<file>` or `skills/…`, the tree that a principal's
    /// sessions see from now on.
    ///
    /// # Errors
    /// If it cannot be written; the previous tree stays current.
    pub fn publish(
        &self,
        principal: &Principal,
        files: &BTreeMap<String, Vec<u8>>,
    ) -> Result<(), WorkspaceError> {
        self.shared.trees.publish(principal, files)
    }

    /// A principal's current tree, if one was published.
    pub fn shared(&self, principal: &Principal) -> Option<Tree> {
        self.shared.trees.current(principal)
    }

    /// Releases a principal's tree. The next sweep removes the tree from disk.
    pub fn forget(&self, principal: &Principal) {
        self.shared.trees.forget(principal);
    }
}

// === impl SessionFiles ===

impl SessionFiles {
    /// The directory `/results`.
    pub fn results(&self) -> PathBuf {
        self.session.join(RESULTS)
    }

    /// The directory `/scratch`.
    pub fn scratch(&self) -> PathBuf {
        self.session.join(SCRATCH)
    }
}

// === impl SharedWorkspaces ===

impl SharedWorkspaces {
    fn open(&self, principal: &Principal, session: &SessionName) -> Result<SessionFiles, WorkspaceError> {
        let root = self.root()?;
        let ids = self.ids()?;
        let (place, lock) = self.enter(&root, &encode(&principal.to_string()), ids)?;
        let workspace = owned(&place, WORKSPACE.as_ref(), ids)?;
        let all = sessions::all(&place, ids)?;
        let SessionDirectory {
            top,
            results,
            scratch,
            using,
        } = sessions::open(&all, encode(session.as_str()).as_ref(), ids)?;
        let mut foreign = None;
        for place in [&workspace, &results, &scratch] {
            foreign = foreign.or(look(place, ids)?);
        }
        lock.touch();
        Ok(SessionFiles {
            workspace: workspace.path().to_path_buf(),
            session: top.path().to_path_buf(),
            foreign,
            lease: Lease {
                principal: lock,
                _session: Arc::new(using),
            },
        })
    }

    /// The directory of all principals, if the path lies below it.
    pub(crate) fn root_of(&self, path: &Path) -> Option<PathBuf> {
        let written = self.config.root.as_path();
        let resolved = self.root.get().map(PathBuf::as_path);
        let mut known = [Some(written), resolved].into_iter().flatten();
        known.find(|root| path.starts_with(root)).map(Path::to_path_buf)
    }

    fn root(&self) -> Result<Directory, WorkspaceError> {
        if let (Some(ids), Some(path)) = (self.ids.get(), self.root.get()) {
            return Directory::root(path, ids.passage());
        }
        // The owner depends on the data directory, so create the data directory first if it is missing.
        let data = self.config.data();
        make_all(data)?;
        let root = Directory::root(&self.config.root, self.ids()?.passage())?.canonical()?;
        // Sessions get paths without links, so resolve the root's path once.
        let path = self.root.get_or_init(|| root.path().to_path_buf());
        Directory::at(path)
    }

    /// A principal's directory, if it exists.
    pub(crate) fn existing_place(&self, principal: &Principal) -> Result<Option<Directory>, WorkspaceError> {
        match self.existing_root()? {
            Some(root) => root.child(encode(&principal.to_string()).as_ref()),
            None => Ok(None),
        }
    }

    pub(crate) fn existing_root(&self) -> Result<Option<Directory>, WorkspaceError> {
        match Directory::at(&self.config.root) {
            Ok(place) => place.canonical().map(Some),
            Err(WorkspaceError::Step { cause, .. }) if cause.kind() == std::io::ErrorKind::NotFound => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    pub(crate) fn ids(&self) -> Result<Ids, WorkspaceError> {
        if let Some(ids) = self.ids.get() {
            return Ok(*ids);
        }
        let data = self.config.data();
        let ids = Ids::of(self.config.owner, data)?;
        Ok(*self.ids.get_or_init(|| ids))
    }

    /// The principal's directory with its lock.
    fn enter(
        &self,
        root: &Directory,
        file: &str,
        ids: Ids,
    ) -> Result<(Directory, Arc<Lock>), WorkspaceError> {
        for _ in 0..ATTEMPTS {
            let place = root.make(file.as_ref(), ids.passage(), DirectoryOwner::Ours)?;
            if let Some(lock) = self.held(file).filter(|lock| lock.is_in(&place)) {
                return Ok((place, lock));
            }
            let entered = match self.config.enforce {
                Enforce::Image => {
                    // An open descriptor would keep the image mounted.
                    drop(place);
                    self.enter_image(root, file, ids)?
                }
                Enforce::Auto | Enforce::Kernel => self.enter_plain(root, place, file)?,
            };
            if let Some((place, lock)) = entered {
                let lock = Arc::new(lock);
                self.hold(file, &lock);
                return Ok((place, lock));
            }
        }
        Err(WorkspaceError::BeingCleaned(root.path().join(file)))
    }

    /// Mounts the principal's image and locks its content. Holds one lock for both, so that no process unmounts the
    /// image meanwhile.
    fn enter_image(
        &self,
        root: &Directory,
        file: &str,
        ids: Ids,
    ) -> Result<Option<(Directory, Lock)>, WorkspaceError> {
        let size = self.sized()?;
        let images = Images::lock(root)?;
        let place = images.enter(file, ids, size)?;
        Ok(Lock::shared(&place)?.map(|lock| (place, lock)))
    }

    /// Locks the principal's directory, unless its files are in an image.
    fn enter_plain(
        &self,
        root: &Directory,
        place: Directory,
        file: &str,
    ) -> Result<Option<(Directory, Lock)>, WorkspaceError> {
        let Some(lock) = Lock::shared(&place)? else {
            return Ok(None);
        };
        if let Some(images) = Images::existing(root)?.filter(|images| images.has(file)) {
            return Err(WorkspaceError::InImage {
                path: place.path().to_path_buf(),
                image: images.path(file),
            });
        }
        self.bound(root, &place)?;
        Ok(Some((place, lock)))
    }

    fn bound(&self, root: &Directory, place: &Directory) -> Result<(), WorkspaceError> {
        match (self.kernel(root), self.config.enforce) {
            (Ok(()), _) => quota::bind(root, place, self.config.quota, self.config.inodes),
            (Err(_), Enforce::Auto | Enforce::Image) => Ok(()),
            (Err(cause), Enforce::Kernel) => Err(WorkspaceError::NoQuota {
                path: root.path().to_path_buf(),
                cause: cause.clone(),
            }),
        }
    }

    fn kernel(&self, root: &Directory) -> &Result<(), String> {
        self.kernel.get_or_init(|| quota::available(root))
    }

    fn images(&self) -> &Result<(), String> {
        self.images.get_or_init(|| image::available(self.size()))
    }

    /// The size of images, if the settings allow images.
    fn sized(&self) -> Result<Size, WorkspaceError> {
        let refused = |cause: &str| WorkspaceError::NoImage {
            cause: cause.to_owned(),
        };
        self.images().as_ref().map_err(|cause| refused(cause))?;
        self.size().ok_or_else(|| refused("there is no quota"))
    }

    fn size(&self) -> Option<Size> {
        Size::of(self.config.quota, self.config.inodes)
    }

    fn held(&self, file: &str) -> Option<Arc<Lock>> {
        let locks = self.locks.lock().unwrap_or_else(PoisonError::into_inner);
        locks
            .get(file)
            .and_then(Weak::upgrade)
            .filter(|lock| lock.counts())
    }

    fn hold(&self, file: &str, lock: &Arc<Lock>) {
        let mut locks = self.locks.lock().unwrap_or_else(PoisonError::into_inner);
        if !locks.contains_key(file) {
            locks.retain(|_, lock| lock.strong_count() > 0);
        }
        locks.insert(file.to_owned(), Arc::downgrade(lock));
    }
}

#[cfg(test)]
mod tests;
