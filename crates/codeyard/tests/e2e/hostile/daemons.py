"""Leaves orphans behind: forked twice, in their own process sessions, stopped, ignoring SIGTERM."""

import os
import signal
import time

if os.uname().nodename != "sandbox" and not given.get("confined"):
    raise SystemExit("this fills whatever it runs on, so it runs in sessions only")


def daemon(stopped):
    """A process whose parent is gone."""
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    if stopped:
        os.kill(os.getpid(), signal.SIGSTOP)
    while True:
        time.sleep(3600)


for number in range(given["count"]):
    daemon(stopped=number % 2)
print("daemons: allowed")
