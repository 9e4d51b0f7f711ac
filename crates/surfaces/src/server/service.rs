//! The core's interface for the `server` surface: runs programs and lines, and opens files; implemented by `server`.

use std::future::Future;

use broker::RunClient;
use tokio_util::sync::CancellationToken;
use types::{Limits, TraceContext};
use workspace::WorkspaceError;
use workspace::virtual_files::{DirectoryListing, FileError, FileText, WrittenText};

use crate::error::RunError;
use crate::execute::Execute;
use crate::server::report::MetaToolRun;

/// A line of constrained commands.
#[derive(Debug, Clone, PartialEq)]
pub struct CommandLine {
    /// The line as the client wrote it.
    pub line: String,
    /// Limits of the run.
    pub limits: Limits,
    /// Where the client's request belongs in a trace.
    pub trace: Option<TraceContext>,
}

/// A request for a directory listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrowseRequest {
    /// Empty for the default directory.
    pub path: String,
    /// Whether names that begin with `.` are listed.
    pub include_hidden: bool,
    /// Maximum number of entries.
    pub max_entries: usize,
}

/// Why a file could not be listed, read or written.
#[derive(Debug, thiserror::Error)]
pub enum FileRequestError {
    /// The request is invalid or refused.
    #[error(transparent)]
    File(#[from] FileError),
    /// The session's files cannot be opened.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// The thread for the files failed.
    #[error("codeyard failed while it worked on the files")]
    Interrupted,
}

/// The operations of the four tools.
pub trait MetaTools: Send + Sync + 'static {
    /// Runs a program until it ends. `cancel` cancels the run; `client` receives its activity and questions. The first
    /// poll puts the run into the session's queue.
    fn run(
        &self,
        run: Execute,
        cancel: CancellationToken,
        client: RunClient,
    ) -> impl Future<Output = Result<MetaToolRun, RunError>> + Send;

    /// Evaluates a line until it ends.
    fn evaluate(
        &self,
        line: CommandLine,
        cancel: CancellationToken,
    ) -> impl Future<Output = Result<MetaToolRun, RunError>> + Send;

    /// Lists a directory or one file.
    fn browse(
        &self,
        request: BrowseRequest,
    ) -> impl Future<Output = Result<DirectoryListing, FileRequestError>> + Send;

    /// Reads a text file.
    fn read(&self, path: String) -> impl Future<Output = Result<FileText, FileRequestError>> + Send;

    /// Writes a text file.
    fn write(
        &self,
        path: String,
        content: Option<String>,
    ) -> impl Future<Output = Result<WrittenText, FileRequestError>> + Send;

    /// Records a program that was not run because of wrong arguments.
    fn refused(&self, code: Option<&str>) -> impl Future<Output = ()> + Send;
}
