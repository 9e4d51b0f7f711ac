//! Collects the mistakes of a request, up to a limit.

use policy::Mistake;
use types::spelled_out;

use crate::error::RestError;

/// Maximum mistakes in an answer.
const MAX_MISTAKES: usize = 100;
/// Maximum characters of a client's word in a message. Longer words get no suggestion.
pub(crate) const MAX_WORD: usize = 64;

/// The mistakes of one request, in the order found.
#[derive(Debug, Default)]
pub(crate) struct MistakeList {
    mistakes: Vec<Mistake>,
    /// Number of mistakes beyond [`MAX_MISTAKES`].
    others: usize,
}

// === impl MistakeList ===

impl MistakeList {
    pub(crate) fn add(&mut self, mistake: Mistake) {
        if self.mistakes.len() < MAX_MISTAKES {
            let field = shortened(&mistake.field, 4 * MAX_WORD);
            self.mistakes.push(Mistake { field, ..mistake });
        } else {
            self.others += 1;
        }
    }

    /// Adds a mistake at a place of the body.
    pub(crate) fn wrong(&mut self, field: &str, message: impl Into<String>) {
        self.add(Mistake {
            field: field.to_owned(),
            message: message.into(),
        });
    }

    /// The value, or `None` after reporting the mistake.
    pub(crate) fn or_wrong<T>(&mut self, field: &str, read: Result<T, String>) -> Option<T> {
        read.map_err(|message| self.wrong(field, message)).ok()
    }

    /// Fails with all mistakes, if any.
    pub(crate) fn finish(mut self) -> Result<(), RestError> {
        if self.mistakes.is_empty() {
            return Ok(());
        }
        if self.others > 0 {
            self.mistakes.push(Mistake {
                field: "body".to_owned(),
                message: format!("has {} more mistakes", self.others),
            });
        }
        Err(RestError::Invalid(self.mistakes))
    }
}

/// At most `most` characters, with invisible characters escaped.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", spelled_out(&text[..end])),
        None => spelled_out(text),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::object::Object;

    #[test]
    fn an_answer_holds_a_bounded_number_of_mistakes() {
        let names = (0..500).map(|number| (format!("{}{number}", "k".repeat(500)), json!(1)));
        let body = Value::Object(names.collect());
        let mut mistakes = MistakeList::default();
        Object::open("", &body, &["name"], &[], &mut mistakes);
        let Err(RestError::Invalid(mistakes)) = mistakes.finish() else {
            panic!("expected mistakes");
        };
        assert_eq!(mistakes.len(), MAX_MISTAKES + 1);
        assert!(mistakes.iter().all(|mistake| mistake.field.len() < 5 * MAX_WORD));
        assert_eq!(mistakes[MAX_MISTAKES].message, "has 400 more mistakes");
    }
}
