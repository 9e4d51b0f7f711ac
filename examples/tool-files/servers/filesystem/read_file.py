"""Text files of the workspace, to read."""

from pathlib import Path

_ROOT = Path("/workspace").resolve()
_LARGEST = 10 * 1024 * 1024


def read_file(path: str, encoding: str = "utf-8") -> str:
    """Read a text file of the workspace.

    Args:
        path: File below /workspace, such as "notes.txt"
        encoding: Encoding of the text
    """
    file = _inside(path)
    if not file.is_file():
        raise FileNotFoundError(f"{path!r} is no file of the workspace")
    if file.stat().st_size > _LARGEST:
        raise ValueError(f"{path!r} is larger than {_LARGEST} bytes")
    return file.read_text(encoding=encoding)


def _inside(path: str) -> Path:
    """The resolved path, which must be below the workspace."""
    if not path.strip() or "\0" in path:
        raise ValueError("path is empty or has a NUL; name a file, such as 'notes.txt'")
    inside = (_ROOT / path.removeprefix("/workspace/")).resolve()
    if not inside.is_relative_to(_ROOT):
        raise ValueError(f"{path!r} is outside of /workspace; only files below it are reached")
    return inside
