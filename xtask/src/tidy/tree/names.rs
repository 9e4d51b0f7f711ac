//! Resolves a path in code to a module, an item of a module, or a foreign crate.

use std::collections::BTreeSet;

use super::{Crate, Tree};

/// The target of a path, after all re-exports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::tidy) enum Target {
    Module(ModuleId),
    /// An item that the module defines, without the rest of the path.
    Item(ModuleId, String),
    /// An item of a crate outside the workspace.
    Foreign(String),
}

impl Target {
    pub(in crate::tidy) fn module(&self) -> Option<ModuleId> {
        match self {
            Target::Module(module) | Target::Item(module, _) => Some(*module),
            Target::Foreign(_) => None,
        }
    }
}

/// A module, by the index of its crate and its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::tidy) struct ModuleId {
    pub(in crate::tidy) member: usize,
    pub(in crate::tidy) module: usize,
}

const STANDARD: [&str; 3] = ["std", "core", "alloc"];

/// Imports being followed, by module and index, to stop at cycles.
type Followed = BTreeSet<(ModuleId, usize)>;

impl Tree {
    /// Resolves a path in the module; `None` for local variables, generics and names of the prelude.
    pub(in crate::tidy) fn resolve(&self, from: ModuleId, path: &[String]) -> Option<Target> {
        self.follow(from, path, &mut Followed::new())
    }

