//! Declares tools in Python files and TypeScript declarations, for reading, importing and checking.
//!
//! All foreign text is escaped and appears only in docstrings, comments or string literals. Type names are generated.
//! A value that no type can express is `Any`.

mod python;
mod server;
mod shell;
mod typescript;
mod wrapper;

use std::sync::Arc;

use serde_json::Value;
use types::ToolRef;

use crate::entry::{Entry, LINE_DEPTHS};
use crate::learned::Learned;
use crate::schema::{self, Parameter};
use crate::shapes::{Shape, ShapeField, ShapeReader, Shapes, Type};
use crate::text::{clean, cut, observed_in, sentences, summary};

use shell::{ShellArgument, ShellTool};

pub use server::{Observed, declarations};
pub(crate) use server::{index_lines, package as python_package};
pub use wrapper::{SHARED_MODULE, wrappers};

/// Longest text of a tool in bytes; it begins with the first sentence.
const MAX_DESCRIPTION: usize = 600;
const MAX_PARAMETER_TEXT: usize = 240;
const MAX_NAME: usize = 200;

/// Types are written out up to this number of keys in all types of a tool.
const GOOD_SIZE: usize = 80;

/// Written-out levels of arguments and result, in the order tried.
const DEPTHS: [(usize, usize); 7] = [(8, 8), (4, 4), (2, 3), (1, 2), (1, 1), (0, 1), (0, 0)];

/// The type of arguments that are one mapping.
const ARGUMENTS: &str = "Arguments";
const RESULT: &str = "Result";

/// The language of a declaration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// For 3.10 or newer.
    Python,
    /// As a `.d.ts` file.
    TypeScript,
    /// As a page for people.
    Shell,
}

/// One tool, independent of any language.
struct Declaration {
    alias: String,
    description: String,
    /// The arguments; their number and order match `notes`.
    arguments: Shape,
    notes: Vec<Note>,
    result: Type,
    /// The number of calls in which an undeclared result was observed, and the blocks that came with it.
    observed: Option<String>,
    shapes: Shapes,
}

/// Text about one argument in addition to its type.
struct Note {
    text: Option<String>,
    default: Option<Value>,
}

impl Entry {
    /// The tool's Python file for `/tools/<server_alias>/<alias>.py`: its types and its function. The
    /// result's type comes from the output schema, otherwise from observation.
    pub fn stub(&self, learned: Option<&Learned>) -> String {
        Stubs::of(self, learned).python()
    }

    /// The tool's declaration in TypeScript on one line below its summary, for each depth of the fields that it shows.
    /// Equal lines are stored once.
    pub(crate) fn typescript_lines(&self, learned: Option<&Learned>) -> [Arc<str>; LINE_DEPTHS] {
        match learned {
            Some(_) => typescript_lines(self, learned),
            None => self
                .typescript_lines
                .get_or_init(|| typescript_lines(self, None))
                .clone(),
        }
    }

    /// A call of the tool in TypeScript, on one line: its name, and one object with the types of its arguments.
    pub fn typescript_call(&self) -> String {
        typescript::call(&Declaration::of(self, None))
    }

    /// The same with the type of its result.
    pub fn typescript_signature(&self, learned: Option<&Learned>) -> String {
        typescript::signature(&Declaration::of(self, learned))
    }

    /// A call of the tool in a shell, on one line.
    pub fn shell_call(&self) -> String {
        Declaration::of(self, None).in_shell(self.shell_name()).call()
    }

    /// Server and tool as one word of a shell.
    fn shell_name(&self) -> String {
        let is_plain = |name: &str| {
            name.chars()
                .all(|c| c.is_ascii_alphanumeric() || "_-".contains(c))
        };
        let part = |name: &str, alias: &str| {
            if is_plain(name) {
                name.to_owned()
            } else {
                alias.to_owned()
            }
        };
        let server = part(&self.tool.server, &self.server_alias);
        format!("{server}.{}", part(&self.tool.tool, &self.alias))
    }

    /// Only the tool's declaration, in a file of that language.
    pub fn declaration(&self, language: Language, learned: Option<&Learned>) -> String {
        declaration(self, language, learned)
    }
}

/// A tool's files below `/tools`, made from one declaration.
pub(crate) struct Stubs {
    tool: ToolRef,
    declaration: Declaration,
}

impl Stubs {
    pub(crate) fn of(entry: &Entry, learned: Option<&Learned>) -> Stubs {
        Stubs {
            tool: entry.tool.clone(),
            declaration: Declaration::of(entry, learned),
        }
    }

    /// A Python file that programs can import.
    pub(crate) fn python(&self) -> String {
        python::file(&self.declaration, Some(&self.tool))
    }

    /// A TypeScript file that can be executed wherever `__toolcall__` exists.
    pub(crate) fn typescript(&self) -> String {
        typescript::module(&self.declaration, &self.tool)
    }
}

