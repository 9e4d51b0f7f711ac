//! What a step takes from the results and the arguments of earlier ones.

use super::Filling;
use super::said::Reference;
use crate::parameters::{Parameter, Role, Takes};
use crate::plan::Argument;

/// What the result of an earlier step is.
#[derive(Debug, Clone)]
pub(crate) struct Earlier {
    /// The number of the step, from 1.
    pub(crate) step: usize,
    pub(crate) gives: Takes,
    /// Its fields by name.
    pub(crate) fields: Vec<(String, Takes)>,
    /// What it was called with.
    pub(crate) arguments: Vec<(String, Argument)>,
    /// Whether it changes nothing.
    pub(crate) reads: bool,
}

/// Names of fields that are too common to mean the same in two tools.
const COMMON_FIELDS: &[&str] = &[
    "content", "data", "id", "message", "name", "result", "status", "text", "title", "type", "value",
];

impl Filling<'_> {
    /// What the call needs and an earlier result has under the same name; or, where the step refers to something, what an
    /// earlier call was given under that name: "write to notes.txt, then read it".
    pub(super) fn inherit(&mut self, earlier: &[Earlier]) {
        let mut references = self.said.references.iter();
        let refers = references.any(|reference| reference.is_certain && !reference.counts);
        // "Read a.txt and write it to n": the words after "to" were to say where, and a.txt is not there.
        let is_same_group = |earlier: &Earlier| earlier.reads == self.reads || !self.said.leads_somewhere();
        for at in 0..self.parameters.len() {
            let parameter = &self.parameters[at];
            let needs = self.values[at].is_none() && parameter.is_required && parameter.default.is_none();
            if !needs || COMMON_FIELDS.contains(&parameter.name.as_str()) {
                continue;
            }
            let field = |earlier: &Earlier| {
                let (name, gives) = earlier.fields.iter().find(|(name, _)| *name == parameter.name)?;
                agrees(&parameter.takes, gives).then(|| Argument::Result {
                    step: earlier.step,
                    field: Some(name.clone()),
                    as_text: false,
                })
            };
            let given = |earlier: &Earlier| {
                let same = earlier
                    .arguments
                    .iter()
                    .find(|(name, _)| *name == parameter.name)?;
                (refers && is_same_group(earlier)).then(|| same.1.clone())
            };
            let found = earlier
                .iter()
                .rev()
                .find_map(|earlier| given(earlier).or_else(|| field(earlier)));
            if let Some(argument) = found {
                self.values[at] = Some((argument, None));
            }
        }
    }
}

/// How well an earlier result fits that the reference means, and how it is passed on.
pub(super) fn referred(
    parameter: &Parameter,
    reference: &Reference,
    earlier: &[Earlier],
) -> Option<(f32, Argument)> {
    let last = earlier.last()?;
    let of_noun = |earlier: &Earlier| {
        let noun = reference.noun.as_ref()?;
        let (name, gives) = earlier
            .fields
            .iter()
            .find(|(name, _)| name.to_lowercase() == *noun)?;
        Some((earlier.step, Some(name.clone()), gives.clone()))
    };
    let found = earlier
        .iter()
        .rev()
        .find_map(of_noun)
        .filter(|_| !reference.counts);
    let whole = || {
        reference
            .is_certain
            .then(|| (last.step, None, last.gives.clone()))
    };
    let (step, field, gives) = found.or_else(whole)?;
    if reference.counts
        && !reference
            .noun
            .as_ref()
            .is_some_and(|noun| parameter.is_called(noun))
    {
        return None;
    }
    let named = field.as_ref().is_some_and(|field| *field == parameter.name);
    let score = match &parameter.takes {
        _ if named && agrees(&parameter.takes, &gives) => 1.5,
        Takes::Integer | Takes::Number if agrees(&parameter.takes, &gives) => 1.0,
        Takes::List(_) | Takes::Object if parameter.takes == gives => 1.2,
        Takes::List(_) | Takes::Object if gives == Takes::Anything => 0.6,
        Takes::Text | Takes::Anything => match parameter.role {
            Role::Prose | Role::Unknown => 0.95,
            Role::Verbatim | Role::Unit => return None,
            _ if gives == Takes::Text && field.is_some() => 0.7,
            Role::Expression if agrees(&Takes::Number, &gives) => 0.4,
            _ if gives == Takes::Text => 0.4,
            Role::Id if gives == Takes::Integer => 0.4,
            _ => return None,
        },
        _ => return None,
    };
    // What may be left out is meant only where it is named.
    if !parameter.is_required && score < 1.2 {
        return None;
    }
    let as_text = parameter.takes == Takes::Text && gives != Takes::Text;
    Some((score, Argument::Result { step, field, as_text }))
}

/// Whether a value of the one type is one of the other; of what is not known it may be.
fn agrees(takes: &Takes, gives: &Takes) -> bool {
    takes == gives
        || *takes == Takes::Anything
        || *gives == Takes::Anything
        || *takes == Takes::Number && *gives == Takes::Integer
}
