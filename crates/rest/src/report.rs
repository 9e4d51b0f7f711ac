//! Collects all mistakes of a request, and reads the members of its objects.

use environment::nearest;
use policy::Mistake;
use serde_json::Value;
use types::spelled_out;

use crate::json::member;
use crate::problem::Problem;

/// Mistakes that an answer holds; a body may contain many more.
const MAX_MISTAKES: usize = 100;
/// Characters of a client's word in a message. Longer words are not compared with known names.
const MAX_WORD: usize = 64;

/// The mistakes of one request, in the order found.
#[derive(Debug, Default)]
pub(crate) struct Report {
    mistakes: Vec<Mistake>,
    /// Those beyond [`MAX_MISTAKES`].
    others: usize,
}

/// A member of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Given<T> {
    /// Keeps what there is.
    Absent,
    /// Clears what there is.
    Null,
    Value(T),
}

/// An object whose members are known by name, in either case.
#[derive(Debug, Default)]
pub(crate) struct Object<'v> {
    path: String,
    members: Vec<Member<'v>>,
}

#[derive(Debug)]
struct Member<'v> {
    /// In snake case.
    name: &'static str,
    /// As the client spells it.
    written: &'v str,
    value: &'v Value,
}

// === impl Report ===

impl Report {
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

    /// The value, or the mistake at its place.
    pub(crate) fn or_wrong<T>(&mut self, field: &str, read: Result<T, String>) -> Option<T> {
        read.map_err(|message| self.wrong(field, message)).ok()
    }

    /// All mistakes at once.
    pub(crate) fn finish(mut self) -> Result<(), Problem> {
        if self.mistakes.is_empty() {
            return Ok(());
        }
        if self.others > 0 {
            self.mistakes.push(Mistake {
                field: "body".to_owned(),
                message: format!("has {} more mistakes", self.others),
            });
        }
        Err(Problem::Invalid(self.mistakes))
    }
}

// === impl Given ===

impl<T> Given<T> {
    /// The value; `None` if it is absent or null.
    pub(crate) fn value(self) -> Option<T> {
        match self {
            Given::Value(value) => Some(value),
            Given::Absent | Given::Null => None,
        }
    }
}

// === impl Object ===

impl<'v> Object<'v> {
    /// Opens the object at `path`, whose members may have these names. Reports others with the nearest of
    /// them, or with the name that `renamed` has for them. A value of another type reads as an empty object.
    pub(crate) fn open(
        path: &str,
        value: &'v Value,
        known: &[&'static str],
        renamed: &[(&str, &str)],
        report: &mut Report,
    ) -> Self {
        let mut object = Object {
            path: path.to_owned(),
            members: Vec::new(),
        };
        let Some(map) = value.as_object() else {
            let place = if path.is_empty() { "body" } else { path };
            report.wrong(place, format!("expected an object, found {}", kind(value)));
            return object;
        };
        for (written, value) in map {
            let place = member(path, written);
            let snake = snake_case(written);
            let Some(name) = known.iter().find(|name| **name == snake) else {
                report.wrong(&place, unknown(&snake, known, renamed));
                continue;
            };
            if let Some(other) = object.members.iter().find(|member| member.name == *name) {
                let message = format!("is also given as `{}`; write one of both", other.written);
                report.wrong(&place, message);
            }
            object.members.push(Member { name, written, value });
        }
        object
    }

    fn member(&self, name: &str) -> Option<&Member<'v>> {
        self.members.iter().find(|member| member.name == name)
    }

