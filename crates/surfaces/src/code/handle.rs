//! Describes a result that is too large for an answer: handle, type, size, beginning, and how to read more.

use serde_json::{Value, json};
use types::{Kept, SessionName};

use super::table;

/// Maximum bytes of a type in an answer.
const MAX_TYPE: usize = 600;

/// Python types that JSON already shows.
const JSON_TYPES: [&str; 4] = ["dict", "list", "str", "tuple"];

pub(super) fn structured(kept: &Kept) -> Value {
    json!({
        "name": kept.name,
        "type": type_of(kept),
        "size": kept.size,
        "preview": kept.sample,
    })
}

pub(super) fn text(kept: &Kept, session: &SessionName) -> String {
    let Kept { name, size, .. } = kept;
    let kind = type_of(kept);
    let mut text =
        format!("{name}: {kind}, {size}: too large to show, it stays in session {session}. It begins:\n");
    match &kept.sample {
        Some(Value::String(beginning)) => text.push_str(beginning),
        Some(sample) => text.push_str(&table::render(sample).unwrap_or_else(|| sample.to_string())),
        None => text.push_str("(its beginning cannot be shown)"),
    }
    text.push_str(&format!(
        "\nGo on with it in the next program of this session: {}",
        expression(kept)
    ));
    text
}

/// The expression by which a program reads a part of the result.
fn expression(kept: &Kept) -> String {
    let part = match (&kept.sample, kept.kind.as_str()) {
        (_, "DataFrame" | "Series") => ".head(20)".to_owned(),
        (_, "dict") => match &kept.first {
            Some(first) => format!("[{first}]"),
            None => String::new(),
        },
        (Some(Value::Array(_)), "list" | "tuple" | "ndarray") => "[:20]".to_owned(),
        (_, "str" | "bytes") => "[:1000]".to_owned(),
        _ => String::new(),
    };
    format!("runtime.result(\"{}\"){part}", kept.name)
}

/// The type inferred from the sample, as in signatures. The Python type is prepended if it adds information.
fn type_of(kept: &Kept) -> String {
    let inferred = kept.sample.as_ref().map(catalog::type_of_value);
    let is_bytes = matches!(kept.kind.as_str(), "bytes" | "bytearray");
    let inferred = inferred.filter(|kind| kind.len() <= MAX_TYPE && kind != "Any" && !is_bytes);
    match inferred {
        Some(inferred) if JSON_TYPES.contains(&kept.kind.as_str()) => inferred,
        Some(inferred) => format!("{} as {inferred}", kept.kind),
        None => kept.kind.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(kind: &str, sample: Option<Value>, expected: &[&str]) {
        let kept = Kept {
            name: "r3".to_owned(),
            kind: kind.to_owned(),
            size: "2,000 items".to_owned(),
            sample,
            first: (kind == "dict").then(|| "7".to_owned()),
        };
        assert_eq!(
            text(&kept, &SessionName::new("default"))
                .lines()
                .collect::<Vec<_>>(),
            expected
        );
    }

    #[test]
    fn a_handle_describes_the_result_and_how_to_continue() {
        let rows = json!([{"id": 1, "name": "Ann", "note": null}, {"id": 2, "name": "Bo"}]);
        check(
            "list",
            Some(rows.clone()),
            &[
                "r3: list[{id: int, name: str, note?: None}], 2,000 items: too large to show, it stays in session default. It begins:",
                "[2]:",
                "id,name,note",
                "1,Ann,null",
                "2,Bo,",
                "Go on with it in the next program of this session: runtime.result(\"r3\")[:20]",
            ],
        );
        check(
            "DataFrame",
            Some(rows),
            &[
                "r3: DataFrame as list[{id: int, name: str, note?: None}], 2,000 items: too large to show, it stays in session default. It begins:",
                "[2]:",
                "id,name,note",
                "1,Ann,null",
                "2,Bo,",
                "Go on with it in the next program of this session: runtime.result(\"r3\").head(20)",
            ],
        );
        check(
            "dict",
            Some(json!({"7": 1})),
            &[
                "r3: dict[str, int], 2,000 items: too large to show, it stays in session default. It begins:",
                "{\"7\":1}",
                "Go on with it in the next program of this session: runtime.result(\"r3\")[7]",
            ],
        );
        check(
            "set",
            Some(json!([1, 2])),
            &[
                "r3: set as list[int], 2,000 items: too large to show, it stays in session default. It begins:",
                "[1,2]",
                "Go on with it in the next program of this session: runtime.result(\"r3\")",
            ],
        );
        check(
            "Bad",
            None,
            &[
                "r3: Bad, 2,000 items: too large to show, it stays in session default. It begins:",
                "(its beginning cannot be shown)",
                "Go on with it in the next program of this session: runtime.result(\"r3\")",
            ],
        );
    }
}