    /// The crate at the start of the path, unless the module defines the name itself.
    pub(in crate::tidy) fn foreign_crate<'a>(&'a self, from: ModuleId, path: &[String]) -> Option<&'a str> {
        let first = path.first()?;
        if first.is_empty() {
            return self.dependency(from, path.get(1)?);
        }
        let is_keyword = ["crate", "self", "super", "Self"].contains(&first.as_str());
        let is_local = is_keyword || self.find(from, path, &mut Followed::new()).is_some();
        if is_local {
            return None;
        }
        self.dependency(from, first)
    }

    fn follow(&self, from: ModuleId, path: &[String], followed: &mut Followed) -> Option<Target> {
        let (first, rest) = path.split_first()?;
        let module = &self.crates[from.member].modules[from.module];
        let at = |module| ModuleId { module, ..from };
        match first.as_str() {
            "crate" => self.below(at(module.root), rest, followed),
            "self" => self.below(from, rest, followed),
            "super" => {
                let mut above = module.parent?;
                let mut rest = rest;
                while let Some((first, others)) = rest.split_first()
                    && first == "super"
                {
                    above = self.crates[from.member].modules[above].parent?;
                    rest = others;
                }
                self.below(at(above), rest, followed)
            }
            "" => self.outside(from, rest, followed),
            _ => self
                .find(from, path, followed)
                .or_else(|| self.outside(from, path, followed)),
        }
    }

    fn outside(&self, from: ModuleId, path: &[String], followed: &mut Followed) -> Option<Target> {
        let (first, rest) = path.split_first()?;
        let package = self.dependency(from, first)?;
        let Some(member) = self.member(package) else {
            return Some(Target::Foreign(package.to_owned()));
        };
        let root = ModuleId { member, module: 0 };
        // An item that is not found comes from a macro; its crate is still right.
        self.below(root, rest, followed)
            .or_else(|| Some(Target::Item(root, rest.first()?.clone())))
    }

    fn dependency<'a>(&'a self, from: ModuleId, name: &str) -> Option<&'a str> {
        let member: &Crate = &self.crates[from.member];
        let standard = STANDARD.contains(&name).then_some("std");
        // A program uses its own package's library by name.
        let is_program = member.modules[from.module].root != 0;
        let own = (is_program && member.name.replace('-', "_") == name).then_some(member.name.as_str());
        member
            .dependencies
            .get(name)
            .map(String::as_str)
            .or(standard)
            .or(own)
    }

    fn member(&self, package: &str) -> Option<usize> {
        let at = self.crates.iter().position(|member| member.name == package)?;
        (!self.crates[at].modules.is_empty()).then_some(at)
    }

    /// Resolves the rest of a path in the module; an empty path is the module.
    fn below(&self, from: ModuleId, path: &[String], followed: &mut Followed) -> Option<Target> {
        if path.is_empty() {
            return Some(Target::Module(from));
        }
        self.find(from, path, followed)
    }

    /// Resolves a path in the module's own names: children, items, imports, then glob imports.
    fn find(&self, from: ModuleId, path: &[String], followed: &mut Followed) -> Option<Target> {
        let (first, rest) = path.split_first()?;
        let module = &self.crates[from.member].modules[from.module];
        let child = module.children.get(first).map(|module| ModuleId {
            module: *module,
            ..from
        });
        // A function may share a module's name, but only a module can be followed by `::`.
        if let Some(child) = child.filter(|_| !rest.is_empty()) {
            return self.find(child, rest, followed);
        }
        if module.facts.names.contains(first) {
            return Some(Target::Item(from, first.clone()));
        }
        let imports = module.facts.imports.iter().enumerate();
        for (index, import) in imports.clone() {
            if import.name.as_ref() == Some(first) && followed.insert((from, index)) {
                let target = self.follow(from, &import.path, followed);
                followed.remove(&(from, index));
                match target {
                    Some(Target::Module(inner)) if !rest.is_empty() => {
                        return self.find(inner, rest, followed);
                    }
                    Some(target) => return Some(target),
                    None => {}
                }
            }
        }
        if let Some(child) = child {
            return Some(Target::Module(child));
        }
        for (index, import) in imports {
            if import.name.is_none() && followed.insert((from, index)) {
                let all = self.follow(from, &import.path, followed);
                let found = match all {
                    Some(Target::Module(inner)) => self.find(inner, path, followed),
                    _ => None,
                };
                followed.remove(&(from, index));
                if found.is_some() {
                    return found;
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::super::of;
    use super::*;

    #[test]
    fn paths_lead_through_re_exports_to_the_defining_module() {
        let tree = of(&[
            (
                "a/src/lib.rs",
                "mod m; mod n; pub use m::{T, all::*}; pub use b::U as V;",
            ),
            ("a/src/m.rs", "pub mod all; pub struct T; use super::n; fn m() {}"),
            ("a/src/m/all.rs", "pub struct W; ids!(Made);"),
            (
                "a/src/n.rs",
                "use crate::T; use serde::Serialize; use std::fmt; use n::n; fn f() {}",
            ),
            ("b/src/lib.rs", "pub struct U; pub use a::T; pub use serde;"),
        ]);
        let show = |module: &str, path: &str| {
            let from = tree.modules().find(|(_, _, found)| found.path == module);
            let from = from.unwrap().0;
            let path: Vec<String> = path.split("::").map(str::to_owned).collect();
            let name = |id: ModuleId| tree.crates[id.member].modules[id.module].path.clone();
            match tree.resolve(from, &path) {
                Some(Target::Module(id)) => name(id),
                Some(Target::Item(id, item)) => format!("{}.{item}", name(id)),
                Some(Target::Foreign(package)) => format!("foreign {package}"),
                None => "nothing".to_owned(),
            }
        };
        for (module, path, expected) in [
            ("a::n", "T", "a::m.T"),
            ("a::n", "T::new", "a::m.T"),
            ("a::n", "crate::W", "a::m::all.W"),
            ("a::n", "crate::Made", "a::m::all.Made"),
            ("a::n", "crate::V", "b.U"),
            ("a::n", "super::m::all", "a::m::all"),
            ("a::m::all", "super::super::n::f", "a::n.f"),
            ("a::m", "n::f", "a::n.f"),
            ("a::m", "m", "a::m.m"),
            ("a::n", "b::T", "a::m.T"),
            ("a::n", "b::serde::Serialize", "foreign serde"),
            ("a::n", "b::made_by_a_macro", "b.made_by_a_macro"),
            ("a::n", "fmt::Display", "foreign std"),
            ("a::n", "::serde::Serialize", "foreign serde"),
            ("a::n", "local_variable", "nothing"),
            ("a::n", "n", "nothing"),
            ("a::n", "Self::f", "nothing"),
        ] {
            assert_eq!(show(module, path), expected, "{path} in {module}");
        }
    }
}
