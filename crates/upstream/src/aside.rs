//! Work on long inputs beside the reactor: while one thread reads them, another serves everybody else.

use tokio::runtime::{Handle, RuntimeFlavor};

/// Bytes up to which reading an input takes less than handing the reactor to another thread.
const SHORT: usize = 64 * 1024;

/// Does the work on an input of so many bytes. Where it is long, other tasks go on meanwhile.
pub fn aside<T>(bytes: usize, work: impl FnOnce() -> T) -> T {
    let hands_over = || Handle::try_current().map(|handle| handle.runtime_flavor());
    if bytes > SHORT && matches!(hands_over(), Ok(RuntimeFlavor::MultiThread)) {
        return tokio::task::block_in_place(work);
    }
    work()
}
