"""Variables that a plugin reads are named by `vr doctor` only where it is not installed."""

from __future__ import annotations

import pytest
from vr_cli.doctor.unread_variables import unread_checks


@pytest.mark.parametrize(("installed", "named"), [((), 1), (("tracing",), 0)])
def test_an_installed_plugin_reads_its_own(installed: tuple[str, ...], named: int) -> None:
    assert len(unread_checks({"MLFLOW_TRACKING_URI": "http://localhost:5000"}, installed)) == named
