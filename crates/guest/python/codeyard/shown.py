"""Content that a run shows beside its result and output: images, recordings, resources and links."""

import os
import re
import sys
from base64 import b64decode, b64encode
from binascii import Error as NoBase64
from hashlib import sha256
from itertools import islice
from json import dumps
from time import monotonic

from codeyard import images
from codeyard.blocks import Block, size_words
from codeyard.written import read_image

MOST_PARTS = 10
MOST_SAVED = 1_000
_MOST_NAMED = 10
# Most bytes of all parts' texts, uris and names (the rest goes to a file), and of the text about
# the rest: the host accepts 4 KiB of both.
_MOST_TEXT = 2_000
_MOST_WORDS = 1_500
# Most characters of a uri and of a name.
_MOST_URI = 2_000
_MOST_NAME = 200
# Most seconds for drawing and saving figures beyond those shown.
_DRAWING_SECONDS = 5
# Most values of a list searched for blocks.
_MOST_LOOKED_AT = 100
# The required members of each kind of block, and all allowed ones.
_BLOCKS = {
    "image": {"data": str, "mimeType": str},
    "audio": {"data": str, "mimeType": str},
    "resource": {"resource": dict},
    "resource_link": {"uri": str},
}
_MEMBERS = {"type", "data", "mimeType", "resource", "uri", "name", "title", "description", "size", "icons", "annotations", "_meta"}
_MIME = re.compile(r"[a-z]+/[A-Za-z0-9.+-]{1,80}")
_ENDINGS = {"image/jpeg": "jpg", "image/svg+xml": "svg", "audio/mpeg": "mp3", "audio/x-wav": "wav", "text/plain": "txt"}


