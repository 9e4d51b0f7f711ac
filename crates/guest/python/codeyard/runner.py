"""What the zygote and its children call: `warm` before the fork, `serve` after it."""

import fcntl
import os
import socket
import sys
import traceback

from codeyard import channel, imports, names, places
from codeyard.channel import Channel
from codeyard.frames import VERSION
from codeyard.interrupts import Interrupts
from codeyard.session import Session
from codeyard.streams import Streams
from codeyard.stubs import Watch

_streams = None


def warm():
    """Loads everything and runs each path of the code once or more, so that a fork finds it all in memory."""
    from codeyard.rehearsal import rehearse

    rehearse()


def serve(fd):
    """Serves one session over the socket `fd` and ends the process when the host closes it."""
    try:
        _serve(fd)
    except BaseException:
        traceback.print_exc(file=sys.__stderr__)
    finally:
        os._exit(1)


def _serve(fd):
    fcntl.fcntl(fd, fcntl.F_SETFD, fcntl.FD_CLOEXEC)
    interrupts = Interrupts()
    interrupts.install()
    host = Channel(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, fd), interrupts)
    python = ".".join(map(str, sys.version_info[:3]))
    host.send({"t": "ready", "v": VERSION, "python": python})
    opened = host.receive()
    if opened["t"] != "open" or opened["v"] != VERSION:
        raise RuntimeError(f"the host speaks version {opened.get('v')} of the frames, this guest {VERSION}")
    sys.path.append(places.WORKSPACE)
    imports.install()
    names.install()
    session = open_session(host, interrupts, opened["session"], Streams(interrupts))
    session.watch.install()
    while True:
        frame = host.receive()
        session.run(frame["id"], frame["code"])


def open_session(host, interrupts, settings, streams):
    """Connects a session to a channel and to the streams of its output."""
    global _streams
    _streams = streams
    host.limit = max(1, settings["concurrent_calls"])
    host.before_wait = streams.flush
    channel.connect(host)
    return Session(host, interrupts, streams, Watch(streams), settings["output"])


def forget():
    """Forgets the session of this process, as before the first."""
    global _streams
    _streams = None


def _before_fork():
    # Else the child would print what its parent has not printed yet.
    if _streams is not None:
        _streams.flush()


def _after_fork():
    if _streams is not None:
        _streams.after_fork()
        channel.current().detach()


os.register_at_fork(before=_before_fork, after_in_child=_after_fork)
