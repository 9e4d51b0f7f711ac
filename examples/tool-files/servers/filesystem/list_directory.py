"""Directories of the workspace."""

from pathlib import Path

_ROOT = Path("/workspace").resolve()
_MOST = 10_000


def list_directory(path: str = ".", recursive: bool = False) -> list[str]:
    """List the files and directories of a directory of the workspace; names of directories end with a slash.

    Args:
        path: Directory below /workspace
        recursive: Whether what is in its directories is listed too
    """
    directory = _inside(path)
    if not directory.is_dir():
        raise NotADirectoryError(f"{path!r} is no directory of the workspace")
    names = []
    for found in directory.rglob("*") if recursive else directory.iterdir():
        names.append(f"{found.relative_to(directory)}{'/' if found.is_dir() else ''}")
        if len(names) > _MOST:
            raise ValueError(f"{path!r} holds more than {_MOST} names")
    return sorted(names)


def _inside(path: str) -> Path:
    """The resolved path, which must be below the workspace."""
    if not path.strip() or "\0" in path:
        raise ValueError("path is empty or has a NUL; name a file, such as 'notes.txt'")
    inside = (_ROOT / path.removeprefix("/workspace/")).resolve()
    if not inside.is_relative_to(_ROOT):
        raise ValueError(f"{path!r} is outside of /workspace; only files below it are reached")
    return inside
