"""The test host: starts guests, answers their calls from a table, collects their output."""

import fcntl
import json
import os
import selectors
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DEADLINE = 30
# Interval in seconds and number of an interrupt's repeats while the run continues, as in the real host.
NUDGE = 0.01
NUDGES = 4

_START = """
import os, sys
sys.path.insert(0, {package!r})
os.dup2({fd}, 3)
from codeyard import places
for name in ("workspace", "results", "scratch"):
    setattr(places, name.upper(), {root!r} + "/" + name)
os.chdir(places.WORKSPACE)
from codeyard import runner
{prepare}
runner.serve(3)
"""


# A `null` answer; `None` leaves a call unanswered.
NULL = object()


class Failed(Exception):
    """A call that the host refuses; `fields` are those of a call error."""

    def __init__(self, kind, message, **fields):
        super().__init__(message)
        self.fields = {"kind": kind, "message": message, **fields}


class Outcome:
    def __init__(self, done, stdout, stderr):
        self.has_result = "result" in done
        self.result = done.get("result")
        self.kept = done.get("kept")
        self.error = done.get("error")
        self.content = done.get("content", [])
        self.files = done.get("files", [])
        self.artifacts = [path[len("/results/") :] for path, _ in self.files if path.startswith("/results/")]
        self.unused = done.get("unused", [])
        self.copied = done.get("copied", [])
        self.disk = done.get("disk")
        self.reads = done.get("reads")
        self.stdout = stdout
        self.stderr = stderr

    def __repr__(self):
        return f"result={self.result!r} error={self.error} stdout={self.stdout[-500:]!r} stderr={self.stderr[-2000:]!r}"


class Gone(Exception):
    """The guest has closed its socket."""


