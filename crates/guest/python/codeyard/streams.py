"""Standard output and error: text over the descriptors that the host reads, with a full copy of long output."""

import io
import os
import sys
from _thread import allocate_lock
from collections import deque
from time import monotonic

from codeyard.binary import LEAST, may_print_binary
from codeyard.printed import most_tokens

# A run's first lines are sent one by one, so that they survive any end of the process. Later lines are bundled.
_IMMEDIATE_LINES = 32
_BUNDLE_SECONDS = 0.002
_BUNDLE_BYTES = 64 * 1024
# A stream with fewer bytes is never cut in favour of the other.
_LEAST_CUT = 1_000
# Bytes of the limit per token.
_TOKEN_BYTES = 4


class Output(io.BufferedIOBase):
    """The binary stream below `sys.stdout` or `sys.stderr`."""

    mode = "wb"

    def __init__(self, fd, name, interrupts):
        self.name = f"<{name}>"
        self.short_name = name
        self._fd = fd
        self._interrupts = interrupts
        self._lock = allocate_lock()
        self._pending = deque()
        self._size = 0
        self._run = self._limit = 0
        self._directory = None
        self._immediate = _IMMEDIATE_LINES  # lines that still go out at once
        self._due = 0.0  # when the next bundle goes out
        self.total = 0  # bytes printed in this run
        self.is_copied = False  # whether a file has all output
        self._kept = []  # the beginning of a copy
        self._copy = None
        self._last = self._before = None  # the last pieces that were printed

    def begin(self, run, limit, directory):
        """Starts a run; beyond half of `limit` bytes of output, the full text also goes to a file in `directory`."""
        self._run = run
        self._directory = directory
        self._limit = limit
        self.is_copied = False
        self._last = self._before = None
        if self.total:
            self._end_copy()
            self._immediate = _IMMEDIATE_LINES
            self._due = 0.0
            self.total = 0
            self._kept = []

    def writable(self):
        return True

    def fileno(self):
        return self._fd

    def write(self, data):
        if self.closed:
            raise ValueError("I/O operation on closed file")
        if type(data) is not bytes:
            data = memoryview(data).tobytes()
        if data:
            self._before, self._last = self._last, data
        self._pending.append(data)
        self._size += len(data)
        if self._size >= _BUNDLE_BYTES:
            self.flush()
        elif data[-1:] == b"\n":
            if self._immediate > 0:
                self._immediate -= 1
                self.flush()
            elif monotonic() >= self._due:
                self.flush()
                self._due = monotonic() + _BUNDLE_SECONDS
        return len(data)

    def flush(self):
        # Checked again after the unlock: a thread that finds the lock taken leaves its bytes to the
        # owner. Blocking would be fatal where a finalizer prints during a flush.
        while self._pending:
            before = self._interrupts.hold()
            try:
                if not self._lock.acquire(False):
                    return
                try:
                    self._emit(self._take())
                finally:
                    self._lock.release()
            finally:
                self._interrupts.release(before)

    def after_fork(self):
        """In a forked process the thread with the lock may not exist."""
        self._lock = allocate_lock()

    def ends_with(self, text):
        """Whether a text, with or without a line end, was printed last."""
        piece = text.encode("utf-8", "backslashreplace")
        return self._last in (piece, piece + b"\n") or (self._before, self._last) == (piece, b"\n")

    def send_rest(self):
        """Sends the rest."""
        try:
            self.flush()
        except OSError:
            pass  # The program has closed the descriptor.

    def tokens(self):
        """Estimated tokens printed, rather too many; copied output does not count."""
        return most_tokens(b"".join(self._kept)) if self._kept else 0

    def may_hold_binary(self):
        """Whether some output may be hidden from the model as binary."""
        return self.total >= LEAST and bool(self._kept) and may_print_binary(b"".join(self._kept))

    def end_run(self, copies):
        """Closes the copy; `copies` forces one, whatever the length."""
        if copies and self._kept:
            self._start_copy()
        self._end_copy()

    def _take(self):
        chunks = []
        while self._pending:
            chunks.append(self._pending.popleft())
        self._size = 0
        return chunks[0] if len(chunks) == 1 else b"".join(chunks)

    def _emit(self, data):
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self._fd, rest) :]
        self.total += len(data)
        if self._copy is not None:
            self._write_copy(data)
        elif self._kept is not None:
            self._kept.append(data)
            if self.total > self._limit // 2 and self._run:
                self._start_copy()

    def file_name(self):
        return f"{self.short_name}-{self._run}.txt"

    def _start_copy(self):
        kept, self._kept = self._kept, None
        try:
            path = f"{self._directory}/{self.file_name()}"
            self._copy = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
        except OSError:
            return
        self.is_copied = True
        self._write_copy(b"".join(kept))

    def _write_copy(self, data):
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[os.write(self._copy, rest) :]
        except OSError:
            self.is_copied = False
            self._end_copy()  # A full disk must not fail the run.

    def _end_copy(self):
        if self._copy is not None:
            os.close(self._copy)
            self._copy = None
            self._kept = None


class Streams:
    def __init__(self, interrupts, descriptors=(1, 2)):
        self._interrupts = interrupts
        self._descriptors = descriptors
        self._open()

    def _open(self):
        out, err = self._descriptors
        self._outputs = [Output(out, "stdout", self._interrupts), Output(err, "stderr", self._interrupts)]
        self._texts = [
            io.TextIOWrapper(output, encoding="utf-8", errors="backslashreplace", write_through=True)
            for output in self._outputs
        ]

    def begin(self, run, limit, directory):
        """Starts a run. A program may have replaced or closed the streams of the last one."""
        self._limit = limit
        out, err = self._texts
        try:
            whole = not (out.closed or err.closed)
        except ValueError:  # `detach` was called
            whole = False
        if not whole:
            self._open()
            out, err = self._texts
        sys.stdout = sys.__stdout__ = out
        sys.stderr = sys.__stderr__ = err
        for output in self._outputs:
            output.begin(run, limit, directory)

    def flush(self):
        for output in self._outputs:
            output.flush()

    def after_fork(self):
        """Makes the streams usable in a forked process."""
        for output in self._outputs:
            output.after_fork()

    def has_printed_last(self, text):
        """Whether the program printed this text last."""
        return sys.stdout is self._texts[0] and self._outputs[0].ends_with(text)

    def end_run(self):
        """Sends the rest, also of streams that the program put in place of ours."""
        for stream in (sys.stdout, sys.stderr):
            if stream not in self._texts:
                try:
                    stream.flush()
                except Exception:
                    pass  # A stream of the program's must not fail the run now.
        for output in self._outputs:
            output.send_rest()
        is_long = self._is_long()
        for output in self._outputs:
            output.end_run(copies=is_long and output.total >= _LEAST_CUT or output.may_hold_binary())

    def _is_long(self):
        """Whether the host may cut the output, judged over both streams."""
        if any(output.is_copied for output in self._outputs):
            return True
        total = sum(output.total for output in self._outputs)
        if total * _TOKEN_BYTES <= self._limit:
            return False  # A token has at least one byte.
        tokens = sum(output.tokens() for output in self._outputs)
        return total > self._limit or tokens * _TOKEN_BYTES > self._limit

    def copied(self):
        """Names of the files with whole streams, by stream name."""
        return {output.short_name: output.file_name() for output in self._outputs if output.is_copied}
