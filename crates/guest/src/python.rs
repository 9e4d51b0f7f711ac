//! Embeds the guest's Python package.

/// A file of the guest, with its path below `/opt/codeyard`.
#[derive(Debug, Clone, Copy)]
pub struct GuestFile {
    /// Relative to `/opt/codeyard`.
    pub path: &'static str,
    /// Content.
    pub bytes: &'static [u8],
}

/// Every file of the Python guest.
pub fn python_files() -> &'static [GuestFile] {
    include!(concat!(env!("OUT_DIR"), "/python_files.rs"))
}
