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
    /// Another codeyard binary to compare with.
    pub before: Option<PathBuf>,
}

impl Setting {
    /// A new installation, so that no row depends on records and files of another. All share the managed environment.
    pub fn codeyard(&self) -> Result<Codeyard> {
        let codeyard = Codeyard::new()?;
        let data = codeyard.data_directory();
        std::fs::create_dir_all(&data)?;
        let managed = std::path::absolute(&self.data)?.join("python");
        symlink(&managed, data.join("python")).with_context(|| format!("link {}", managed.display()))?;
        Ok(codeyard)
    }
}
