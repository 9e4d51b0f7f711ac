//! Directories of a session's guest, at its start and before each later run.

use sandbox::{Attachment, AttachmentAccess, LaunchError};

use super::Driver;
use crate::files::{SessionDirectories, SharedTree};

impl Driver {
    /// Refreshes the guest's read-only folders, tools and skills.
    pub(super) async fn renew_files(&mut self, code: &str) -> Result<(), LaunchError> {
        let folders = self.read_only.clone();
        if let Some(guest) = self.guest.as_mut().filter(|_| !folders.is_empty()) {
            guest.attach(folders).await?;
        }
        let now = self.shared.files.shared(&self.key.principal, code).await;
        let place = |tree: &SharedTree| tree.attachment.clone();
        if now.as_ref().map(place) == self.shared_tree.as_ref().map(place) {
            return Ok(());
        }
        // Drop the lease first: a failed attach may already have detached the old tree.
        let _before = self.shared_tree.take();
        if let (Some(guest), Some(tree)) = (&mut self.guest, &now) {
            guest.attach(vec![tree.attachment.clone()]).await?;
        }
        self.shared_tree = now;
        Ok(())
    }

    pub(super) async fn files(&mut self, code: &str) -> Result<Vec<Attachment>, LaunchError> {
        let source = self.shared.files.clone();
        let SessionDirectories {
            attachments: mut files,
            lease,
            notice,
        } = source.of(&self.key.principal, &self.key.name).await?;
        self.lease = lease;
        self.files_notice = notice;
        self.keeps_files = files.iter().any(|file| file.target == "/workspace");
        let is_read_only = |file: &&Attachment| file.access == AttachmentAccess::ReadOnly;
        self.read_only = files.iter().filter(is_read_only).cloned().collect();
        self.shared_tree = source.shared(&self.key.principal, code).await;
        files.extend(self.shared_tree.as_ref().map(|tree| tree.attachment.clone()));
        Ok(files)
    }
}
