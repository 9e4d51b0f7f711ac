"""Images of a run: matplotlib's figures and image bytes, as content for the model."""

import io
import sys
from base64 import b64encode
from hashlib import sha256

MAX_IMAGES = 10
MAX_BYTES = 5 * 1024 * 1024

_MAGIC = ((b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"))
SUFFIXES = (".png", ".jpg", ".jpeg", ".svg")


def mime_of(data):
    """The type of image that some bytes are; `None` for anything else."""
    for magic, mime in _MAGIC:
        if data.startswith(magic):
            return mime
    head = data[:1024].lstrip()
    if head.startswith(b"<svg") or (head.startswith(b"<?xml") and b"<svg" in head):
        return "image/svg+xml"
    return None


class Gallery:
    """The images of one run: bounded, each once."""

    def __init__(self):
        self._seen = set()
        self._items = []
        self._left_out = []

    def add(self, data):
        """Takes an image and returns the text that stands for it; `None` if the bytes are no image."""
        mime = mime_of(data)
        if mime is None:
            return None
        name = f"<{mime} {len(data)} bytes>"
        digest = sha256(data).digest()
        if digest in self._seen:
            return name
        self._seen.add(digest)
        if len(data) > MAX_BYTES:
            self._left_out.append(f"{name}, over {MAX_BYTES} bytes")
        elif len(self._items) >= MAX_IMAGES:
            self._left_out.append(f"{name}, after the first {MAX_IMAGES}")
        else:
            self._items.append({"type": "image", "mime": mime, "data": b64encode(data).decode()})
        return name

    def add_figures(self):
        """Takes all open figures of matplotlib, if the program has imported it, and closes them."""
        pyplot = sys.modules.get("matplotlib.pyplot")
        if pyplot is None or not hasattr(pyplot, "get_fignums"):
            return
        try:
            for number in pyplot.get_fignums()[: 2 * MAX_IMAGES]:
                self._add_figure(pyplot.figure(number), number)
        finally:
            pyplot.close("all")

    def _add_figure(self, figure, number):
        if not figure.axes and not figure.texts and not figure.images:
            return  # Nothing has been drawn on it.
        buffer = io.BytesIO()
        try:
            figure.savefig(buffer, format="png")
        except Exception as error:
            self._left_out.append(f"<figure {number}, which could not be drawn: {type(error).__name__}: {str(error)[:200]}>")
        else:
            self.add(buffer.getvalue())

    def content(self):
        """The images, and one text for those that were left out."""
        if not self._left_out:
            return self._items
        text = "images left out: " + "; ".join(self._left_out[:MAX_IMAGES])
        return [*self._items, {"type": "text", "text": text}]
