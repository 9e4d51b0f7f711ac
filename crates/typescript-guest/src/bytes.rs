//! Copies bytes out of the engine: the only place in this crate that reads the engine's memory.

use rquickjs::{Ctx, Exception, Result, TypedArray};

/// A copy of the bytes.
///
/// # Errors
/// A `TypeError` if the buffer was transferred.
pub fn copy<'js>(ctx: &Ctx<'js>, array: &TypedArray<'js, u8>) -> Result<Vec<u8>> {
    #[expect(unsafe_code, reason = "the library has no safe way to read bytes")]
    // SAFETY: no JavaScript runs while the slice lives.
    let bytes = unsafe { array.as_bytes() };
    bytes
        .map(<[u8]>::to_vec)
        .ok_or_else(|| Exception::throw_type(ctx, "the buffer was transferred away"))
}