class Gallery:
    """The content of one run, limited and without repeats. The rest goes to files."""

    def __init__(self, run=0, directory=None, told=None):
        self._run = run
        self._directory = directory  # of the files, and its name in programs
        self._told = told
        self._seen = set()
        self._pictures = []  # looks of the shown pictures
        self._parts = []
        self._words = []
        self._room = _MOST_TEXT
        self._saved = []
        self._files = 0
        self._links = []
        self._left_out = 0

    def add(self, data):
        """Takes an image and returns its placeholder; `None` if the bytes are no image."""
        mime = images.mime_of(data)
        if mime is None:
            return None
        self._put("image", mime, data)
        return f"<{mime} {len(data)} bytes>"

    def add_saved(self, data):
        """Takes an image that the run saved, unless the program has shown the same picture."""
        mime = images.mime_of(data)
        look = images.look_of(images.opened(data)) if self._pictures else None
        if look is None or not any(images.are_alike(look, shown, mime) for shown in self._pictures):
            self.add(data)

    def take(self, value):
        """Takes a value that content can show: a figure, an image, a block of a result, or several of them."""
        if isinstance(value, (bytes, bytearray)):
            return self.add(bytes(value)) is not None
        if _is_block(value):
            return self._take_block(value)
        if isinstance(value, (list, tuple)) and 0 < len(value) <= _MOST_LOOKED_AT and all(map(_is_block, value)):
            for block in value:
                self._take_block(block)
            return True
        if images.is_drawing(value):
            self._take_figures(value)
            return True
        return self._take_page(value) or self._take_picture(value)

    def take_blocks(self, value):
        """Takes the non-text blocks of a tool's result, also of results in a list or dict."""
        found = self._take_content(value) or self._take_content(getattr(value, "raw", None))
        inside = value.values() if type(value) is dict else value if isinstance(value, (list, tuple)) else ()
        for item in islice(inside, _MOST_LOOKED_AT):
            found |= self._take_content(getattr(item, "raw", None))
        return found

    def add_figures(self, saved):
        """Takes and closes pyplot's open figures. Those that the run has `saved` as images were taken already."""
        pyplot = images.pyplot()
        if pyplot is None:
            return
        numbers = pyplot.get_fignums()
        end = monotonic() + _DRAWING_SECONDS
        try:
            for done, number in enumerate(numbers if len(numbers) > saved else ()):
                if done >= MOST_PARTS and monotonic() > end:
                    self._words.append(f"{len(numbers) - done} more figures were closed: save them as you draw them")
                    break
                self._add_figure(pyplot.figure(number))
        finally:
            pyplot.close("all")

    def content(self):
        """The parts, and one text about everything left out."""
        words = list(self._words[:_MOST_NAMED])
        if self._links:
            self._set_aside(dumps(self._links, indent=1).encode(), "json")
        if self._saved:
            more = len(self._saved) - _MOST_NAMED
            words.append("too large or too many to show, saved as " + ", ".join(self._saved[:_MOST_NAMED]))
            if more > 0:
                words[-1] += f" and {more} more"
        if self._left_out:
            words.append(f"{self._left_out} more could neither be shown nor saved")
        if not words:
            return self._parts
        text = "\n".join(words).encode(errors="replace")[:_MOST_WORDS].decode(errors="ignore")
        return [*self._parts, {"type": "text", "text": text}]

    # Figures, pictures and pages.

    def _take_figures(self, value):
        figure = images.figure_of(value)
        if figure is None:
            return  # Part of an open one, which is shown at the end of the run.
        pyplot = images.pyplot()
        if pyplot is None or getattr(figure, "number", None) not in pyplot.get_fignums():
            self._add_figure(figure)

    def _add_figure(self, figure):
        if images.is_empty(figure):
            return
        try:
            data = images.png_of(figure)
        except Exception as error:
            self._words.append(f"a figure could not be drawn: {type(error).__name__}: {str(error)[:200]}")
        else:
            self.add(data)

    def _take_picture(self, value):
        try:
            data = images.picture_of(value)
        except Exception as error:
            self._words.append(f"an image could not be written: {type(error).__name__}: {str(error)[:200]}")
            return True
        if not isinstance(data, bytes) or self.add(data) is None:
            return False
        look = images.look_of(value)
        if look is not None:
            self._pictures.append(look)
        return True

    def _take_page(self, value):
        """Saves an interactive plotly figure as a page."""
        if not type(value).__module__.startswith("plotly.") or not hasattr(value, "write_html"):
            return False
        saved = self._save(value.to_html().encode(), "html")
        self._words.append(f"an interactive figure, saved as a page: {saved}" if saved else "an interactive figure could not be saved")
        return True

    # Blocks of results.

    def _take_content(self, raw):
        content = raw.get("content") if isinstance(raw, dict) else None
        if not isinstance(content, list):
            return False
        found = False
        for block in content:
            found |= _is_block(block) and self._take_block(block)
        return found

    def _take_block(self, block):
        if isinstance(block, Block):
            block.use()
        kind = dict.get(block, "type")
        if kind == "resource_link":
            self._link(block)
        elif kind == "resource":
            self._resource(dict.get(block, "resource"))
        else:
            self._binary(kind, dict.get(block, "mimeType"), dict.get(block, "data"))
        return True

    def _binary(self, kind, mime, data):
        data = _decoded(data)
        if data is None:
            self._words.append(f"a block of type {kind} is damaged: it is no base64")
            return
        mime = mime if _is_mime(mime) and mime.startswith(kind) else images.mime_of(data)
        if mime is None:
            self._set_aside(data, "bin")
        else:
            self._put(kind, mime, data)

    def _resource(self, resource):
        uri, mime, text = (resource.get(name) for name in ("uri", "mimeType", "text"))
        part = {"type": "resource", "uri": _cut(uri, _MOST_URI)}
        if _is_mime(mime):
            part["mime"] = mime
        if isinstance(text, str):
            if len(self._parts) < 2 * MOST_PARTS and self._fits(text + part["uri"]):
                self._parts.append({**part, "text": text})
            else:
                self._set_aside(text.encode(errors="replace"), _ending(part.get("mime", "text/plain")))
            return
        data = _decoded(resource.get("blob"))
        if data is None:
            self._words.append(f"an embedded resource is damaged: {dumps(part['uri'])} has neither text nor base64")
        elif not self._is_room_for(data):
            self._set_aside(data, _ending(part.get("mime", "")))
        else:
            self._parts.append({**part, "data": b64encode(data).decode()})

    def _link(self, block):
        uri, name, mime, size = (dict.get(block, name) for name in ("uri", "name", "mimeType", "size"))
        part = {"type": "link", "uri": _cut(uri, _MOST_URI), "name": _cut(name, _MOST_NAME) or "resource"}
        if _is_mime(mime):
            part["mime"] = mime
        if type(size) is int and 0 <= size < 1 << 53:
            part["size"] = size
        if len(self._parts) < MOST_PARTS and self._fits(part["uri"] + part["name"]):
            self._parts.append(part)
        elif len(self._links) < MOST_SAVED:
            self._links.append(part)
        else:
            self._left_out += 1

    # Parts and files.

    def _put(self, kind, mime, data):
        digest = sha256(data).digest()
        if digest in self._seen:
            return
        self._seen.add(digest)
        if self._is_room_for(data):
            self._parts.append({"type": kind, "mime": mime, "data": b64encode(data).decode()})
        else:
            self._set_aside(data, _ending(mime))

    def _is_room_for(self, data):
        return len(data) <= images.MAX_BYTES and sum("data" in part for part in self._parts) < MOST_PARTS

    def _fits(self, text):
        self._room -= len(text.encode(errors="replace"))
        return self._room >= 0

    def _set_aside(self, data, ending):
        """Saves what cannot be shown."""
        saved = self._save(data, ending)
        if saved is None:
            self._left_out += 1
        else:
            self._saved.append(saved)

    def _save(self, data, ending):
        """Writes a file and returns its path and size; `None` if that fails."""
        if self._directory is None or self._files >= MOST_SAVED:
            return None
        self._files += 1
        name = f"shown-{self._run}-{self._files}.{ending}"
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            with open(os.open(os.path.join(self._directory, name), flags, 0o644), "wb") as file:
                file.write(data)
        except OSError:
            return None
        return f"{self._told}/{name} ({size_words(len(data))})"


