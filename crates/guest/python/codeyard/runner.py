"""Entry points for the zygote and its children: `warm` before the fork, `serve` after it."""

import fcntl
import os
import socket
import sys
import traceback

from codeyard import channel, imports, kept, names, places
from codeyard.channel import Channel
from codeyard.frames import VERSION
from codeyard.interrupts import Interrupts
from codeyard.session import Session
from codeyard.streams import Streams

# The socket to the host in every guest.
DESCRIPTOR = 3

_INTERPRETER = "CPython " + ".".join(map(str, sys.version_info[:3]))

_prepared = None
_streams = None


def warm():
    """Loads everything, runs every code path, and prepares the session that a fork only has to open."""
    from codeyard.rehearsal import rehearse

    global _prepared
    rehearse()
    if _prepared is None:
        try:
            _prepared = _prepare(DESCRIPTOR)
        except OSError:
            pass  # The zygote has no socket. `serve` opens the channel in each session.


def serve(fd):
    """Serves one session over the socket `fd`; ends the process when the host closes it."""
    try:
        _serve(fd)
    except BaseException:
        traceback.print_exc(file=sys.__stderr__)
    finally:
        os._exit(1)


def _serve(fd):
    session, interrupts, streams = _prepared if _prepared and fd == DESCRIPTOR else _prepare(fd)
    fcntl.fcntl(fd, fcntl.F_SETFD, fcntl.FD_CLOEXEC)
    interrupts.install()
    host = session.channel
    host.send({"t": "ready", "v": VERSION, "interpreter": _INTERPRETER})
    opened = host.receive()
    if opened["t"] == "warm":
        # Repeat here: this makes the first writes to shared pages, which would delay the session.
        from codeyard.rehearsal import BRIEFLY, rehearse

        rehearse(BRIEFLY)
        interrupts.install()
        host.send({"t": "warmed"})
        opened = host.receive()
    if opened["t"] != "open" or opened["v"] != VERSION:
        raise RuntimeError(f"the host speaks version {opened.get('v')} of the frames, this guest {VERSION}")
    os.chdir(places.WORKSPACE)
    sys.path.append(places.WORKSPACE)
    enter(session, streams, opened["session"])
    session.watch()
    while True:
        frame = host.receive()
        optional = map(frame.get, ("limits", "surface", "names", "inputs"))
        session.run(frame["id"], frame["code"], *optional)


def _prepare(fd):
    """Creates a session on a descriptor. Reads, writes and changes nothing, so it may precede the fork."""
    interrupts = Interrupts()
    streams = Streams(interrupts)
    host = Channel(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, fd), interrupts)
    return Session(host, interrupts, streams), interrupts, streams


def enter(session, streams, settings):
    """Makes a session this process's own."""
    global _streams
    _streams = streams
    channel.connect(session.channel)
    imports.install()
    names.install()
    session.open(settings)


def forget():
    """Forgets this process's session."""
    global _streams
    _streams = None
    channel.connect(None)
    kept.connect(None)


def _before_fork():
    # Otherwise the child would print its parent's unflushed output.
    if _streams is not None:
        _streams.flush()


def _after_fork():
    if _streams is not None:
        _streams.after_fork()
        channel.current().detach()


os.register_at_fork(before=_before_fork, after_in_child=_after_fork)
