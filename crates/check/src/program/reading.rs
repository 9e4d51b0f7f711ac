//! What the check reads of a program: tool calls, uses of their results, imports, and mistakes.

use std::borrow::Cow;
use std::sync::Arc;

use catalog::{StaticArguments, Step};

use super::value::Form;

#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) line: u32,
    pub(crate) form: Form,
    /// As written. The server is empty where only the tool is named.
    pub(crate) server: String,
    pub(crate) tool: String,
    /// Servers whose star imports may have bound the name; it may also mean something else.
    pub(crate) starred: Vec<(Form, String)>,
    pub(crate) arguments: Given,
    /// Names of the arguments that are words of a shell.
    pub(crate) words: Vec<String>,
    /// The program looks for the tool first, or catches the call's error, so a failing call does not fail
    /// it.
    pub(crate) is_expected: bool,
}

/// An import that names a tool.
#[derive(Debug)]
pub(crate) struct Import {
    pub(crate) line: u32,
    pub(crate) server: String,
    pub(crate) tool: String,
}

#[derive(Debug)]
pub(crate) enum Given {
    /// Names and values, as far as they are known.
    Mapping(StaticArguments),
    /// The same without names: one mapping, or positional arguments that only a Python function accepts.
    Positional(Box<Given>),
    /// Arguments that no tool accepts; says what they are.
    Wrong(Cow<'static, str>),
    Unknown,
}

/// A read of one field of a result.
#[derive(Debug)]
pub(crate) struct Use {
    pub(crate) line: u32,
    /// Index of the call.
    pub(crate) call: usize,
    /// From the result to the value whose field is read.
    pub(crate) path: Arc<[Step]>,
    pub(crate) field: String,
}

/// A mistake in a call, whatever its tool is.
#[derive(Debug)]
pub(crate) struct Mistake {
    pub(crate) line: u32,
    pub(crate) call: usize,
    pub(crate) kind: MistakeKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MistakeKind {
    /// The call is created and never awaited.
    NeverAwaited,
    /// The call is used like its result, but is not awaited.
    UsedUnawaited,
    /// The call blocks, and its result is awaited.
    AwaitedResult,
}
