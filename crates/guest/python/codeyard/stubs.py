"""The files below `/tools`: written when a program first looks there."""

import os
import re
import sys
from _thread import allocate_lock, get_ident

from codeyard import places
from codeyard.calls import host
from codeyard.errors import ToolError

_READ = frozenset(
    {"open", "os.listdir", "os.scandir", "os.chdir", "glob.glob", "pathlib.Path.glob", "pathlib.Path.rglob"}
)
_SPAWN = frozenset({"subprocess.Popen", "os.posix_spawn", "os.exec", "os.system", "os.fork", "os.forkpty", "pty.spawn"})
# After these the process may be gone: what has been printed must be out.
_FATAL = frozenset({"os.kill", "signal.pthread_kill"})


class ToolFiles:
    """Asks the host for stubs, a server at a time, and writes them."""

    def __init__(self):
        self._lock = allocate_lock()
        self._owner = None
        self._aliases = None
        self._written = set()
        self._failed = set()

    def begin_run(self):
        """Lets a new run try again what failed in the last one."""
        self._failed.clear()

    def look(self, path):
        """Makes sure that what a program is about to read is there. Never raises."""
        root = places.TOOLS
        path = os.path.abspath(path)
        if path != root and not path.startswith(root + "/"):
            return
        server = path[len(root) + 1 :].partition("/")[0]
        self._prepare(lambda: self._server(server) if server else self._names())

    def look_ahead(self, source):
        """Prepares what a program names in quotes: no hook sees it ask whether a file exists."""
        if places.TOOLS in source:
            for path in set(re.findall(rf"[\"']({places.TOOLS}(?:/[^/\"'\s]*)?)", source)):
                self.look(path)

    def look_everywhere(self):
        """The same for a process that may read anything."""
        self._prepare(self._everything)

    def _prepare(self, work):
        if self._owner == get_ident():
            return  # The hook sees our own writing.
        with self._lock:
            self._owner = get_ident()
            try:
                work()
            except (ToolError, OSError):
                pass  # The program finds a file missing, and says so better than we could here.
            finally:
                self._owner = None

    def _names(self):
        """The directories, one for each server; starts no server."""
        if self._aliases is None:
            aliases = [entry["alias"] for entry in host("servers")]
            for alias in aliases:
                os.makedirs(os.path.join(places.TOOLS, alias), exist_ok=True)
            self._aliases = aliases
        return self._aliases

    def _server(self, alias):
        if alias not in self._names() or alias in self._written or alias in self._failed:
            return
        self._failed.add(alias)
        files = host("stubs", server=alias)["files"]
        for name, text in files.items():
            with open(os.path.join(places.TOOLS, alias, os.path.basename(name)), "w", encoding="utf-8") as file:
                file.write(text)
        self._failed.discard(alias)
        self._written.add(alias)

    def _everything(self):
        for alias in self._names():
            try:
                self._server(alias)
            except ToolError:
                pass  # One server that does not start must not hide the others.


class Watch:
    """The audit hook of a session: sees files being opened and processes being started."""

    def __init__(self, streams):
        self.files = ToolFiles()
        self.spawned = False
        self._streams = streams

    def begin_run(self):
        self.spawned = False
        self.files.begin_run()

    def install(self):
        """Starts watching; there is no way back."""
        read, spawn, fatal, seen = _READ, _SPAWN, _FATAL, self._seen
        root = places.TOOLS.lstrip("/")  # A path may be relative.

        def hook(event, args):
            if event in read:
                path = args[0]
                if type(path) is str and root in path:
                    self.files.look(path)
                elif type(path) is not int and type(path) is not str and path is not None:
                    self._look(path)
            elif event in spawn or event in fatal:
                seen(event, args)

        sys.addaudithook(hook)

    def _look(self, path):
        """The same for a path that is no text."""
        try:
            self.files.look(os.fsdecode(path))
        except TypeError:
            pass  # It is no path at all, and whoever opens it will say so.

    def _seen(self, event, args):
        self._streams.flush()
        if event in _SPAWN:
            self.spawned = True
            if event not in ("os.fork", "os.forkpty") and any(map(_mentions_tools, args)):
                self.files.look_everywhere()


def _mentions_tools(part):
    """Whether an argument of a new process (a command, a directory, an environment) names `/tools`."""
    if isinstance(part, bytes):
        return os.fsencode(places.TOOLS) in part
    if isinstance(part, str):
        return places.TOOLS in part
    if isinstance(part, dict):
        return any(map(_mentions_tools, part.values()))
    if isinstance(part, (list, tuple)):
        return any(map(_mentions_tools, part))
    return False
