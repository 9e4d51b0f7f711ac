from dataclasses import KW_ONLY, InitVar, dataclass, field
from typing import ClassVar, Literal


@dataclass
class Base:
    id: int
    kind: ClassVar[str] = 'k'
    size: int = field(init=False, default=9)


@dataclass
class P(Base):
    _: KW_ONLY
    secret: str = field(repr=False)
    note: str = None


@dataclass
class Seed:
    value: InitVar[Base]
    twice: int = 0

    def __post_init__(self, value):
        self.twice = 2 * value.id