class Guest:
    """A guest process. `prepare` is Python code that it executes before it serves.

    `surface` is a field of each run's frame; it may be changed between runs.
    """

    def __init__(self, answer=None, output=1 << 20, concurrent=32, prepare="", surface=None):
        self.answer = answer or upstream
        self.surface = surface
        self.limits = None  # those of each run, if they are not those of the session
        self.inputs = None  # clock and randomness of a recorded run
        self.calls = []
        self.held = []
        self.flying = self.most_flying = 0
        self.root = tempfile.mkdtemp(prefix="guest-")
        for name in ("workspace", "results", "scratch"):
            os.mkdir(os.path.join(self.root, name))
        self._socket, theirs = socket.socketpair()
        self._out, out = os.pipe()
        self._err, err = os.pipe()
        program = _START.format(package=PACKAGE, fd=theirs.fileno(), root=self.root, prepare=prepare)
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-B", "-c", program],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            pass_fds=[theirs.fileno()],
            env={"PATH": os.environ.get("PATH", ""), "MPLBACKEND": "Agg", "HOME": self.root, "MPLCONFIGDIR": "/tmp"},
        )
        theirs.close()
        os.close(out)
        os.close(err)
        self._selector = selectors.DefaultSelector()
        for source in (self._socket, self._out, self._err):
            self._selector.register(source, selectors.EVENT_READ)
        os.set_blocking(self._out, False)
        os.set_blocking(self._err, False)
        self._received = bytearray()
        self._texts = {self._out: bytearray(), self._err: bytearray()}
        self._runs = 0
        self._nudges = 0
        self.ready = self._next()
        session = {"session": "test", "kept": 128 << 20, "output": output, "concurrent_calls": concurrent}
        self.send({"t": "open", "v": 1, "session": session})

    def path(self, *parts):
        return os.path.join(self.root, *parts)

    def run(self, code, during=None):
        """Runs a program. After each of its calls, `during(guest, call)` gets the call's frame."""
        self.begin(code)
        return self.finish(during)

    def begin(self, code):
        self._runs += 1
        self.flying = 0
        self.held.clear()
        surface = {} if self.surface is None else {"surface": self.surface}
        limits = {} if self.limits is None else {"limits": self.limits}
        inputs = {} if self.inputs is None else {"inputs": self.inputs}
        self.send({"t": "run", "id": self._runs, "code": code, **limits, **surface, **inputs})

    def finish(self, during=None):
        while True:
            frame = self._next()
            if frame["t"] == "done":
                assert frame["id"] == self._runs, frame
                self._drain()
                self._nudges = 0
                texts = [bytes(self._texts[source]) for source in (self._out, self._err)]
                for text in self._texts.values():
                    text.clear()
                return Outcome(frame, *texts)
            self._answer(frame)
            if during is not None:
                during(self, frame)

    def interrupt(self):
        self.process.send_signal(signal.SIGINT)
        self._nudges = NUDGES

    def is_stuck(self):
        """Whether the guest sleeps while the host has unread bytes from it."""
        with open(f"/proc/{self.process.pid}/stat") as file:
            asleep = file.read().rpartition(")")[2].split()[0] == "S"
        return asleep and struct.unpack("i", fcntl.ioctl(self._socket, termios.FIONREAD, bytes(4)))[0] > 100_000

    def wait_for_output(self, text):
        """Waits until the guest has printed `text`."""
        while text not in self._texts[self._out]:
            self._pump()

    def wait_for_call(self):
        """Waits for a call and answers it."""
        frame = self._next()
        assert frame["t"] == "call", frame
        self._answer(frame)
        return frame

    def reply(self, call, value):
        """Answers a call that `answer` left unanswered."""
        self.flying -= 1
        self.send({"t": "reply", "id": call["id"], "ok": None if value is NULL else value})

    def send(self, message):
        self.send_bytes(_pack(message))

    def send_bytes(self, data):
        try:
            self._socket.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            raise Gone(self._end()) from None

    def close(self):
        self._selector.close()
        self._socket.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self._out)
        os.close(self._err)
        shutil.rmtree(self.root, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _answer(self, frame):
        assert frame["t"] == "call", frame
        self.calls.append((frame["name"], frame["args"]))
        self.flying += 1
        self.most_flying = max(self.most_flying, self.flying)
        try:
            value = self.answer(frame["name"], frame["args"])
        except Failed as error:
            self.flying -= 1
            self.send({"t": "reply", "id": frame["id"], "err": error.fields})
            return
        if value is None:
            self.held.append(frame)
        else:
            self.reply(frame, value)

    def _next(self):
        while True:
            if len(self._received) >= 4:
                end = 4 + struct.unpack_from("<I", self._received)[0]
                if len(self._received) >= end:
                    frame = json.loads(bytes(self._received[4:end]).decode())
                    del self._received[:end]
                    return frame
            self._pump()

    def _pump(self):
        ready = []
        while self._nudges and not ready:
            ready = self._selector.select(NUDGE)
            if not ready:
                self._nudges -= 1
                self.process.send_signal(signal.SIGINT)
        ready = ready or self._selector.select(DEADLINE)
        if not ready:
            self.process.kill()
            raise AssertionError(f"the guest does not answer; it printed {self._texts}")
        for key, _ in ready:
            if key.fileobj is self._socket:
                data = self._socket.recv(1 << 20)
                if not data:
                    raise Gone(self._end())
                self._received += data
            else:
                self._read_text(key.fileobj)

    def _read_text(self, source):
        try:
            data = os.read(source, 1 << 16)
        except BlockingIOError:
            return False
        if not data:
            self._selector.unregister(source)
        self._texts[source] += data
        return bool(data)

    def _drain(self):
        for source in (self._out, self._err):
            while source in self._selector.get_map() and self._read_text(source):
                pass

    def _end(self):
        self._drain()
        return bytes(self._texts[self._out]), bytes(self._texts[self._err])


def _pack(message):
    body = json.dumps(message, ensure_ascii=False).encode()
    return struct.pack("<I", len(body)) + body


class GuestCase(unittest.TestCase):
    """Test cases that share a guest, and start their own where needed."""

    guest = None

    @classmethod
    def setUpClass(cls):
        cls.guest = Guest()

    @classmethod
    def tearDownClass(cls):
        cls.guest.close()

    def setUp(self):
        self.guest.calls.clear()

    def own_guest(self, **options):
        guest = Guest(**options)
        self.addCleanup(guest.close)
        return guest

    def check(self, code, result=None, stdout=None, stderr=None, guest=None):
        """Runs a program that must complete, with this result and output."""
        outcome = (guest or self.guest).run(code)
        self.assertIsNone(outcome.error, outcome)
        self.assertEqual(outcome.result, result, outcome)
        if stdout is not None:
            self.assertEqual(outcome.stdout.decode(), stdout)
        if stderr is not None:
            self.assertEqual(outcome.stderr.decode(), stderr)
        return outcome

    def check_error(self, code, kind, *parts, guest=None):
        """Runs a program that must fail with this kind of error; its message or traceback contain `parts`."""
        outcome = (guest or self.guest).run(code)
        self.assertIsNotNone(outcome.error, outcome)
        self.assertEqual(outcome.error["kind"], kind, outcome)
        self.assertFalse(outcome.has_result, outcome)
        self.assertNotIn("\n", outcome.error["message"])
        text = outcome.error["message"] + "\n" + outcome.error["traceback"]
        for part in parts:
            self.assertIn(part, text)
        self.assertNotIn(PACKAGE, text)
        return outcome


def wait_until(condition):
    """Waits for a condition that another process fulfils."""
    end = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < end, "the condition does not come true"
        time.sleep(0.005)


# An upstream server as in the acceptance tests, and the other host calls.

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000a49444154789c6300010000050001"
    "0d0a2db40000000049454e44ae426082"
)


