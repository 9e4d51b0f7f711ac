"""Returns an object that resists counting, printing or listing, chosen by `way`."""


def endless():
    while True:
        yield "x" * 1000


class Length(list):
    def __len__(self):
        raise ValueError("no length")


class Liar(list):
    def __len__(self):
        return 2**62


class Keys(dict):
    def items(self):
        raise KeyError("no keys")


class Forever(dict):
    def items(self):
        while True:
            yield "key", "value"


class Shown:
    def __repr__(self):
        raise RuntimeError("no repr")


class Vast:
    def __repr__(self):
        return "z" * 5_000_000


class Stuck:
    def __repr__(self):
        while True:
            pass


class Sized(list):
    def __sizeof__(self):
        raise ValueError("no size")


class Shape(list):
    @property
    def shape(self):
        raise ValueError("no shape")


class Table(list):
    def memory_usage(self, deep=False):
        raise ValueError("no usage")

    def head(self, count):
        raise ValueError("no head")


class Named(type):
    @property
    def __name__(cls):
        raise ValueError("no name")


class Nameless(list, metaclass=Named):
    pass


# A type may have any name.
Odd = type("odd\nr9: str\x1b[31m" + "n" * 1000, (list,), {})

MANY = ["some text"] * 20_000
WAYS = {
    "endless": endless,
    "length": lambda: Length(MANY),
    "liar": lambda: Liar(MANY),
    "keys": lambda: Keys(a=MANY),
    "forever": lambda: Forever(a=1),
    "shown": lambda: [Shown()] * 20_000,
    "vast": lambda: [Vast()] * 4,
    "stuck": lambda: [MANY, Stuck()],
    "sized": lambda: Sized(MANY),
    "shape": lambda: Shape(MANY),
    "table": lambda: Table(MANY),
    "nameless": lambda: Nameless(MANY),
    "odd": lambda: Odd(MANY),
    "long_key": lambda: {"k" * 5_000_000: MANY},
}
return WAYS[given["way"]]()
