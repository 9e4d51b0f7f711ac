//! The settings of one run of the benchmarks.

use std::os::unix::fs::symlink;
use std::path::PathBuf;

use anyhow::{Context, Result};
use test_support::Codeyard;

use crate::placement::Placement;

/// What every part of the benchmarks receives.
#[derive(Debug, Clone)]
pub struct Setting {
    /// Data directory with a managed environment.
    pub data: PathBuf,
    /// Where the rivals are installed.
    pub rivals: Option<PathBuf>,
    /// Where this process runs.
    pub placement: Placement,
    /// Samples of each figure; slow ones take fewer.
    pub samples: usize,
    /// Another build of codeyard, to compare this one with.
    pub before: Option<PathBuf>,
}

impl Setting {
    /// Gives an installation the managed environment, and leaves it a record database of its own.
    pub fn lend_environment(&self, codeyard: &Codeyard) -> Result<()> {
        let data = codeyard.data_directory();
        std::fs::create_dir_all(&data)?;
        let managed = std::path::absolute(&self.data)?.join("python");
        symlink(&managed, data.join("python")).with_context(|| format!("link {}", managed.display()))
    }
}
