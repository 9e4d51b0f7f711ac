"""A tool's result for programs: ordinary Python values with the raw result attached."""

from json import JSONDecoder

# A longer text is returned unwrapped, since a copy would take too much memory.
MAX_WRAPPED_TEXT = 16 * 1024 * 1024

# Keys of the raw result that programs may read from its value.
BRIDGE_KEYS = ("content", "structuredContent", "isError")


class Record(dict):
    """A dict whose keys can be read as attributes where no method of dict has that name."""

    __slots__ = ("raw",)

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            if name == "content" and type(self) is Record and hasattr(self, "raw"):
                return self.raw.get("content")
            keys = ", ".join(map(str, list(self)[:20])) or "none"
            raise AttributeError(f"this result has no key {name!r}; its keys: {keys}") from None


class Text(str):
    """A str with the raw result at `.raw`, its blocks at `.content`."""

    __slots__ = ("raw",)

    @property
    def content(self):
        return self.raw.get("content")


class Items(list):
    """A list with the raw result at `.raw`, its blocks at `.content`."""

    __slots__ = ("raw",)

    @property
    def content(self):
        return self.raw.get("content")


class _Bridge:
    """Adds the keys of the raw result to a value; the value's own take precedence."""

    __slots__ = ()

    def __getitem__(self, key):
        if isinstance(key, str) and key in BRIDGE_KEYS:
            return of_raw(self.raw, key)
        return super().__getitem__(key)

    def __getattr__(self, name):
        if name in BRIDGE_KEYS:
            return of_raw(self.raw, name)
        raise AttributeError(f"this result has no attribute {name!r}")


class BridgeRecord(Record):
    """A dict of `mcp_<alias>`."""

    __slots__ = ()

    def __missing__(self, key):
        if key in BRIDGE_KEYS:
            return of_raw(self.raw, key)
        raise KeyError(key)


class BridgeText(_Bridge, Text):
    """A str of `mcp_<alias>`."""

    __slots__ = ()


class BridgeItems(_Bridge, Items):
    """A list of `mcp_<alias>`."""

    __slots__ = ()


class _Number:
    """Numbers have no keys of their own."""

    __slots__ = ()

    def __getitem__(self, key):
        if key in BRIDGE_KEYS:
            return of_raw(self.raw, key)
        raise KeyError(key)


class BridgeInt(_Number, int):
    """An int of `mcp_<alias>`."""


class BridgeFloat(_Number, float):
    """A float of `mcp_<alias>`."""


class BridgeBox(_Number):
    """`None`, `True` or `False` of `mcp_<alias>`, which cannot be subclassed."""

    __slots__ = ("value", "raw")

    def __init__(self, value):
        self.value = value

    def __bool__(self):
        return bool(self.value)

    def __eq__(self, other):
        return self.value == (other.value if isinstance(other, BridgeBox) else other)

    def __hash__(self):
        return hash(self.value)

    def __repr__(self):
        return repr(self.value)


_NATIVE = {dict: Record, Record: Record, list: Items, str: Text}
_BRIDGE = {
    dict: BridgeRecord,
    Record: BridgeRecord,
    list: BridgeItems,
    str: BridgeText,
    int: BridgeInt,
    float: BridgeFloat,
    bool: BridgeBox,
    type(None): BridgeBox,
}


def of_raw(raw, key):
    """One of `BRIDGE_KEYS` of a raw result."""
    return raw.get(key, False if key == "isError" else None)


def _refuse_constant(name):
    raise ValueError(f"{name} is not JSON")


_scan = JSONDecoder(object_hook=Record, parse_constant=_refuse_constant).scan_once


def _parse(text):
    """The JSON value of a text. Raises ValueError if invalid."""
    text = text.strip()
    try:
        value, end = _scan(text, 0)
    except StopIteration:
        raise ValueError("no JSON") from None
    if end != len(text):
        raise ValueError("more than one JSON value")
    return value


def text_of(raw):
    """The text blocks of a raw result, joined by line ends; `None` without any. Servers may send anything."""
    content = raw.get("content")
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return None
    texts = [block["text"] for block in content if isinstance(block, dict) and _is_text(block)]
    return "\n".join(texts) if texts else None


def _is_text(block):
    return block.get("type") == "text" and isinstance(block.get("text"), str)


def _value_of(raw):
    structured = raw.get("structuredContent")
    if structured is not None:
        return structured
    text = text_of(raw)
    if text is None:
        return raw.get("content") or None
    try:
        return _parse(text)
    except (ValueError, RecursionError):
        return text


def _object_of(raw):
    structured = raw.get("structuredContent")
    if structured is not None:
        return structured
    text = text_of(raw)
    if not text:
        return {}
    try:
        return _parse(text)
    except (ValueError, RecursionError):
        return {"text": text}


def on_server(raw):
    """The value on the surface `server`: text that is not JSON is `{"text": …}`, and an empty result is `{}`."""
    return wrap(raw, _NATIVE, _object_of)


def native(raw):
    """The value for `tools`: structured content, else parsed JSON, else text, else the other blocks."""
    return wrap(raw, _NATIVE)


def bridge(raw):
    """The value for `mcp_<alias>`: as for `tools`, but every kind of value carries the raw result."""
    return wrap(raw, _BRIDGE)


def wrap(raw, wrappers, value_of=_value_of):
    """The value of a raw result, in the class that `wrappers` has for its type."""
    if not isinstance(raw, dict):
        return raw
    value = value_of(raw)
    wrapper = wrappers.get(type(value))
    if wrapper is None or (type(value) is str and len(value) > MAX_WRAPPED_TEXT):
        return value
    # Always a shallow copy: the value refers to the raw result, which must not refer back.
    value = wrapper(value)
    value.raw = raw
    return value
