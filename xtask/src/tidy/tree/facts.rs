//! Extracts from a module's syntax the facts that the rules need, without code that only tests compile.

use std::collections::BTreeSet;

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::{Attribute, Expr, FnArg, ImplItem, Item, Meta, Pat, Token, TraitItem, Type, UseTree, Visibility};

#[derive(Debug, Default)]
pub(in crate::tidy) struct Facts {
    pub(in crate::tidy) modules: Vec<Declaration>,
    pub(in crate::tidy) imports: Vec<Import>,
    pub(in crate::tidy) references: Vec<Reference>,
    pub(in crate::tidy) functions: Vec<Function>,
    pub(in crate::tidy) types: Vec<TypeDefinition>,
    /// Every item that a path can name or pass through, without modules and imports.
    pub(in crate::tidy) names: BTreeSet<String>,
}

/// `mod name;` or `mod name { … }`.
#[derive(Debug)]
pub(in crate::tidy) struct Declaration {
    pub(in crate::tidy) name: String,
    /// The value of `#[path = "…"]`.
    pub(in crate::tidy) file: Option<String>,
    pub(in crate::tidy) body: Option<Facts>,
}

/// One leaf of a `use` or `extern crate`.
#[derive(Debug)]
pub(in crate::tidy) struct Import {
    pub(in crate::tidy) path: Vec<String>,
    /// The name that the import binds; `None` for `*`.
    pub(in crate::tidy) name: Option<String>,
    pub(in crate::tidy) visibility: ImportVisibility,
    pub(in crate::tidy) line: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::tidy) enum ImportVisibility {
    Private,
    /// `pub(crate)` and similar.
    Crate,
    Public,
}

#[derive(Debug)]
pub(in crate::tidy) struct Reference {
    pub(in crate::tidy) path: Vec<String>,
    pub(in crate::tidy) form: Form,
    /// The enclosing function or type, such as `Hub::call`; empty at the module's top level.
    pub(in crate::tidy) context: String,
    /// The self type of the enclosing `impl` block.
    pub(in crate::tidy) implements: Option<String>,
    pub(in crate::tidy) line: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::tidy) enum Form {
    /// `Path { field: value }`.
    Literal,
    Mention,
}

#[derive(Debug)]
pub(in crate::tidy) struct Function {
    /// Relative to the module, such as `Hub::call`.
    pub(in crate::tidy) name: String,
    pub(in crate::tidy) first: usize,
    pub(in crate::tidy) last: usize,
    /// Names of the boolean parameters; empty if a trait dictates the signature.
    pub(in crate::tidy) booleans: Vec<String>,
}

#[derive(Debug)]
pub(in crate::tidy) struct TypeDefinition {
    pub(in crate::tidy) name: String,
    pub(in crate::tidy) kind: &'static str,
    pub(in crate::tidy) line: usize,
}

impl Facts {
    pub(super) fn of(items: &[Item]) -> Facts {
        let mut reader = Reader::default();
        for item in items {
            reader.visit_item(item);
        }
        reader.facts
    }
}

#[derive(Debug, Default)]
struct Reader {
    facts: Facts,
    context: Vec<String>,
    implements: Vec<Vec<String>>,
    signatures: Signatures,
}

/// Whether a trait or the workspace chooses the signatures of the visited functions.
#[derive(Debug, Clone, Copy, Default)]
enum Signatures {
    #[default]
    Free,
    OfTrait,
}

impl Reader {
    fn within(&mut self, name: String, visit: impl FnOnce(&mut Reader)) {
        self.context.push(name);
        visit(self);
        self.context.pop();
    }

    fn refer(&mut self, mut path: Vec<String>, form: Form, span: Span) {
        let self_type = self.implements.last();
        if let Some(self_type) = self_type.filter(|_| path[0] == "Self") {
            path.splice(..1, self_type.iter().cloned());
        }
        self.facts.references.push(Reference {
            path,
            form,
            context: self.context.join("::"),
            implements: self_type.and_then(|path| path.last().cloned()),
            line: line(span),
        });
    }

    fn define(&mut self, name: &syn::Ident) {
        if self.context.is_empty() {
            self.facts.names.insert(name.to_string());
        }
    }

    fn define_type(&mut self, name: &syn::Ident, kind: &'static str) {
        self.define(name);
        self.facts.types.push(TypeDefinition {
            name: name.to_string(),
            kind,
            line: line(name.span()),
        });
    }

