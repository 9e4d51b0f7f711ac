"""Tool files: Python functions that run in the guest when called, once the host allows it.

The host publishes them below /tools with an index of their parameters. A module is executed at the
first call of its tool, and again after its content has changed.
"""

import asyncio
import inspect
import json
import linecache
import os
import sys
from collections.abc import Mapping
from types import ModuleType

from codeyard import places
from codeyard.errors import ToolError, failed_call
from codeyard.jsonable import to_arguments
from codeyard.revive import revive

_INDEX = "/tools/files.json"

# Holds a directory for each server of tool files; tracebacks show files below it.
_DIRECTORY = "/tools/"


class ToolFile:
    """A tool file, as the index describes it."""

    def __init__(self, server, tool, entry):
        self.server = server
        self.tool = tool
        self.path = _DIRECTORY + entry["file"]
        self.hash = entry["hash"]
        self._function = entry["function"]
        self._positional = entry["positional"]
        self._unnamed = entry["unnamed"]
        self._names = entry["names"]
        self._required = entry["required"]
        self._is_open = entry["open"]

    def bind(self, label, positional, named):
        """The arguments by name: as for any Python function, or from one mapping that fits."""
        if len(positional) == 1 and not named and self._fits(label, positional[0]):
            return dict(positional[0])
        if len(positional) > len(self._positional):
            takes = f"{len(self._positional)} positional arguments" if self._positional else "no positional argument"
            raise TypeError(f"{label} takes {takes} but {len(positional)} were given")
        bound = dict(zip(self._positional, positional))
        twice = bound.keys() & named.keys()
        if twice:
            raise TypeError(f"{label} got multiple values for argument {min(twice)!r}")
        return bound | named

    def _fits(self, label, value):
        """Whether a mapping holds all arguments, because its keys are parameter names."""
        if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
            return False
        if self._is_open:
            return not self._positional or all(name in value for name in self._required)
        others = [name for name in value if name not in self._names]
        if others and len(others) < len(value):
            others = ", ".join(repr(name) for name in others)
            remedy = f"; its parameters are {', '.join(self._names)}"
            if self._positional:
                remedy += f". A mapping that is the first of them is given as {self._positional[0]}={{...}}"
            raise TypeError(f"{label} has no parameter {others}{remedy}")
        return not others and bool(value or not self._required)

    def function(self):
        """The function, from a module executed since its content last changed."""
        return vars(_load(self))[self._function]

    def of_function(self, name):
        """`__name__` or `__signature__`, from the index, without executing the file."""
        return self._function if name == "__name__" else inspect.Signature(list(self._parameters()))

    def _parameters(self):
        kinds = inspect.Parameter
        by_name = [name for name in self._names if name not in self._positional]
        for name in [*self._positional, *by_name]:
            kind = kinds.POSITIONAL_OR_KEYWORD if name in self._positional else kinds.KEYWORD_ONLY
            if name in self._unnamed:
                kind = kinds.POSITIONAL_ONLY
            yield kinds(name, kind, default=kinds.empty if name in self._required else ...)
        if self._is_open:
            yield kinds("kwargs" if "kwargs" not in self._names else "kwargs_", kinds.VAR_KEYWORD)

    async def call(self, allowed, arguments):
        """Calls the function with this content, which the host has allowed."""
        try:
            value = self._begin(allowed, arguments)
            return await value if inspect.isawaitable(value) else value
        except BaseException as error:
            self._fail(error)

    def call_blocking(self, allowed, arguments):
        """Calls the function without awaiting: asynchronous functions get a temporary loop."""
        try:
            value = self._begin(allowed, arguments)
            return _waited_for(value) if inspect.isawaitable(value) else value
        except BaseException as error:
            self._fail(error)

    def _begin(self, allowed, arguments):
        if allowed != self.hash:
            message = f"{self.path} has changed since this run began; run the program again"
            raise ToolError(message, self.server, self.tool, retryable=True)
        function = self.function()
        arguments = revive(function, arguments)
        return function(*self._unnamed_of(function, arguments), **arguments)

    def _unnamed_of(self, function, arguments):
        """Removes the positional-only arguments from the others, and adds the defaults between them."""
        given = [name for name in self._unnamed if name in arguments]
        if not given:
            return []
        taken = self._unnamed[: self._unnamed.index(given[-1]) + 1]
        if len(given) == len(taken):
            return [arguments.pop(name) for name in taken]
        parameters = inspect.signature(function).parameters
        return [arguments.pop(name) if name in arguments else parameters[name].default for name in taken]

    def _fail(self, error):
        """Raises the caller's exception for the function's: exceptions that end a run still do."""
        if isinstance(error, (ToolError, MemoryError)) or not isinstance(error, (Exception, SystemExit)):
            raise error
        what = f"sys.exit({error.code!r})" if isinstance(error, SystemExit) else f"{type(error).__name__}: {error}"
        raise ToolError(f"{self.server}.{self.tool}: {what}", self.server, self.tool) from error


