//! Classes of a file that describe mappings: typed dictionaries and data classes, with what they inherit.

use std::collections::HashMap;

use ruff_python_ast::{Arguments, Expr, Stmt, StmtAnnAssign, StmtClassDef};

use crate::annotation::name;

/// Fields of one class that are looked at, with those of its bases.
const MAX_FIELDS: usize = 256;

/// Classes that are looked at for the fields of one.
const MAX_ANCESTORS: usize = 64;

/// The classes of a file that describe mappings.
pub(crate) struct Classes<'a> {
    /// In their order: a base stands before what is derived from it.
    all: Vec<Class<'a>>,
    /// What each name means at the end of the file.
    by_name: HashMap<&'a str, usize>,
}

/// One class.
struct Class<'a> {
    kind: ClassKind,
    own: Vec<ClassField<'a>>,
    /// Its bases that describe mappings too.
    bases: Vec<usize>,
}

/// What a class is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ClassKind {
    /// A typed dictionary.
    Dictionary,
    /// A data class that is made of its fields.
    Data,
    /// A data class whose `__init__` was written, and takes what it likes.
    Made,
}

/// One field.
#[derive(Clone, Copy)]
pub(crate) struct ClassField<'a> {
    pub(crate) name: &'a str,
    pub(crate) annotation: &'a Expr,
    /// Whether it must be there.
    pub(crate) is_required: bool,
    /// Whether it is `None` where it is not there.
    pub(crate) is_none_by_default: bool,
    /// Whether the class is made with it.
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
            // A name that is defined again means what it was given last.
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

    /// The fields of the class of this name, those of its bases first; empty if they do not say what it is made of.
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
            // One that is defined again keeps its place.
            let place = fields.len();
            fields.entry(field.name).or_insert((place, field)).1 = field;
        }
        let mut fields: Vec<(usize, &ClassField<'a>)> = fields.into_values().collect();
        fields.sort_unstable_by_key(|(place, _)| *place);
        let fields = fields.into_iter().map(|(_, field)| *field);
        Some(fields.filter(|field| field.is_given).collect())
    }

    /// A class and what it is derived from, a base before what is derived from it; `left` more are looked at.
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

    /// The class, if it describes a mapping.
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
            // Without the decorator it has the fields of its base, and none of its own.
            (None, Some(_)) if is_made => (ClassKind::Made, Vec::new()),
            (None, Some(kind)) => (kind, Vec::new()),
            (None, None) => return None,
        };
        Some(Class { kind, own, bases })
    }
}

/// What the decorator of a data class says; nothing of another class.
fn data(class: &StmtClassDef) -> Option<Option<&Arguments>> {
    class.decorator_list.iter().find_map(|decorator| {
        let (decorator, options) = match &decorator.expression {
            Expr::Call(call) => (&*call.func, Some(&call.arguments)),
            other => (other, None),
        };
        (name(decorator) == Some("dataclass")).then_some(options)
    })
}

/// The fields that stand in a class itself.
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

/// The outermost name of an annotation, which may be a text.
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

/// Whether the option is given and `False`.
fn is_false(arguments: Option<&Arguments>, name: &str) -> bool {
    let value = arguments.and_then(|arguments| keyword(arguments, name));
    let literal = value.and_then(|value| value.as_boolean_literal_expr());
    literal.is_some_and(|literal| !literal.value)
}
