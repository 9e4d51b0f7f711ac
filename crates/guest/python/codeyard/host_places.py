"""Maps the session's directories to host paths, for tools, which do not know the session's paths."""

import os
import re
from itertools import islice

from codeyard import places

# Most strings of a call's arguments examined, and the most characters of one.
_MOST_LOOKED_AT = 50
_LONGEST = 4096
# Directories in which the session may create links to the mapped ones.
_OWN = ("/home/", "/tmp/")
# Directories that are on no disk of the host, unless the host has told otherwise.
_GONE = ("/scratch", "/tmp", "/home")

_REFUSED = re.compile(r"outside|allowed director|not allowed|access denied", re.IGNORECASE)
_ELSEWHERE = (
    "this server reads and writes its own directories only: pass it what is in the file, "
    "or let the user mount a directory of both with --mount"
)

_told = {}


def tell(pairs):
    """Takes pairs from the host: a session path and the host path of the same directory."""
    _told.clear()
    _told.update(pairs)
    for inside, host in _told.items():
        if host.startswith(_OWN):
            _link(inside, host)


def _link(inside, host):
    try:
        os.makedirs(os.path.dirname(host), exist_ok=True)
        os.symlink(inside, host)
    except OSError:
        pass  # Something of the session's is there.


def host_path(path):
    """The host path of a file in /workspace, /results, /scratch or a mounted folder; tools read and write there."""
    named = _named(path)
    for place in places.MOVED:
        if _is_below(named, place):
            return places.actual(named)
    found = _on_host(named)
    if found is None:
        there = ", ".join(_told) or "none"
        raise LookupError(f"{named} is on no disk of the host; what lies in these directories is: {there}")
    return found


def hint(arguments, message=""):
    """Advice for a failed tool call: which arguments are paths without meaning on the host, or for
    a server that may only read its own directories."""
    if not _told and not places.MOVED:
        return None
    for text in islice(_strings(arguments), _MOST_LOOKED_AT):
        if len(text) > _LONGEST or "\n" in text or "\0" in text:
            continue
        told = _hint_of(text)
        if _REFUSED.search(message) and (told is not None or _is_of_session(text)):
            return _ELSEWHERE
        if told is not None:
            return told
    return None


def _is_of_session(text):
    """Whether a host path leads into a directory of the session."""
    return any(_is_below(text, host) for host in _told.values())


def _hint_of(text):
    if not ("/" in text or "." in text) or "://" in text:
        return None
    named = _named(text)
    exists = os.path.exists(text) or (text.startswith("/") and os.path.isdir(os.path.dirname(text)))
    if not exists or _is_host_path(named):
        return None
    host = places.actual(named) if places.MOVED else _on_host(named)
    if any(_is_below(named, place) and place not in _told for place in _GONE):
        return f"{text} exists only inside the sandbox; put the file in /workspace and pass runtime.host_path(name)"
    if host is None or host == text:
        return None
    return f"tools see the host's files: {text} is {host} there; pass runtime.host_path({text!r})"


def _named(path):
    return places.named(os.path.normpath(os.path.join(os.getcwd(), os.fspath(path))))


def _on_host(named):
    if _is_host_path(named):
        return named
    for inside, host in _told.items():
        if _is_below(named, inside):
            return host + named[len(inside) :]
    return None


def _is_host_path(named):
    return any(_is_below(named, host) for host in _told.values())


def _is_below(path, place):
    return path == place or path.startswith(place + "/")


def _strings(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
