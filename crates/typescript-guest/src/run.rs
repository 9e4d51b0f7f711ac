//! One program, from its text to its result.

use std::collections::BTreeSet;
use std::io;
use std::ops::ControlFlow;
use std::time::Duration;

use rquickjs::context::EvalOptions;
use rquickjs::promise::PromiseState;
use rquickjs::{Ctx, FromJs, Function, Object, Promise, Value};
use rustix::time::{ClockId, clock_gettime};
use serde_json::value::RawValue;
use typescript::{ProgramValue, Script};

use crate::engine::{Engine, Hooks};
use crate::failure::{self, Failure, INTERRUPTED, program_name};
use crate::report::{Finished, RunReport};
use crate::session;
use crate::sources::ProgramText;
use guest_session::{Channel, Frame, Limits, Reply, RunFrame, Surface, Woken};

/// Microtasks between two reads of the channel.
const JOBS: usize = 10_000;

/// Limit on the CPU time of an ended program's remaining jobs. A limit in wall time would end sessions on a busy
/// machine. After a time-out, the host's own limit is 50 ms of wall time.
const DRAINING: Duration = Duration::from_millis(20);

/// CPU time of this thread.
fn thread_time() -> Duration {
    let used = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(used).unwrap_or_default()
}

/// How a program ended.
enum Ended<'js> {
    Value(Value<'js>),
    Failed(Failure),
}

/// A run under way.
struct Run<'a, 'js> {
    engine: &'a Engine,
    channel: &'a Channel,
    ctx: &'a Ctx<'js>,
    hooks: &'a Hooks<'js>,
    number: u64,
}

/// Which value of a program is its result, by surface.
pub(crate) fn value_on(surface: Surface) -> ProgramValue {
    match surface {
        Surface::Code | Surface::Bridge => ProgramValue::Last,
        Surface::Server => ProgramValue::Returned,
    }
}

/// Runs a program and returns the frame that reports its end.
///
/// # Errors
/// If the host is gone.
pub fn run(engine: &Engine, channel: &Channel, frame: &RunFrame, limits: Limits) -> io::Result<Vec<u8>> {
    let shared = &engine.shared;
    shared.begin(limits.concurrent_calls, frame.id, limits.output);
    shared.begin_inputs(frame.inputs.as_ref());
    let mut report = RunReport::new(frame.id);
    match typescript::script(&frame.code, value_on(frame.surface)) {
        Err(error) => report.fail(failure::syntax_error(&error)),
        Ok(script) => {
            let ran = engine.with(|ctx, hooks| {
                let run = Run {
                    engine,
                    channel,
                    ctx,
                    hooks,
                    number: frame.id,
                };
                run.whole(frame, &script, limits, &mut report)
            });
            match ran {
                Ok(ran) => ran?,
                Err(_) => report.fail(out_of_memory(engine, frame.id)),
            }
        }
    }
    shared.interruptible.set(false);
    shared.timers.borrow_mut().clear_all();
    report.read(shared.inputs.borrow().listed());
    report.into_frame(&shared.output.borrow().copied(), &written(engine))
}