def text(value, **more):
    """A result with one block of text."""
    return {"content": [{"type": "text", "text": value}], **more}


_TOOLS = {
    "echo": lambda args: text(args.get("message", "")),
    "add": lambda args: {"content": [], "structuredContent": {"sum": args["a"] + args["b"]}},
    "fail": lambda args: text(args.get("message", "failed"), isError=True),
    "big": lambda args: text("x" * args["bytes"]),
    "json": lambda args: text(args["text"]),
    "raw": lambda args: args["result"],
    "list-things": lambda args: text('["a","b"]'),
    "args": lambda args: {"content": [], "structuredContent": {"args": args}},
    "hold": lambda args: None,
}

_SERVERS = [
    {"name": "stub", "alias": "stub", "description": "Stub server", "listed": True},
    {"name": "My-Stub", "alias": "my_stub", "description": None, "listed": False},
]


def upstream(name, args):
    """Answers every kind of host call."""
    return _HOST_CALLS[name](args)


def _tool(args):
    server, tool = args["server"], args["tool"]
    if server not in ("stub", "my_stub", "My-Stub", ""):
        raise Failed("unknown_tool", f"there is no server {server!r}", hint="did you mean 'stub'?")
    if tool == "denied":
        raise Failed("denied", "EACCES: tool 'stub/denied' is denied by policy")
    if tool == "busy":
        raise Failed("upstream", "server 'stub' is restarting", retryable=True)
    if tool == "limit":
        raise Failed("limit", "the run has made its 10000 host calls")
    answer = _TOOLS.get(tool.replace("list_things", "list-things"))
    if answer is None:
        raise Failed(
            "unknown_tool", f"Tool '{server}/{tool}' is not mounted for this server", hint="did you mean 'echo'?"
        )
    return answer(args["args"])


def _tools(args):
    server = next((entry for entry in _SERVERS if args["server"] in (entry["name"], entry["alias"])), None)
    if server is None:
        raise Failed("unknown_tool", f"Server '{args['server']}' is not available")
    tools = [
        {
            "name": tool,
            "alias": tool.replace("-", "_"),
            "description": f"The tool {tool}.",
            "signature": f"{tool.replace('-', '_')}(message: str)",
        }
        for tool in ("echo", "add", "list-things")
    ]
    if args["detail"] == "full":
        for tool in tools:
            tool["inputSchema"] = {"type": "object"}
    return {"name": server["name"], "alias": server["alias"], "description": server["description"], "tools": tools}


def _describe(args):
    server, dot, tool = (args["server"], ".", args["tool"]) if "server" in args else args["tool"].partition(".")
    if not dot:
        raise Failed("unknown_tool", f"'{server}' is not a tool name")
    listed = _tools({"server": server, "detail": "full"})
    for entry in listed["tools"]:
        if tool in (entry["name"], entry["alias"]):
            return {"server": listed["name"], "tool": entry}
    raise Failed("unknown_tool", f"Tool '{server}/{tool}' is not mounted for this server", hint="did you mean 'echo'?")


def _search(args):
    hit = {"server": "stub", "tool": "echo", "signature": "echo(message: str)", "description": "Echoes.", "score": 1.5}
    return {"tools": [hit][: args["limit"]], "more": 3, "pending": ["My-Stub"]}


_HOST_CALLS = {
    "tool": _tool,
    "servers": lambda args: _SERVERS,
    "tools": _tools,
    "describe": _describe,
    "search": _search,
    "manual": lambda args: {"text": "The manual.\nAll of it."},
}
