"""The socket to the host, shared by the main thread, other threads and every event loop.

The thread with the reading lock reads for all: it delivers each reply to its owner, and wakes
another waiting thread when it leaves. The thread with the writing lock writes for all. On the main
thread each operation is a held section (see `interrupts`), so that an interrupt can never tear a
frame.
"""

import os
import select
import socket
from _thread import allocate_lock, get_ident
from asyncio import get_running_loop
from collections import deque
from itertools import count

from codeyard.errors import failed_call
from codeyard.frames import MAX_FRAME, Unpacker, pack
from codeyard.interrupts import OPEN

_NO_RUN = {"kind": "cancelled", "message": "no run is under way: tools can be called only while a program runs"}
_RUN_IS_OVER = {"kind": "cancelled", "message": "the run that made this call is over"}
_FORKED = {
    "kind": "denied",
    "message": "a forked process cannot call tools",
    "hint": "call them in the main process and hand the results on",
}


class _Sleeper:
    """A thread that waits for its frame; `bell` wakes it."""

    __slots__ = ("bell", "frame")

    def __init__(self):
        self.bell = allocate_lock()
        self.bell.acquire()
        self.frame = None

    def ring(self):
        try:
            self.bell.release()
        except RuntimeError:
            pass  # The bell has rung already.

    def deliver(self, frame):
        self.frame = frame
        self.ring()

    def gone(self):
        return False


class _Promise:
    """A future of an event loop."""

    __slots__ = ("link", "future")

    def __init__(self, link, future):
        self.link = link
        self.future = future

    def deliver(self, frame):
        try:
            if get_ident() == self.link.thread:
                self._resolve(frame)
            else:
                self.link.loop.call_soon_threadsafe(self._resolve, frame)
        except RuntimeError:
            pass  # The loop was closed meanwhile.

    def _resolve(self, frame):
        if not self.future.done():
            self.future.set_result(frame)

    def gone(self):
        return self.future.done()


class _Link:
    """An event loop's access to the channel: calls of one loop turn leave in one write."""

    def __init__(self, channel, loop):
        self.channel = channel
        self.loop = loop
        self.thread = get_ident()
        self.scheduled = False
        loop.add_reader(channel.fd, channel.on_readable)

    def schedule(self):
        if not self.scheduled:
            self.scheduled = True
            self.loop.call_soon(self._flush)

    def _flush(self):
        self.scheduled = False
        self.channel.flush()


