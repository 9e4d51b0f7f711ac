from __future__ import annotations
from dataclasses import dataclass

@dataclass
class Point:
    x: int
    y: int = 0

def point(p: Point) -> Point:
    'Moves'
    return Point(p.x + 1, p.y)
