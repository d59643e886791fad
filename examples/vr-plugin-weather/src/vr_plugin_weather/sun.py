"""Sunrise, sunset and season of a place.

The formulae are NOAA's "General Solar Position Calculations"
(https://gml.noaa.gov/grad/solcalc/solareqns.PDF), good to about two minutes below 60 degrees.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from math import acos, cos, degrees, pi, radians, sin, tan
from zoneinfo import ZoneInfo

TROPIC = 23.44
"""Latitude in degrees up to which the sun stands in the zenith once a year."""


@dataclass(frozen=True, slots=True)
class City:
    """A place: degrees north, degrees east, and the name of its time zone."""

    name: str
    latitude: float
    longitude: float
    zone_name: str

    @property
    def zone(self) -> ZoneInfo:
        """The city's clock."""
        return ZoneInfo(self.zone_name)


CITIES = (
    City("Berlin", 52.52, 13.41, "Europe/Berlin"),
    City("Buenos Aires", -34.60, -58.38, "America/Argentina/Buenos_Aires"),
    City("Cape Town", -33.92, 18.42, "Africa/Johannesburg"),
    City("Lisbon", 38.72, -9.14, "Europe/Lisbon"),
    City("London", 51.51, -0.13, "Europe/London"),
    City("Longyearbyen", 78.22, 15.64, "Arctic/Longyearbyen"),
    City("Nairobi", -1.29, 36.82, "Africa/Nairobi"),
    City("New York", 40.71, -74.01, "America/New_York"),
    City("Singapore", 1.35, 103.82, "Asia/Singapore"),
    City("Sydney", -33.87, 151.21, "Australia/Sydney"),
    City("Tokyo", 35.68, 139.69, "Asia/Tokyo"),
    City("Vancouver", 49.28, -123.12, "America/Vancouver"),
)


@dataclass(frozen=True, slots=True)
class SunTimes:
    """The sun over one day: it is up `half_day` before and after `noon`."""

    noon: datetime
    half_day: timedelta

    @property
    def hours(self) -> float:
        """Hours from sunrise to sunset, 0 in the polar night, 24 on the polar day."""
        return 2 * self.half_day / timedelta(hours=1)

    @property
    def rise(self) -> datetime | None:
        """Sunrise, unless the sun stays up or down."""
        return self.noon - self.half_day if 0 < self.hours < 24 else None  # noqa: PLR2004 - a day

    @property
    def set(self) -> datetime | None:
        """Sunset, unless the sun stays up or down."""
        return self.noon + self.half_day if self.rise else None

    def is_up(self, when: datetime) -> bool:
        """True when the sun is up at a time of that day."""
        return abs(when - self.noon) < self.half_day


def find_sun_times(city: City, day: date, horizon: float) -> SunTimes:
    """Noon and half the length of a day, for a sun that rises at `horizon` degrees."""
    angle = 2 * pi / 365 * (day.timetuple().tm_yday - 1)
    noon_minutes = 720 - 4 * city.longitude - _equation_of_time(angle)
    latitude, tilt = radians(city.latitude), _declination(angle)
    cosine = sin(radians(horizon)) / (cos(latitude) * cos(tilt)) - tan(latitude) * tan(tilt)
    half_day_minutes = 4 * degrees(acos(max(-1.0, min(1.0, cosine))))
    midnight = datetime.combine(day, time(), UTC)
    return SunTimes(midnight + timedelta(minutes=noon_minutes), timedelta(minutes=half_day_minutes))


def find_season(city: City, day: date) -> str:
    """The season of three whole months, by hemisphere; `tropical` between the tropics."""
    if abs(city.latitude) < TROPIC:
        return "tropical"
    turn = day.month % 12 // 3 + (2 if city.latitude < 0 else 0)
    return ("winter", "spring", "summer", "autumn")[turn % 4]


def _equation_of_time(angle: float) -> float:
    """Minutes by which a sundial is ahead of the clock."""
    return 229.18 * (
        0.000075
        + 0.001868 * cos(angle)
        - 0.032077 * sin(angle)
        - 0.014615 * cos(2 * angle)
        - 0.040849 * sin(2 * angle)
    )


def _declination(angle: float) -> float:
    """Latitude, in radians, over which the sun stands."""
    return (
        0.006918
        - 0.399912 * cos(angle)
        + 0.070257 * sin(angle)
        - 0.006758 * cos(2 * angle)
        + 0.000907 * sin(2 * angle)
        - 0.002697 * cos(3 * angle)
        + 0.00148 * sin(3 * angle)
    )
