"""Says in `vr init` how clients find tools where there are too many to show."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vr_kernel import Config


def narrowed_view(config: Config) -> list[str]:
    """Say that clients are shown only some tools, and how to show all; nothing if all are shown.

    Plugins are loaded, which also prepares what the server's next start needs.
    """
    from vr_cli.commands.serve import has_server
    from vr_cli.doctor.captured import captured
    from vr_cli.doctor.check_runner import loop_aside, wait_for
    from vr_cli.doctor.report import CLOSE_S
    from vr_cli.opening import open_kernel

    if not has_server():
        return []
    from vr_server import choose_view

    with suppress(Exception), captured(2), loop_aside() as loop:  # `vr doctor` names what fails
        kernel = open_kernel(config, tell=lambda _status: None)
        try:
            view = choose_view(kernel)
        finally:
            wait_for(loop, kernel.aclose(), CLOSE_S)
        return [view.words] if view.is_narrowed else []
    return []
