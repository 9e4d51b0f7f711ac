//! Classes of a file that describe mappings: typed dictionaries and data classes.

use std::collections::HashMap;

use ruff_python_ast::{Expr, Stmt, StmtClassDef};

use crate::annotation::name;

/// Fields of one class that are looked at.
const MAX_FIELDS: usize = 256;

/// The classes of a file by name.
pub(crate) struct Classes<'a> {
    by_name: HashMap<&'a str, Class<'a>>,
}

/// One class.
pub(crate) struct Class<'a> {
    body: &'a [Stmt],
    /// Whether a field is required where nothing is said of it.
    is_total: bool,
    /// Whether a default makes a field one that may be left out.
    has_defaults: bool,
}

/// One field.
pub(crate) struct Field<'a> {
    pub(crate) name: &'a str,
    annotation: &'a Expr,
    has_default: bool,
}

// === impl Classes ===

impl<'a> Classes<'a> {
    pub(crate) fn of(body: &'a [Stmt]) -> Classes<'a> {
        let classes = body.iter().filter_map(|statement| {
            let class = statement.as_class_def_stmt()?;
            Some((class.name.as_str(), Class::of(class)?))
        });
        Classes {
            by_name: classes.collect(),
        }
    }

    pub(crate) fn find(&self, name: &str) -> Option<&Class<'a>> {
        self.by_name.get(name)
    }
}

// === impl Class ===

impl<'a> Class<'a> {
    fn of(class: &'a StmtClassDef) -> Option<Class<'a>> {
        let is_decorator = |wanted: &str, expression: &Expr| match expression {
            Expr::Call(call) => name(&call.func) == Some(wanted),
            other => name(other) == Some(wanted),
        };
        let is_data = class
            .decorator_list
            .iter()
            .any(|decorator| is_decorator("dataclass", &decorator.expression));
        let arguments = class.arguments.as_deref();
        let bases = || {
            arguments
                .map(|arguments| arguments.args.iter())
                .into_iter()
                .flatten()
        };
        let is_typed = bases().any(|base| name(base) == Some("TypedDict"));
        let is_partial = arguments.is_some_and(|arguments| {
            arguments.keywords.iter().any(|keyword| {
                keyword.arg.as_ref().is_some_and(|arg| arg.as_str() == "total")
                    && keyword
                        .value
                        .as_boolean_literal_expr()
                        .is_some_and(|total| !total.value)
            })
        });
        (is_data || is_typed).then_some(Class {
            body: &class.body,
            is_total: !is_partial,
            has_defaults: is_data,
        })
    }

    pub(crate) fn fields(&self) -> impl Iterator<Item = Field<'a>> {
        let fields = self.body.iter().filter_map(|statement| {
            let field = statement.as_ann_assign_stmt()?;
            Some(Field {
                name: field.target.as_name_expr()?.id.as_str(),
                annotation: &field.annotation,
                has_default: field.value.is_some(),
            })
        });
        fields.take(MAX_FIELDS)
    }

    /// The type of a field, and whether it must be there.
    pub(crate) fn field(&self, field: &Field<'a>) -> (&'a Expr, bool) {
        if let Expr::Subscript(marked) = field.annotation {
            match name(&marked.value) {
                Some("NotRequired") => return (&marked.slice, false),
                Some("Required") => return (&marked.slice, true),
                _ => {}
            }
        }
        let is_required = self.is_total && !(self.has_defaults && field.has_default);
        (field.annotation, is_required)
    }
}
