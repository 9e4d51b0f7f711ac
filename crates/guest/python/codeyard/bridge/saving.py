"""`save_tool`: functions that later sessions of the same principal can call by name.

Only source is stored: the function and its imports. A session defines a tool before the first
program that names it.
"""

import ast
import linecache
import re
import sys

from codeyard import names
from codeyard.bridge.definition import NotSavable, definition_of
from codeyard.calls import host
from codeyard.errors import ToolError
from codeyard.program import bridge_names, saved_filename_of

# Tools that this session saved or found, and the sources of those not yet defined.
_known = set()
_waiting = {}
# Reasons already shown to the programs.
_told = set()

_WORD = re.compile(r"\w+")


def save_tool(func):
    """Saves a function defined with `def` or `async def`; returns a message."""
    try:
        found = definition_of(func, _known)
    except NotSavable as reason:
        raise ValueError(f"save_tool expects a function: {reason}") from None
    host("save_tool", name=found.name, source=found.source)
    _known.add(found.name)
    saved = f"Tool '{found.name}' saved. It will be available in future sessions."
    if not found.missing:
        return saved
    missing = ", ".join(found.missing)
    return (
        f"{saved} They will not have {missing}, which it uses: save functions too, and define the rest before the call."
    )


def find():
    """Requests the saved tools; returns whether they are known. A failure is printed once on standard error."""
    try:
        found = host("saved_tools")
    except ToolError as error:
        if str(error) not in _told:
            _told.add(str(error))
            _complain(f"the saved tools could not be loaded: {error}")
        return False
    _waiting.update((tool["name"], tool["source"]) for tool in found)
    _known.update(_waiting)
    return True


def define_named(source, namespace, interrupts):
    """Defines the saved tools that a program names, and those that these tools name in turn.

    A tool that fails is reported on standard error, and the program runs without it.
    """
    for name in _named(source):
        # Remove the tool first: a hanging tool must not hang every run.
        saved = _waiting.pop(name)
        if name not in namespace:
            _define_safely(name, saved, namespace, interrupts)


def forget():
    """Forgets an earlier session of this process."""
    _known.clear()
    _waiting.clear()
    _told.clear()


def _named(source):
    """The tools to define, in the order of their first save."""
    found, texts = set(), [source]
    while texts and len(found) < len(_waiting):
        words = _words(texts.pop())
        named = [name for name in _waiting if name in words and name not in found]
        found.update(named)
        texts.extend(_waiting[name] for name in named)
    return [name for name in _waiting if name in found]


def _words(text):
    if not text.isascii():
        import unicodedata

        text = unicodedata.normalize("NFKC", text)  # the normal form of a Python name
    return set(_WORD.findall(text))


def _define_safely(name, source, namespace, interrupts):
    try:
        _define(name, source, namespace)
    except BaseException as error:
        if interrupts.raised:
            _complain(
                f"the run ended while the saved tool '{name}' was being defined; "
                f"`codeyard saved remove {name}` removes it"
            )
            raise
        _known.discard(name)
        _complain(f"the saved tool '{name}' could not be loaded: {type(error).__name__}: {error}")


def _define(name, source, namespace):
    filename = saved_filename_of(name)
    tree = ast.parse(source, filename)
    imported = _imported_by(tree, name)
    own = {name: namespace[name] for name in imported & namespace.keys()}
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    names.bind_bridge(bridge_names(tree), namespace)
    try:
        exec(compile(tree, filename, "exec", dont_inherit=True), namespace)
    finally:
        # The session's own names take precedence over the tool's imports.
        namespace.update(own)


def _imported_by(tree, name):
    """The names that a saved tool imports. Refuses anything but imports and one function of that name."""
    if names.reserved(name):
        raise NotSavable(f"the name {name} has a meaning in every session")
    *imports, function = tree.body or [None]
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) or function.name != name:
        raise NotSavable(f"its source does not end with a function {name}")
    imported = set()
    for statement in imports:
        if not isinstance(statement, (ast.Import, ast.ImportFrom)):
            raise NotSavable(f"its source has more than imports before the function, in line {statement.lineno}")
        imported.update((alias.asname or alias.name).partition(".")[0] for alias in statement.names)
    hidden = sorted(imported & names.BUILT_IN | imported & {"*", name})
    if hidden:
        raise NotSavable(f"it imports {', '.join(hidden)}, which would replace other names")
    return imported


def _complain(text):
    print(text, file=sys.stderr)
