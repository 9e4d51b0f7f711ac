"""Starts a process and a thread, signals the victim, loads a library, and waits."""

import time

MODULES = ("child_process", "cluster", "vm", "v8", "inspector", "wasi", "repl")
VICTIM = given["host"]["victim"]
for name in MODULES:
    attempt(f"import_{name}", start_process)
    attempt(f"require_{name}", start_process)
for name in ("spawn_binding", "built_in"):
    attempt(name, start_process)
for name in ("import_worker_threads", "require_worker_threads"):
    attempt(name, start_thread)
attempt("kill_victim", lambda: os.kill(VICTIM, 0))
attempt("kill_group", lambda: os.killpg(os.getpgid(VICTIM), 0))
attempt("native_code", lambda: ctypes.CDLL(None))
attempt("become_root", in_child(lambda: os.setuid(0)))
attempt("wait", lambda: time.sleep(0.01))