class Call:
    """A call of a tool file: its arguments as sent to the host, and unchanged."""

    __slots__ = ("_file", "_arguments", "told")

    def __init__(self, file, label, positional, named):
        self._file = file
        self._arguments = file.bind(label, positional, named)
        self.told = to_arguments(label, self._arguments)

    @classmethod
    def found(cls, server, tool, arguments):
        """The same call under the names that the host resolved."""
        file = find(server, tool)
        if file is None:
            message = f"{server}.{tool} was added after this run began; run the program again"
            raise ToolError(message, server, tool, retryable=True)
        call = object.__new__(cls)
        call._file, call._arguments, call.told = file, dict(arguments), arguments
        return call

    def is_of(self, server, tool):
        """Whether the call is for the tool of these names."""
        found = find(server, tool)
        return found is not None and found.path == self._file.path

    def call(self, allowed):
        return self._file.call(allowed, self._arguments)

    def call_blocking(self, allowed):
        return self._file.call_blocking(allowed, self._arguments)


def has_server(name):
    """Whether a server of this name has tool files."""
    return name in _index()


def find(server, tool):
    """`None` if no tool file has these names."""
    names = _index().get(server)
    return names.get(tool) if names else None


def check_present(server, tool):
    """Refuses a call of a tool whose file was removed: its arguments may only suit a function."""
    if (server, tool) in _modules:
        raise failed_call(f"{server}.{tool} is not there any more: its file has been removed", kind="unknown_tool")


def forget():
    """Makes the next lookup read the index again: files may change between runs."""
    global _is_current
    _is_current = False


def is_tool_file(filename):
    """Whether a file name is that of a tool file."""
    return filename.startswith(_DIRECTORY)


_is_current = False
_stamp = None
_files = {}
_modules = {}


def _index():
    global _is_current, _stamp, _files
    if _is_current:
        return _files
    path = places.actual(_INDEX)
    try:
        status = os.stat(path)
    except OSError:
        stamp = None
    else:
        stamp = (status.st_dev, status.st_ino, status.st_mtime_ns, status.st_size)
    if stamp is None:
        _files = {}
    elif stamp != _stamp:
        with open(path, encoding="utf-8") as file:
            index = json.load(file)
        _files = {
            server: {tool: ToolFile(server, tool, entry) for tool, entry in tools.items()}
            for server, tools in index.items()
        }
    _stamp = stamp
    _is_current = True
    return _files


class _Module(ModuleType):
    """A tool file's module. Importing the tool from it gives the tool, whose calls the host sees."""

    def __getattribute__(self, name):
        module_tool = vars(ModuleType)["__dict__"].__get__(self).get("__codeyard_tool__")
        if module_tool is not None and name == module_tool[0]:
            return module_tool[1]
        return super().__getattribute__(name)

    def __call__(self, *positional, **named):
        return vars(self)["__codeyard_tool__"][1](*positional, **named)


def _load(file):
    """A file's module, executed at its first use."""
    key = (file.server, file.tool)
    known = _modules.get(key)
    if known is not None and known[0] == file.hash:
        return known[1]
    from codeyard.proxies import servers

    with open(places.actual(file.path), encoding="utf-8-sig") as opened:
        source = opened.read()
    name = f"servers.{file.server}.{file.tool}"
    module = _Module(name)
    vars(module).update(__file__=file.path, __codeyard_tool__=(file.tool, servers[file.server][file.tool]))
    linecache.cache[file.path] = (len(source), None, source.splitlines(True), file.path)
    code = compile(source, file.path, "exec", dont_inherit=True)
    before = sys.modules.get(name)
    sys.modules[name] = module  # Where data classes look for the names of their annotations.
    try:
        exec(code, vars(module))
    except BaseException:
        if before is None:
            sys.modules.pop(name, None)
        else:
            sys.modules[name] = before
        raise
    _modules[key] = (file.hash, module)
    return module


def _waited_for(awaitable):
    """The value of an awaitable; blocks this thread's loop."""

    async def awaited():
        return await awaitable

    running = asyncio._get_running_loop()
    asyncio._set_running_loop(None)
    try:
        # Ends the tasks and generators that the function leaves behind, as at any program's end.
        return asyncio.run(awaited())
    finally:
        asyncio._set_running_loop(running)
