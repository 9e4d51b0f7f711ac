//! Arguments from the results and arguments of earlier steps.

use super::Filling;
use crate::call::Argument;
use crate::parameters::{Parameter, Role, ValueType};
use crate::vocabulary::{REFERRING, WordList};
use crate::words::Word;

#[derive(Debug, Clone)]
pub(crate) struct EarlierStep {
    /// Number of the step, from 1.
    pub(crate) number: usize,
    /// Declared fields of the result.
    pub(crate) fields: Vec<String>,
    pub(crate) arguments: Vec<(String, Argument)>,
    pub(crate) reads: bool,
}

/// Names of parameters and fields whose meaning differs between tools.
const COMMON: WordList = WordList("content data id message name result status text title type value");

impl Filling<'_> {
    /// Fills open required parameters from earlier steps, latest first. Sources, in order: a field
    /// of the parameter's name, a result named by "it" or "the result", an argument of the
    /// parameter's name. One word refers to one result. A changing tool needs such a word.
    pub(super) fn refer(&mut self, earlier: &[EarlierStep]) {
        let words = self.clause.words;
        let refers = |word: &str| REFERRING.has(word);
        let place = words.iter().position(|word| refers(&word.lower));
        let mut place = place.filter(|_| !earlier.is_empty());
        // In "read a.txt and write it to n", the words after "to" are a place, which is not a.txt.
        let leads = |word: &str| matches!(word, "as" | "into" | "to");
        let leads_on = |pair: &[Word]| leads(&pair[0].lower) && !refers(&pair[1].lower);
        let leads_on = words.windows(2).any(leads_on);
        let result = |step: &EarlierStep, field, as_text| {
            let step = step.number;
            Argument::Result { step, field, as_text }
        };
        for (at, parameter) in self.parameters.iter().enumerate() {
            if self.values[at].is_some() || !parameter.is_required || !self.reads && place.is_none() {
                continue;
            }
            let steps = || earlier.iter().rev().filter(|_| !COMMON.has(&parameter.name));
            let name = Some(parameter.name.clone());
            let field = steps().find(|step| step.fields.contains(&parameter.name));
            let field = field.map(|step| result(step, name, false));
            let may_take = place.is_some() && takes_results(parameter);
            let last = earlier.last().filter(|_| may_take);
            let whole = || Some(result(last?, None, parameter.value_type == ValueType::Text));
            let may_repeat = |step: &&EarlierStep| place.is_some() && (step.reads == self.reads || !leads_on);
            let mut arguments = steps().filter(may_repeat).flat_map(|step| &step.arguments);
            let mut same = || arguments.find(|(name, _)| *name == parameter.name);
            if let Some(argument) = field
                .or_else(whole)
                .or_else(|| same().map(|(_, same)| same.clone()))
            {
                self.values[at] = Some((argument, None));
                if let Some(place) = place.take() {
                    self.used[place] = true;
                }
            }
        }
    }
}

/// Whether a whole result may be the argument. A path, a name or an id is not a result.
fn takes_results(parameter: &Parameter) -> bool {
    match parameter.value_type {
        ValueType::Text | ValueType::Any => matches!(parameter.role, Role::Prose | Role::Unknown),
        _ => parameter.value_type != ValueType::Boolean,
    }
}
