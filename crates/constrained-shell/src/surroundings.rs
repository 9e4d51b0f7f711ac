//! The environment of a line's evaluation.

use crate::failure::Stop;
use crate::jq::Jq;
use crate::virtual_files::VirtualFiles;

pub(crate) struct Surroundings<'a> {
    pub(crate) files: &'a dyn VirtualFiles,
    pub(crate) jq: &'a dyn Jq,
    pub(crate) is_over: &'a dyn Fn() -> bool,
}

// === impl Surroundings ===

impl Surroundings<'_> {
    pub(crate) fn check_time(&self) -> Result<(), Stop> {
        if (self.is_over)() {
            return Err(Stop::TimeIsOver);
        }
        Ok(())
    }
}
