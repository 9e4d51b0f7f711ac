//! What programs import: the platform's modules, tools, and files of the session.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use rquickjs::loader::{ImportAttributes, Loader, Resolver};
use rquickjs::module::Declared;
use rquickjs::{Ctx, Exception, Module, Result};
use typescript::LineMap;

use crate::shared::Shared;

/// The modules below `js`, with their texts.
const EMBEDDED: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/modules.rs"));

/// Begins the names of this program's own modules.
const OWN: &str = "codeyard:";

/// The module of the native functions, which the engine takes over from a global variable.
const NATIVE: &str = include_str!("../js/native.js");

/// Begins the paths under which tools can be imported.
const TOOL_ROOTS: [&str; 2] = ["/tools/", "/servers/"];

/// Extensions of files that programs leave away.
const ENDINGS: [&str; 7] = ["", ".ts", ".js", ".mts", ".mjs", "/index.ts", "/index.js"];

/// Texts that the engine has read, to lead its lines back to what was written.
#[derive(Debug, Default)]
pub struct Sources {
    texts: HashMap<String, ProgramText>,
}

/// One text.
#[derive(Debug)]
pub struct ProgramText {
    pub text: String,
    pub lines: LineMap,
}

impl Sources {
    /// The names of older programs are forgotten beyond this number.
    const MOST: usize = 500;

    pub fn add(&mut self, name: &str, source: ProgramText) {
        if self.texts.len() >= Self::MOST {
            self.texts.clear();
        }
        self.texts.insert(name.to_owned(), source);
    }

    pub fn get(&self, name: &str) -> Option<&ProgramText> {
        self.texts.get(name)
    }
}

/// Finds and reads modules.
#[derive(Clone)]
pub struct Modules {
    sources: Rc<RefCell<Sources>>,
    shared: Rc<Shared>,
}

impl Modules {
    pub fn new(sources: Rc<RefCell<Sources>>, shared: Rc<Shared>) -> Self {
        Self { sources, shared }
    }
}

/// The text of one of this program's own modules.
pub fn embedded(name: &str) -> Option<&'static str> {
    let found = EMBEDDED.iter().find(|(file, _)| *file == name);
    found.map(|(_, text)| *text)
}

impl Resolver for Modules {
    fn resolve<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        base: &str,
        name: &str,
        _attributes: Option<ImportAttributes<'js>>,
    ) -> Result<String> {
        let is_own = base.starts_with(OWN);
        if is_own && (name.starts_with(OWN) || name.starts_with("./")) {
            return Ok(format!(
                "{OWN}{}",
                name.trim_start_matches(OWN).trim_start_matches("./")
            ));
        }
        if TOOL_ROOTS.iter().any(|root| name.starts_with(root)) {
            return Ok(name.to_owned());
        }
        if let Some(path) = name.strip_prefix("file://") {
            // Any other path could become the name of a module of ours.
            return self.find(ctx, &Path::new("/").join(path), name);
        }
        if name.starts_with(['.', '/']) {
            let directory = match Path::new(base).parent() {
                Some(directory) if base.starts_with('/') => directory.to_owned(),
                _ => self.shared.places.current_directory().into(),
            };
            return self.find(ctx, &directory.join(name), name);
        }
        // The platform knows which it has, and says what is there instead of any other.
        let name = name.strip_prefix("node:").unwrap_or(name);
        Ok(format!("node:{name}"))
    }
}

/// The path without `.` and `..`.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(normal.pop()),
            Component::CurDir => {}
            part => normal.push(part),
        }
    }
    normal
}

fn throw(ctx: &Ctx<'_>, code: &str, message: &str) -> rquickjs::Error {
    match Exception::from_message(ctx.clone(), message).and_then(|error| {
        error.set("code", code)?;
        Ok(error)
    }) {
        Ok(error) => error.throw(),
        Err(error) => error,
    }
}

