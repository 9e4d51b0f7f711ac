//! Keeps the asynchronous runtime responsive while one task works on a large input.

use tokio::runtime::{Handle, RuntimeFlavor};

/// Below this many bytes, the work takes less time than handing the worker's tasks to another thread.
const SMALL: usize = 64 * 1024;

/// Does the work. If the input is large, the worker's other tasks continue on another thread.
pub fn block_in_place_if_large<T>(bytes: usize, work: impl FnOnce() -> T) -> T {
    let flavor = || Handle::try_current().map(|handle| handle.runtime_flavor());
    if bytes > SMALL && matches!(flavor(), Ok(RuntimeFlavor::MultiThread)) {
        return tokio::task::block_in_place(work);
    }
    work()
}
