"""Settings of all tests, wherever they live."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# A busy machine is no failure; pytest's own time limit ends what hangs.
settings.register_profile("house", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("house")
