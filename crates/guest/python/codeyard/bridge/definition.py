"""Extracts a function's definition from its program, so that other sessions can define it."""

import ast
import builtins
import inspect
import io
import keyword
import linecache
import sys
import textwrap
from types import ModuleType

from codeyard import names, places
from codeyard.program import is_program, is_saved
from codeyard.proxies import Server, Tool

_TEMPORARY = ("/tmp/", "/dev/shm/")
_ANNOTATIONS = "from __future__ import annotations"


class NotSavable(Exception):
    """Why a value cannot be saved as a function."""


class Definition:
    """A function's `name`, its `source` with the needed imports, and the used names that will be
    `missing` elsewhere."""

    def __init__(self, name, source, missing):
        self.name = name
        self.source = source
        self.missing = missing


def definition_of(func, known):
    """The definition of a function of this session. `known` names will be defined wherever it is used."""
    _check(func)
    name = func.__name__
    _check_name(name, func.__code__)
    node, source = _cut(func.__code__)
    head = [_ANNOTATIONS] if func.__code__.co_flags & _annotations_flag() else []
    at_definition, inside = _names_of("\n".join([*head, source]), name)
    needs = Needs(func.__globals__, node, known | {name})
    unknown = needs.add(at_definition)
    if unknown:
        shown = ", ".join(unknown)
        raise NotSavable(f"its decorators, default values or annotations use {shown}, which later sessions do not have")
    missing = needs.add(inside)
    return Definition(name, "\n".join([*head, *sorted(needs.imports), source]), missing)


def _annotations_flag():
    import __future__

    return __future__.annotations.compiler_flag


def _check(func):
    """Refuses anything but a plain function."""
    if isinstance(func, type):
        raise NotSavable(f"{func.__name__} is a class")
    if inspect.ismethod(func):
        raise NotSavable(f"{func.__name__} is a method of an object")
    if inspect.isbuiltin(func):
        raise NotSavable(f"{func.__name__} is built into Python")
    if not inspect.isfunction(func):
        raise NotSavable(f"this is of type {type(func).__name__}")
    if "<lambda>" in (func.__name__, func.__code__.co_name):
        raise NotSavable("a lambda has no name; define it with `def`")
    if func.__code__.co_freevars:
        if hasattr(func, "__wrapped__"):
            raise NotSavable(f"a decorator has put another function in the place of {func.__name__}")
        free = ", ".join(func.__code__.co_freevars)
        raise NotSavable(f"{func.__name__} uses variables of the function around it: {free}")
    scope, _, _ = func.__qualname__.rpartition(".")
    if scope and not scope.endswith("<locals>"):
        raise NotSavable(f"{func.__name__} is a method of {scope}")


def _check_name(name, code):
    """Refuses names that cannot be defined or would hide a builtin of every session."""
    if not name.isidentifier() or keyword.iskeyword(name):
        raise NotSavable(f"{name!r:.80} is no name that Python can define")
    if name != code.co_name:
        raise NotSavable(f"it is called {name} and was defined as {code.co_name}")
    if names.reserved(name):
        raise NotSavable(f"the name {name} has a meaning in every session; choose another one")


def _cut(code):
    """A function's syntax tree and its source at the left margin."""
    filename = code.co_filename
    if not is_program(filename) and not is_saved(filename):
        raise NotSavable(f"{code.co_name} does not come from a program of this session")
    text = "".join(linecache.getlines(filename))
    if not text:
        raise NotSavable(f"the program that defined {code.co_name} is too long ago; define it again")
    lines = io.StringIO(text, newline=None).readlines()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == code.co_name:
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            if first == code.co_firstlineno:
                return _at_margin(node, "".join(lines[first - 1 : node.end_lineno]))
    raise NotSavable(f"the lines that define {code.co_name} were not found")


def _at_margin(node, source):
    source = textwrap.dedent(source).rstrip() + "\n"
    try:
        body = ast.parse(source).body
    except SyntaxError:
        body = []
    # Strings that span lines would change with the margin.
    if len(body) != 1 or ast.dump(body[0]) != ast.dump(node):
        raise NotSavable(f"{node.name} cannot be moved to the left margin; define it there")
    return node, source


