//! The settings of one run of the benchmarks.

use std::os::unix::fs::symlink;
use std::path::PathBuf;

use anyhow::{Context, Result};
use test_support::Codeyard;

use crate::placement::Placement;

#[derive(Debug, Clone)]
pub struct Setting {
    pub data: PathBuf,
    pub rivals: Option<PathBuf>,
    pub placement: Placement,
    /// Samples of each figure; slow figures take fewer.
    pub samples: usize,
    /// Another codeyard binary, to compare with.
    pub before: Option<PathBuf>,
}

impl Setting {
    /// Links the managed environment into an installation that keeps its own record database.
    pub fn lend_environment(&self, codeyard: &Codeyard) -> Result<()> {
        let data = codeyard.data_directory();
        std::fs::create_dir_all(&data)?;
        let managed = std::path::absolute(&self.data)?.join("python");
        symlink(&managed, data.join("python")).with_context(|| format!("link {}", managed.display()))
    }
}
