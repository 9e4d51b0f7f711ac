//! Serves the surface `server`: programs and lines of commands in one session, and the files of that session.

mod call_list;
mod command_line;
mod files;
pub(crate) mod jq_process;

use std::sync::{Arc, Mutex, PoisonError};

use broker::{CallObserver, RunClient};
use store::{Front, Refused};
use surfaces::{
    BrowseRequest, CommandLine, Execute, FileRequestError, MetaToolRun, MetaTools, RunError, RunReport,
    changed_before_failure,
};
use tokio_util::sync::CancellationToken;
use types::{Selector, SessionName};
use workspace::Lease;
use workspace::virtual_files::{Browse, DirectoryListing, FileText, WrittenText};

use self::call_list::CallList;
use crate::Caller;
use crate::service::RunExtras;

/// Directory that a request without a path lists.
const DEFAULT_DIRECTORY: &str = "/tools";

/// The four tools of one client.
pub(crate) struct SessionTools {
    caller: Caller,
    /// Keeps /scratch between the runs, also when the sandbox is restarted.
    lease: Arc<Mutex<Option<Lease>>>,
}

// === impl SessionTools ===

impl SessionTools {
    pub(crate) fn new(caller: Caller) -> Self {
        Self {
            caller,
            lease: Arc::default(),
        }
    }

    /// The session of programs that name none, whose files the tools show.
    fn session(&self) -> SessionName {
        match self.caller.session_of(Selector::Default) {
            Selector::Named(name) => name,
            Selector::Default | Selector::New => session::default_name(),
        }
    }

    fn keep(lease: &Mutex<Option<Lease>>, taken: Lease) {
        lease
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get_or_insert(taken);
    }

    /// Checks what a run has left in the session's files.
    async fn blocked(&self, report: &RunReport) -> Option<String> {
        let checked = self.on_files(|files| Ok(files.check_disk()?)).await;
        match checked {
            Err(FileRequestError::File(error)) => {
                let why = error.to_string();
                self.caller.shared.records.file_denied(Some(&report.run_id), &why);
                Some(why)
            }
            // Where no files are kept, the sandbox has its own limits.
            Ok(()) | Err(_) => None,
        }
    }
}

impl MetaTools for SessionTools {
    async fn run(
        &self,
        run: Execute,
        cancel: CancellationToken,
        client: RunClient,
    ) -> Result<MetaToolRun, RunError> {
        let language = run.spec.language.name();
        self.caller.count_run(Some(language), &run.spec.code).await?;
        let calls = CallList::default();
        let around = RunExtras {
            observer: Some(Arc::new(calls.clone()) as Arc<dyn CallObserver>),
            ..RunExtras::of_client(&run, client)
        };
        let report = self
            .caller
            .execute_run(run.spec, run.profile, around, cancel)
            .await?;
        let blocked = self.blocked(&report).await;
        let changed = changed_before_failure(report.outcome.status, report.changes.as_deref());
        Ok(MetaToolRun {
            run_id: report.run_id,
            outcome: report.outcome,
            calls: calls.take(),
            blocked,
            notes: report.notice.into_iter().chain(changed).collect(),
        })
    }

    async fn evaluate(&self, line: CommandLine, cancel: CancellationToken) -> Result<MetaToolRun, RunError> {
        self.evaluate_line(line, cancel).await
    }

    async fn browse(&self, request: BrowseRequest) -> Result<DirectoryListing, FileRequestError> {
        match request.path.trim() {
            "" => self.prepare_tools(DEFAULT_DIRECTORY).await,
            path => self.prepare_tools(&format!("/{path}")).await,
        }
        self.on_files(move |files| {
            Ok(files.browse(&Browse {
                path: &request.path,
                include_hidden: request.include_hidden,
                max_entries: request.max_entries,
            })?)
        })
        .await
        .inspect_err(|error| self.record(error))
    }

    async fn read(&self, path: String) -> Result<FileText, FileRequestError> {
        self.prepare_tools(&format!("/{path}")).await;
        let read = self.on_files(move |files| Ok(files.read(&path)?)).await;
        read.inspect_err(|error| self.record(error))
    }

    async fn write(&self, path: String, content: Option<String>) -> Result<WrittenText, FileRequestError> {
        let written = self
            .on_files(move |files| Ok(files.write(&path, content.as_deref())?))
            .await;
        written.inspect_err(|error| self.record(error))
    }

    async fn refused(&self, code: Option<&str>) {
        self.caller.shared.runs.note_refused(self.caller.client.get());
        let attempt = self.caller.attempt(Front::Mcp, None, code, None);
        // The program is refused either way; the writer reports a failure to record.
        let _ = self
            .caller
            .shared
            .records
            .refused(attempt, Refused::Arguments)
            .await;
    }
}
