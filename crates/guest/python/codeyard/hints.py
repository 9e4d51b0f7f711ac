"""Hints for mistakes that models often make, added to the message of an error."""

import errno
import os
import re
import sys

from codeyard import places, proxies
from codeyard.calls import last_answer, last_raw
from codeyard.errors import ToolError
from codeyard.values import text_of

_NETWORK = "programs have no network; find a tool for it with runtime.search_tools(\"...\")"
_COMMAND = "a program is Python; start commands with subprocess.run([...]); packages cannot be installed from here"
_NOT_AWAITED = "await the call first, in parentheses: (await tools.server.tool())[...]"
_TEXT = (
    "the value is text: tools without structured results answer with text; "
    "print its beginning, then use json.loads or splitlines"
)
_LITERAL = "the value is text in Python's notation: use ast.literal_eval"
_LOOP = "top-level await works here: write `await main()`"
_ASYNC = "await works at top level and in `async def`; make the function `async def` and await it"
_INPUT = "a program has no input; write the values into it"
_OTHER_LANGUAGE = "programs are Python"
_IS_DATA = "the value is data already; use it without json.loads"
_IS_LITERAL = "the value is data already; use it without ast.literal_eval"
_IS_VALUE = "it is a value already; leave out await"
_WRITABLE = "write below /workspace, /results, /scratch or /tmp"
_HOST_FILE = (
    "folders of the host are not here: save below /workspace and give tools runtime.host_path(\"name\"), "
    "read other files with a tool, or let the user mount their folder with --mount"
)
_METHOD = "a key that is also a method of dict, such as values or items, is read as value[\"values\"]"
_VARIABLES = "a program sees no variables of the host; tools bring their own credentials"
_CALL = "write await tools.<server>.<tool>(argument=value)"
_ELSEWHERE = {
    "search_tools": "in a program it is runtime.search_tools(\"...\"), after `from mcp import runtime`",
    "execute_code": "this is the program that execute_code runs; " + _CALL,
    **dict.fromkeys(("call_tool", "use_mcp_tool", "invoke_tool", "mcp_call", "run_tool", "client", "session"), _CALL),
}
_JAVASCRIPT = re.compile(r"(const|let|var|function|export|console\.log)\b|import \{|//|.*=>")
_MOST_FILES = 10
_SHOWN = 60
_ADD = "the user can add a package with `codeyard python add NAME`"
_MOST_PACKAGES = 40
_MOST_CAUSES = 8
_ANSWERED = 200
# The usual start of a text with an error that the server did not mark as one.
_REPORT = re.compile(r"\s*(?:error\b|(?:(?!no\b)\w+ ){0,2}\w*(?:error|exception)\s*:)", re.IGNORECASE)
_SOCKETS = ("socket.py", "asyncio/selector_events.py", "asyncio/base_events.py")


def of(error, source):
    """The hint for an uncaught exception of a program with this source; `None` without one."""
    try:
        return _of(error, source)
    except Exception:
        return None  # Its attributes are the program's own.


def of_answer(error):
    """The latest tool's answer, if it reads like an error report that may have caused this exception."""
    answer = None if isinstance(error, ToolError) else last_answer()
    if answer is None or not _REPORT.match(answer[1]):
        return None
    label, text = answer
    words = " ".join(text[: 2 * _ANSWERED].split())
    return f"{label} answered: {words if len(words) <= _ANSWERED else words[:_ANSWERED] + '…'}"


