"""Recognizes images by their bytes, and gets pictures from drawing libraries."""

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
# Grid of areas compared by brightness (0 to 255), and the largest difference that saving may cause.
_AREAS = (32, 32)
_FAR = 10
SUFFIXES = (".png", ".jpg", ".jpeg", ".svg", ".gif", ".webp")


def mime_of(data):
    """The media type of an image; `None` for other bytes."""
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
    """The matplotlib figure that a value is or belongs to; `None` for anything else."""
    library = sys.modules.get("matplotlib.figure")
    if library is None or not hasattr(library, "Figure"):
        return None
    for figure in (value, getattr(value, "figure", None)):
        if isinstance(figure, library.Figure):
            return figure
    return None


def is_drawing(value):
    """Whether a value is the return value of a matplotlib drawing function: one artist or several."""
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
    """The PNG of a value that can draw itself, such as a PIL image; `None` for anything else."""
    draw = getattr(type(value), "_repr_png_", None)
    return draw(value) if draw is not None else None


def opened(data):
    """Pillow's picture of an image's bytes; `None` if invalid, or if Pillow is not loaded."""
    library = sys.modules.get("PIL.Image")
    try:
        return library.open(io.BytesIO(data))
    except Exception:
        return None


def look_of(picture):
    """Size, digest of pixels and brightness of areas of a Pillow picture; `None` for anything else."""
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
    """Whether a file of this type holds the shown picture. Only PNG preserves every pixel."""
    if mime == "image/png" or saved[0] != shown[0]:
        return saved[:2] == shown[:2]
    return all(abs(one - other) <= _FAR for one, other in zip(saved[2], shown[2]))


def png_of(figure):
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png")
    return buffer.getvalue()


def is_empty(figure):
    return not (figure.axes or figure.texts or figure.images)


def pyplot():
    """`matplotlib.pyplot`, if the program has imported it."""
    module = sys.modules.get("matplotlib.pyplot")
    return module if hasattr(module, "get_fignums") else None
