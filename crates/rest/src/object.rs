//! Reads the members of objects, in snake case and in camel case.

use environment::nearest;
use serde_json::Value;

use crate::json::member;
use crate::mistakes::{MAX_WORD, MistakeList, shortened};

/// A member of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MemberValue<T> {
    /// Keeps the current value.
    Absent,
    /// Clears the current value.
    Null,
    Value(T),
}

/// An object with known members, in snake case or camel case.
#[derive(Debug, Default)]
pub(crate) struct Object<'v> {
    path: String,
    members: Vec<Member<'v>>,
}

#[derive(Debug)]
struct Member<'v> {
    /// Name in snake case.
    name: &'static str,
    /// The client's spelling.
    written: &'v str,
    value: &'v Value,
}

// === impl MemberValue ===

impl<T> MemberValue<T> {
    /// The value; `None` if it is absent or null.
    pub(crate) fn value(self) -> Option<T> {
        match self {
            MemberValue::Value(value) => Some(value),
            MemberValue::Absent | MemberValue::Null => None,
        }
    }
}

// === impl Object ===

impl<'v> Object<'v> {
    /// Opens the object at `path`. Reports members with unknown names, and suggests the name from `renamed` or the
    /// nearest name. A value of another type reads as an empty object.
    pub(crate) fn open(
        path: &str,
        value: &'v Value,
        known: &[&'static str],
        renamed: &[(&str, &str)],
        mistakes: &mut MistakeList,
    ) -> Self {
        let mut object = Object {
            path: path.to_owned(),
            members: Vec::new(),
        };
        let Some(map) = value.as_object() else {
            let place = if path.is_empty() { "body" } else { path };
            mistakes.wrong(place, format!("expected an object, found {}", kind(value)));
            return object;
        };
        for (written, value) in map {
            let place = member(path, written);
            let snake = snake_case(written);
            let Some(name) = known.iter().find(|name| **name == snake) else {
                mistakes.wrong(&place, unknown(&snake, known, renamed));
                continue;
            };
            if let Some(other) = object.members.iter().find(|member| member.name == *name) {
                let message = format!("is also given as `{}`; write one of both", other.written);
                mistakes.wrong(&place, message);
            }
            object.members.push(Member { name, written, value });
        }
        object
    }

    fn member(&self, name: &str) -> Option<&Member<'v>> {
        self.members.iter().find(|member| member.name == name)
    }

    pub(crate) fn given(&self, name: &str) -> MemberValue<&'v Value> {
        match self.member(name).map(|member| member.value) {
            None => MemberValue::Absent,
            Some(Value::Null) => MemberValue::Null,
            Some(value) => MemberValue::Value(value),
        }
    }

    /// A member's place in the client's spelling.
    pub(crate) fn place(&self, name: &str) -> String {
        member(
            &self.path,
            self.member(name).map_or(name, |member| member.written),
        )
    }

    /// The member's value from `read`; reports a failure of `read`.
    pub(crate) fn read<T>(
        &self,
        name: &str,
        mistakes: &mut MistakeList,
        read: impl FnOnce(&'v Value) -> Result<T, String>,
    ) -> MemberValue<T> {
        match self.given(name) {
            MemberValue::Absent => MemberValue::Absent,
            MemberValue::Null => MemberValue::Null,
            MemberValue::Value(value) => {
                let read = mistakes.or_wrong(&self.place(name), read(value));
                read.map_or(MemberValue::Absent, MemberValue::Value)
            }
        }
    }

    /// The object that a member holds; empty if it is absent or null.
    pub(crate) fn object(
        &self,
        name: &str,
        known: &[&'static str],
        mistakes: &mut MistakeList,
    ) -> Object<'v> {
        match self.given(name) {
            MemberValue::Value(value) => Object::open(&self.place(name), value, known, &[], mistakes),
            MemberValue::Absent | MemberValue::Null => Object::default(),
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

/// A value's type, for messages.
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

/// The message for an unknown name.
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
}
