//! An installation for a soak: its own directories, in which a codeyard has already run.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde_json::json;
use test_support::{Codeyard, Era};

use super::programs::run;
use super::watch::Watch;

pub struct Installation {
    pub codeyard: Codeyard,
    directories: Vec<PathBuf>,
}

impl Installation {
    /// Creates the installation with this managed environment and runs one program in it.
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

    /// Starts to watch its programs; growth is judged only after `least` units of work.
    pub fn watch(&self, title: String, least: u32) -> Watch {
        Watch::begin(title, least, self.directories.clone())
    }
}
