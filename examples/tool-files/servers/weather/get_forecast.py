"""A forecast that is the same every time, invented from the name of the place."""

from __future__ import annotations

import hashlib
from typing import Literal, TypedDict

_GIVEN = {"san francisco": 21}
_CONDITIONS = ("sunny", "cloudy", "rainy", "windy")
_MOST_DAYS = 14


class Day(TypedDict):
    day: int
    temperature: float
    condition: str


class Forecast(TypedDict):
    location: str
    units: str
    days: list[Day]


def get_forecast(
    location: str, days: int = 3, units: Literal["celsius", "fahrenheit"] = "celsius"
) -> Forecast:
    """Get the weather forecast of a place for the coming days.

    It is invented from the name of the place and stays the same.

    Args:
        location: Name of the place, such as "San Francisco, CA"
        days: Number of days, 1 to 14
        units: Units of the temperatures
    """
    if not location.strip():
        raise ValueError("location is empty; name a place, such as 'San Francisco, CA'")
    if not 1 <= days <= _MOST_DAYS:
        raise ValueError(f"days is {days}; it must be 1 to {_MOST_DAYS}")
    place = location.split(",")[0].strip().casefold()
    return {
        "location": location,
        "units": units,
        "days": [_day(place, number, units) for number in range(1, days + 1)],
    }


def _day(place: str, number: int, units: str) -> Day:
    seed = hashlib.sha256(f"{place} {number}".encode()).digest()
    usual = _GIVEN.get(place, 5 + hashlib.sha256(place.encode()).digest()[0] % 26)
    temperature = usual + seed[0] % 7 - 3
    if units == "fahrenheit":
        temperature = round(temperature * 9 / 5 + 32, 1)
    return {"day": number, "temperature": temperature, "condition": _CONDITIONS[seed[1] % len(_CONDITIONS)]}
