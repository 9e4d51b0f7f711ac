//! Finds a file's classes that describe mappings: typed dictionaries and data classes, with inheritance.

use std::collections::HashMap;

use ruff_python_ast::{Arguments, Expr, Stmt, StmtAnnAssign, StmtClassDef};

use crate::annotation::name;

/// Most fields of a class, inherited ones included.
const MAX_FIELDS: usize = 256;

/// Most classes examined for one class's fields.
const MAX_ANCESTORS: usize = 64;

pub(crate) struct Classes<'a> {
    /// In file order: bases come before derived classes.
    all: Vec<Class<'a>>,
    /// Meaning of each name at the end of the file.
    by_name: HashMap<&'a str, usize>,
}

struct Class<'a> {
    kind: ClassKind,
    own: Vec<ClassField<'a>>,
    /// Bases that describe mappings too.
    bases: Vec<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ClassKind {
    Dictionary,
    /// A data class built from its fields.
    Data,
    /// A data class with its own `__init__`, whose parameters may be anything.
    Made,
}

#[derive(Clone, Copy)]
pub(crate) struct ClassField<'a> {
    pub(crate) name: &'a str,
    pub(crate) annotation: &'a Expr,
    pub(crate) is_required: bool,
    /// Whether a missing field means `None`.
    pub(crate) is_none_by_default: bool,
    /// Whether the constructor takes the field.
    is_given: bool,
}

// === impl Classes ===

impl<'a> Classes<'a> {
    pub(crate) fn of(body: &'a [Stmt]) -> Classes<'a> {
        let mut classes = Classes {
            all: Vec::new(),
            by_name: HashMap::new(),
        };
        for class in body.iter().filter_map(|statement| statement.as_class_def_stmt()) {
            let name = class.name.as_str();
            // A later definition of a name replaces an earlier one.
            match classes.read(class) {
                Some(read) => {
                    classes.by_name.insert(name, classes.all.len());
                    classes.all.push(read);
                }
                None => {
                    classes.by_name.remove(name);
                }
            }
        }
        classes
    }

    /// Fields of the named class, bases first; empty if its fields do not tell how it is built.
    pub(crate) fn fields(&self, name: &str) -> Option<Vec<ClassField<'a>>> {
        let at = *self.by_name.get(name)?;
        if self.all.get(at)?.kind == ClassKind::Made {
            return Some(Vec::new());
        }
        let mut line = Vec::new();
        let mut left = MAX_ANCESTORS;
        self.line(at, &mut line, &mut left);
        let mut fields = HashMap::new();
        for field in line.iter().flat_map(|class| &class.own).take(MAX_FIELDS) {
            // A redefined field keeps its place.
            let place = fields.len();
            fields.entry(field.name).or_insert((place, field)).1 = field;
        }
        let mut fields: Vec<(usize, &ClassField<'a>)> = fields.into_values().collect();
        fields.sort_unstable_by_key(|(place, _)| *place);
        let fields = fields.into_iter().map(|(_, field)| *field);
        Some(fields.filter(|field| field.is_given).collect())
    }

    /// The class and its ancestors, bases first; examines at most `left` more.
    fn line<'s>(&'s self, at: usize, line: &mut Vec<&'s Class<'a>>, left: &mut usize) {
        let Some(class) = self.all.get(at).filter(|_| *left > 0) else {
            return;
        };
        *left -= 1;
        for base in class.bases.iter().rev() {
            self.line(*base, line, left);
        }
        line.push(class);
    }

