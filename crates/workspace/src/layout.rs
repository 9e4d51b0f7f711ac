//! What a session gets: a principal's workspace, its own results, the shared tree and the user's mounts.
//!
//! ```text
//! <root>/<principal>/workspace           /workspace of all sessions of the principal
//! <root>/<principal>/results/<session>   /results of one session
//! <root>/<principal>/lock                held by every process that uses them
//! ```

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use rustix::fs::Mode;
use types::{Principal, SessionName};

use crate::config::{Enforce, Keeping, Mount, RESULTS, WORKSPACE, WorkspaceConfig};
use crate::directory::{Directory, DirectoryOwner, Ids, make_all, names};
use crate::error::WorkspaceError;
use crate::image::{self, Images, Size};
use crate::lease::{Lease, Lock, remove_if_unused, share_named};
use crate::name::encode;
use crate::ownership::{Foreign, look};
use crate::quota;
use crate::tree::{Tree, Trees};

/// Only the owner enters.
const PRIVATE: Mode = Mode::from_raw_mode(0o700);

/// How often an opening starts again because a cleaning came between; one cleaning takes away a directory once.
const ATTEMPTS: usize = 64;

/// Files of all principals. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Workspaces {
    pub(crate) shared: Arc<SharedWorkspaces>,
}

#[derive(Debug)]
pub(crate) struct SharedWorkspaces {
    pub(crate) config: WorkspaceConfig,
    /// The directory of all principals without symbolic links; found out likewise.
    root: OnceLock<PathBuf>,
    /// Whether the kernel holds quotas there, or why not; found out likewise.
    kernel: OnceLock<Result<(), String>>,
    /// Whether images can be mounted, or why not; found out likewise.
    images: OnceLock<Result<(), String>>,
    /// Who owns files of sessions; found out when it is first needed.
    ids: OnceLock<Ids>,
    /// Locks of principals that have sessions, by file name. Dead ones are swept when a new one comes.
    locks: Mutex<HashMap<String, Weak<Lock>>>,
    trees: Trees,
}

/// The directories of one session on the host, and what keeps them there.
#[derive(Debug, Clone)]
pub struct SessionFiles {
    /// `/workspace`: absolute, without symbolic links, owned by whoever the session is on disk.
    pub workspace: PathBuf,
    /// `/results`, likewise.
    pub results: PathBuf,
    /// What programs cannot change there, because it belongs to another user.
    pub foreign: Option<Foreign>,
    /// Keep it as long as the session lives: without it another process may clean these directories away.
    pub lease: Lease,
}

// === impl Workspaces ===

impl Workspaces {
    /// Touches nothing.
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

    /// The directories of a session; what is missing is made.
    ///
    /// # Errors
    /// If they cannot be made, stand for something else, or belong to somebody else.
    pub fn open(&self, principal: &Principal, session: &SessionName) -> Result<SessionFiles, WorkspaceError> {
        let shared = &*self.shared;
        shared
            .open(principal, session)
            .map_err(|error| shared.explained(error))
    }

    /// Removes what sessions of a principal left that wrote nothing to `/results`; what anybody uses stays.
    ///
    /// # Errors
    /// If the directory of the results cannot be read.
    pub fn tidy(&self, principal: &Principal) -> Result<(), WorkspaceError> {
        let Some(root) = self.shared.existing_root()? else {
            return Ok(());
        };
        let Some(place) = root.child(encode(&principal.to_string()).as_ref())? else {
            return Ok(());
        };
        let Some(results) = place.child(RESULTS.as_ref())? else {
            return Ok(());
        };
        for name in names(&results)? {
            remove_if_unused(&results, &name);
        }
        Ok(())
    }

    /// Whether the kernel itself holds principals to their quota, which is known once a session has been opened;
    /// where it does not, whoever runs programs measures.
    pub fn kernel_holds_quota(&self) -> bool {
        let shared = &self.shared;
        let known = match shared.config.enforce {
            Enforce::Image => shared.images.get(),
            Enforce::Auto | Enforce::Kernel => shared.kernel.get(),
        };
        matches!(known, Some(Ok(())))
    }

    /// Why the kernel cannot hold principals to their quota; `None` if it can. Makes the directory of their files.
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

    /// Refuses a place that cannot hold the bounds which the settings want the kernel to hold. Touches nothing where they
    /// do not.
    ///
    /// # Errors
    /// Why it cannot, with the remedy.
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

    /// Refuses bounds that the kernel does not hold, for sessions of tenants that must not touch each other.
    ///
    /// # Errors
    /// Why it does not, with the remedy.
    pub fn check_enforced(&self) -> Result<(), WorkspaceError> {
        let config = &self.shared.config;
        let cause = match (config.keeping, config.quota) {
            (Keeping::Own, _) => return Ok(()),
            (Keeping::Kept, 0) => Some("`[workspace] quota` is \"none\"".to_owned()),
            (Keeping::Kept, _) => self.why_no_kernel_quota(),
        };
        cause.map_or(Ok(()), |cause| Err(WorkspaceError::QuotaNotEnforced(cause)))
    }

    /// Mounts the image of a principal, if it has one, for people who look at the directory.
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

    /// Unmounts the images that nobody uses.
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

    /// The user's directories that every session sees.
    pub fn mounts(&self) -> &[Mount] {
        &self.shared.config.mounts
    }