def _names_of(source, name):
    """The global names that a definition reads, when defined and when run; sorted."""
    import symtable

    table = symtable.symtable(source, "<function>", "exec")
    at_definition = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_referenced()} - {name}
    inside = set()
    waiting = table.get_children()
    while waiting:
        table = waiting.pop()
        inside.update(symbol.get_name() for symbol in table.get_symbols() if _is_read_from_module(symbol))
        waiting.extend(table.get_children())
    return sorted(at_definition), sorted(inside)


def _is_read_from_module(symbol):
    # `symtable` mistakes a function called `top` for the module, and its variables for globals.
    own = symbol.is_local() and not symbol.is_declared_global()
    return symbol.is_global() and symbol.is_referenced() and not own


class Needs:
    """A function's dependencies; `imports` are lines that provide them."""

    def __init__(self, namespace, node, known):
        self.imports = set()
        self._namespace = namespace
        self._node = node
        self._known = known

    def add(self, read):
        """Adds names that the function reads; returns those that no import provides."""
        missing = []
        for name in read:
            lines = self._lines_for(name)
            if lines is None:
                missing.append(name)
            else:
                self.imports.update(lines)
        return missing

    def _lines_for(self, name):
        if name in self._known or name == "__name__":
            return []
        if name not in self._namespace:
            return [] if hasattr(builtins, name) or name.startswith("mcp_") else None
        value = self._namespace[name]
        if isinstance(value, (Server, Tool)):
            return _of_server(name, value)
        if value is getattr(builtins, name, _NOTHING):
            return []
        if name in names.BUILT_IN:
            raise NotSavable(f"{name} is built into Python and means something else here; give that another name")
        if isinstance(value, ModuleType):
            return self._of_module(name, value)
        return _of_member(name, value)

    def _of_module(self, name, module):
        path = _importable(module)
        if path is None:
            return None
        lines = [f"import {path}" if path == name else f"import {path} as {name}"]
        # `concurrent.futures` only exists once imported by that name.
        for chain in _chains(self._node, name):
            for end in range(1, len(chain) + 1):
                deeper = ".".join([path, *chain[:end]])
                if not isinstance(sys.modules.get(deeper), ModuleType):
                    break
                lines.append(f"import {deeper}")
        return lines


_NOTHING = object()


def _of_server(name, value):
    """An import from `mcp.servers`."""
    if name.startswith("mcp_"):
        return []
    server, tool = value._server, value._tool if isinstance(value, Tool) else None
    path = f"mcp.servers.{server}"
    if not server.isidentifier() or not (tool is None or tool.isidentifier()):
        return None
    return [f"import {path} as {name}" if tool is None else f"from {path} import {tool} as {name}"]


def _of_member(name, value):
    """A class or function that a module exports under its own name."""
    own, module = getattr(value, "__name__", None), getattr(value, "__module__", None)
    if not isinstance(own, str) or not isinstance(module, str) or not own.isidentifier():
        return None
    runtime = sys.modules.get("mcp.runtime")
    if getattr(runtime, own, _NOTHING) is value:
        return [f"from mcp.runtime import {own} as {name}"]
    parts = module.split(".")
    # The outermost package that exports the member is its public place.
    for end in range(1, len(parts) + 1):
        path = ".".join(parts[:end])
        if getattr(sys.modules.get(path), own, _NOTHING) is value and _importable(sys.modules[path]) is not None:
            return [f"from {path} import {own}" if own == name else f"from {path} import {own} as {name}"]
    return None


def _importable(module):
    """The name by which later sessions can import a module; `None` if they cannot."""
    for path in ("mcp", "mcp.runtime", "mcp.servers"):
        if sys.modules.get(path) is module:
            return path
    path = module.__name__
    if path == "__main__" or sys.modules.get(path) is not module:
        return None
    file = getattr(module, "__file__", None) or ""
    return None if file.startswith((places.WORKSPACE + "/", *_TEMPORARY)) else path


def _chains(node, name):
    """Attribute chains read from a name: `[["futures", "wait"]]` for `name.futures.wait`."""
    for part in ast.walk(node):
        chain = []
        while isinstance(part, ast.Attribute):
            chain.insert(0, part.attr)
            part = part.value
        if chain and isinstance(part, ast.Name) and part.id == name:
            yield chain