class Channel:
    def __init__(self, sock, interrupts):
        self.limit = 1  # host calls under way at once
        self.active = False  # whether a run is under way
        self.forked = False
        self.before_wait = lambda: None  # called before the program starts to wait for the host
        self.fd = sock.fileno()
        self._sock = sock
        self._interrupts = interrupts
        self._ids = count(1)
        self._state = allocate_lock()  # guards the next six
        self._pending = {}
        self._queue = deque()
        self._flying = 0
        self._out = deque()
        self._inbox = deque()
        self._idle = None
        self._reading = allocate_lock()
        self._reader = None
        self._unpacker = Unpacker()
        self._poll = select.poll()
        self._poll.register(self.fd, select.POLLIN)
        self._writing = allocate_lock()
        self._unsent = b""
        self._sleepers = {}
        self._links = {}

    # For the program.

    def ask(self, name, args):
        """Makes a host call and blocks for its reply. Works in any thread, even inside a running loop."""
        before = self._interrupts.hold()
        try:
            sleeper = _Sleeper()
            self._launch(sleeper, name, args)
            self.before_wait()
            self._flush(before)
            return self._sleep(sleeper, before)
        finally:
            self._interrupts.release(before)

    def submit(self, name, args):
        """Makes a host call; returns a future of the running loop."""
        loop = get_running_loop()
        before = self._interrupts.hold()
        try:
            link = self._links.get(loop) or self._link(loop)
            link.thread = get_ident()
            future = loop.create_future()
            self._launch(_Promise(link, future), name, args)
            link.schedule()
            return future
        finally:
            self._interrupts.release(before)

    # For the runner.

    def open_run(self):
        """Allows host calls."""
        self.active = True

    def close_run(self):
        """Refuses host calls from now on and ends running ones, which the host has dropped."""
        with self._state:
            self.active = False
            if not self._pending:
                return
            orphans = list(self._pending.values())
            self._pending.clear()
            self._queue.clear()
            self._out.clear()
            self._flying = 0
        for waiter in orphans:
            waiter.deliver({"err": _RUN_IS_OVER})

    def send(self, message):
        """Sends a frame other than a call."""
        self.send_packed(pack(message))

    def send_packed(self, frame):
        """Sends the bytes of a frame other than a call."""
        before = self._interrupts.hold()
        try:
            with self._state:
                self._out.append(frame)
            self._flush(before)
        finally:
            self._interrupts.release(before)

    def receive(self):
        """Blocks until the host sends a frame other than a reply."""
        while not self._inbox and self._reading.acquire(False):
            try:
                self._reader = get_ident()
                self._receive(0)
                if self._out:
                    self._flush(None)
            finally:
                self._stop_reading()
        # Otherwise another thread reads, and hands the frame over.
        with self._state:
            if self._inbox:
                return self._inbox.popleft()
            self._idle = sleeper = _Sleeper()
        return self._sleep(sleeper, None)

    def detach(self):
        """Disables the channel of a forked process, which must not write to its parent's socket."""
        self.forked = True
        self.active = False
        self._sock.close()

    # For event loops.

    def on_readable(self):
        """Reads available bytes, unless another thread is reading."""
        before = self._interrupts.hold()
        try:
            if self._reading.acquire(False):
                try:
                    self._reader = get_ident()
                    self._receive(socket.MSG_DONTWAIT)
                except BlockingIOError:
                    pass  # Another thread has read it since this loop was woken.
                finally:
                    self._stop_reading()
                self._flush(before)
        finally:
            self._interrupts.release(before)

    def flush(self):
        before = self._interrupts.hold()
        try:
            self.before_wait()
            self._flush(before)
        finally:
            self._interrupts.release(before)

    # Everything below runs in a held section; `before` is the state outside of it.

    def _link(self, loop):
        for other in [other for other in self._links if other.is_closed()]:
            del self._links[other]
        link = self._links[loop] = _Link(self, loop)
        return link

    def _launch(self, waiter, name, args):
        if self.forked:
            raise failed_call(**_FORKED)
        number = next(self._ids)
        frame = pack({"t": "call", "id": number, "name": name, "args": args})
        if len(frame) > MAX_FRAME:
            raise failed_call(f"the arguments take {len(frame)} bytes, more than {MAX_FRAME}", kind="invalid_arguments")
        with self._state:
            if not self.active:
                raise failed_call(**_NO_RUN)
            self._pending[number] = waiter
            if self._flying < self.limit:
                self._flying += 1
                self._out.append(frame)
            else:
                self._queue.append((number, frame))

    def _dispatch(self, frame):
        with self._state:
            if frame.get("t") != "reply":
                if self._idle is None:
                    self._inbox.append(frame)
                    return
                waiter, self._idle = self._idle, None
            else:
                waiter = self._pending.pop(frame.get("id"), None)
                if waiter is None:
                    return
                self._flying -= 1
                self._start_queued()
        waiter.deliver(frame)

    def _start_queued(self):
        while self._queue and self._flying < self.limit:
            number, frame = self._queue.popleft()
            if self._pending[number].gone():
                del self._pending[number]
                continue
            self._flying += 1
            self._out.append(frame)

    def _sleep(self, sleeper, before):
        """Waits for the sleeper's frame; reads for all while no other thread does."""
        self._sleepers[sleeper] = None
        try:
            while sleeper.frame is None:
                if self._reading.acquire(False):
                    try:
                        self._reader = get_ident()
                        while sleeper.frame is None:
                            if before is OPEN:
                                self._interrupts.wait(before, self._poll.poll)
                            self._receive(0)
                            if self._out:
                                self._flush(before)
                    finally:
                        self._stop_reading()
                else:
                    self._interrupts.wait(before, sleeper.bell.acquire)
        finally:
            del self._sleepers[sleeper]
            self._wake_another()
        return sleeper.frame

    def _receive(self, flags):
        try:
            data = self._sock.recv(self._unpacker.chunk(), flags)
        except MemoryError:
            self._unpacker.give_up()
            return
        if not data:
            os._exit(0)  # The host has closed the session.
        for frame in self._unpacker.feed(data):
            self._dispatch(frame)

    def _stop_reading(self):
        self._reader = None
        self._reading.release()
        self._wake_another()

    def _wake_another(self):
        if self._sleepers:
            for sleeper in list(self._sleepers):
                sleeper.ring()
                return

    def _flush(self, before):
        # Checked again after the unlock: a thread that found the lock taken left its frame to us.
        while self._out or self._unsent:
            if not self._writing.acquire(False):
                return
            try:
                self._drain(before)
            finally:
                self._writing.release()

    def _drain(self, before):
        while self._out or self._unsent:
            if not self._unsent:
                with self._state:
                    self._unsent = memoryview(self._out[0] if len(self._out) == 1 else b"".join(self._out))
                    self._out.clear()
            try:
                sent = self._sock.send(self._unsent, socket.MSG_DONTWAIT)
            except BlockingIOError:
                self._wait_writable(before)
                continue
            self._unsent = self._unsent[sent:] if sent < len(self._unsent) else b""

    def _wait_writable(self, before):
        """Waits until the host reads more; reads meanwhile, since the host may be waiting for that."""
        mine = self._reader == get_ident()
        reading = mine or self._reading.acquire(False)
        try:
            poll = select.poll()
            poll.register(self.fd, select.POLLOUT | (select.POLLIN if reading else 0))
            for _, events in self._interrupts.wait(before, poll.poll):
                if reading and events & ~select.POLLOUT:
                    self._receive(0)
        finally:
            if reading and not mine:
                self._stop_reading()


_current = None


def connect(channel):
    """Sets the channel of the program's calls; `None` for none."""
    global _current
    _current = channel


def current():
    if _current is None:
        raise failed_call("there is no host to call", kind="cancelled")
    return _current