impl<'js> Run<'_, 'js> {
    /// Executes a run up to its frame. Interrupts end the run until this function returns.
    fn whole(
        &self,
        frame: &RunFrame,
        script: &Script,
        limits: Limits,
        report: &mut RunReport,
    ) -> io::Result<()> {
        jail::own_zygote::forget_interrupt();
        let shared = &self.engine.shared;
        shared.interruptible.set(true);
        let found = typescript::calls(&frame.code, &shared.bound.borrow());
        if guest_session::is_refused(self.channel, &found, &|| shared.must_stop())? {
            report.fail(guest_session::refused());
            return Ok(());
        }
        let bound = &self.engine.shared.bound;
        bound.borrow_mut().extend(script.names.iter().cloned());
        if frame.inputs.is_some() && self.hooks.call::<()>("listTimes", ()).is_err() {
            report.fail(out_of_memory(self.engine, frame.id));
            return Ok(());
        }
        let ended = match self.start(frame, script) {
            Ok(promise) => self.until_settled(&promise)?,
            Err(error) => Ended::Failed(self.thrown(&error)),
        };
        let failed = match ended {
            Ended::Value(value) => self.finish(value, script, limits, report),
            Ended::Failed(failure) => Some(failure),
        };
        self.engine.shared.interruptible.set(false);
        self.drain()?;
        if let Some(failure) = self.as_exit(failed) {
            report.fail(failure.frame(&self.engine.sources.borrow(), self.number));
        }
        Ok(())
    }

    /// Calls the program's function.
    fn start(&self, frame: &RunFrame, script: &Script) -> rquickjs::Result<Promise<'js>> {
        let name = program_name(self.number);
        let source = ProgramText {
            text: frame.code.clone(),
            lines: Some(script.lines.clone()),
        };
        self.engine.sources.borrow_mut().add(&name, source);
        let names = script.names.clone();
        // The names may contain a server twice: as configured, and as in programs.
        let servers: BTreeSet<&String> = frame.names.iter().flatten().collect();
        let servers: Vec<String> = servers.into_iter().cloned().collect();
        let is_on_server = frame.surface == Surface::Server;
        self.hooks.call::<()>("begin", (names, servers, is_on_server))?;
        let mut options = EvalOptions::default();
        options.filename = Some(name);
        options.strict = false;
        let program: Function<'js> = self.ctx.eval_with_options(script.code.as_str(), options)?;
        program.call((self.hooks.function("imported")?,))
    }

    /// Serves jobs, timers and answers until the program's promise has settled and its timers have fired.
    fn until_settled(&self, promise: &Promise<'js>) -> io::Result<Ended<'js>> {
        let shared = &self.engine.shared;
        loop {
            let has_more = self.jobs();
            if shared.must_stop() {
                return Ok(Ended::Failed(self.interrupted()));
            }
            let state = promise.state();
            if state == PromiseState::Rejected {
                return Ok(Ended::Failed(self.rejection(promise)));
            }
            self.send_calls()?;
            let wait = if has_more {
                Some(Duration::ZERO)
            } else {
                shared.timers.borrow_mut().next()
            };
            if state == PromiseState::Resolved && !has_more && self.is_finished() {
                break;
            }
            if state == PromiseState::Pending && wait.is_none() && shared.calls.borrow().is_idle() {
                return Ok(Ended::Failed(stuck()));
            }
            if self.channel.wait(wait)? == Woken::Signal && shared.must_stop() {
                return Ok(Ended::Failed(self.interrupted()));
            }
            if let ControlFlow::Break(failure) = self.serve()? {
                return Ok(Ended::Failed(failure));
            }
        }
        match promise.result::<Value<'js>>() {
            Some(Ok(value)) => Ok(Ended::Value(value)),
            Some(Err(error)) => Ok(Ended::Failed(self.thrown(&error))),
            None => Ok(Ended::Failed(stuck())),
        }
    }

    /// Whether no timer keeps the run open.
    fn is_finished(&self) -> bool {
        let pending: u32 = self.hooks.call("pendingTimers", ()).unwrap_or(0);
        pending == 0 || self.engine.shared.timers.borrow_mut().next().is_none()
    }

    /// Runs jobs; returns whether more remain.
    fn jobs(&self) -> bool {
        let shared = &self.engine.shared;
        for _ in 0..JOBS {
            if shared.must_stop() {
                return false;
            }
            if self.ctx.execute_pending_job() {
                continue;
            }
            let has_more = shared.after_jobs.replace(false)
                && self.hooks.call::<bool>("runAfterJobs", ()).unwrap_or(false);
            if !has_more {
                return false;
            }
        }
        true
    }

    /// Runs the program's remaining jobs, which would otherwise run during the next program.
    ///
    /// # Errors
    /// If the jobs do not end: the session ends too.
    fn drain(&self) -> io::Result<()> {
        let began = thread_time();
        while self.ctx.execute_pending_job() {
            if thread_time().saturating_sub(began) > DRAINING {
                return Err(io::Error::other("jobs that never end"));
            }
        }
        Ok(())
    }

    fn send_calls(&self) -> io::Result<()> {
        let mut calls = self.engine.shared.calls.borrow_mut();
        while let Some(call) = calls.take() {
            self.channel.push(&call);
        }
        drop(calls);
        self.channel.flush()
    }

    /// Delivers the received answers, and fires due timers.
    fn serve(&self) -> io::Result<ControlFlow<Failure>> {
        while let Some(frame) = self.channel.next()? {
            if let Frame::Reply(reply) = frame {
                let mut calls = self.engine.shared.calls.borrow_mut();
                calls.flying = calls.flying.saturating_sub(1);
                drop(calls);
                if let Err(error) = self.reply(reply) {
                    return Ok(ControlFlow::Break(self.thrown(&error)));
                }
                // A program sees each answer before the next one.
                self.jobs();
            }
        }
        loop {
            let due = self.engine.shared.timers.borrow_mut().take_due();
            let Some(id) = due else { break };
            if let Err(error) = self.hooks.call::<()>("fireTimer", (id,)) {
                return Ok(ControlFlow::Break(self.thrown(&error)));
            }
            if self.jobs() || self.engine.shared.must_stop() {
                break;
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn reply(&self, reply: Reply) -> rquickjs::Result<()> {
        let value = |raw: Option<Box<RawValue>>| match raw {
            Some(raw) => self.ctx.json_parse(raw.get()),
            None => Ok(Value::new_undefined(self.ctx.clone())),
        };
        self.hooks
            .call("reply", (reply.id, value(reply.ok)?, value(reply.err)?))
    }

    /// Adds the result to the frame; returns a further failure, if any.
    fn finish(
        &self,
        value: Value<'js>,
        script: &Script,
        limits: Limits,
        report: &mut RunReport,
    ) -> Option<Failure> {
        match self.hooks.call::<Option<Object<'js>>>("leftover", ()) {
            Ok(None) => {}
            Ok(Some(described)) => return Some(Failure::of(&described)),
            Err(error) => return Some(self.thrown(&error)),
        }
        let arguments = (value, script.assigns_result, self.number, limits.result);
        let finished: Object<'js> = match self.hooks.call("finish", arguments) {
            Ok(finished) => finished,
            Err(error) => return Some(self.thrown(&error)),
        };
        match Finished::of(&finished) {
            Ok(finished) => report.finish(finished),
            Err(error) => Some(self.thrown(&error)),
        }
    }

    /// `process.exit` may end the program anywhere; status 0 is not a failure.
    fn as_exit(&self, failed: Option<Failure>) -> Option<Failure> {
        match self.engine.shared.exit.get() {
            Some(0) => None,
            Some(status) => Some(Failure::new("SystemExit", format!("exit status {status}"))),
            None => failed,
        }
    }

    fn rejection(&self, promise: &Promise<'js>) -> Failure {
        match promise.result::<Value<'js>>() {
            Some(Err(error)) => self.thrown(&error),
            _ => Failure::new("Error", "the program was rejected without a reason"),
        }
    }

    /// The failure of an interrupted run, with the program's position unless it was waiting.
    fn interrupted(&self) -> Failure {
        let thrown = self.ctx.catch();
        let stack = thrown.as_exception().and_then(rquickjs::Exception::stack);
        Failure {
            stack: stack.unwrap_or_default(),
            ..Failure::new(INTERRUPTED, "the run was interrupted")
        }
    }

    /// The failure behind a library error.
    fn thrown(&self, error: &rquickjs::Error) -> Failure {
        if self.engine.shared.must_stop() {
            return self.interrupted();
        }
        if !error.is_exception() {
            return Failure::new("Error", error.to_string());
        }
        let thrown = self.ctx.catch();
        // The engine throws null if it has no memory for an error.
        if thrown.is_null() && session::is_full(self.engine) {
            return Failure::new("InternalError", "out of memory");
        }
        if thrown.is_null() || thrown.is_undefined() {
            return Failure::new(
                "Error",
                format!(
                    "{} was thrown",
                    if thrown.is_null() { "null" } else { "undefined" }
                ),
            );
        }
        self.engine.shared.interruptible.set(false);
        let described = self.hooks.call::<Value<'js>>("describe", (thrown,));
        match described.and_then(|described| Object::from_js(self.ctx, described)) {
            Ok(described) => Failure::of(&described),
            // No memory is left for a longer message.
            Err(_) => Failure::new("InternalError", "out of memory"),
        }
    }
}

fn stuck() -> Failure {
    Failure::new(
        "NeverSettled",
        "the program awaits a promise that nothing can settle: no call, timer or other job is left",
    )
}

fn out_of_memory(engine: &Engine, number: u64) -> serde_json::Value {
    Failure::new("InternalError", "out of memory").frame(&engine.sources.borrow(), number)
}

/// Path and size of each file that the run made or changed in documented directories.
fn written(engine: &Engine) -> Vec<(String, u64)> {
    let paths = engine.shared.written.borrow();
    let shown = paths.iter().filter_map(|real| {
        let path = engine.shared.places.documented(real)?;
        let size = std::fs::metadata(real)
            .ok()
            .filter(std::fs::Metadata::is_file)?
            .len();
        Some((path, size))
    });
    shown.collect()
}
