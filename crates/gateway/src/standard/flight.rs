//! One request on its way to a server: what comes back before its answer, and the answer.

use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::mpsc;
use tokio_util::task::AbortOnDropHandle;
use upstream::{Question, Refusal};

use super::desk::{Posed, Seated};
use super::service::StandardService;

/// Notices of progress on their way to the client.
const PROGRESS: usize = 32;

/// A request under way. Dropping it takes the request back.
#[derive(Debug)]
pub(super) struct Flight {
    answer: AbortOnDropHandle<Result<Box<RawValue>, Refusal>>,
    progress: mpsc::Receiver<Value>,
    questions: mpsc::Receiver<Posed>,
    seated: Option<Seated>,
}

/// What comes back.
#[derive(Debug)]
pub(super) enum Event {
    /// The parameters of a notice of progress.
    Progress(Value),
    /// What the server wants to know first.
    Question(Posed),
    /// The end of it.
    Answer(Result<Box<RawValue>, Refusal>),
}

impl Flight {
    /// Sends the request. `seat` is its place at the desk, where the client can be asked in its answer.
    pub(super) fn start<S: StandardService>(
        service: &std::sync::Arc<S>,
        mut question: Question,
        seat: Option<(Seated, mpsc::Receiver<Posed>)>,
    ) -> Flight {
        let (sender, progress) = mpsc::channel(PROGRESS);
        question.progress = Some(sender);
        let (seated, questions) = match seat {
            Some((seated, questions)) => (Some(seated), questions),
            None => (None, mpsc::channel(1).1),
        };
        let service = std::sync::Arc::clone(service);
        let answer = tokio::spawn(async move { service.relay(question).await });
        Flight {
            answer: AbortOnDropHandle::new(answer),
            progress,
            questions,
            seated,
        }
    }

    /// The next thing that comes; what came first is first.
    pub(super) async fn next(&mut self) -> Event {
        tokio::select! {
            biased;
            Some(notice) = self.progress.recv() => Event::Progress(notice),
            answer = &mut self.answer => Event::Answer(answer.unwrap_or_else(|failed| {
                Err(Refusal {
                    code: super::client::INTERNAL_ERROR,
                    message: format!("the request failed inside: {failed}"),
                    data: None,
                })
            })),
            Some(posed) = self.questions.recv() => Event::Question(posed),
        }
    }

    /// Whether its client has been asked and has not come again.
    pub(super) fn set_parked(&self, is_parked: bool) {
        if let Some(seated) = &self.seated {
            seated.set_parked(is_parked);
        }
    }

    /// A further question that waits already.
    pub(super) fn question(&mut self) -> Option<Posed> {
        self.questions.try_recv().ok()
    }
}