    /// Records a function and reads its body with its name as context.
    fn function(&mut self, signature: &syn::Signature, end: Span, visit: impl FnOnce(&mut Reader)) {
        let free = std::mem::take(&mut self.signatures);
        self.within(signature.ident.to_string(), |reader| {
            reader.facts.functions.push(Function {
                name: reader.context.join("::"),
                first: line(signature.fn_token.span),
                last: line(end),
                booleans: match free {
                    Signatures::Free => booleans(signature),
                    Signatures::OfTrait => Vec::new(),
                },
            });
            visit(reader);
        });
        self.signatures = free;
    }

    fn import(&mut self, tree: &UseTree, path: &mut Vec<String>, visibility: ImportVisibility) {
        let (ident, name) = match tree {
            UseTree::Path(inner) => {
                path.push(inner.ident.to_string());
                self.import(&inner.tree, path, visibility);
                path.pop();
                return;
            }
            UseTree::Group(group) => {
                for inner in &group.items {
                    self.import(inner, path, visibility);
                }
                return;
            }
            UseTree::Glob(glob) => {
                self.facts.imports.push(Import {
                    path: path.clone(),
                    name: None,
                    visibility,
                    line: line(glob.star_token.span),
                });
                return;
            }
            UseTree::Name(leaf) => (&leaf.ident, leaf.ident.to_string()),
            UseTree::Rename(leaf) => (&leaf.ident, leaf.rename.to_string()),
        };
        let mut path = path.clone();
        // `use a::b::{self}` imports `b`.
        let is_self = ident == "self" && !path.is_empty();
        if !is_self {
            path.push(ident.to_string());
        }
        let name = match path.last() {
            Some(last) if name == "self" => last.clone(),
            _ => name,
        };
        self.facts.imports.push(Import {
            path,
            name: Some(name),
            visibility,
            line: line(ident.span()),
        });
    }

