"""Weather that is the same every time: one place is given, the others are invented from their names."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Literal, TypedDict

_GIVEN = {"san francisco": {"temperature": 21, "condition": "sunny", "humidity": 60}}
_CONDITIONS = ("sunny", "cloudy", "rainy", "windy")
_OVERRIDES = Path("/workspace/weather.json")


class Weather(TypedDict):
    location: str
    temperature: float
    units: str
    condition: str
    humidity: int


def get_weather(location: str, units: Literal["celsius", "fahrenheit"] = "celsius") -> Weather:
    """Get the current weather of a place: temperature, condition and humidity.

    Only San Francisco is given. What is said of any other place is invented from its name and stays the same.

    Args:
        location: Name of the place, such as "San Francisco, CA"
        units: Units of the temperature
    """
    if not location.strip():
        raise ValueError("location is empty; name a place, such as 'San Francisco, CA'")
    place = location.split(",")[0].strip().casefold()
    weather = _GIVEN.get(place) or _invented(place)
    weather = {**weather, **_overridden(place)}
    if "error" in weather:
        raise RuntimeError(f"the weather of {location} cannot be had: {weather['error']}")
    temperature = weather["temperature"]
    if units == "fahrenheit":
        temperature = round(temperature * 9 / 5 + 32, 1)
    return {
        "location": location,
        "temperature": temperature,
        "units": units,
        "condition": weather["condition"],
        "humidity": weather["humidity"],
    }


def _invented(place: str) -> dict:
    seed = hashlib.sha256(place.encode()).digest()
    return {
        "temperature": 5 + seed[0] % 26,
        "condition": _CONDITIONS[seed[1] % len(_CONDITIONS)],
        "humidity": 30 + seed[2] % 61,
    }


def _overridden(place: str) -> dict:
    """The entry of /workspace/weather.json, to try programs on other weather or on none."""
    try:
        said = json.loads(_OVERRIDES.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    return next((of for name, of in said.items() if name.split(",")[0].strip().casefold() == place), {})
