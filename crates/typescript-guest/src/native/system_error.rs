//! Throws system errors to the platform.

use std::io;

use rquickjs::{Ctx, Error, Exception, Result};
use rustix::io::Errno;

/// Names of the common errors.
const NAMES: [(Errno, &str); 28] = [
    (Errno::ACCESS, "EACCES"),
    (Errno::AGAIN, "EAGAIN"),
    (Errno::BADF, "EBADF"),
    (Errno::BUSY, "EBUSY"),
    (Errno::DQUOT, "EDQUOT"),
    (Errno::EXIST, "EEXIST"),
    (Errno::FBIG, "EFBIG"),
    (Errno::INVAL, "EINVAL"),
    (Errno::IO, "EIO"),
    (Errno::ISDIR, "EISDIR"),
    (Errno::LOOP, "ELOOP"),
    (Errno::MFILE, "EMFILE"),
    (Errno::MLINK, "EMLINK"),
    (Errno::NAMETOOLONG, "ENAMETOOLONG"),
    (Errno::NFILE, "ENFILE"),
    (Errno::NODEV, "ENODEV"),
    (Errno::NOENT, "ENOENT"),
    (Errno::NOMEM, "ENOMEM"),
    (Errno::NOSPC, "ENOSPC"),
    (Errno::NOSYS, "ENOSYS"),
    (Errno::NOTDIR, "ENOTDIR"),
    (Errno::NOTEMPTY, "ENOTEMPTY"),
    (Errno::NXIO, "ENXIO"),
    (Errno::PERM, "EPERM"),
    (Errno::PIPE, "EPIPE"),
    (Errno::ROFS, "EROFS"),
    (Errno::SPIPE, "ESPIPE"),
    (Errno::XDEV, "EXDEV"),
];

/// Throws an error with `code`, `errno` and `syscall`.
pub fn throw(ctx: &Ctx<'_>, error: &io::Error, syscall: &str) -> Error {
    let number = error.raw_os_error().unwrap_or_else(|| Errno::IO.raw_os_error());
    let code = NAMES
        .iter()
        .find(|(errno, _)| errno.raw_os_error() == number)
        .map_or("EIO", |(_, name)| *name);
    let thrown = (|| -> Result<Exception<'_>> {
        let exception = Exception::from_message(ctx.clone(), code)?;
        exception.set("code", code)?;
        exception.set("errno", -number)?;
        exception.set("syscall", syscall)?;
        Ok(exception)
    })();
    match thrown {
        Ok(exception) => exception.throw(),
        Err(error) => error,
    }
}

/// Adds the context that turns a failure into a thrown error.
pub trait OrThrow<T> {
    /// # Errors
    /// The error made by [`throw`].
    fn or_throw(self, ctx: &Ctx<'_>, syscall: &str) -> Result<T>;
}

impl<T, E: Into<io::Error>> OrThrow<T> for std::result::Result<T, E> {
    fn or_throw(self, ctx: &Ctx<'_>, syscall: &str) -> Result<T> {
        self.map_err(|error| throw(ctx, &error.into(), syscall))
    }
}
