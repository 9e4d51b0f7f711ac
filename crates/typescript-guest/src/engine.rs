//! The engine with its platform, and the functions that Rust calls in it.

use std::cell::RefCell;
use std::mem::ManuallyDrop;
use std::rc::Rc;

use rquickjs::{Context, Ctx, FromJs, Function, Module, Object, Persistent, Result, Runtime, Value};

use crate::modules::{self, Modules};
use crate::native;
use crate::places::Places;
use crate::shared::Shared;
use crate::sources::Sources;

/// The global variable through which generated modules reach the platform. Programs cannot enumerate it.
pub const BUILTINS: &str = "__codeyard_builtins";

/// The module that builds the platform; it exports the functions of [`Hooks`].
const BOOT: &str = "boot.js";

/// Bytes of native stack for programs, below the process's limit.
const STACK: usize = 6 * 1024 * 1024;

/// A session's engine. It lives as long as its process, because freeing it would only take time.
pub struct Engine {
    runtime: ManuallyDrop<Runtime>,
    context: ManuallyDrop<Context>,
    hooks: ManuallyDrop<Persistent<Object<'static>>>,
    pub shared: Rc<Shared>,
    pub sources: Rc<RefCell<Sources>>,
}

/// The functions of `boot.js`.
#[derive(Clone)]
pub struct Hooks<'js>(Object<'js>);

impl<'js> Hooks<'js> {
    /// Calls the function of this name.
    pub fn call<R: FromJs<'js>>(
        &self,
        name: &str,
        arguments: impl rquickjs::function::IntoArgs<'js>,
    ) -> Result<R> {
        self.0.get::<_, Function<'js>>(name)?.call(arguments)
    }

    /// The function of this name, as a value.
    pub fn function(&self, name: &str) -> Result<Function<'js>> {
        self.0.get(name)
    }
}

impl Engine {
    /// Starts an engine and builds its platform. `memory` is the session's memory limit in bytes, if the process
    /// cannot read its own limits and usage.
    ///
    /// # Errors
    /// The error of the platform, in one line.
    pub fn start(places: Places, memory: Option<u64>) -> std::result::Result<Self, String> {
        let runtime = Runtime::new().map_err(|error| error.to_string())?;
        runtime.set_max_stack_size(STACK);
        let shared = Rc::new(Shared::new(places, memory));
        let sources = Rc::new(RefCell::new(Sources::default()));
        let modules = Modules::new(Rc::clone(&sources), Rc::clone(&shared));
        runtime.set_loader(modules.clone(), modules);
        let stopping = Rc::clone(&shared);
        runtime.set_interrupt_handler(Some(Box::new(move || stopping.must_stop())));
        let context = Context::full(&runtime).map_err(|error| error.to_string())?;
        let hooks = context.with(|ctx| {
            let booted = boot(&ctx, &shared).map(|hooks| Persistent::save(&ctx, hooks));
            booted.map_err(|error| described(&ctx, &error))
        })?;
        watch_rejections(&runtime, hooks.clone());
        Ok(Self {
            runtime: ManuallyDrop::new(runtime),
            context: ManuallyDrop::new(context),
            hooks: ManuallyDrop::new(hooks),
            shared,
            sources,
        })
    }

    /// Runs `work` in the engine.
    pub fn with<R>(&self, work: impl for<'js> FnOnce(&Ctx<'js>, &Hooks<'js>) -> R) -> Result<R> {
        self.context.with(|ctx| {
            let hooks = Hooks(Persistent::clone(&self.hooks).restore(&ctx)?);
            Ok(work(&ctx, &hooks))
        })
    }

    /// Limits the memory of values, in bytes.
    pub fn limit_memory(&self, bytes: usize) {
        self.runtime.set_memory_limit(bytes);
    }

    /// Bytes in use by values and the engine.
    pub fn memory(&self) -> u64 {
        u64::try_from(self.runtime.memory_usage().malloc_size).unwrap_or(0)
    }

    /// Frees unreachable cycles.
    pub fn collect_garbage(&self) {
        self.runtime.run_gc();
    }
}

fn boot<'js>(ctx: &Ctx<'js>, shared: &Rc<Shared>) -> Result<Object<'js>> {
    ctx.globals()
        .set("__codeyard_native", native::object(ctx, shared)?)?;
    let text = modules::embedded(BOOT).unwrap_or_default();
    let (module, done) = Module::declare(ctx.clone(), format!("codeyard:{BOOT}"), text)?.eval()?;
    done.finish::<Value<'js>>()?;
    module.get("default")
}

/// Reports rejected promises without a handler to the platform.
fn watch_rejections(runtime: &Runtime, hooks: Persistent<Object<'static>>) {
    runtime.set_host_promise_rejection_tracker(Some(Box::new(move |ctx, promise, reason, is_handled| {
        let told = hooks
            .clone()
            .restore(&ctx)
            .and_then(|hooks| Hooks(hooks).call::<()>("rejected", (promise, reason, is_handled)));
        // Without memory for the report, the rejection goes unreported.
        let _ = told;
    })));
}

/// The text of an error, including a pending exception's.
pub fn described(ctx: &Ctx<'_>, error: &rquickjs::Error) -> String {
    if !error.is_exception() {
        return error.to_string();
    }
    let thrown = ctx.catch();
    match thrown.as_exception() {
        Some(exception) => format!(
            "{} {}",
            exception.message().unwrap_or_default(),
            exception.stack().unwrap_or_default()
        ),
        None => format!("{thrown:?}"),
    }
}
