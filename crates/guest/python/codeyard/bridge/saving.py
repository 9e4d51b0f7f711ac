"""`save_tool`: functions that later sessions of the same principal find among their names.

Only source is kept: the function's own and the imports that it needs. Each session defines it anew.
"""

import ast
import linecache
import sys

from codeyard import names
from codeyard.bridge.definition import NotSavable, definition_of
from codeyard.calls import host
from codeyard.errors import ToolError
from codeyard.program import bridge_names, saved_filename_of

# The tools that this session has saved or found.
_known = set()


def save_tool(func):
    """Saves a function that is defined with `def` or `async def`; returns what is said of it."""
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


def saved():
    """The saved tools: `{name, source}`. If they cannot be had, that is told on standard error."""
    try:
        return host("saved_tools")
    except ToolError as error:
        _complain(f"the saved tools could not be loaded: {error}")
        return []


def define(tool, namespace):
    """Defines a saved tool in a session's names. If that fails, it is told on standard error."""
    try:
        _define(tool["name"], tool["source"], namespace)
    except (Exception, SystemExit) as error:
        _complain(f"the saved tool '{tool['name']}' could not be loaded: {type(error).__name__}: {error}")


def _define(name, source, namespace):
    filename = saved_filename_of(name)
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    tree = ast.parse(source, filename)
    names.bind_bridge(bridge_names(tree), namespace)
    exec(compile(tree, filename, "exec", dont_inherit=True), namespace)
    _known.add(name)


def forget():
    """Forgets what an earlier session of this process knew."""
    _known.clear()


def _complain(text):
    print(text, file=sys.stderr)
