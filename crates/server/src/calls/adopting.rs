//! Host calls of a run as root: makes files that tools write into the workspace readable for the program.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sandbox::{BoxFuture, CallContext, HostCall, HostCalls, Stream};
use serde_json::Value;
use serde_json::value::RawValue;
use types::{HostCallError, Principal, RunInputs};
use workspace::Workspaces;

use crate::files::blocking;

const MOST_PATHS: usize = 20;

/// Forwards calls to `calls`, then examines each argument that is a path below `directory`.
pub(crate) struct Adopting {
    pub(crate) calls: Arc<dyn HostCalls>,
    pub(crate) workspaces: Workspaces,
    pub(crate) principal: Principal,
    pub(crate) directory: PathBuf,
}

impl HostCalls for Adopting {
    fn names(&self) -> Option<Vec<String>> {
        self.calls.names()
    }

    fn inputs(&self) -> Option<RunInputs> {
        self.calls.inputs()
    }

    fn inputs_read(&self, reads: &RawValue) {
        self.calls.inputs_read(reads);
    }

    fn printed(&self, stream: Stream, bytes: &[u8]) {
        self.calls.printed(stream, bytes);
    }

    fn call(
        &self,
        call: HostCall,
        context: CallContext,
    ) -> BoxFuture<'_, Result<Box<RawValue>, HostCallError>> {
        let mut paths = Vec::new();
        gather(&call.args, &self.directory, &mut paths);
        if paths.is_empty() {
            return self.calls.call(call, context);
        }
        Box::pin(async move {
            let answer = self.calls.call(call, context).await;
            let (workspaces, principal) = (self.workspaces.clone(), self.principal.clone());
            blocking(move || {
                for path in paths {
                    workspaces.adopt(&principal, &path);
                }
            })
            .await;
            answer
        })
    }
}

fn gather(value: &Value, directory: &Path, paths: &mut Vec<PathBuf>) {
    if paths.len() >= MOST_PATHS {
        return;
    }
    match value {
        Value::String(text) if Path::new(text).starts_with(directory) => paths.push(PathBuf::from(text)),
        Value::Array(items) => items.iter().for_each(|item| gather(item, directory, paths)),
        Value::Object(fields) => fields.values().for_each(|field| gather(field, directory, paths)),
        _ => {}
    }
}