    /// `None` if the class does not describe a mapping.
    fn read(&self, class: &'a StmtClassDef) -> Option<Class<'a>> {
        let arguments = class.arguments.as_deref();
        let given = arguments.map_or(&[][..], |arguments| &arguments.args);
        let bases: Vec<usize> = given
            .iter()
            .filter_map(|base| self.by_name.get(name(base)?).copied())
            .collect();
        let inherited = bases
            .first()
            .and_then(|base| self.all.get(*base))
            .map(|base| base.kind);
        let is_made = class.body.iter().any(|statement| {
            let function = statement.as_function_def_stmt();
            function.is_some_and(|function| function.name.as_str() == "__init__")
        });
        let is_dictionary = given.iter().any(|base| name(base) == Some("TypedDict"));
        let (kind, own) = match (data(class), inherited) {
            (Some(options), _) if is_made || is_false(options, "init") => {
                (ClassKind::Made, own(class, data_field))
            }
            (Some(_), _) => (ClassKind::Data, own(class, data_field)),
            (None, Some(ClassKind::Dictionary)) => (ClassKind::Dictionary, dictionary_fields(class)),
            (None, _) if is_dictionary => (ClassKind::Dictionary, dictionary_fields(class)),
            // Without the decorator it has its base's fields and none of its own.
            (None, Some(_)) if is_made => (ClassKind::Made, Vec::new()),
            (None, Some(kind)) => (kind, Vec::new()),
            (None, None) => return None,
        };
        Some(Class { kind, own, bases })
    }
}

/// The decorator's arguments of a data class; `None` for other classes.
fn data(class: &StmtClassDef) -> Option<Option<&Arguments>> {
    class.decorator_list.iter().find_map(|decorator| {
        let (decorator, options) = match &decorator.expression {
            Expr::Call(call) => (&*call.func, Some(&call.arguments)),
            other => (other, None),
        };
        (name(decorator) == Some("dataclass")).then_some(options)
    })
}

/// The fields in the class body.
fn own<'a>(
    class: &'a StmtClassDef,
    field: impl Fn(&'a str, &'a StmtAnnAssign) -> ClassField<'a>,
) -> Vec<ClassField<'a>> {
    let annotated = class.body.iter().filter_map(|statement| {
        let annotated = statement.as_ann_assign_stmt()?;
        Some(field(annotated.target.as_name_expr()?.id.as_str(), annotated))
    });
    annotated.take(MAX_FIELDS).collect()
}

fn dictionary_fields(class: &StmtClassDef) -> Vec<ClassField<'_>> {
    let is_total = !is_false(class.arguments.as_deref(), "total");
    own(class, |name, annotated| ClassField {
        name,
        annotation: &annotated.annotation,
        is_required: match marker(&annotated.annotation) {
            Some("NotRequired") => false,
            Some("Required") => true,
            _ => is_total,
        },
        is_none_by_default: false,
        is_given: true,
    })
}

/// `name: annotation`, with a value or a `field(...)`.
fn data_field<'a>(field: &'a str, annotated: &'a StmtAnnAssign) -> ClassField<'a> {
    let value = annotated.value.as_deref();
    let call = value.and_then(|value| value.as_call_expr());
    let options = call
        .filter(|call| name(&call.func) == Some("field"))
        .map(|call| &call.arguments);
    let default = match options {
        Some(options) => ["default", "default_factory"]
            .iter()
            .find_map(|option| keyword(options, option)),
        None => value,
    };
    let is_other = matches!(marker(&annotated.annotation), Some("ClassVar" | "KW_ONLY"));
    ClassField {
        name: field,
        annotation: &annotated.annotation,
        is_required: default.is_none(),
        is_none_by_default: default.is_some_and(Expr::is_none_literal_expr),
        is_given: !is_other && !is_false(options, "init"),
    }
}

/// The outermost name of an annotation, which may be a string.
fn marker(annotation: &Expr) -> Option<&str> {
    match annotation {
        Expr::Subscript(generic) => name(&generic.value),
        Expr::StringLiteral(text) => {
            let outer = text.value.to_str().split('[').next()?;
            outer.rsplit('.').next().map(str::trim)
        }
        other => name(other),
    }
}

fn keyword<'a>(arguments: &'a Arguments, name: &str) -> Option<&'a Expr> {
    arguments.find_keyword(name).map(|keyword| &keyword.value)
}

fn is_false(arguments: Option<&Arguments>, name: &str) -> bool {
    let value = arguments.and_then(|arguments| keyword(arguments, name));
    let literal = value.and_then(|value| value.as_boolean_literal_expr());
    literal.is_some_and(|literal| !literal.value)
}
