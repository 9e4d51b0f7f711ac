"""Turns SIGINT into KeyboardInterrupt, and delays it where it would tear a frame."""

import _signal
import signal
from _thread import get_ident
from time import monotonic

OFF = "off"  # no run is under way: an interrupt is ignored
OPEN = "open"  # the program runs: an interrupt is raised at once
HELD = "held"  # an atomic section: an interrupt waits for its end
WAITING = "waiting"  # inside such a section, at the one point where leaving loses nothing

# The host repeats an interrupt while the run continues: one within this many seconds is a repeat.
_REPEATED = 0.06


class Interrupts:
    """The present effect of an interrupt. Only the main thread changes it, since only it receives signals."""

    def __init__(self):
        self.state = OFF
        self.kept = False
        self.raised = False  # whether this run has been interrupted
        self._raised_at = 0.0
        self.main = get_ident()
        self.handler = self._receive

    def begin_run(self):
        """Starts a run in a held section, without an interrupt from the last one."""
        self.state = HELD
        self.kept = self.raised = False

    def end_run(self):
        """Ignores interrupts until the next run."""
        self.state = OFF
        self.kept = False

    def install(self):
        """Installs the handler of SIGINT, again if the last program replaced it."""
        if _signal.getsignal(_signal.SIGINT) is not self.handler:
            signal.signal(signal.SIGINT, self.handler)

    def _receive(self, _signal, _frame):
        state = self.state
        if state is OFF or (self.raised and monotonic() - self._raised_at < _REPEATED):
            return
        if state is HELD:
            self.kept = True
            return
        if state is WAITING:
            self.state = HELD
        self._raise()

    def _raise(self):
        self.kept = False
        self.raised = True
        self._raised_at = monotonic()
        raise KeyboardInterrupt

    def hold(self):
        """Enters an atomic section. Returns the argument of `release`; `None` on other threads."""
        if get_ident() != self.main:
            return None
        before = self.state
        self.state = HELD
        return before

    def release(self, before):
        """Leaves the section; raises an interrupt that arrived meanwhile."""
        if before is None:
            return
        self.state = before
        if self.kept and before is OPEN:
            self._raise()

    def wait(self, before, blocking_call, *args):
        """Makes a blocking call. Within a program's held section it can be interrupted without loss."""
        if before is not OPEN:
            return blocking_call(*args)
        self.state = WAITING
        try:
            # The state changes first: an interrupt between these two lines is raised, not kept.
            if self.kept:
                self._raise()
            return blocking_call(*args)
        finally:
            self.state = HELD