_current = None


def connect(gallery):
    """Sets the gallery of `show`; `None` for none."""
    global _current
    _current = gallery


def show(*values):
    """Adds images, figures, and the images, recordings, resources and links of tools' results to the answer.

    Takes results of tools and their blocks, figures of matplotlib and plotly, images of PIL, bytes of an image, and the path
    of an image file. Anything else is printed.
    """
    for value in values:
        if not _shows(value):
            print(_printed(value))


def _shows(value):
    if _current is None:
        return False
    if isinstance(value, str) and value.lower().endswith(images.SUFFIXES):
        data = read_image(value)
        if data is not None:
            return _current.add(data) is not None
    return _current.take(value) or _current.take_blocks(value)


def _printed(value):
    pandas = sys.modules.get("pandas")
    if isinstance(value, tuple(getattr(pandas, name, ()) for name in ("DataFrame", "Series"))):
        return value.to_string(max_rows=60)
    return value


def _is_block(value):
    """Whether a value is a non-text block of a result with the required members."""
    if not isinstance(value, dict):
        return False
    kind = dict.get(value, "type")
    must = _BLOCKS.get(kind) if isinstance(kind, str) else None
    if must is None or not value.keys() <= _MEMBERS:
        return False
    return all(isinstance(dict.get(value, name), of) for name, of in must.items())


def _is_mime(mime):
    return isinstance(mime, str) and _MIME.fullmatch(mime) is not None


def _ending(mime):
    ending = _ENDINGS.get(mime) or mime.rpartition("/")[2]
    return ending if ending.isalnum() and len(ending) <= 8 else "bin"


def _decoded(data):
    """The bytes of base64 text; `None` if invalid."""
    try:
        return b64decode(data, validate=True)
    except (NoBase64, TypeError, ValueError):
        return None


def _cut(text, most):
    return text[:most] if isinstance(text, str) else ""