    pub(crate) fn given(&self, name: &str) -> Given<&'v Value> {
        match self.member(name).map(|member| member.value) {
            None => Given::Absent,
            Some(Value::Null) => Given::Null,
            Some(value) => Given::Value(value),
        }
    }

    /// Where a member is, as the client spells it.
    pub(crate) fn place(&self, name: &str) -> String {
        member(
            &self.path,
            self.member(name).map_or(name, |member| member.written),
        )
    }

    /// The member's value as `read` makes it; reports why it cannot.
    pub(crate) fn read<T>(
        &self,
        name: &str,
        report: &mut Report,
        read: impl FnOnce(&'v Value) -> Result<T, String>,
    ) -> Given<T> {
        match self.given(name) {
            Given::Absent => Given::Absent,
            Given::Null => Given::Null,
            Given::Value(value) => {
                let read = report.or_wrong(&self.place(name), read(value));
                read.map_or(Given::Absent, Given::Value)
            }
        }
    }

    /// The object that a member holds; empty if it is absent or null.
    pub(crate) fn object(&self, name: &str, known: &[&'static str], report: &mut Report) -> Object<'v> {
        match self.given(name) {
            Given::Value(value) => Object::open(&self.place(name), value, known, &[], report),
            Given::Absent | Given::Null => Object::default(),
        }
    }
}

/// `true` or `false`.
pub(crate) fn boolean(value: &Value) -> Result<bool, String> {
    value
        .as_bool()
        .ok_or_else(|| format!("expected true or false, found {}", kind(value)))
}

/// One of the words.
pub(crate) fn one_of<T: Copy>(
    value: &Value,
    choices: &[T],
    name: impl Fn(T) -> &'static str,
) -> Result<T, String> {
    let names: Vec<&str> = choices.iter().map(|choice| name(*choice)).collect();
    let expected = || format!("expected \"{}\"", names.join("\" or \""));
    let Some(word) = value.as_str() else {
        return Err(format!("{}, found {}", expected(), kind(value)));
    };
    if let Some(choice) = choices.iter().find(|choice| name(**choice) == word) {
        return Ok(*choice);
    }
    let hint = near(word, &names).map_or(String::new(), |near| format!("; did you mean \"{near}\"?"));
    Err(format!(
        "{}, found \"{}\"{hint}",
        expected(),
        shortened(word, MAX_WORD)
    ))
}

/// A value's type, as messages name it.
pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// The message for a name that is not known.
pub(crate) fn unknown(name: &str, known: &[&str], renamed: &[(&str, &str)]) -> String {
    let renamed = renamed.iter().find(|(old, _)| *old == name).map(|(_, new)| *new);
    match renamed.or_else(|| near(name, known)) {
        Some(near) => format!("unknown key; did you mean `{near}`?"),
        None => format!("unknown key; known are `{}`", known.join("`, `")),
    }
}

fn near<'n>(word: &str, names: &[&'n str]) -> Option<&'n str> {
    let is_comparable = word.len() <= MAX_WORD;
    is_comparable
        .then(|| nearest(word, names.iter().copied()))
        .flatten()
}

/// At most `most` characters, with unseen ones spelled out.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", spelled_out(&text[..end])),
        None => spelled_out(text),
    }
}

/// `maxMemoryMb` as `max_memory_mb`.
fn snake_case(name: &str) -> String {
    let mut snake = String::with_capacity(name.len() + 4);
    for c in name.chars() {
        if c.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_in_camel_case_are_those_in_snake_case() {
        for (written, name) in [
            ("maxMemoryMb", "max_memory_mb"),
            ("max_memory_mb", "max_memory_mb"),
            ("Name", "name"),
            ("", ""),
        ] {
            assert_eq!(snake_case(written), name);
        }
    }

    #[test]
    fn an_answer_holds_a_bounded_number_of_mistakes() {
        let names = (0..500).map(|number| (format!("{}{number}", "k".repeat(500)), json!(1)));
        let body = Value::Object(names.collect());
        let mut report = Report::default();
        Object::open("", &body, &["name"], &[], &mut report);
        let Err(Problem::Invalid(mistakes)) = report.finish() else {
            panic!("expected mistakes");
        };
        assert_eq!(mistakes.len(), MAX_MISTAKES + 1);
        assert!(mistakes.iter().all(|mistake| mistake.field.len() < 5 * MAX_WORD));
        assert_eq!(mistakes[MAX_MISTAKES].message, "has 400 more mistakes");
    }
}