    /// Finds paths in tokens that do not parse as expressions, such as the arms of `select!`.
    fn scan(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            if let TokenTree::Group(group) = &tokens[at] {
                self.scan(group.stream());
            }
            let TokenTree::Ident(first) = &tokens[at] else {
                at += 1;
                continue;
            };
            let mut path = vec![first.to_string()];
            at += 1;
            while let [
                TokenTree::Punct(a),
                TokenTree::Punct(b),
                TokenTree::Ident(next),
                ..,
            ] = &tokens[at..]
                && (a.as_char(), b.as_char()) == (':', ':')
            {
                path.push(next.to_string());
                at += 3;
            }
            let form = match tokens.get(at) {
                Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => Form::Literal,
                _ => Form::Mention,
            };
            self.refer(path, form, first.span());
        }
    }
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item(&mut self, item: &'ast Item) {
        if is_for_tests(attributes(item)) {
            return;
        }
        match item {
            Item::Enum(it) => self.define_type(&it.ident, "enum"),
            Item::Struct(it) => self.define_type(&it.ident, "struct"),
            Item::Union(it) => self.define_type(&it.ident, "union"),
            Item::Type(it) => self.define_type(&it.ident, "type"),
            Item::TraitAlias(it) => self.define_type(&it.ident, "trait"),
            Item::Const(it) => self.define(&it.ident),
            Item::Static(it) => self.define(&it.ident),
            Item::Fn(it) => {
                self.define(&it.sig.ident);
                let end = it.block.brace_token.span.close();
                return self.function(&it.sig, end, |reader| visit::visit_item_fn(reader, it));
            }
            Item::Trait(it) => {
                self.define_type(&it.ident, "trait");
                let free = std::mem::take(&mut self.signatures);
                self.within(it.ident.to_string(), |reader| visit::visit_item_trait(reader, it));
                self.signatures = free;
                return;
            }
            Item::Impl(it) => {
                let self_type = type_path(&it.self_ty);
                let name = self_type.last().cloned().unwrap_or_default();
                let signatures = match it.trait_ {
                    Some(_) => Signatures::OfTrait,
                    None => Signatures::Free,
                };
                let outer = std::mem::replace(&mut self.signatures, signatures);
                self.implements.push(self_type);
                self.within(name, |reader| visit::visit_item_impl(reader, it));
                self.implements.pop();
                self.signatures = outer;
                return;
            }
            Item::Mod(it) => {
                return self.facts.modules.push(Declaration {
                    name: it.ident.to_string(),
                    file: it.attrs.iter().find_map(path_attribute),
                    body: it.content.as_ref().map(|(_, items)| Facts::of(items)),
                });
            }
            Item::Macro(it) => {
                // The names that an item macro defines are among its tokens.
                let mut names: BTreeSet<String> = it.ident.iter().map(ToString::to_string).collect();
                if it.ident.is_none() {
                    identifiers(it.mac.tokens.clone(), &mut names);
                }
                self.facts.names.extend(names);
            }
            _ => {}
        }
        visit::visit_item(self, item);
    }

    fn visit_impl_item(&mut self, item: &'ast ImplItem) {
        let attributes = match item {
            ImplItem::Fn(it) => &it.attrs,
            ImplItem::Const(it) => &it.attrs,
            _ => return visit::visit_impl_item(self, item),
        };
        if !is_for_tests(attributes) {
            visit::visit_impl_item(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, it: &'ast syn::ImplItemFn) {
        let end = it.block.brace_token.span.close();
        self.function(&it.sig, end, |reader| visit::visit_impl_item_fn(reader, it));
    }

    fn visit_trait_item(&mut self, item: &'ast TraitItem) {
        if !matches!(item, TraitItem::Fn(it) if is_for_tests(&it.attrs)) {
            visit::visit_trait_item(self, item);
        }
    }

    fn visit_trait_item_fn(&mut self, it: &'ast syn::TraitItemFn) {
        let end = match &it.default {
            Some(block) => block.brace_token.span.close(),
            None => it.sig.paren_token.span.close(),
        };
        self.function(&it.sig, end, |reader| visit::visit_trait_item_fn(reader, it));
    }

    fn visit_item_use(&mut self, it: &'ast syn::ItemUse) {
        let visibility = import_visibility(&it.vis);
        let mut path = Vec::new();
        if it.leading_colon.is_some() {
            path.push(String::new());
        }
        self.import(&it.tree, &mut path, visibility);
    }

    fn visit_item_extern_crate(&mut self, it: &'ast syn::ItemExternCrate) {
        let name = it.rename.as_ref().map_or(&it.ident, |(_, name)| name);
        self.facts.imports.push(Import {
            path: vec![String::new(), it.ident.to_string()],
            name: Some(name.to_string()),
            visibility: import_visibility(&it.vis),
            line: line(it.ident.span()),
        });
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let mut names: Vec<String> = path.segments.iter().map(|it| it.ident.to_string()).collect();
        if path.leading_colon.is_some() {
            names.insert(0, String::new());
        }
        if let Some(first) = path.segments.first() {
            self.refer(names, Form::Mention, first.ident.span());
        }
        visit::visit_path(self, path);
    }

    fn visit_expr_struct(&mut self, it: &'ast syn::ExprStruct) {
        let names = it.path.segments.iter().map(|it| it.ident.to_string()).collect();
        if let Some(first) = it.path.segments.first() {
            self.refer(names, Form::Literal, first.ident.span());
        }
        visit::visit_expr_struct(self, it);
    }

    fn visit_macro(&mut self, it: &'ast syn::Macro) {
        self.visit_path(&it.path);
        let arguments = it.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated);
        match arguments {
            Ok(arguments) => arguments
                .iter()
                .for_each(|argument| Visit::visit_expr(self, argument)),
            Err(_) => self.scan(it.tokens.clone()),
        }
    }

    // Neither `pub(crate)` nor `#[derive(Debug)]` uses an item of a module.
    fn visit_vis_restricted(&mut self, _: &'ast syn::VisRestricted) {}
    fn visit_attribute(&mut self, _: &'ast Attribute) {}
}

fn line(span: Span) -> usize {
    span.start().line
}

fn import_visibility(visibility: &Visibility) -> ImportVisibility {
    match visibility {
        Visibility::Public(_) => ImportVisibility::Public,
        Visibility::Restricted(_) => ImportVisibility::Crate,
        Visibility::Inherited => ImportVisibility::Private,
    }
}

fn booleans(signature: &syn::Signature) -> Vec<String> {
    let parameters = signature.inputs.iter().filter_map(|input| match input {
        FnArg::Typed(parameter) if is_boolean(&parameter.ty) => Some(&*parameter.pat),
        _ => None,
    });
    parameters
        .map(|pattern| match pattern {
            Pat::Ident(name) => name.ident.to_string(),
            _ => "_".to_owned(),
        })
        .collect()
}

/// Includes references to `bool` and `Option<bool>`.
fn is_boolean(it: &Type) -> bool {
    match it {
        Type::Reference(reference) => is_boolean(&reference.elem),
        Type::Paren(inner) => is_boolean(&inner.elem),
        Type::Path(path) => path.path.segments.last().is_some_and(|last| {
            let inner = match &last.arguments {
                syn::PathArguments::AngleBracketed(arguments) => arguments.args.first(),
                _ => None,
            };
            last.ident == "bool"
                || last.ident == "Option"
                    && matches!(inner, Some(syn::GenericArgument::Type(inner)) if is_boolean(inner))
        }),
        _ => false,
    }
}

fn type_path(it: &Type) -> Vec<String> {
    match it {
        Type::Path(path) => path
            .path
            .segments
            .iter()
            .map(|segment| segment.ident.to_string())
            .collect(),
        Type::Reference(reference) => type_path(&reference.elem),
        _ => vec!["_".to_owned()],
    }
}

fn identifiers(tokens: TokenStream, names: &mut BTreeSet<String>) {
    for token in tokens {
        match token {
            TokenTree::Ident(name) => {
                names.insert(name.to_string());
            }
            TokenTree::Group(group) => identifiers(group.stream(), names),
            _ => {}
        }
    }
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(it) => &it.attrs,
        Item::Enum(it) => &it.attrs,
        Item::Fn(it) => &it.attrs,
        Item::Impl(it) => &it.attrs,
        Item::Macro(it) => &it.attrs,
        Item::Mod(it) => &it.attrs,
        Item::Static(it) => &it.attrs,
        Item::Struct(it) => &it.attrs,
        Item::Trait(it) => &it.attrs,
        Item::Type(it) => &it.attrs,
        Item::Union(it) => &it.attrs,
        Item::Use(it) => &it.attrs,
        _ => &[],
    }
}

fn path_attribute(attribute: &Attribute) -> Option<String> {
    let Meta::NameValue(pair) = &attribute.meta else {
        return None;
    };
    match &pair.value {
        Expr::Lit(syn::ExprLit {
            lit: syn::Lit::Str(file),
            ..
        }) if pair.path.is_ident("path") => Some(file.value()),
        _ => None,
    }
}

fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute
                .parse_args::<Meta>()
                .is_ok_and(|condition| needs_test(&condition))
    })
}

