//! The guest's Python package as embedded files.

/// One file of the guest, with its path below `/opt/codeyard`.
#[derive(Debug, Clone, Copy)]
pub struct GuestFile {
    /// Relative path.
    pub path: &'static str,
    /// Content.
    pub bytes: &'static [u8],
}

/// Every file of the Python guest.
pub fn python_files() -> &'static [GuestFile] {
    include!(concat!(env!("OUT_DIR"), "/python_files.rs"))
}
