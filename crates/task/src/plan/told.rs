//! What is told of a plan: what keeps it from being run, and what is worth knowing of it.

use serde_json::Value;
use types::ToolRef;

use super::{Missing, Plan, Step};
use crate::parameters::{Parameter, Role, Takes};
use crate::{python, verbs};

/// Problems that are told at most.
const MOST_PROBLEMS: usize = 10;

// === impl Plan ===

impl Plan {
    /// What keeps the task from being run, in words; nothing if it can be. Of many problems the first ones and their number.
    pub fn problems(&self) -> Vec<String> {
        if let Some(language) = self.language.filter(|_| !self.is_given) {
            return vec![format!(
                "the task seems to be in {language}; only English is read"
            )];
        }
        let mut problems: Vec<String> = self.steps.iter().filter_map(|step| self.problem(step)).collect();
        let unknown = self.unknown.iter();
        problems.extend(unknown.map(|server| {
            format!("no tool is of the server '{server}', for which --task-specific-calls has a program; see `codeyard tools`")
        }));
        if problems.len() > MOST_PROBLEMS {
            let more = problems.len() - MOST_PROBLEMS;
            problems.truncate(MOST_PROBLEMS);
            problems.push(format!("and {more} more of this kind; say less at once"));
        }
        if self.steps.is_empty() && !self.is_given {
            problems.push(format!("there is nothing to do in {:?}", shortened(&self.task)));
        }
        problems
    }

    /// Why a step cannot be run.
    pub fn problem(&self, step: &Step) -> Option<String> {
        let text = shortened(&step.text);
        if step.is_left {
            return None;
        }
        if step.is_conditional {
            return Some(format!(
                "{text:?} is a condition or a repetition, which is not followed; pass the program of that part (--task-specific-calls)"
            ));
        }
        let near: Vec<String> = step.nearest.iter().map(ToolRef::to_string).collect();
        let near = match near.as_slice() {
            [] => String::new(),
            [one] => format!("; the nearest is {one}"),
            several => format!("; the nearest are {}", several.join(", ")),
        };
        if let Some(doubt) = &step.doubt {
            return Some(format!("{text:?} {doubt}{near}"));
        }
        let Some(call) = &step.call else {
            return Some(format!(
                "no tool of {} answers {text:?}{near}",
                self.discovered.len()
            ));
        };
        let missing: Vec<String> = call
            .missing
            .iter()
            .map(|missing| format!("'{}': {}", missing.parameter, missing.hint))
            .collect();
        let tool = &call.entry.tool;
        if !missing.is_empty() {
            return Some(format!("{tool} needs {} (in {text:?})", missing.join("; and ")));
        }
        if step.loses_a_value() {
            let unused: Vec<String> = step
                .unused
                .iter()
                .map(|unused| format!("{:?}", shortened(unused)))
                .collect();
            return Some(format!(
                "{tool} takes nothing like {}, so it may not be what {text:?} means",
                unused.join(", ")
            ));
        }
        let (words, are, them) = match step.not_understood.as_slice() {
            [] => return None,
            [_] => ("word", "is", "it"),
            _ => ("words", "are", "them"),
        };
        let left = shortened(&step.not_understood.join(" "));
        Some(format!(
            "the {words} '{left}' of {text:?} {are} not understood, and {tool} changes something; say it without {them}, put what is a value in quotation marks, or pass the program (--task-specific-calls)"
        ))
    }

    /// What is worth knowing of a plan that can be run.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        for step in &self.steps {
            let Some(call) = step.call.as_ref().filter(|_| !step.is_left) else {
                if step.is_left && step.call.is_none() {
                    let text = shortened(&step.text);
                    notes.push(format!(
                        "{text:?} is left to the program of --task-specific-calls"
                    ));
                }
                continue;
            };
            if !step.others.is_empty() {
                let others: Vec<String> = step.others.iter().map(ToolRef::to_string).collect();
                notes.push(format!(
                    "{} was taken for {:?}; as likely: {}",
                    call.entry.tool,
                    shortened(&step.text),
                    others.join(", ")
                ));
            }
            if !step.unused.is_empty() && !step.loses_a_value() {
                let unused: Vec<String> = step
                    .unused
                    .iter()
                    .map(|unused| format!("{:?}", shortened(unused)))
                    .collect();
                notes.push(format!(
                    "{} takes nothing like {}, which is left out",
                    call.entry.tool,
                    unused.join(", ")
                ));
            }
        }
        notes
    }
}

// === impl Step ===

impl Step {
    /// Whether its call could be made and would change something, and does not have all that the step says.
    fn loses_a_value(&self) -> bool {
        let call = self.call.as_ref().filter(|call| call.missing.is_empty());
        !self.unused.is_empty() && call.is_some_and(|call| !verbs::reads(&call.entry))
    }
}

// === impl Missing ===

impl Missing {
    pub(crate) fn of(parameter: &Parameter) -> Missing {
        let name = &parameter.name;
        let shown = parameter.choices.first().or(parameter.example.as_ref());
        let example = match (shown, &parameter.takes, parameter.role) {
            // What is no text is read as JSON.
            (Some(shown @ Value::String(_)), ..) => python::value(shown),
            (Some(shown), ..) => shown.to_string(),
            (None, Takes::Integer | Takes::Number, _) => "5".to_owned(),
            (None, Takes::Boolean, _) => "true".to_owned(),
            (None, Takes::List(_), _) => "[\"one\", \"two\"]".to_owned(),
            (None, Takes::Object, _) => "{\"key\": \"value\"}".to_owned(),
            (None, _, Role::Path) if parameter.is_directory() => "src".to_owned(),
            (None, _, Role::Path) => "notes.txt".to_owned(),
            (None, _, Role::Url) => "https://example.com".to_owned(),
            (None, _, Role::Email) => "ann@example.com".to_owned(),
            (None, _, Role::Date) => "2026-01-31".to_owned(),
            (None, _, Role::Expression) => "'2 * (3 + 4)'".to_owned(),
            (None, ..) => "'...'".to_owned(),
        };
        Missing {
            parameter: name.clone(),
            hint: format!("say for example {name}={example}"),
        }
    }
}

/// The beginning of a text, on one line.
fn shortened(text: &str) -> String {
    python::line(text, 80)
}
