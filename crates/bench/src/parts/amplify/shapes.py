class Twice(dict):
    """An object serialized with one repeated name."""

    def __init__(self, count):
        super().__init__(a=0)
        self.count = count

    def items(self):
        return [("a", 0)] * self.count


def nested(levels):
    value = []
    for _ in range(levels - 1):
        value = [value]
    return value


def make(shape, size):
    """A value whose JSON has about this many bytes."""
    match shape:
        case "wide":
            return {"a": [0] * (size // 2)}
        case "members":
            return {f"{n:x}": 0 for n in range(size // 10)}
        case "deep":
            return {"a": [nested(60)] * (size // 121)}
        case "duplicated":
            return Twice(size // 6)
        case "long keys":
            return {"k" * 16384 + str(n): 0 for n in range(size // 16390 + 1)}
        case "escapes":
            return {"a": "\x01" * (size // 6)}
        case "fanned":
            return {"a": [{"a": {"b": {}}}] * (size // 15)}
