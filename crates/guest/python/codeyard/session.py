"""One session: its programs run one after another, and leave their state to the next.

Kept from run to run: the namespace (the module `__main__`), imported modules, files, threads, and
one event loop. Tasks left by a program are suspended until a later program awaits something; their
calls end with the run. After an interrupted run the loop is replaced, since its state is unknown.
"""

import asyncio
import builtins
import inspect
import json
import os
import sys
from types import ModuleType

from codeyard import blocks, calls, failure, files, host_places, inputs, kept, names, orphans, places, proxies, shown, values, windows
from codeyard.bridge.surface import Bridge
from codeyard.errors import UnawaitedCall
from codeyard.frames import pack
from codeyard.handing import Handing
from codeyard.interrupts import HELD, OPEN
from codeyard.jsonable import MAX_RESULT
from codeyard.program import VALUE, Program
from codeyard.shown import Gallery
from codeyard.watch import Watch
from codeyard.written import read_image

# Time for tasks of an interrupted run to clean up; the host waits for 50 ms.
_CLEAN_UP_SECONDS = 0.02
_PYPLOT = "matplotlib.pyplot"
_RESULT = "result"
# A program with these could notice that a variable was moved.
_NAMESPACE_WORDS = ("del ", "globals", "locals", "vars", "dir", "__main__")
_MISSING = object()


class ResultTooLarge(ValueError):
    """A result that does not fit into an answer."""

    __module__ = "builtins"


