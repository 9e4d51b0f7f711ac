//! Reads a body as JSON in bounded memory, and reports duplicate members.

use std::fmt;

use policy::Mistake;
use serde::Deserializer;
use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use types::bulk;

use crate::error::RestError;
use crate::mistakes::MistakeList;

/// Reads a body. Reports a duplicate member, because one of the values would be dropped.
///
/// # Errors
/// If the body is not JSON, nests too deeply or has too many values.
pub(crate) fn read(body: &[u8], mistakes: &mut MistakeList) -> Result<Value, RestError> {
    bulk::check(body, bulk::READ).map_err(|error| RestError::BadRequest(error.to_string()))?;
    let mut deserializer = serde_json::Deserializer::from_slice(body);
    let members = UniqueMembers {
        path: String::new(),
        mistakes,
    };
    let value = members.deserialize(&mut deserializer).map_err(not_json)?;
    deserializer.end().map_err(not_json)?;
    Ok(value)
}

fn not_json(error: serde_json::Error) -> RestError {
    RestError::BadRequest(format!("the body is not JSON: {error}"))
}

/// The place of a member below `parent`, which is empty for the body itself.
pub(crate) fn member(parent: &str, name: &str) -> String {
    if parent.is_empty() {
        name.to_owned()
    } else {
        format!("{parent}.{name}")
    }
}

struct UniqueMembers<'r> {
    path: String,
    mistakes: &'r mut MistakeList,
}

impl<'de> DeserializeSeed<'de> for UniqueMembers<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for UniqueMembers<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        let number = Number::from_f64(value).ok_or_else(|| E::custom("a number out of range"))?;
        Ok(Value::Number(number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        loop {
            let item = UniqueMembers {
                path: format!("{}[{}]", self.path, list.len()),
                mistakes: &mut *self.mistakes,
            };
            match items.next_element_seed(item)? {
                Some(value) => list.push(value),
                None => return Ok(Value::Array(list)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            let path = member(&self.path, &name);
            if map.contains_key(&name) {
                self.mistakes.add(Mistake {
                    field: path.clone(),
                    message: "is given twice; write it once".to_owned(),
                });
            }
            let value = members.next_value_seed(UniqueMembers {
                path,
                mistakes: &mut *self.mistakes,
            })?;
            map.insert(name, value);
        }
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn said(body: &[u8]) -> String {
        let mut mistakes = MistakeList::default();
        match read(body, &mut mistakes) {
            Err(problem) => problem.to_string(),
            Ok(value) => match mistakes.finish() {
                Ok(()) => value.to_string(),
                Err(problem) => problem.to_string(),
            },
        }
    }

    #[test]
    fn bodies_are_json_without_members_given_twice() {
        let check = |body: &str, expected: &str| assert_eq!(said(body.as_bytes()), expected, "{body}");
        check(
            r#"{"a": [1, -2, 0.5, null, true, "x"]}"#,
            r#"{"a":[1,-2,0.5,null,true,"x"]}"#,
        );
        check(
            r#"{"a": {"b": 1, "c": [{"d": 1, "d": 2}], "b": 2}}"#,
            "a.c[0].d: is given twice; write it once; a.b: is given twice; write it once",
        );
        check(
            r#"{"a": 1"#,
            "the body is not JSON: EOF while parsing an object at line 1 column 7",
        );
        check(
            "{} x",
            "the body is not JSON: trailing characters at line 1 column 4",
        );
        check(
            "",
            "the body is not JSON: EOF while parsing a value at line 1 column 0",
        );
        assert!(said(b"\xff\xfe").starts_with("the body is not JSON"));
        assert!(said("[".repeat(1000).as_bytes()).contains("recursion limit exceeded"));
        assert!(said("[1,".repeat(3_000_000).as_bytes()).contains("more than the"));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(body in proptest::collection::vec(any::<u8>(), 0..64)) {
            said(&body);
        }

        #[test]
        fn it_reads_what_the_library_reads(text in r#"[\[\]{}a:,"0-9. ]{0,16}"#) {
            let ours = read(text.as_bytes(), &mut MistakeList::default()).ok();
            prop_assert_eq!(ours, serde_json::from_str::<Value>(&text).ok());
        }
    }
}
