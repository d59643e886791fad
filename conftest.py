"""Settings of all tests, wherever they live."""

from __future__ import annotations

import os
import signal

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
