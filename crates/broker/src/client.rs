//! The client of a run, as far as the run's calls reach it.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::Arc;

use sandbox::BoxFuture;
use tokio::sync::{Mutex, watch};
use types::Activity;

/// Where a run reports its activity, and whom its calls may ask. By default nobody listens.
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

    /// Tells the client that what the link was for is done.
    fn done<'a>(&'a self, question: &'a LinkQuestion) -> BoxFuture<'a, ()>;
}

/// A link that a person is asked to open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkQuestion {
    /// Differs from the id of every other question.
    pub id: String,
    /// Says what the link is for.
    pub message: String,
    /// The link.
    pub url: String,
}

/// What the person answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PersonAnswer {
    /// Opens the link. What it is for may take a while.
    Agreed,
    /// Declines, or cannot be asked.
    Declined,
}

/// The person behind one run, who gets one question at a time, and one about each server.
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
