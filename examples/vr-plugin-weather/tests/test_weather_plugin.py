"""The tool through a kernel, as a server or command would call it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from vr_kernel import Code, VrError


async def test_a_summer_evening_in_lisbon(kernel):
    report = await kernel.call("weather_now", city=" lisbon ", at="2026-06-21T19:30:00Z")
    assert (report.city, report.season, report.is_day) == ("Lisbon", "summer", True)
    assert report.time.utcoffset() == timedelta(hours=1)
    assert report.sunrise.isoformat() == "2026-06-21T06:11:00+01:00"
    assert report.sunrise < report.time < report.sunset
    assert report.daylight_hours == pytest.approx(14.9, abs=0.1)
    assert "computed" in report.basis


async def test_now_is_the_default(kernel):
    before = datetime.now(UTC).replace(microsecond=0)
    report = await kernel.call("weather_now", city="Tokyo")
    assert before <= report.time <= datetime.now(UTC)


async def test_the_polar_night_has_no_sunrise(kernel):
    report = await kernel.call("weather_now", city="Longyearbyen", at="2026-12-21T11:00:00Z")
    assert (report.sunrise, report.sunset, report.is_day) == (None, None, False)
    assert report.daylight_hours == 0


@pytest.mark.parametrize(
    ("wrong", "near"), [("Lisboa", "Lisbon"), ("new yrok", "New York"), ("Xyz", "Known: Berlin")]
)
async def test_an_unknown_city_names_the_nearest(kernel, wrong, near):
    with pytest.raises(VrError, match=wrong) as caught:
        await kernel.call("weather_now", city=wrong)
    assert caught.value.code is Code.NOT_FOUND
    assert near in caught.value.hint


@pytest.mark.parametrize("arguments", [{"city": ""}, {"city": "Tokyo", "at": "2026-01-01T12:00"}])
async def test_bad_arguments_are_refused(kernel, arguments):
    with pytest.raises(VrError) as caught:
        await kernel.call("weather_now", **arguments)
    assert caught.value.code is Code.INVALID_INPUT


async def test_the_setting_widens_the_day(kernel, open_kernel):
    question = {"city": "Berlin", "at": "2026-03-20T12:00:00Z"}
    narrow = await kernel.call("weather_now", **question)
    twilight = await open_kernel(settings={"plugins.weather.horizon": -6})
    wide = await twilight.call("weather_now", **question)
    assert wide.daylight_hours > narrow.daylight_hours + 1


async def test_a_client_is_told_of_tool_and_mistake(client):
    tool = (await client.tools())["weather_now"]
    assert tool["description"].startswith("Say whether it is day")
    assert tool["annotations"]["readOnlyHint"] is True
    assert tool["inputSchema"]["required"] == ["city"]
    report = await client.call("weather_now", city="Berlin", at="2026-06-21T12:00:00Z")
    assert (report["city"], report["season"]) == ("Berlin", "summer")
    with pytest.raises(VrError) as caught:
        await client.call("weather_now", city="Berln")
    assert (caught.value.code, caught.value.hint) == (Code.NOT_FOUND, "Did you mean Berlin?")