impl Loader for Modules {
    fn load<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        name: &str,
        _attributes: Option<ImportAttributes<'js>>,
    ) -> Result<Module<'js, Declared>> {
        if name == "codeyard:native" {
            return Module::declare(ctx.clone(), name, NATIVE);
        }
        if let Some(file) = name.strip_prefix(OWN) {
            return match embedded(file) {
                Some(text) => Module::declare(ctx.clone(), name, text),
                None => Err(Exception::throw_reference(
                    ctx,
                    &format!("the module {name} does not exist"),
                )),
            };
        }
        if let Some(specifier) = name.strip_prefix("node:") {
            return Module::declare(ctx.clone(), name, self.builtin(ctx, specifier)?);
        }
        if let Some(tool) = TOOL_ROOTS.iter().find_map(|root| name.strip_prefix(root)) {
            return Module::declare(ctx.clone(), name, self.tool_module(ctx, name, tool)?);
        }
        let text = fs::read_to_string(name).map_err(|error| {
            throw(
                ctx,
                "ERR_MODULE_NOT_FOUND",
                &format!("Cannot read module '{name}': {error}"),
            )
        })?;
        if name.ends_with(".json") {
            let quoted = serde_json::Value::from(text);
            let parse = format!("globalThis.{}.parseJson", crate::engine::BUILTINS);
            return Module::declare(ctx.clone(), name, format!("export default {parse}({quoted});"));
        }
        let module = typescript::module(&text)
            .map_err(|error| Exception::throw_syntax(ctx, &format!("{name}:{}: {error}", error.line)))?;
        let declared = Module::declare(ctx.clone(), name, module.code);
        let lines = module.lines;
        self.sources.borrow_mut().add(name, ProgramText { text, lines });
        declared
    }
}

impl Modules {
    /// The path of a file, whose ending may be left away.
    fn find(&self, ctx: &Ctx<'_>, path: &Path, name: &str) -> Result<String> {
        let path = normal(&Path::new("/").join(path));
        let path = path.display().to_string();
        let written = self.shared.places.actual(&path);
        let candidates = ENDINGS.iter().map(|ending| format!("{written}{ending}"));
        // TypeScript's own rule: `./a.js` may stand for `a.ts`.
        let typed = written.strip_suffix(".js").map(|stem| format!("{stem}.ts"));
        let found = candidates
            .chain(typed)
            .find(|candidate| Path::new(candidate).is_file());
        found.ok_or_else(|| {
            let message = format!("Cannot find module '{name}': the file {path} does not exist");
            throw(ctx, "ERR_MODULE_NOT_FOUND", &message)
        })
    }

    /// A module that exports what the platform has under this name.
    fn builtin(&self, ctx: &Ctx<'_>, specifier: &str) -> Result<String> {
        let hooks: rquickjs::Object<'_> = ctx.globals().get(crate::engine::BUILTINS)?;
        let names: rquickjs::Function<'_> = hooks.get("names")?;
        let exported: Vec<String> = names.call((specifier,))?;
        let named: String = exported
            .iter()
            .filter(|name| *name != "default")
            .map(|name| format!("export const {name} = found.{name};\n"))
            .collect();
        let specifier = serde_json::Value::from(specifier);
        Ok(format!(
            "const found = globalThis[\"{}\"].get({specifier});\n{named}export default found.default ?? found;\n",
            crate::engine::BUILTINS
        ))
    }

    /// A module of a server or of one tool: `/tools/crm`, `/tools/crm/find.ts`.
    fn tool_module(&self, ctx: &Ctx<'_>, name: &str, path: &str) -> Result<String> {
        let path = ENDINGS
            .iter()
            .rev()
            .find_map(|ending| path.strip_suffix(ending))
            .unwrap_or(path);
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        match path.split('/').collect::<Vec<_>>()[..] {
            [server] if !server.is_empty() => {
                let named: String = self
                    .declared(server)
                    .iter()
                    .map(|tool| format!("export const {tool} = server.{tool};\n"))
                    .collect();
                Ok(format!(
                    "const server = globalThis.{}.server({});\n{named}export default server;\n",
                    crate::engine::BUILTINS,
                    quoted(server)
                ))
            }
            [server, tool] if !server.is_empty() && is_identifier(tool) => Ok(format!(
                "export const {tool} = globalThis.{}.server({})[{}];\nexport default {tool};\n",
                crate::engine::BUILTINS,
                quoted(server),
                quoted(tool)
            )),
            [server, tool] if !server.is_empty() => Ok(format!(
                "export default globalThis.{}.server({})[{}];\n",
                crate::engine::BUILTINS,
                quoted(server),
                quoted(tool)
            )),
            _ => {
                let message = format!(
                    "Cannot find module '{name}': a tool is imported from /tools/<server>/<tool>.ts, a server from /tools/<server>"
                );
                Err(throw(ctx, "ERR_MODULE_NOT_FOUND", &message))
            }
        }
    }

    /// The tools that the index of a server declares.
    fn declared(&self, server: &str) -> Vec<String> {
        let index = format!("/tools/{server}/index.d.ts");
        let index = fs::read_to_string(&*self.shared.places.actual(&index)).unwrap_or_default();
        let names = index
            .lines()
            .filter_map(|line| line.strip_prefix("export declare function ")?.split('(').next());
        names
            .filter(|name| is_identifier(name))
            .map(str::to_owned)
            .collect()
    }
}

fn is_identifier(name: &str) -> bool {
    !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$')
}
