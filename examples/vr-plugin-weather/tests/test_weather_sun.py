"""The sun's times against published ones, and over all days and cities."""

from __future__ import annotations

from datetime import date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from vr_plugin_weather.sun import CITIES, City, find_season, find_sun_times

CALENDAR = -0.833
days = st.dates(date(2000, 1, 1), date(2099, 12, 31))
cities = st.sampled_from(CITIES)


def city(name: str) -> City:
    return next(candidate for candidate in CITIES if candidate.name == name)


@pytest.mark.parametrize(
    ("name", "day", "rise", "down"),
    [
        ("London", "2024-06-21", "04:43", "21:21"),
        ("Sydney", "2024-12-21", "05:41", "20:05"),
        ("New York", "2024-12-21", "07:16", "16:31"),
        ("Tokyo", "2024-06-21", "04:25", "19:00"),
    ],
)
def test_published_times_are_met_within_three_minutes(name, day, rise, down):
    place = city(name)
    sun = find_sun_times(place, date.fromisoformat(day), CALENDAR)
    for found, published in ((sun.rise, rise), (sun.set, down)):
        expected = datetime.fromisoformat(f"{day}T{published}").replace(tzinfo=place.zone)
        assert abs(found - expected) <= timedelta(minutes=3)


@given(place=cities, day=days)
def test_noon_is_on_that_day_and_in_the_middle(place, day):
    sun = find_sun_times(place, day, CALENDAR)
    assert sun.noon.astimezone(place.zone).date() == day
    assert 0 <= sun.hours <= 24
    assert sun.is_up(sun.noon) == (sun.hours > 0)
    if sun.rise:
        assert sun.noon - sun.rise == sun.set - sun.noon
        assert not sun.is_up(sun.rise - timedelta(minutes=1))


@given(day=days)
def test_a_day_on_the_equator_lasts_twelve_hours(day):
    assert find_sun_times(city("Singapore"), day, CALENDAR).hours == pytest.approx(12.1, abs=0.1)


@pytest.mark.parametrize(("day", "hours"), [("2024-06-21", 24), ("2024-12-21", 0)])
def test_the_arctic_has_days_without_sunrise(day, hours):
    sun = find_sun_times(city("Longyearbyen"), date.fromisoformat(day), CALENDAR)
    assert (sun.hours, sun.rise, sun.set) == (hours, None, None)


@pytest.mark.parametrize(
    ("name", "day", "season"),
    [
        ("Berlin", "2024-01-15", "winter"),
        ("Berlin", "2024-10-01", "autumn"),
        ("Sydney", "2024-01-15", "summer"),
        ("Cape Town", "2024-10-01", "spring"),
        ("Nairobi", "2024-07-01", "tropical"),
    ],
)
def test_seasons_follow_the_hemisphere(name, day, season):
    assert find_season(city(name), date.fromisoformat(day)) == season
