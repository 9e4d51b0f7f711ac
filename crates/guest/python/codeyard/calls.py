"""Calls of tools: arguments, awaited and blocking forms, results."""

from collections.abc import Mapping
from sys import _getframe

from codeyard import blocks, channel, files, host_places
from codeyard.errors import ToolError, from_host
from codeyard.jsonable import to_arguments
from codeyard.program import PREFIX
from codeyard.values import Items, Record, text_of

# Calls of this run not yet awaited, in order of creation.
unawaited = {}

_last_raw = None
_last_answer = None  # tool name and raw result of this run's last call
_have_answered = False


def begin():
    global _have_answered, _last_answer
    _have_answered = False
    _last_answer = None
    unawaited.clear()


def have_answered():
    return _have_answered


def last_raw():
    """The raw MCP result of the latest answer; `None` before the first."""
    return _last_raw


def last_answer():
    """Tool name and text of this run's latest answer; `None` if that call failed."""
    if _last_answer is None or _last_answer[1].get("isError"):
        return None
    label, raw = _last_answer
    return label, text_of(raw) or ""


def forget():
    """Forgets the results of earlier runs."""
    global _last_raw, _last_answer
    _last_raw = _last_answer = None
    unawaited.clear()


def arguments_of(label, positional, named):
    """One mapping or keyword arguments, as a JSON object."""
    if not positional:
        return to_arguments(label, named)
    if len(positional) == 1 and not named:
        if positional[0] is None:
            return {}
        if isinstance(positional[0], Mapping):
            return to_arguments(label, positional[0])
    raise TypeError(
        f"{label} takes keyword arguments or one mapping, as in {label}(key=value) or {label}({{'key': value}})"
    )


def answer_of(reply, server, tool, arguments, flavour):
    """The value of a reply to a tool call; raises the exception for a failure."""
    global _last_raw, _last_answer, _have_answered
    _have_answered = True
    _last_answer = None
    error = reply.get("err")
    if error is not None:
        raise _hinted(from_host(error, server, tool), arguments)
    _last_raw = raw = reply.get("ok")
    if not isinstance(raw, dict):
        return flavour.wrap(raw)
    label = f"{server}.{tool}" if server else tool
    _last_answer = label, raw
    note = blocks.current().take(raw, label)
    if raw.get("isError") and not flavour.returns_errors:
        text = text_of(raw) or f"{server}.{tool} reported an error"
        raise _hinted(ToolError(text, server, tool), arguments)
    value = flavour.wrap(raw)
    if note is not None:
        note.place = _place_of_blocks(value)
        value = _of_one_block(value, note)
    return value


def _of_one_block(value, note):
    """The value; if it only copies one block, a replacement that reports its use."""
    block = note.copy_of(value) if type(value) is Record else None
    if block is None:
        return value
    block.raw = value.raw
    return block


def _hinted(error, arguments):
    """Adds a hint about paths among the arguments to a call's error."""
    if isinstance(error, ToolError) and error.kind in ("tool", "upstream") and error.hint is None:
        error.hint = host_places.hint(arguments, error.message)
    return error


def _place_of_blocks(value):
    """The expression for a result's list of blocks; `None` if the value does not lead to it."""
    if not hasattr(value, "raw"):
        return None
    if type(value) is Items and value == value.raw.get("content"):
        return "value"
    return 'value.raw["content"]' if isinstance(value, dict) and "content" in value else "value.content"


def call_blocking(server, tool, arguments, flavour, file=None):
    """Calls a tool and waits for its result. A tool file runs in the guest, once the host allows it."""
    reply = channel.current().ask("tool", {"server": server, "tool": tool, "args": arguments})
    allowed = _allowed(reply)
    if allowed is None:
        return answer_of(reply, server, tool, arguments, flavour)
    file, content = _here(allowed, arguments, file)
    return file.call_blocking(content)


def _allowed(reply):
    """The host's permission to call a tool file: `[server, tool, hash]`. Other answers are objects."""
    global _last_raw, _last_answer
    answer = reply.get("ok")
    if not isinstance(answer, list):
        return None
    _last_raw = _last_answer = None
    return answer


def _here(allowed, arguments, file):
    """The call of the tool file that the host resolved, and the hash of the file's content."""
    server, tool, content = allowed
    if file is None or not file.is_of(server, tool):
        file = files.Call.found(server, tool, arguments)
    return file, content


def host(name, /, **args):
    """Makes a host call other than a tool call, and waits for its answer."""
    reply = channel.current().ask(name, args)
    if "err" in reply:
        raise from_host(reply["err"], args.get("server", ""), "")
    return reply.get("ok")


async def host_async(name, /, **args):
    """Awaits the answer."""
    reply = await channel.current().submit(name, args)
    if "err" in reply:
        raise from_host(reply["err"], args.get("server", ""), "")
    return reply.get("ok")


class ToolCall:
    """A tool call that begins when awaited. Counts as a coroutine for `asyncio`."""

    __slots__ = ("label", "send", "_steps", "_code", "_at", "__weakref__")

    def __init__(self, label, server, tool, arguments, flavour, file=None):
        self.label = label
        key = id(self)
        self._steps = _steps(key, server, tool, arguments, flavour, file)
        self.send = self._steps.send
        # The line is computed from these on demand.
        frame = _getframe(2)
        while frame.f_back is not None and not frame.f_code.co_filename.startswith(PREFIX):
            frame = frame.f_back
        self._code, self._at = frame.f_code, frame.f_lasti
        unawaited[key] = self

    def __await__(self):
        if id(self) not in unawaited:
            raise RuntimeError(f"this call of {self.label} was awaited before; keep its result instead")
        return self._steps

    def throw(self, *error):
        unawaited.pop(id(self), None)
        return self._steps.throw(*error)

    def close(self):
        unawaited.pop(id(self), None)
        self._steps.close()

    @property
    def filename(self):
        """The file of the call."""
        return self._code.co_filename

    @property
    def line(self):
        """The line of the call."""
        lines = (line for start, end, line in self._code.co_lines() if start <= self._at < end)
        return next(lines, None) or self._code.co_firstlineno

    def __repr__(self):
        return f"<call of {self.label}, to be awaited>"


def _steps(key, server, tool, arguments, flavour, file):
    unawaited.pop(key, None)
    reply = yield from channel.current().submit("tool", {"server": server, "tool": tool, "args": arguments})
    allowed = _allowed(reply)
    if allowed is None:
        return answer_of(reply, server, tool, arguments, flavour)
    file, content = _here(allowed, arguments, file)
    return (yield from file.call(content).__await__())
