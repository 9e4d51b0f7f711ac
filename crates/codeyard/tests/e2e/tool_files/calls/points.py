from __future__ import annotations
from dataclasses import dataclass
from typing import Optional

@dataclass
class P:
    x: int


@dataclass
class Line:
    ends: list[P]


