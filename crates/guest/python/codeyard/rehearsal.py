"""Runs representative programs before the fork, so that sessions start with warm code, caches and pages.

A host inside this process answers them: no thread, no second process, and nothing is left behind.
"""

import linecache
import os
import signal
import socket
import sys
from itertools import islice

from codeyard import calls, places, runner
from codeyard.bridge import surface
from codeyard.channel import Channel
from codeyard.frames import Unpacker, pack
from codeyard.interrupts import Interrupts
from codeyard.session import Session
from codeyard.streams import Streams

_ROUNDS = 3

# Also run if the library is loaded.
_WITH = {
    "pandas": "import pandas as pd\npd.DataFrame({'k': ['a', 'b'], 'v': [1.5, None]}).groupby('k').v.sum()",
    "numpy": "import numpy as np\n{'a': np.arange(3), 'b': np.float64(0.5)}",
}

_PROGRAMS = (
    "1+1",
    "print('warm')\nimport json, re, math, datetime, collections",
    "result = {'rows': [{'id': n, 'name': str(n)} for n in range(20)], 'when': datetime.date(2000, 1, 1)}",
    "x = await tools.warm.up(a=1)\nprint(x.text, x['text'])\nx",
    "import asyncio\nrows = await asyncio.gather(*[mcp_warm.up(n=n) for n in range(40)])\nreturn len(rows)",
    "from servers.warm import up\nfrom tools.warm.up import up as other\nup({'a': [1, 2.5, None, True]})",
    "try:\n    await tools.warm.fail()\nexcept ToolError as error:\n    print(error)\nawait asyncio.sleep(0)",
    "class A:\n    def f(self, y):\n        return 1 / y\nwith open('/dev/null') as file:\n    A().f(0)",
    # Too large to be shown, so it is kept.
    "[{'id': n, 'name': f'name {n}', 'tags': ['warm']} for n in range(700)]",
    "import sys\nprint('warm', file=sys.stderr)\ntools.warm.up()",
    "def f(:",
)

# Run once in a session of the surface `bridge`, with these servers loaded: the first run has little
# effect, and everybody waits for the end of the rehearsal.
_ON_BRIDGE = ("x = await mcp_warm.up(a=1)\nprint(x['content'][0]['text'], x.isError)",)
_LOADED = {"name": "bridge", "loaded": [{"name": "warm", "alias": "warm"}]}

# What most sessions begin with. Each page written on the way then belongs to the session, so no more than that.
BRIEFLY = ("1 + 1", "print('warm')")


class _Host:
    """The guest's socket, with a host behind it that has answered in advance."""

    def __init__(self):
        self._guest, self._host = socket.socketpair()
        self._frames = Unpacker()

    def fileno(self):
        return self._guest.fileno()

    def recv(self, size, flags=0):
        return self._guest.recv(size, flags)

    def send(self, data, flags=0):
        sent = self._guest.send(data, flags)
        for frame in self._frames.feed(self._host.recv(1 << 16)):
            if frame["t"] == "call":
                self.tell({"t": "reply", "id": frame["id"], "ok": _answer(frame)})
        return sent

    def tell(self, message):
        self._host.sendall(pack(message))

    def close(self):
        self._guest.close()
        self._host.close()


def _answer(call):
    if call["name"] == "saved_tools":
        return []
    failed = call["args"].get("tool") == "fail"
    return {"content": [{"type": "text", "text": '{"text": "warm"}'}], "isError": failed}


def rehearse(programs=None):
    """Runs programs (by default all of them, a few times) in a session that is then taken apart.
    Only the builtin names stay."""
    if programs is None:
        # Run this first: the change of builtins at its end makes Python discard its specializations.
        _rehearse(_ON_BRIDGE, _LOADED)
        loaded = [program for library, program in _WITH.items() if library in sys.modules]
        programs = [*_PROGRAMS, *loaded] * _ROUNDS
    _rehearse(programs)


def _rehearse(programs, told=None):
    if sys.version_info >= (3, 14):
        # The default starts new interpreters, which lack the program's state.
        import multiprocessing

        multiprocessing.set_start_method("fork", force=True)
    undo = _remember()
    host = _Host()
    interrupts = Interrupts()
    link = Channel(host, interrupts)
    nowhere = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
    streams = Streams(interrupts, (nowhere, nowhere))
    session = Session(link, interrupts, streams)
    runner.enter(session, streams, {"kept": 1 << 20, "concurrent_calls": 32, "output": 1 << 20, "result": 24 << 10})
    try:
        for number, program in enumerate(programs):
            host.tell({"t": "run", "id": number, "code": program})
            frame = link.receive()
            session.run(frame["id"], frame["code"], surface=told)
    finally:
        session.close()
        host.close()
        os.close(nowhere)
        undo()


def _remember():
    """Returns a function that undoes a session's changes of its process."""
    streams = sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__
    finders = list(sys.meta_path)
    main, loaded = sys.modules["__main__"], len(sys.modules)
    sources = set(linecache.cache)
    handler = signal.getsignal(signal.SIGINT)
    environment, used = dict(os.environ), (places.SCRATCH, places.OWN_PLACE)

    def undo():
        sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__ = streams
        sys.meta_path[:] = finders
        # Only the last modules: looking at a name writes to its page.
        came = list(islice(reversed(sys.modules), len(sys.modules) - loaded))
        for name in came:
            if name.split(".")[0] in ("tools", "servers", "mcp"):
                del sys.modules[name]
        sys.modules["__main__"] = main
        for name in set(linecache.cache) - sources:
            del linecache.cache[name]
        if handler is not None:
            signal.signal(signal.SIGINT, handler)
        calls.forget()
        runner.forget()
        _restore(environment)
        surface.leave(*used)

    return undo


def _restore(environment):
    for name in os.environ.keys() - environment.keys():
        del os.environ[name]
    for name, value in environment.items():
        if os.environ.get(name) != value:
            os.environ[name] = value
