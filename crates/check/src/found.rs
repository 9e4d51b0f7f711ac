//! A program whose calls were found elsewhere: where its text was parsed, in the guest.

use std::borrow::Cow;

use catalog::StaticArguments;
use types::{FoundArguments, FoundCall, FoundCalls, Language, MAX_FOUND_CALLS};

use crate::program::{Call, Form, Given, LARGE, Mistake, MistakeKind, Program};

impl Program {
    /// A program in this language, with the calls that a guest has found. They decide only whether the guest's own
    /// program is run.
    pub fn found(found: FoundCalls, language: Language) -> Program {
        let form = match language {
            Language::Shell => Form::Shell,
            Language::Python | Language::TypeScript => Form::TypeScript,
        };
        if found.calls.len() > MAX_FOUND_CALLS {
            return Program::unreadable(LARGE);
        }
        let mut program = Program::default();
        for (index, call) in found.calls.into_iter().enumerate() {
            let kind = match (call.is_used_early, call.is_dropped) {
                (true, _) => Some(MistakeKind::UsedUnawaited),
                (false, true) => Some(MistakeKind::NeverAwaited),
                (false, false) => None,
            };
            program.mistakes.extend(kind.map(|kind| Mistake {
                line: call.line,
                call: index,
                kind,
            }));
            program.calls.push(of_found(call, form));
        }
        program
    }
}

fn of_found(found: FoundCall, form: Form) -> Call {
    Call {
        line: found.line,
        form,
        server: found.server,
        tool: found.tool,
        starred: Vec::new(),
        arguments: match found.arguments {
            FoundArguments::Unknown => Given::Unknown,
            FoundArguments::Wrong(what) => Given::Wrong(Cow::Owned(what)),
            FoundArguments::Known {
                arguments,
                unknown,
                open,
            } => Given::Mapping(StaticArguments {
                arguments,
                unknown,
                open,
            }),
        },
        words: found.words,
        is_expected: found.is_expected,
    }
}
