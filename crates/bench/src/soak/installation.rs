//! An installation for a soak: directories of its own, in which a codeyard has run before.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde_json::json;
use test_support::{Codeyard, Era};

use super::programs::run;
use super::watch::Watch;

/// The installation, and where it may leave something.
pub struct Installation {
    pub codeyard: Codeyard,
    directories: Vec<PathBuf>,
}

impl Installation {
    /// Makes it, with the managed environment of this data directory, and runs a program in it once.
    pub async fn new(managed: &Path, settings: &str) -> Result<Self> {
        let codeyard = Codeyard::with_stub()?.settings(settings);
        let temporary = codeyard.directory().join("tmp");
        fs::create_dir(&temporary)?;
        let codeyard = codeyard.env("TMPDIR", &temporary);
        let data = codeyard.data_directory();
        fs::create_dir_all(&data)?;
        std::os::unix::fs::symlink(std::path::absolute(managed)?.join("python"), data.join("python"))?;
        let mut client = codeyard.mcp(Era::Modern).await?;
        run(&mut client, json!({"code": "await tools.stub.add(a=1, b=2)"})).await?;
        client.finish().await?;
        Ok(Self {
            codeyard,
            directories: vec![data, temporary],
        })
    }

    /// Begins to watch what its programs have and leave; growth counts when at least so much has been done.
    pub fn watch(&self, title: String, least: u32) -> Watch {
        Watch::begin(title, least, self.directories.clone())
    }
}
