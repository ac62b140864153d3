"""Points: two or three coordinates in one of four coordinate reference systems."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ugs.cypher.errors import CypherArgumentError

EARTH_RADIUS_METRES = 6378140.0
"""The radius that Neo4j computes with."""


@dataclass(frozen=True, slots=True)
class System:
    """A coordinate reference system: its name, its number, and how many coordinates a point has."""

    name: str
    srid: int
    dimensions: int
    geographic: bool


SYSTEMS = (
    System("cartesian", 7203, 2, False),
    System("cartesian-3d", 9157, 3, False),
    System("wgs-84", 4326, 2, True),
    System("wgs-84-3d", 4979, 3, True),
)
BY_NAME = {system.name: system for system in SYSTEMS}
BY_SRID = {system.srid: system for system in SYSTEMS}
BY_KIND = {(system.geographic, system.dimensions): system for system in SYSTEMS}
CARTESIAN_FIELDS = ("x", "y", "z")
GEOGRAPHIC_FIELDS = ("longitude", "latitude", "height")


@dataclass(frozen=True, slots=True)
class Point:
    """A place: x, y and perhaps z; of a geographic one longitude, latitude in degrees and height in metres."""

    system: System
    coordinates: tuple[float, ...]

    @property
    def place(self) -> tuple[int, tuple[float, ...]]:
        """What points are ordered by."""
        return self.system.srid, self.coordinates

    def as_map(self) -> dict[str, Any]:
        """The map from which `point()` makes this point."""
        return {**dict(zip(CARTESIAN_FIELDS, self.coordinates, strict=False)), "crs": self.system.name}

    def as_json(self) -> dict[str, Any]:
        """The point as GeoJSON writes it, with its coordinate reference system."""
        return {"type": "Point", "coordinates": list(self.coordinates), "crs": self.system.name}


def build_point(parts: Mapping[str, Any]) -> Point | None:
    """The point that a map describes; null if an entry is null."""
    if any(value is None for value in parts.values()):
        return None
    system = _named_system(parts)
    if "x" in parts and "y" in parts:
        coordinates = _coordinates(parts, ("x", "y", *(["z"] if "z" in parts else [])))
    elif "longitude" in parts and "latitude" in parts:
        third = [key for key in ("z", "height") if key in parts][:1]
        coordinates = _coordinates(parts, ("longitude", "latitude", *third))
        if system is not None and not system.geographic:
            raise _invalid(f"A point of longitude and latitude cannot be {system.name}")
        system = system or BY_KIND[True, len(coordinates)]
    else:
        raise _invalid("A point is described by x and y, or by longitude and latitude")
    system = system or BY_KIND[False, len(coordinates)]
    if system.dimensions != len(coordinates):
        raise _invalid(f"A {system.name} point has {system.dimensions} coordinates, not {len(coordinates)}")
    return Point(system, _check_geographic(coordinates) if system.geographic else coordinates)


def _named_system(parts: Mapping[str, Any]) -> System | None:
    crs, srid = parts.get("crs"), parts.get("srid")
    if crs is not None and srid is not None:
        raise _invalid("A point has a crs or a srid, not both")
    if crs is not None:
        found = BY_NAME.get(crs.lower()) if isinstance(crs, str) else None
    elif srid is not None:
        found = BY_SRID.get(srid) if type(srid) is int else None
    else:
        return None
    if found is None:
        known = ", ".join(f"{system.name} ({system.srid})" for system in SYSTEMS)
        raise _invalid(f"There is no such coordinate reference system; known are {known}")
    return found


def _coordinates(parts: Mapping[str, Any], names: Sequence[str]) -> tuple[float, ...]:
    values = [parts[name] for name in names]
    for name, value in zip(names, values, strict=True):
        if type(value) not in (int, float):
            raise _invalid(f"The coordinate {name} of a point is a number")
    try:
        found = tuple(map(float, values))
    except OverflowError:
        found = (math.inf,)
    if not all(map(math.isfinite, found)):
        raise _invalid("The coordinates of a point are finite numbers")
    return found


def _check_geographic(coordinates: tuple[float, ...]) -> tuple[float, ...]:
    """Longitudes beyond the antimeridian are brought back; there is no latitude beyond the poles."""
    longitude, latitude, *rest = coordinates
    if not -90 <= latitude <= 90:
        raise _invalid(f"A latitude lies between -90 and 90 degrees, not at {latitude:g}")
    if not -180 <= longitude <= 180:
        turned = math.fmod(longitude, 360)
        longitude = turned - 360 if turned > 180 else turned + 360 if turned < -180 else turned
    return (longitude, latitude, *rest)


def field_of(point: Point, name: str) -> Any:
    """A part of a point."""
    if name in ("crs", "srid"):
        return point.system.name if name == "crs" else point.system.srid
    names = CARTESIAN_FIELDS + (GEOGRAPHIC_FIELDS if point.system.geographic else ())
    if name not in names:
        raise _invalid(f"A {point.system.name} point has no {name[:40]}")
    place = names.index(name) % len(CARTESIAN_FIELDS)
    if place >= len(point.coordinates):
        raise _invalid(f"A {point.system.name} point has no {name}")
    return point.coordinates[place]


def distance(one: Point, other: Point) -> float | None:
    """The distance in the unit of the coordinates, or in metres; null between different systems."""
    if one.system is not other.system:
        return None
    if not one.system.geographic:
        return math.dist(one.coordinates, other.coordinates)
    (x1, y1, *rest1), (x2, y2, *rest2) = (point.coordinates for point in (one, other))
    dx, dy = math.radians(x2) - math.radians(x1), math.radians(y2) - math.radians(y1)
    alpha = math.sin(dy / 2) ** 2 + math.cos(math.radians(y1)) * math.cos(math.radians(y2)) * math.sin(dx / 2) ** 2
    angle = 2.0 * math.atan2(math.sqrt(alpha), math.sqrt(max(1 - alpha, 0.0)))
    if not rest1:
        return EARTH_RADIUS_METRES * angle
    level = (EARTH_RADIUS_METRES + (rest1[0] + rest2[0]) / 2) * angle
    return math.hypot(level, rest1[0] - rest2[0])


def is_within(point: Point, lower_left: Point, upper_right: Point) -> bool | None:
    """Whether a point lies in a box, edges included; a geographic box may reach across the antimeridian."""
    if not point.system is lower_left.system is upper_right.system:
        return None
    sides = list(zip(lower_left.coordinates, point.coordinates, upper_right.coordinates, strict=True))
    inside = [low <= here <= high for low, here, high in sides]
    low, here, high = sides[0]
    if point.system.geographic and low > high:
        inside[0] = here >= low or here <= high
    return all(inside)


def _invalid(message: str) -> CypherArgumentError:
    return CypherArgumentError("InvalidArgumentValue", message)