def _of(error, source):
    if isinstance(error, SyntaxError):
        return _of_syntax(error, source)
    if isinstance(error, ModuleNotFoundError):
        return _of_module(error)
    if _wants_network(error):
        return _NETWORK
    if isinstance(error, OSError):
        return _of_file(error)
    if isinstance(error, NameError):
        return _of_name(error.name)
    if isinstance(error, KeyError) and _raised_in(error.__traceback__, ("os.py", "<frozen os>")):
        return _VARIABLES
    if isinstance(error, EOFError) and "EOF when reading a line" in str(error):
        return _INPUT
    if isinstance(error, ValueError) and str(error).startswith("malformed node or string: "):
        return _IS_LITERAL
    if type(error).__name__ == "JSONDecodeError":
        return f"the text is not JSON; it begins with {error.doc[:_SHOWN]!r}"
    text = str(error)
    if isinstance(error, TypeError):
        if "the JSON object must be str" in text:
            return _IS_DATA
        if "builtin_function_or_method" in text:
            return _METHOD
        if re.match(r"object \w+ can't be used in 'await' expression", text):
            return _IS_VALUE
        if "string indices must be integers" in text:
            return _LITERAL if _is_literal(last_raw()) else _TEXT
        if "'ToolCall' object" in text or "'coroutine' object" in text:
            return _NOT_AWAITED
    if isinstance(error, AttributeError) and ("'ToolCall' object" in text or "'coroutine' object" in text):
        return _NOT_AWAITED
    if isinstance(error, AttributeError) and error.name in _ELSEWHERE and "module 'mcp" in text:
        return _ELSEWHERE[error.name]
    if isinstance(error, RuntimeError) and "cannot be called from a running event loop" in text:
        return _LOOP
    return None


def _is_literal(raw):
    """Whether the latest tool answered with a Python list or mapping in place of JSON."""
    text = (text_of(raw) or "").lstrip() if isinstance(raw, dict) else ""
    return text.startswith(("[{'", "{'", "[('", "['"))


def _of_syntax(error, source):
    lines = source.splitlines()
    line = lines[error.lineno - 1].strip() if error.lineno and error.lineno <= len(lines) else ""
    if line.startswith(("!", "%", "pip install", "pip3 install", "python -m pip")):
        return _COMMAND
    if "outside async function" in str(error.msg):
        return _ASYNC
    if _JAVASCRIPT.match(line):
        return _OTHER_LANGUAGE
    return None


def _of_file(error):
    path = error.filename
    if error.errno == errno.EROFS:
        return _WRITABLE
    if error.errno != errno.ENOENT or not isinstance(path, str) or not path:
        return None
    if os.path.isabs(path) or path.startswith("~") or ":\\" in path:
        own = ("/workspace", places.WORKSPACE, "/results", "/scratch", places.SCRATCH, "/tmp", "/tools", "/proc", "/usr", "/dev")
        return None if path.startswith(own) else _HOST_FILE
    if "/" in path:
        return None
    files = sorted(os.listdir("."))
    shown = ", ".join(files[:_MOST_FILES]) or "nothing"
    more = f" and {len(files) - _MOST_FILES} more" if len(files) > _MOST_FILES else ""
    return f"the current directory holds {shown}{more}"


def _of_name(name):
    if name in sys.stdlib_module_names:
        return f"import {name} first"
    if proxies.is_server(name):
        return f"write tools.{name}"
    return _ELSEWHERE.get(name)


def _of_module(error):
    name = (error.name or "").partition(".")[0]
    if proxies.is_server(name):
        return f"write tools.{name}, without an import"
    if not name or name in sys.stdlib_module_names or "codeyard python sync" in str(error):
        return None
    from importlib import metadata

    packages = sorted({found.name for found in metadata.distributions() if found.name})
    if not packages:
        return f"no package is installed here, and without a network none can be installed; {_ADD}"
    shown = ", ".join(packages[:_MOST_PACKAGES])
    more = f" and {len(packages) - _MOST_PACKAGES} more" if len(packages) > _MOST_PACKAGES else ""
    return f"it is not installed, and there is no network to install it; installed are {shown}{more}; {_ADD}"


def _wants_network(error):
    """Whether a socket was refused, here or in a cause of the error."""
    for _ in range(_MOST_CAUSES):
        if error is None:
            return False
        if isinstance(error, PermissionError) and error.errno in (errno.EPERM, errno.EACCES):
            return error.filename is None and _is_of_socket(error.__traceback__)
        if type(error).__name__ == "gaierror":
            return True
        reason = getattr(error, "reason", None)
        error = reason if isinstance(reason, BaseException) else error.__cause__ or error.__context__
    return False


def _is_of_socket(traceback):
    return _raised_in(traceback, _SOCKETS)


def _raised_in(traceback, files):
    """Whether an exception passed through one of these files."""
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename.endswith(files):
            return True
        traceback = traceback.tb_next
    return False