    /// Makes the tree of these files, named `tools/<server>/<file>` or `skills/…`, the one that sessions of a principal see
    /// from now on.
    ///
    /// # Errors
    /// If it cannot be written; the tree before stays the current one.
    pub fn publish(
        &self,
        principal: &Principal,
        files: &BTreeMap<String, Vec<u8>>,
    ) -> Result<(), WorkspaceError> {
        self.shared.trees.publish(principal, files)
    }

    /// The current tree of a principal, if one has been published.
    pub fn shared(&self, principal: &Principal) -> Option<Tree> {
        self.shared.trees.current(principal)
    }

    /// Lets go of the tree of a principal; the next process to sweep removes it from the disk.
    pub fn forget(&self, principal: &Principal) {
        self.shared.trees.forget(principal);
    }
}

// === impl SharedWorkspaces ===

impl SharedWorkspaces {
    /// The directories of a session; what is missing is made.
    fn open(&self, principal: &Principal, session: &SessionName) -> Result<SessionFiles, WorkspaceError> {
        let root = self.root()?;
        let ids = self.ids()?;
        let (place, lock) = self.enter(&root, &encode(&principal.to_string()), ids)?;
        let workspace = owned(&place, WORKSPACE.as_ref(), ids)?;
        let results = place.make(RESULTS.as_ref(), ids.passage(), DirectoryOwner::Ours)?;
        let (results, using) = used(&results, encode(session.as_str()).as_ref(), ids)?;
        let foreign = look(&workspace, ids)?.or(look(&results, ids)?);
        lock.touch();
        Ok(SessionFiles {
            workspace: workspace.path().to_path_buf(),
            results: results.path().to_path_buf(),
            foreign,
            lease: Lease {
                principal: lock,
                _results: Arc::new(using),
            },
        })
    }

    /// The directory of all principals if this path lies there.
    pub(crate) fn root_of(&self, path: &Path) -> Option<PathBuf> {
        let written = self.config.root.as_path();
        let resolved = self.root.get().map(PathBuf::as_path);
        let mut known = [Some(written), resolved].into_iter().flatten();
        known.find(|root| path.starts_with(root)).map(Path::to_path_buf)
    }

    /// The directory of all principals.
    fn root(&self) -> Result<Directory, WorkspaceError> {
        if let (Some(ids), Some(path)) = (self.ids.get(), self.root.get()) {
            return Directory::root(path, ids.passage());
        }
        // The owner follows from the data directory, which may have to be made first.
        let data = self.config.data();
        make_all(data)?;
        let root = Directory::root(&self.config.root, self.ids()?.passage())?.canonical()?;
        // Sessions are given paths without links, so this one is resolved, once.
        let path = self.root.get_or_init(|| root.path().to_path_buf());
        Directory::at(path)
    }

    /// The directory of all principals, if any session has ever kept files.
    pub(crate) fn existing_root(&self) -> Result<Option<Directory>, WorkspaceError> {
        match Directory::at(&self.config.root) {
            Ok(place) => place.canonical().map(Some),
            Err(WorkspaceError::Step { cause, .. }) if cause.kind() == std::io::ErrorKind::NotFound => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Who owns files of sessions.
    pub(crate) fn ids(&self) -> Result<Ids, WorkspaceError> {
        if let Some(ids) = self.ids.get() {
            return Ok(*ids);
        }
        let data = self.config.data();
        let ids = Ids::of(self.config.owner, data)?;
        Ok(*self.ids.get_or_init(|| ids))
    }

    /// The principal's directory, with the lock that keeps it there.
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
                    // What is open in an image keeps it mounted.
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

    /// Mounts the principal's image and locks what is in it. Under one lock, so that nobody unmounts it in between.
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

    /// Has the kernel hold the principal to the quota, where it can.
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

    /// Whether the kernel can hold principals to their quota there, or why not.
    fn kernel(&self, root: &Directory) -> &Result<(), String> {
        self.kernel.get_or_init(|| quota::available(root))
    }

    /// Whether images can be mounted, or why not.
    fn images(&self) -> &Result<(), String> {
        self.images.get_or_init(|| image::available(self.size()))
    }

    /// The size of images, where there can be images.
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

/// The directory of one session, with the right owner and the lock that keeps it there.
fn used(parent: &Directory, name: &OsStr, ids: Ids) -> Result<(Directory, OwnedFd), WorkspaceError> {
    for _ in 0..ATTEMPTS {
        match owned(parent, name, ids) {
            Ok(place) => {
                if let Some(using) = share_named(parent, name)? {
                    return Ok((place, using));
                }
            }
            // Made, and removed as one that nobody uses before it could be opened.
            Err(WorkspaceError::Step { cause, .. }) if cause.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        std::thread::yield_now();
    }
    Err(WorkspaceError::BeingCleaned(parent.path().join(name)))
}

/// A directory that sessions see, with the right owner.
fn owned(parent: &Directory, name: &OsStr, ids: Ids) -> Result<Directory, WorkspaceError> {
    let place = match parent.child(name)? {
        Some(place) => place,
        None => parent.make(name, PRIVATE, DirectoryOwner::Sessions(ids))?,
    };
    let found = place.stat()?.st_uid;
    if found == ids.uid {
        return Ok(place);
    }
    if found == 0 {
        // A process that died between making the directory and giving it away left it empty and root's.
        return parent.make(name, PRIVATE, DirectoryOwner::Sessions(ids));
    }
    place.expect_owner(ids)?;
    Ok(place)
}

#[cfg(test)]
mod tests;
