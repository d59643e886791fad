"""The daylight of a city as a person sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vr_kernel import Services, View, view
from vr_kernel.views import Cell, Facts

if TYPE_CHECKING:
    from vr_plugin_weather.plugin import Daylight


@view(tool="weather_now")
async def show_daylight(services: Services, light: Daylight) -> View:
    """Say if it is day, then when the sun rises and sets."""
    rows: list[tuple[str, Cell]] = [
        ("Sunrise", f"{light.sunrise:%H:%M}" if light.sunrise else None),
        ("Sunset", f"{light.sunset:%H:%M}" if light.sunset else None),
        ("Daylight", f"{light.daylight_hours} hours"),
        ("Season", light.season),
    ]
    title = f"{'Day' if light.is_day else 'Night'} in {light.city}"
    return View(title, [Facts(rows)], [f"{light.time:%Y-%m-%d %H:%M}"], notes=[light.basis])
