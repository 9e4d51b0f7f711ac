//! A program whose calls were found elsewhere: where its text was parsed, in the guest.

use std::borrow::Cow;

use catalog::StaticArguments;
use types::{FoundArguments, FoundCall, FoundCalls, MAX_FOUND_CALLS};

use crate::program::{Call, Form, Given, LARGE, Mistake, MistakeKind, Program};

impl From<FoundCalls> for Program {
    /// The calls come from a guest: they decide only whether its own program is run.
    fn from(found: FoundCalls) -> Program {
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
            program.calls.push(call.into());
        }
        program
    }
}

impl From<FoundCall> for Call {
    fn from(found: FoundCall) -> Call {
        Call {
            line: found.line,
            form: Form::TypeScript,
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
            is_expected: found.is_expected,
        }
    }
}
