"""What to do about mistakes that models make often: one hint behind the message of an error."""

import errno
import sys

_NETWORK = "programs have no network; find a tool for it with runtime.search_tools(\"...\")"
_COMMAND = "a program is Python; start commands with subprocess.run([...]); packages cannot be installed from here"
_NOT_AWAITED = "await the call first, in parentheses: (await tools.server.tool())[...]"
_TEXT = (
    "the value is text: tools without structured results answer with text; "
    "print its beginning, then use json.loads or splitlines"
)
_LOOP = "top-level await works here: write `await main()`"
_ASYNC = "await works at top level and in `async def`; make the function `async def` and await it"
_ADD = "the user can add a package with `codeyard python add NAME`"
_MOST_PACKAGES = 40
_MOST_CAUSES = 8
_SOCKETS = ("socket.py", "asyncio/selector_events.py", "asyncio/base_events.py")


def of(error, source):
    """The hint for an uncaught exception of a program with this source; `None` if there is none."""
    try:
        return _of(error, source)
    except Exception:
        return None  # Its attributes are the program's own.


def _of(error, source):
    if isinstance(error, SyntaxError):
        return _of_syntax(error, source)
    if isinstance(error, ModuleNotFoundError):
        return _of_module(error)
    if _wants_network(error):
        return _NETWORK
    text = str(error)
    if isinstance(error, TypeError):
        if "string indices must be integers" in text:
            return _TEXT
        if "'ToolCall' object" in text or "'coroutine' object" in text:
            return _NOT_AWAITED
    if isinstance(error, AttributeError) and ("'ToolCall' object" in text or "'coroutine' object" in text):
        return _NOT_AWAITED
    if isinstance(error, RuntimeError) and "cannot be called from a running event loop" in text:
        return _LOOP
    return None


def _of_syntax(error, source):
    lines = source.splitlines()
    line = lines[error.lineno - 1].strip() if error.lineno and error.lineno <= len(lines) else ""
    if line.startswith(("!", "%", "pip install", "pip3 install", "python -m pip")):
        return _COMMAND
    if "outside async function" in str(error.msg):
        return _ASYNC
    return None


def _of_module(error):
    name = (error.name or "").partition(".")[0]
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
    """Whether a socket was refused, here or in what caused the error."""
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
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename.endswith(_SOCKETS):
            return True
        traceback = traceback.tb_next
    return False
