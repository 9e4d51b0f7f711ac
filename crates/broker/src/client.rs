//! The client of a run, as far as the run's calls reach it.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::Arc;

use sandbox::BoxFuture;
use tokio::sync::{Mutex, watch};
use types::Activity;

/// Receives a run's activity and its questions. The default receives neither.
#[derive(Debug, Clone, Default)]
pub struct RunClient {
    /// Receives the activity, if the client wants progress.
    pub activity: Option<watch::Sender<Activity>>,
    /// The person, if the client can ask one.
    pub person: Option<Arc<RunPerson>>,
}

/// Asks the person in front of a client.
pub trait Person: Debug + Send + Sync {
    /// Asks the person to open a link; resolves with the answer. The caller limits the wait.
    fn ask<'a>(&'a self, question: &'a LinkQuestion) -> BoxFuture<'a, PersonAnswer>;

    /// Tells the client that the person has finished at the link.
    fn done<'a>(&'a self, question: &'a LinkQuestion) -> BoxFuture<'a, ()>;
}

/// A link that a person is asked to open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkQuestion {
    /// Unique among questions.
    pub id: String,
    /// The purpose of the link, for the person.
    pub message: String,
    /// The link to open.
    pub url: String,
}

/// The person's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PersonAnswer {
    /// The person agreed to open the link, and may still be busy there.
    Agreed,
    /// The person declined, or the client could not ask.
    Declined,
}

/// The person behind one run. Receives one question at a time, and at most one for each server.
#[derive(Debug)]
pub struct RunPerson {
    pub(crate) person: Arc<dyn Person>,
    /// Servers about which the person was asked. Locked while a question is open.
    pub(crate) asked: Mutex<BTreeSet<String>>,
}

// === impl RunPerson ===

impl RunPerson {
    /// Nothing has been asked.
    pub fn new(person: Arc<dyn Person>) -> Self {
        Self {
            person,
            asked: Mutex::default(),
        }
    }
}
