"""A session's audit hook: flushes output before new processes start, and sees files being written."""

import sys

from codeyard.written import EVENTS, Written

_SPAWN = frozenset({"subprocess.Popen", "os.posix_spawn", "os.exec", "os.system", "os.fork", "os.forkpty", "pty.spawn"})
# These may end the process.
_FATAL = frozenset({"os.kill", "signal.pthread_kill"})


class Watch:
    """Whether the run has started processes, and which files it has written."""

    def __init__(self, streams):
        self.spawned = False
        self.written = Written()
        self._streams = streams

    def begin_run(self):
        self.spawned = False
        self.written.begin()

    def install(self):
        """Starts watching; irreversible."""
        spawn, fatal, seen = _SPAWN, _FATAL, self._seen
        writes, written = EVENTS, self.written.seen

        def hook(event, args):
            if event in writes:
                written(event, args)
            elif event in spawn or event in fatal:
                seen(event)

        sys.addaudithook(hook)

    def _seen(self, event):
        self._streams.flush()
        if event in _SPAWN:
            self.spawned = True
