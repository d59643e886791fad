"""Settings of all tests, wherever they live."""

from __future__ import annotations

import gc
import os
import signal

import pytest
from hypothesis import HealthCheck, settings

# A busy machine is no failure; pytest's own time limit ends what hangs.
settings.register_profile(
    "house", deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("house")

# Whoever is started in the background ignores SIGINT, and so would every process of a test.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Tests name people freely; none of them is the user who runs the tests.
os.environ["LOGNAME"] = "who-runs-the-tests"

# What is made while tests are collected stays to the end; looking through it for garbage again and
# again took a sixth of the time of all tests.
gc.disable()


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop() -> None:
    """Look for garbage from now on, but among new objects only."""
    gc.freeze()
    gc.enable()
