//! What is read of a program: calls of tools, uses of their results, imports, and mistakes.

use std::sync::Arc;

use catalog::{Partial, Step};

use super::value::Form;

/// One call of a tool.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) line: u32,
    pub(crate) form: Form,
    /// As they are written. The server is empty where only the tool is named.
    pub(crate) server: String,
    pub(crate) tool: String,
    /// The name may be one that a star import has made of these servers' tools, and may be another.
    pub(crate) starred: Vec<(Form, String)>,
    pub(crate) arguments: Given,
    /// The program asks whether the tool is there, or catches what the call raises: it does not fail by it.
    pub(crate) is_expected: bool,
}

/// An import that names a tool.
#[derive(Debug)]
pub(crate) struct Import {
    pub(crate) line: u32,
    pub(crate) server: String,
    pub(crate) tool: String,
}

/// What a call is given.
#[derive(Debug)]
pub(crate) enum Given {
    /// Names and values, as far as they are known.
    Mapping(Partial),
    /// The same, given without names: one mapping, or what only a function of Python takes so.
    Positional(Box<Given>),
    /// Something that no tool takes: what it is.
    Wrong(&'static str),
    /// Anything.
    Unknown,
}

/// One field of a result that is read.
#[derive(Debug)]
pub(crate) struct Use {
    pub(crate) line: u32,
    /// The call, by its number.
    pub(crate) call: usize,
    /// From the result to the value that is asked for the field.
    pub(crate) path: Arc<[Step]>,
    pub(crate) field: String,
}

/// What is wrong with a call whatever its tool is.
#[derive(Debug)]
pub(crate) struct Mistake {
    pub(crate) line: u32,
    pub(crate) call: usize,
    pub(crate) kind: MistakeKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MistakeKind {
    /// It is created and never awaited.
    NeverAwaited,
    /// It is used as its result is, without being awaited.
    UsedUnawaited,
    /// It blocks, and its result is awaited.
    AwaitedResult,
}
