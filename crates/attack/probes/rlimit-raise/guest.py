"""Raises its hard limits, then lets a child crash, which must not leave a core dump."""

import resource
import signal


def raise_hard(kind):
    soft, hard = resource.getrlimit(kind)
    more = hard if hard == resource.RLIM_INFINITY else hard + 1
    resource.setrlimit(kind, (soft, more))


attempt_in_child("raise_files", lambda: raise_hard(resource.RLIMIT_NOFILE))
attempt_in_child("raise_processes", lambda: raise_hard(resource.RLIMIT_NPROC))
attempt_in_child("raise_core", lambda: raise_hard(resource.RLIMIT_CORE))
child = os.fork()
if child == 0:
    ctypes.string_at(0)
status = os.waitpid(child, 0)[1]
look("core", os.WCOREDUMP(status) or not os.WIFSIGNALED(status) or os.WTERMSIG(status) != signal.SIGSEGV)
