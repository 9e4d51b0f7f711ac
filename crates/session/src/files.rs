//! What sessions see of the host's files; decided elsewhere, attached by the driver.

use sandbox::{Attachment, BoxFuture, LaunchError};
use types::{Principal, SessionName};

/// What a session sees of the host when it is launched.
#[derive(Default)]
pub struct Given {
    /// The directories.
    pub attachments: Vec<Attachment>,
    /// Keeps them there; held as long as the session may see them.
    pub lease: Option<Box<dyn Send + Sync>>,
}

/// The tree of tools and skills.
pub struct SharedTree {
    /// Where it is and where sessions see it.
    pub attachment: Attachment,
    /// Keeps it there; held as long as a session may see it.
    pub lease: Box<dyn Send + Sync>,
}

/// Says which directories sessions see.
pub trait Files: Send + Sync {
    /// Those of a session that is about to be launched.
    fn of<'a>(
        &'a self,
        principal: &'a Principal,
        session: &'a SessionName,
    ) -> BoxFuture<'a, Result<Given, LaunchError>>;

    /// Looks what has changed since the run before, so that a program is held against what there is, and sees it.
    fn look(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    /// The tree of tools and skills as this program is to see it; a session that sees an older one is shown this one.
    fn shared<'a>(&'a self, code: &'a str) -> BoxFuture<'a, Option<SharedTree>>;

    /// Resolves when the files that a principal keeps outgrow their quota during a run, where no kernel sees to that.
    fn outgrown<'a>(&'a self, principal: &'a Principal) -> BoxFuture<'a, ()>;
}

/// Nothing of the host: each session has its files to itself.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoFiles;

impl Files for NoFiles {
    fn of<'a>(
        &'a self,
        _principal: &'a Principal,
        _session: &'a SessionName,
    ) -> BoxFuture<'a, Result<Given, LaunchError>> {
        Box::pin(std::future::ready(Ok(Given::default())))
    }

    fn shared<'a>(&'a self, _code: &'a str) -> BoxFuture<'a, Option<SharedTree>> {
        Box::pin(std::future::ready(None))
    }

    fn outgrown<'a>(&'a self, _principal: &'a Principal) -> BoxFuture<'a, ()> {
        Box::pin(std::future::pending())
    }
}
