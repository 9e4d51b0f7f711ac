"""Images: which bytes are one, and the picture of what libraries draw."""

import io
import sys

MAX_BYTES = 5 * 1024 * 1024

_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)
SUFFIXES = (".png", ".jpg", ".jpeg", ".svg", ".gif", ".webp")


def mime_of(data):
    """The type of image that some bytes are; `None` for anything else."""
    for magic, mime in _MAGIC:
        if data.startswith(magic):
            return mime
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    head = data[:1024].lstrip()
    if head.startswith(b"<svg") or (head.startswith(b"<?xml") and b"<svg" in head):
        return "image/svg+xml"
    return None


def figure_of(value):
    """The figure of matplotlib that a value is, or that it is drawn on; `None` for anything else."""
    library = sys.modules.get("matplotlib.figure")
    if library is None or not hasattr(library, "Figure"):
        return None
    for figure in (value, getattr(value, "figure", None)):
        if isinstance(figure, library.Figure):
            return figure
    return None


def is_drawing(value):
    """Whether a value is what a drawing function of matplotlib returns: a part of a figure, or several."""
    artist = getattr(sys.modules.get("matplotlib.artist"), "Artist", None)
    if artist is None:
        return False
    if isinstance(value, (list, tuple)):
        return 0 < len(value) <= 1_000 and all(is_drawing(item) for item in value)
    numpy = sys.modules.get("numpy")
    if isinstance(value, getattr(numpy, "ndarray", ())):
        return value.dtype == object and value.size > 0 and is_drawing(value.flat[0])
    return isinstance(value, artist) or figure_of(value) is not None


def picture_of(value):
    """The PNG of a value that can draw itself, such as an image of PIL; `None` for anything else."""
    draw = getattr(type(value), "_repr_png_", None)
    return draw(value) if draw is not None else None


def png_of(figure):
    """The PNG of a figure."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png")
    return buffer.getvalue()


def is_empty(figure):
    """Whether nothing has been drawn on a figure."""
    return not (figure.axes or figure.texts or figure.images)


def pyplot():
    """The module `matplotlib.pyplot` if the program has imported it."""
    module = sys.modules.get("matplotlib.pyplot")
    return module if hasattr(module, "get_fignums") else None
