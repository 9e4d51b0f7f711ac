//! Texts and lists of texts in bodies, with limits on their length.

use serde_json::Value;
use types::is_unseen;

use crate::json::member;
use crate::mistakes::MistakeList;
use crate::object::{MemberValue, Object, kind};

/// Maximum items of a list.
pub(crate) const MAX_ITEMS: usize = 100;
/// Maximum characters of an item.
pub(crate) const MAX_ITEM: usize = 255;

/// The type of a list's items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Items {
    Texts,
    /// A text, or an object with the member `name`.
    Tags,
}

/// A text of one line.
pub(super) fn line(value: &Value, most: usize) -> Result<String, String> {
    let text = text(value, most)?;
    if text.trim().is_empty() {
        return Err("is blank".to_owned());
    }
    if text.chars().any(is_unseen) {
        return Err("holds control characters or characters without width; remove them".to_owned());
    }
    Ok(text.trim().to_owned())
}

/// A text that may have several lines.
pub(super) fn text(value: &Value, most: usize) -> Result<String, String> {
    let Some(text) = value.as_str() else {
        return Err(format!("expected a string, found {}", kind(value)));
    };
    let length = text.chars().count();
    if length > most {
        return Err(format!("has {length} characters; {most} are the most"));
    }
    // Postgres rejects texts with this character.
    if text.contains('\0') {
        return Err("holds the character U+0000; remove it".to_owned());
    }
    Ok(text.to_owned())
}

/// A member that is a list of texts. Ignores the whole list if an item is wrong.
pub(super) fn list(
    object: &Object<'_>,
    name: &str,
    items: Items,
    mistakes: &mut MistakeList,
) -> MemberValue<Vec<String>> {
    let value = match object.given(name) {
        MemberValue::Absent => return MemberValue::Absent,
        MemberValue::Null => return MemberValue::Null,
        MemberValue::Value(value) => value,
    };
    let place = object.place(name);
    let Some(values) = value.as_array() else {
        mistakes.wrong(
            &place,
            format!("expected an array of strings, found {}", kind(value)),
        );
        return MemberValue::Absent;
    };
    if values.len() > MAX_ITEMS {
        mistakes.wrong(
            &place,
            format!("has {} items; {MAX_ITEMS} are the most", values.len()),
        );
        return MemberValue::Absent;
    }
    let read = values.iter().enumerate();
    let read: Vec<_> = read
        .map(|(index, value)| item(&format!("{place}[{index}]"), value, items, mistakes))
        .collect();
    let texts: Option<Vec<String>> = read.into_iter().collect();
    texts.map_or(MemberValue::Absent, MemberValue::Value)
}

/// Keeps the first of equal items.
pub(super) fn without_duplicates<T: PartialEq>(items: Vec<T>) -> Vec<T> {
    let mut kept = Vec::with_capacity(items.len());
    for item in items {
        if !kept.contains(&item) {
            kept.push(item);
        }
    }
    kept
}

fn item(place: &str, value: &Value, items: Items, mistakes: &mut MistakeList) -> Option<String> {
    if items == Items::Texts || !value.is_object() {
        return mistakes.or_wrong(place, line(value, MAX_ITEM));
    }
    let tag = Object::open(place, value, &["name"], &[], mistakes);
    match tag.read("name", mistakes, |name| line(name, MAX_ITEM)) {
        MemberValue::Value(name) => Some(name),
        MemberValue::Null | MemberValue::Absent => {
            if tag.given("name").value().is_none() {
                mistakes.wrong(&member(place, "name"), "is required");
            }
            None
        }
    }
}
