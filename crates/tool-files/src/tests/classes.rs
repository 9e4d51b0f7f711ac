//! Typed dictionaries and data classes as schemas: their fields, and which are required.

use std::fmt::Write as _;

use serde_json::Value;

use super::tool;

/// Field names of the class `P`, with `?` after optional ones.
fn fields(classes: &str) -> String {
    let tool = tool(&format!("{classes}\ndef t(p: P): 'x'"));
    let schema = &tool["inputSchema"]["properties"]["p"];
    let Some(properties) = schema["properties"].as_object() else {
        return schema.to_string();
    };
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let names = properties
        .keys()
        .map(|name| match required.contains(&Value::from(name.as_str())) {
            true => name.clone(),
            false => format!("{name}?"),
        });
    names.collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn check(classes: &str, expected: &str) {
    assert_eq!(fields(classes), expected, "{classes}");
}

#[test]
fn a_data_class_is_made_of_what_its_constructor_takes() {
    let data = |body: &str| format!("@dataclass\nclass P:\n  {}", body.replace("; ", "\n  "));
    check(&data("a: int; b: int = 1"), "a b?");
    check(&data("a: int; _: KW_ONLY; b: int"), "a b");
    check(&data("a: int; _: 'dataclasses.KW_ONLY'; b: int"), "a b");
    check(&data("a: int; K: ClassVar[int] = 3; L: ClassVar = 3"), "a");
    check(&data("a: int; K: 'typing.ClassVar[int]' = 3"), "a");
    check(&data("a: int; b: InitVar[int]"), "a b");
    check(
        &data("a: str = field(repr=False); b: str = dataclasses.field()"),
        "a b",
    );
    check(
        &data("a: int = field(default=1); b: list = field(default_factory=list)"),
        "a? b?",
    );
    check(
        &data("a: int; b: int = field(init=False); c: int = field(init=True)"),
        "a c",
    );
    check(&data("a: int; b: int = make()"), "a b?");
    check(&data("a: int; b = 3; def m(self): pass"), "a");
    check(
        &data("a: int; def __init__(self, b): pass"),
        r#"{"type":"object"}"#,
    );
    check(
        "@dataclass(init=False)\nclass P:\n  a: int",
        r#"{"type":"object"}"#,
    );
    check("@dataclasses.dataclass(frozen=True)\nclass P:\n  a: int", "a");
    check("class P:\n  a: int", "{}");
    check("@dataclass\nclass P:\n  a: int\nclass P: pass", "{}");
}

#[test]
fn fields_of_bases_come_first() {
    const BASE: &str = "@dataclass\nclass Base:\n  id: int\n  note: str = ''\n";
    let derived = |text: &str| format!("{BASE}{}", text.replace("; ", "\n"));
    check(
        &derived("@dataclass; class P(Base):;   name: str = field(repr=False)"),
        "id note? name",
    );
    check(
        &derived("@dataclass; class P(Base):;   name: str;   id: int = 0"),
        "id? note? name",
    );
    check(
        &derived("@dataclass; class P(Base):;   id: ClassVar[int] = 1"),
        "note?",
    );
    check(
        &derived("@dataclass; class P(Base):;   id: int = field(init=False, default=1)"),
        "note?",
    );
    check(&derived("class P(Base):;   name: str"), "id note?");
    check(
        &derived("class P(Base):;   def __init__(self): pass"),
        r#"{"type":"object"}"#,
    );
    check(
        &derived("class Mixin:;   m: int; @dataclass; class P(Mixin, Base, Unknown):;   name: str"),
        "id note? name",
    );
    check(
        &derived(
            "@dataclass; class Other:;   other: int; @dataclass; class P(Base, Other, Generic[T]):;   name: str",
        ),
        "other id note? name",
    );
    check(
        &derived("@dataclass; class Q(Base):;   q: int; @dataclass; class P(Q):;   p: int"),
        "id note? q p",
    );
    check(&derived("@dataclass; class P(P):;   p: int"), "p");
    check(
        "@dataclass\nclass P(Later):\n  p: int\n@dataclass\nclass Later:\n  l: int",
        "p",
    );
}

#[test]
fn each_field_of_a_typed_dictionary_is_as_its_own_class_says() {
    const BASE: &str = "class Base(TypedDict):\n  id: int\n  note: NotRequired[str]\n";
    check(&format!("{BASE}class P(Base):\n  a: int"), "id note? a");
    check(
        &format!("{BASE}class P(Base, total=False):\n  a: int\n  b: 'Required[int]'"),
        "id note? a? b",
    );
    check(
        "class P(TypedDict, total=False):\n  a: Required[int]\n  b: int",
        "a b?",
    );
}

#[test]
fn a_field_that_is_none_by_default_takes_none() {
    let tool = tool(
        "@dataclass\nclass P:\n  a: str = None\n  b: Literal[1] = field(default=None)\n  c: int = 1\ndef t(p: P): 'x'",
    );
    let properties = &tool["inputSchema"]["properties"]["p"]["properties"];
    assert_eq!(
        properties.to_string(),
        r#"{"a":{"type":["string","null"]},"b":{"enum":[1,null]},"c":{"type":"integer"}}"#
    );
}

#[test]
fn long_lines_of_bases_end_somewhere() {
    let mut classes = String::from("@dataclass\nclass A0:\n  f0: int\n@dataclass\nclass B0:\n  g0: int\n");
    for at in 1..2_000 {
        let before = at - 1;
        for name in ["A", "B"] {
            let _ = writeln!(
                classes,
                "@dataclass\nclass {name}{at}(A{before}, B{before}):\n  {name}{at}: int"
            );
        }
    }
    let fields = fields(&format!(
        "{classes}@dataclass\nclass P(A1999, B1999):\n  own: int"
    ));
    assert!(
        fields.ends_with(" own") && fields.split(' ').count() <= 256,
        "{fields}"
    );
}
