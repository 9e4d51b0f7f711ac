"""Text files of the workspace, to write."""

from pathlib import Path

_ROOT = Path("/workspace").resolve()


def write_file(path: str, content: str, encoding: str = "utf-8") -> dict[str, str | int]:
    """Write text to a file of the workspace; what was in it is replaced.

    Args:
        path: File below /workspace, such as "notes.txt"; missing directories are made
        content: Text of the file
        encoding: Encoding of the text
    """
    file = _inside(path)
    data = content.encode(encoding)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    return {"path": f"/workspace/{file.relative_to(_ROOT)}", "bytes": len(data)}


def _inside(path: str) -> Path:
    """The resolved path, which must be below the workspace."""
    if not path.strip() or "\0" in path:
        raise ValueError("path is empty or has a NUL; name a file, such as 'notes.txt'")
    inside = (_ROOT / path.removeprefix("/workspace/")).resolve()
    if not inside.is_relative_to(_ROOT):
        raise ValueError(f"{path!r} is outside of /workspace; only files below it are reached")
    return inside
