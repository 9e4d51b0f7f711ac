"""The audit hook of a session: sees processes being started, before which what was printed must be out."""

import sys

_SPAWN = frozenset({"subprocess.Popen", "os.posix_spawn", "os.exec", "os.system", "os.fork", "os.forkpty", "pty.spawn"})
# After these the process may be gone.
_FATAL = frozenset({"os.kill", "signal.pthread_kill"})


class Watch:
    """Whether the run has started processes."""

    def __init__(self, streams):
        self.spawned = False
        self._streams = streams

    def begin_run(self):
        self.spawned = False

    def install(self):
        """Starts watching; there is no way back."""
        spawn, fatal, seen = _SPAWN, _FATAL, self._seen

        def hook(event, args):
            if event in spawn or event in fatal:
                seen(event)

        sys.addaudithook(hook)

    def _seen(self, event):
        self._streams.flush()
        if event in _SPAWN:
            self.spawned = True
