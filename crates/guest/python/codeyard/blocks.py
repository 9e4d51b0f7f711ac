"""Tracks the non-text blocks of tools' results (images, audio, resources, links) that a program has not used."""

import re

from codeyard.values import Record

# Most results reported to the host, and most results noted in a run.
MOST_TOLD = 10
_MOST_NOTED = 1_000
# Most values of structured content searched for copies of blocks.
_MOST_LOOKED_AT = 1_000
# Reading one of these counts as use; the other keys only describe the block.
_CONTENT = frozenset({"data", "blob", "text", "uri", "resource"})
_NOUNS = {"image": "image", "audio": "recording", "resource": "embedded resource", "resource_link": "link to a resource"}
_UNPRINTABLE = re.compile(r"[^\w./+ -]")
_MOST_NAME = 60


class Block(Record):
    """A block, or its copy in the structured content; reading its content updates the note."""

    __slots__ = ("_note", "_index")

    def __init__(self, block, note, index):
        super().__init__(block)
        self._note = note
        self._index = index

    @property
    def content(self):
        return self.raw.get("content")  # Only a whole result has this key.

    def __getitem__(self, key):
        if key in _CONTENT:
            self.use()
        return super().__getitem__(key)

    def get(self, key, default=None):
        return self[key] if key in self else default

    def values(self):
        self.use()
        return super().values()

    def items(self):
        self.use()
        return super().items()

    def __repr__(self):
        self.use()
        return super().__repr__()

    def __reduce__(self):
        return Record, (dict.copy(self),)

    def use(self):
        """The program has read the content."""
        self._note.unused.pop(self._index, None)


class Note:
    """The non-text blocks of one tool result."""

    __slots__ = ("label", "place", "unused", "_known")

    def __init__(self, label):
        self.label = label
        self.place = None  # the expression for the list of blocks, if any
        self.unused = {}  # (kind, type, bytes) of each block by its index
        self._known = {}  # indexes by the blocks' content

    def take(self, content, index):
        """Replaces a block of a result by one that reports its use."""
        content[index] = block = Block(content[index], self, index)
        self.unused[index] = _described(block)
        held = _held_by(block)
        if held is not None:
            self._known[held] = index

    def take_copies(self, structured):
        """Replaces copies of blocks in the structured content, too."""
        waiting, looked_at = [structured], 0
        while waiting and looked_at < _MOST_LOOKED_AT:
            value = waiting.pop()
            for key, item in list(value.items() if isinstance(value, dict) else enumerate(value)):
                looked_at += 1
                copy = self.copy_of(item)
                if copy is not None:
                    value[key] = copy
                elif isinstance(item, (dict, list)):
                    waiting.append(item)

    def copy_of(self, value):
        """The replacement for a dict that copies a block; `None` for any other value."""
        index = self._known.get(_held_by(value)) if isinstance(value, dict) else None
        return None if index is None else Block(value, self, index)


class Notes:
    """The notes of one run."""

    def __init__(self):
        self._notes = []
        self._left_out = 0

    def take(self, raw, label):
        """Replaces the non-text blocks of a raw result by ones that report their use. Returns the
        result's note, if any."""
        content = raw.get("content")
        if not isinstance(content, list) or all(_is_text(block) for block in content):
            return None
        note = Note(label)
        for index, block in enumerate(content):
            if isinstance(block, dict) and not _is_text(block):
                note.take(content, index)
        if not note.unused:
            return None
        if isinstance(raw.get("structuredContent"), (dict, list)):
            note.take_copies(raw["structuredContent"])
        if len(self._notes) < _MOST_NOTED:
            self._notes.append(note)
        else:
            self._left_out += 1
        return note

    def lines(self, most=MOST_TOLD):
        """The unused blocks: a line for each of the first `most` results, and one for the rest."""
        unused = [note for note in self._notes if note.unused]
        lines = [_line(note) for note in unused[:most]]
        more = len(unused) - len(lines) + self._left_out
        if more > 0:
            lines.append(f"{more} more results have such content")
        return lines


_current = Notes()


def current():
    """The notes of the current run."""
    return _current


def begin():
    global _current
    _current = Notes()


def _is_text(block):
    return isinstance(block, dict) and block.get("type") == "text"


def _held_by(block):
    """The content of a block or of a dict that may copy one; `None` without content."""
    inside = dict.get(block, "resource")
    holder = inside if isinstance(inside, dict) else block
    held = (dict.get(holder, name) for name in ("data", "blob", "text", "uri"))
    return next((value for value in held if isinstance(value, str) and value), None)


def _described(block):
    kind = block.get("type")
    inside = dict.get(block, "resource")
    holder = inside if kind == "resource" and isinstance(inside, dict) else block
    data = dict.get(holder, "data") or dict.get(holder, "blob")
    text = dict.get(holder, "text")
    size = len(data) * 3 // 4 - data[-2:].count("=") if isinstance(data, str) else len(text) if isinstance(text, str) else None
    return str(kind), holder.get("mimeType"), size


def _line(note):
    kinds = {}
    for kind, mime, size in note.unused.values():
        kinds.setdefault(kind, []).append((mime, size))
    what = ", ".join(_counted(kind, blocks) for kind, blocks in list(kinds.items())[:4])
    if note.place is None:
        return f"{note.label} gave {what}: show(runtime.last_raw()) right after the call returns it"
    indexes = sorted(note.unused)
    place = f"{note.place}[{indexes[0]}]" if len(indexes) == 1 else note.place
    return f"{note.label} gave {what}: {place}; show(value) returns {'it' if len(indexes) == 1 else 'them'}"


def _counted(kind, blocks):
    noun = _NOUNS.get(kind, f"block of type {_plain(kind)}")
    named = noun if len(blocks) == 1 else noun.replace("link", "links", 1) if " to " in noun else noun + "s"
    mimes = sorted({_plain(mime).rpartition("/")[2] for mime, _ in blocks if isinstance(mime, str)})
    size = sum(size for _, size in blocks if size)
    details = ", ".join([*mimes[:3], *([size_words(size)] if size else [])])
    return f"{len(blocks)} {named} ({details})" if details else f"{len(blocks)} {named}"


def size_words(size):
    """A readable number of bytes."""
    if size < 1_000:
        return f"{size} B"
    for unit in ("KB", "MB"):
        size /= 1_000
        if size < 1_000:
            return f"{size:.1f} {unit}" if size < 10 else f"{size:.0f} {unit}"
    return f"{size / 1_000:.1f} GB"


def _plain(word):
    return _UNPRINTABLE.sub("?", word[:_MOST_NAME])
