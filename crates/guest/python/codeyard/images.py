"""Images: which bytes are one, and the picture of what libraries draw."""

import io
import sys
from hashlib import sha256

MAX_BYTES = 5 * 1024 * 1024

_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)
# Larger pictures are not compared.
_MOST_PIXELS = 16_000_000
# How many areas are compared by their brightness (0 to 255), and how far it may be apart where saving has changed it.
_AREAS = (32, 32)
_FAR = 10
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


def opened(data):
    """The picture of Pillow in the bytes of an image; `None` if there is none, or Pillow is not loaded."""
    library = sys.modules.get("PIL.Image")
    try:
        return library.open(io.BytesIO(data))
    except Exception:
        return None


def look_of(picture):
    """What a picture of Pillow looks like: its size, a digest of its pixels, the brightness of its areas; else `None`."""
    kind = getattr(sys.modules.get("PIL.Image"), "Image", None)
    if kind is None or not isinstance(picture, kind) or picture.width * picture.height > _MOST_PIXELS:
        return None
    try:
        pixels = picture.convert("RGBA")
        areas = picture.convert("L").resize(_AREAS, sys.modules["PIL.Image"].BOX)
        return pixels.size, sha256(pixels.tobytes()).digest(), areas.tobytes()
    except Exception:
        return None  # Its file is damaged.


def are_alike(saved, shown, mime):
    """Whether a file of this type holds the picture that was shown. Only PNG keeps each pixel as it is."""
    if mime == "image/png" or saved[0] != shown[0]:
        return saved[:2] == shown[:2]
    return all(abs(one - other) <= _FAR for one, other in zip(saved[2], shown[2]))


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
