"""A whole plugin: a setting, a result, a tool, and the two hooks that offer them."""

from __future__ import annotations

from datetime import UTC, datetime
from difflib import get_close_matches
from typing import Annotated, Any

from pydantic import AwareDatetime, BaseModel, Field
from vr_kernel import READ_ONLY, Call, Code, Section, VrError, hookimpl, tool

from vr_plugin_weather.sun import CITIES, City, find_season, find_sun_times


class WeatherSettings(Section):
    """The section `[plugins.weather]`."""

    horizon: float = Field(
        -0.833,
        ge=-18,
        le=0,
        description="Height of the sun at sunrise, in degrees: -0.833 as in calendars (refraction"
        " and the sun's radius), -6 for civil twilight.",
    )


class Daylight(BaseModel):
    """The sun above a city at one time; times are the city's own."""

    city: str
    time: datetime
    is_day: bool
    sunrise: datetime | None = Field(description="None when the sun stays up or down all day.")
    sunset: datetime | None
    daylight_hours: float
    season: str = Field(description="spring, summer, autumn, winter, or tropical.")
    basis: str = "computed from the sun's position; nothing was measured or forecast"


@tool(effects=READ_ONLY)
async def weather_now(
    call: Call,
    city: Annotated[str, Field(min_length=1, max_length=80, description="Name of a city.")],
    at: Annotated[
        AwareDatetime | None, Field(description="ISO 8601 time with its offset; now if left out.")
    ] = None,
) -> Daylight:
    """Say whether it is day in a city, when the sun rises and sets there, and the season."""
    place = _find_city(city)
    time = (at or datetime.now(UTC)).astimezone(place.zone).replace(microsecond=0)
    sun = find_sun_times(place, time.date(), call.settings.horizon)
    return Daylight(
        city=place.name,
        time=time,
        is_day=sun.is_up(time),
        sunrise=_to_the_minute(sun.rise, place),
        sunset=_to_the_minute(sun.set, place),
        daylight_hours=round(sun.hours, 2),
        season=find_season(place, time.date()),
    )


def _to_the_minute(moment: datetime | None, place: City) -> datetime | None:
    return moment and moment.astimezone(place.zone).replace(second=0, microsecond=0)


def _find_city(name: str) -> City:
    known = {city.name.casefold(): city for city in CITIES}
    wanted = name.strip().casefold()
    if wanted in known:
        return known[wanted]
    near = [known[match].name for match in get_close_matches(wanted, known, n=3)]
    raise VrError(
        f"No city {name!r} is known here.",
        Code.NOT_FOUND,
        hint=f"Did you mean {' or '.join(near)}?"
        if near
        else f"Known: {', '.join(city.name for city in CITIES)}.",
    )


@hookimpl
def vr_settings() -> type[Section]:
    """The model of the section `[plugins.weather]`."""
    return WeatherSettings


@hookimpl
def vr_tools() -> list[Any]:
    """The one tool; `vr weather now CITY` comes of itself."""
    return [weather_now]


@hookimpl
def vr_views() -> list[Any]:
    """The view of its result."""
    from vr_plugin_weather.views import show_daylight

    return [show_daylight]