fn typescript_lines(entry: &Entry, learned: Option<&Learned>) -> [Arc<str>; LINE_DEPTHS] {
    let declaration = Declaration::of(entry, learned);
    let summary = entry.definition.description.as_deref().map(summary);
    let summary = summary.unwrap_or_default();
    let mut last: Arc<str> = "".into();
    std::array::from_fn(|depth| {
        let line = typescript::line(&declaration, &summary, depth);
        if *line != *last {
            last = line.into();
        }
        last.clone()
    })
}

fn declaration(entry: &Entry, language: Language, learned: Option<&Learned>) -> String {
    let declaration = Declaration::of(entry, learned);
    match language {
        Language::Python => python::file(&declaration, None),
        Language::TypeScript => typescript::file(&declaration),
        Language::Shell => declaration.in_shell(entry.shell_name()).page(),
    }
}

// === impl Declaration ===

impl Declaration {
    fn of(entry: &Entry, learned: Option<&Learned>) -> Self {
        let (input, output) = (entry.definition.input_schema(), entry.definition.output_schema());
        let learned = learned.filter(|_| output.is_none());
        let mut tried = DEPTHS
            .iter()
            .map(|depth| Self::read(entry, &input, output.as_ref(), learned, *depth));
        let mut last = tried.next();
        while last.as_ref().is_some_and(|one| one.shapes.size() > GOOD_SIZE) {
            match tried.next() {
                Some(shallower) => last = Some(shallower),
                None => break,
            }
        }
        last.unwrap_or_else(|| Self::read(entry, &input, None, None, (0, 0)))
    }

    /// The tool in a shell's words, under this name.
    fn in_shell(&self, name: String) -> ShellTool {
        let kind = |kind: &Type| typescript::inlined(&self.shapes, kind, typescript::DEPTH);
        let fields = self.arguments.fields.iter().zip(&self.notes);
        let arguments = fields.map(|(field, note)| ShellArgument {
            name: field.name.clone(),
            kind: kind(&field.kind),
            required: field.required,
            note: note.text.clone(),
        });
        let observed = self.observed.as_deref().map(observed);
        ShellTool {
            name,
            arguments: arguments.collect(),
            paragraphs: [self.description.clone()].into_iter().chain(observed).collect(),
            result: kind(&self.result),
        }
    }

    fn read(
        entry: &Entry,
        input: &Value,
        output: Option<&Value>,
        learned: Option<&Learned>,
        (depth, depth_of_result): (usize, usize),
    ) -> Self {
        let mut shapes = Shapes::default();
        let name = shapes.take_name(ARGUMENTS);
        let (parameters, _) = schema::properties(input, input);
        let fields = ShapeReader::new(&mut shapes, input, depth)
            .described()
            .fields(&parameters);
        let result = match (output, learned) {
            (Some(root), _) => ShapeReader::new(&mut shapes, root, depth_of_result)
                .described()
                .read(root, RESULT),
            (None, Some(learned)) => ShapeReader::new(&mut shapes, &learned.schema, depth_of_result)
                .observed()
                .read(&learned.schema, RESULT),
            (None, None) => entry.unknown_result(),
        };
        shapes.retain_used(fields.iter().map(|field| &field.kind).chain([&result]));
        let described = entry.definition.description.as_deref().unwrap_or_default();
        Self {
            alias: entry.alias.clone(),
            description: sentences(described, MAX_DESCRIPTION),
            notes: notes(input, &parameters, &fields),
            arguments: Shape {
                name,
                open: parameters.len() > fields.len() || is_open(input, &parameters),
                fields,
            },
            result,
            observed: learned.map(observed_in),
            shapes,
        }
    }
}

/// Whether a tool takes arguments that its schema does not name.
fn is_open(input: &Value, parameters: &[Parameter<'_>]) -> bool {
    parameters.len() == schema::MAX_PARAMETERS || schema::takes_more(input, input, parameters)
}

fn notes(input: &Value, parameters: &[Parameter<'_>], fields: &[ShapeField]) -> Vec<Note> {
    let of = |field: &ShapeField| {
        let parameter = parameters.iter().find(|one| one.name == field.name);
        let said = |word: &str| schema::said(input, parameter?.schema, word);
        let text = said("description").and_then(Value::as_str).map(summary);
        Note {
            text: text
                .filter(|text| !text.is_empty())
                .map(|text| cut(&text, MAX_PARAMETER_TEXT)),
            default: said("default").cloned(),
        }
    };
    fields.iter().map(of).collect()
}

/// A remark about an observed result that no schema declares.
fn observed(words: &str) -> String {
    format!("The result is not declared: {words}, keys may be absent.")
}

/// Shows a name where no line may end.
fn one_line(name: &str) -> String {
    cut(&clean(name).replace(['\n', '\t'], " "), MAX_NAME)
}