fn needs_test(condition: &Meta) -> bool {
    let Meta::List(list) = condition else {
        return condition.path().is_ident("test");
    };
    let parts = list
        .parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated)
        .unwrap_or_default();
    if list.path.is_ident("all") {
        parts.iter().any(needs_test)
    } else {
        list.path.is_ident("any") && !parts.is_empty() && parts.iter().all(needs_test)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(text: &str) -> Facts {
        Facts::of(&syn::parse_file(text).unwrap().items)
    }

    #[test]
    fn code_that_only_tests_compile_is_left_out() {
        let facts = facts(
            "#[cfg(test)] mod tests { fn f(a: bool) {} }
             #[cfg(all(test, unix))] struct A;
             #[cfg(any(test, unix))] struct B;
             #[cfg(not(test))] struct C;
             impl B { #[cfg(test)] fn f() {} fn g() {} }",
        );
        assert!(facts.modules.is_empty());
        assert_eq!(facts.names, ["B".to_owned(), "C".to_owned()].into());
        assert_eq!(facts.functions.len(), 1);
    }

    #[test]
    fn paths_are_found_in_code_in_macros_and_behind_self() {
        let facts = facts(
            "use a::{self, b::{self, C as D}, e::*};
             pub(crate) struct S(m::T);
             impl S { fn f() -> Self { select! { x = c::d() => S { y: 1 }, }; vec![Self { y: e::F }] } }",
        );
        let names: Vec<_> = facts.imports.iter().map(|it| it.name.as_deref()).collect();
        assert_eq!(names, [Some("a"), Some("b"), Some("D"), None]);
        let has = |path: &str, form| {
            facts
                .references
                .iter()
                .any(|it| it.path.join("::") == path && it.form == form)
        };
        assert!(has("m::T", Form::Mention) && has("c::d", Form::Mention) && has("e::F", Form::Mention));
        assert!(has("S", Form::Literal) && !has("Self", Form::Literal));
        assert!(!has("crate", Form::Mention));
    }

    #[test]
    fn functions_are_named_with_their_booleans() {
        let facts = facts(
            "fn f(a: bool, b: u8, c: &mut bool, d: Option<bool>) -> bool { true }
             trait T { fn g(on: bool); }
             impl T for S { fn g(on: bool) { fn inner(x: bool) {} } }
             impl S { fn h(_: bool, list: Vec<bool>) {\n} }",
        );
        let found: Vec<_> = facts
            .functions
            .iter()
            .map(|it| format!("{}({})", it.name, it.booleans.join(" ")))
            .collect();
        assert_eq!(
            found,
            ["f(a c d)", "T::g(on)", "S::g()", "S::g::inner(x)", "S::h(_)"]
        );
        assert_eq!(facts.functions[4].last - facts.functions[4].first, 1);
    }
}