class Session:
    """Executes programs on the main thread, one at a time."""

    def __init__(self, channel, interrupts, streams):
        self.channel = channel
        self._interrupts = interrupts
        self._streams = streams
        self._watch = Watch(streams)
        self._limits = None
        self._reserve = failure.Reserve()
        self._handing = Handing()
        self._loop = None
        self._count = 0
        self._number = 0
        self._source = ""
        self._is_recorded = False
        self._main = ModuleType("__main__")
        self._names = self._main.__dict__
        self._names["__builtins__"] = builtins
        self._bridge = None  # additions of the surface `bridge`
        self._is_on_server = False  # the surface `server`

    def open(self, settings):
        """Begins the session with the host's settings. Everything before may precede a fork."""
        self.channel.before_wait = self._streams.flush
        self._limits = settings
        host_places.tell(settings.get("places", ()))
        self._reserve.renew()
        self._handing.kept.most_bytes = settings["kept"]
        kept.connect(self._handing.kept)
        sys.modules["__main__"] = self._main

    def watch(self):
        """Starts to watch for new processes; irreversible."""
        self._watch.install()

    def run(self, number, source, limits=None, surface=None, servers=None, read=None):
        """Executes a program and reports its end to the host. Without `limits` the session's apply.

        `surface` holds a run's data for surfaces other than `code`; a session's surface never
        changes. `servers` are the names of all servers, if the host sent them. `read` is the host's
        clock and randomness for a run that is recorded or repeated.
        """
        if surface is not None:
            self._know_surface(surface["name"])
        # On `server` an unknown name fails at the call, with that surface's message.
        proxies.know_servers(None if self._is_on_server else servers)
        self._begin(number, limits or self._limits)
        gallery = Gallery(number, self._files_directory(), "/results" if self._bridge is None else "/tmp")
        shown.connect(gallery)
        self._source = source
        self._is_recorded = read is not None
        inputs.begin(read)
        done = {"t": "done", "id": number}
        if self._bridge is not None:
            error = self._attempt(self._perform_on_bridge, surface, source, gallery)
        elif self._is_on_server:
            error = self._attempt(self._perform_on_server, source, gallery)
        else:
            error = self._attempt(self._perform, source, done, gallery)
        if isinstance(error, MemoryError):
            self._reserve.release()
        try:
            frame = self._finish(done, error, gallery)
        except BaseException as second:
            frame = self._report_briefly(number, error or second)
        self.channel.close_run()
        self.channel.send_packed(frame)
        self._end(error)

    def _know_surface(self, name):
        if name == "bridge" and self._bridge is None:
            self._bridge = Bridge(self._names, self._interrupts)
        if name == "server" and not self._is_on_server:
            self._is_on_server = True
            proxies.use_results(values.on_server)

    def close(self):
        if self._loop is not None:
            self._loop.close()

    def _begin(self, number, limits):
        self._count += 1
        self._number = number
        orphans.reap()
        self._interrupts.install()
        self._interrupts.begin_run()
        self.channel.limit = max(1, limits["concurrent_calls"])
        most = limits.get("result") if self._bridge is None else None
        self._handing.begin(number, most)
        self._streams.begin(number, limits["output"], self._files_directory())
        self._watch.begin_run()
        calls.begin()
        blocks.begin()
        files.forget()
        self.channel.open_run()

    def _end(self, error):
        self._interrupts.end_run()
        self._handing.end(error)
        if self._bridge is not None:
            self._bridge.end_run()
        if self._interrupts.raised:
            asyncio._set_running_loop(None)  # A loop that was interrupted while it ended is still entered here.
        if error is None:  # Otherwise the next program might lack the memory to free this one's values.
            self._reserve.renew()

    def _attempt(self, work, *args):
        """Runs the interruptible part. Returns the exception that ended it."""
        try:
            try:
                self._interrupts.state = OPEN
                work(*args)
            finally:
                self._interrupts.state = HELD
        except BaseException as error:
            self._interrupts.state = HELD
            return error
        return None

    # The interruptible part.

    def _perform(self, source, done, gallery):
        program = self._prepare(source)
        older = self._set_result_aside(source)
        found, value = self._value_of(program)
        if not found:
            value = self._names.get(_RESULT, older)
            if value is older:
                return
        _refuse_coroutine(value, program)
        if not isinstance(value, (bytes, bytearray)) and gallery.take(value):
            return
        gallery.take_blocks(value)
        if not found and isinstance(value, str) and self._streams.has_printed_last(value):
            return  # The model has the text already.
        done["result"] = self._handing.convert(value, gallery.add)

    def _perform_on_bridge(self, surface, source, gallery):
        """Programs there have no result: their output and images count."""
        self._bridge.begin_run(surface, source)
        program = self._prepare(source)
        _, value = self._value_of(program)
        _refuse_coroutine(value, program)
        gallery.take(value) or gallery.take_blocks(value)

    def _perform_on_server(self, source, gallery):
        """A returned value is the last line of the output, and there is no other result."""
        program = self._prepare(source)
        value = self._execute_awaited(program)
        returned = program.returned(value)
        _, shown = program.result(value, self._names)
        _refuse_coroutine(shown, program)
        if gallery.take(shown):
            return
        gallery.take_blocks(shown)
        if returned is not None:
            print(json.dumps(returned, default=str, ensure_ascii=False))

    def _prepare(self, source):
        program = Program(self._count, source)
        windows.replace(source)
        names.bind_bridge(program.bridge_names, self._names)
        return program

    def _value_of(self, program):
        return program.result(self._execute_awaited(program), self._names)

    def _execute_awaited(self, program):
        """Executes a program whose calls are all awaited."""
        value = self._execute(program)
        if calls.unawaited:
            raise failure.unawaited(list(calls.unawaited.values()))
        return value

    def _execute(self, program):
        try:
            if program.is_async:
                return self._drive(program.code)
            return eval(program.code, self._names)
        except SystemExit as error:
            if failure.exit_status(error) != 0:
                if not isinstance(error.code, int):
                    print(error.code, file=sys.stderr)
                raise
            return None

    def _drive(self, code):
        if self._loop is None or self._loop.is_closed():
            self._loop = asyncio.new_event_loop()
        task = self._loop.create_task(eval(code, self._names))
        try:
            value = self._loop.run_until_complete(task)
            self._end_executor()
            return value
        except BaseException as error:
            if task.done() and not task.cancelled():
                task.exception()  # Retrieve the exception, so that asyncio does not report it later.
            if self._interrupts.raised or not task.done():
                # An interrupt while everything waited was raised in the loop, not in the program.
                place = None if task.done() else failure.waiting_place(task)
                self._abandon_loop()
                if place is not None:
                    raise error.with_traceback(place)
            raise

    def _end_executor(self):
        """Waits for the threads of `asyncio.to_thread`, as `asyncio.run` does; a later program gets new ones."""
        loop = self._loop
        if getattr(loop, "_default_executor", None) is not None:
            loop.run_until_complete(loop.shutdown_default_executor())
            loop._default_executor = None
            loop._executor_shutdown_called = False

    def _abandon_loop(self):
        loop, self._loop = self._loop, None
        if loop.is_running():  # Interrupted at the only point where the loop can no longer be stopped.
            return
        tasks = asyncio.all_tasks(loop)
        for task in tasks:
            task.cancel()
        if tasks:
            loop.run_until_complete(asyncio.wait(tasks, timeout=_CLEAN_UP_SECONDS))
        for task in tasks:
            task._log_destroy_pending = False
            if task.done() and not task.cancelled():
                task.exception()
        loop.close()

    # A variable `result` counts if this run assigned it. An older one waits among the builtins
    # meanwhile: it stays readable, and an assignment shows as a new global, even of an equal value.

    def _set_result_aside(self, source):
        """Returns the value that the variable must not have after the run to count as assigned."""
        older = self._names.get(_RESULT, _MISSING)
        if older is _MISSING or _RESULT not in source or any(word in source for word in _NAMESPACE_WORDS):
            return older
        vars(builtins)[_RESULT] = self._names.pop(_RESULT)
        return _MISSING

    def _restore_result(self):
        older = vars(builtins).pop(_RESULT, _MISSING)
        if older is not _MISSING:
            self._names.setdefault(_RESULT, older)
        self._names.pop(VALUE, None)

    def _files_directory(self):
        """The directory for output too long or too large to be shown."""
        return places.RESULTS if self._bridge is None else "/tmp"

    def _collect(self, written, gallery):
        saved = [image for image in map(read_image, written) if image is not None]
        for image in saved:
            gallery.add_saved(image)
        gallery.add_figures(len(saved))

    # Reports to the host.

    def _finish(self, done, error, gallery):
        """Collects the run's leftovers and returns its final frame."""
        self._restore_result()
        if self.channel.forked:
            self._end_fork(error)
        self._streams.end_run()
        copied = self._streams.copied()
        if copied:
            done["copied"] = list(copied)
        own = (*(f"/results/{name}" for name in copied.values()), f"/results/shown-{self._number}-")
        written = [file for file in self._written() if not file[0].startswith(own)]
        if (written or _PYPLOT in sys.modules) and not self._interrupts.raised:
            late = self._attempt(self._collect, [real for *_, real in written], gallery)
            error = error or late
        if written and self._bridge is None:
            done["files"] = [file[:2] for file in written]
        reads = inputs.listed() if self._is_recorded else None
        if reads:
            done["reads"] = reads
        unused = blocks.current().lines(blocks.MOST_TOLD if error is None else 1)
        if unused:
            # Below a traceback one line is enough.
            done["unused"] = unused if error is None else ["; ".join(unused)]
        return self._report(done, error, gallery)

    def _written(self):
        """Path, size and real path of each file made or changed by the run."""
        return self._watch.written.files(self._watch.spawned or calls.have_answered())

    def _report(self, done, error, gallery):
        content = gallery.content()
        if content:
            done["content"] = content
        done["disk"] = _disk()
        if error is None:
            frame = self._handing.pack(done)
            if self._handing.concerns(frame):
                error = self._attempt(self._handing.settle, done, frame)
                if error is None and "kept" in done:
                    frame = pack(done)
        if error is None:
            size = len(frame) - sum(len(item.get("data", "")) for item in content)
            if size <= MAX_RESULT:
                return frame
            message = f"the result takes {size:,} bytes, more than {MAX_RESULT:,}; write it to a file in /results"
            error = ResultTooLarge(message)
        done.pop("result", None)
        done.pop("kept", None)
        done["error"] = failure.describe(error, self._count, self._watch.spawned, self._source)
        if self._bridge is not None and isinstance(error, SystemExit):
            done["error"]["exit"] = failure.exit_status(error)
        return pack(done)

    def _report_briefly(self, number, error):
        """The report without memory or recursion depth for more."""
        self._reserve.release()
        described = {"kind": type(error).__name__, "message": "the error could not be described", "traceback": ""}
        if isinstance(error, MemoryError):
            described["limit"] = "memory"
        error.__traceback__ = None
        return pack({"t": "done", "id": number, "error": described})

    def _end_fork(self, error):
        """Ends a forked process that returned from the program: only its parent may talk to the host."""
        status = 0
        if isinstance(error, SystemExit):
            status = failure.exit_status(error)
        elif error is not None:
            print(failure.describe(error, self._count, self._watch.spawned)["traceback"], end="", file=sys.stderr)
            status = 1
        self._streams.end_run()
        os._exit(status)


def _refuse_coroutine(value, program):
    """Refuses a coroutine as result: the program forgot to await it."""
    if inspect.iscoroutine(value):
        value.close()
        call = f"{value.__qualname__}()"
        message = f"the result is the coroutine {call}, which was never awaited; write `await {call}`"
        raise UnawaitedCall(message, program.filename, program.last_line)


def _disk():
    if not places.OWN_DISK:
        return None
    try:
        status = os.statvfs(places.OWN_PLACE)
    except OSError:
        return None
    return (status.f_blocks - status.f_bfree) * status.f_frsize
