"""Remedies for what plugins lack, for `vr init` to offer."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from vr_kernel import Config, Kernel, Remedy

from vr_cli.doctor.captured import captured
from vr_cli.doctor.check_runner import loop_aside, run_checks, wait_for
from vr_cli.doctor.plugins import offered_checks
from vr_cli.doctor.report import CLOSE_S
from vr_cli.process.streams import diverted_stdout


def find_remedies(config: Config) -> list[Remedy]:
    """The remedies that checks of plugins name; a plugin that fails names none."""
    with captured(2), diverted_stdout(), loop_aside() as loop:
        kernel = Kernel(config, roots=[Path.cwd()], retry=True)
        results = run_checks(offered_checks(kernel), loop)
        with suppress(Exception):  # plugins' leftover tasks must not cost the remedies
            wait_for(loop, kernel.aclose(), CLOSE_S)
    return [result.remedy for result in results if result.remedy]
