//! Modules that programs import: the platform's, tools, and files of the session.

use std::cell::RefCell;
use std::fs;
use std::rc::Rc;

use rquickjs::loader::{ImportAttributes, Loader, Resolver};
use rquickjs::module::Declared;
use rquickjs::{Ctx, Exception, Module, Result};

use crate::resolve::{self, ImportTarget, ImportedTool};
use crate::shared::Shared;
use crate::sources::{ProgramText, Sources};

/// The modules below `js`, with their texts.
const EMBEDDED: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/modules.rs"));

/// Name prefix of this program's own modules.
const OWN: &str = "codeyard:";

/// The module of native functions, which the engine reads from a global variable.
const NATIVE: &str = include_str!("../js/native.js");

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
        match resolve::module(&self.shared.places, base, name) {
            Ok(ImportTarget::Tool(name) | ImportTarget::File(name)) => Ok(name),
            Ok(ImportTarget::Builtin(name)) => Ok(format!("node:{name}")),
            Err(message) => Err(throw(ctx, "ERR_MODULE_NOT_FOUND", &message)),
        }
    }
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
        if let Some(imported) = ImportedTool::of(name) {
            let text = imported.map(|tool| self.tool_module(&tool));
            let text = text.map_err(|message| throw(ctx, "ERR_MODULE_NOT_FOUND", &message))?;
            return Module::declare(ctx.clone(), name, text);
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
        let lines = Some(module.lines);
        self.sources.borrow_mut().add(name, ProgramText { text, lines });
        declared
    }
}

impl Modules {
    /// A module that exports the platform's module of this name.
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

    /// The text of a module that exports the tools of a server, or one tool.
    fn tool_module(&self, imported: &ImportedTool) -> String {
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        let server = format!(
            "globalThis.{}.server({})",
            crate::engine::BUILTINS,
            quoted(&imported.server)
        );
        match &imported.tool {
            None => {
                let exports = imported.exports(&self.shared.places);
                let named: String = exports
                    .iter()
                    .map(|tool| format!("export const {tool} = server.{tool};\n"))
                    .collect();
                format!("const server = {server};\n{named}export default server;\n")
            }
            Some(tool) if resolve::is_identifier(tool) => {
                let quoted = quoted(tool);
                format!("export const {tool} = {server}[{quoted}];\nexport default {tool};\n")
            }
            Some(tool) => format!("export default {server}[{}];\n", quoted(tool)),
        }
    }
}
