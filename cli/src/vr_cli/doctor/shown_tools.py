"""Checks which tools clients are shown, of all that there are."""

from __future__ import annotations

from functools import partial

from vr_kernel import Check, Diagnosis, Kernel, VrError

from vr_cli.commands.serve import has_server


def shown_checks(kernel: Kernel) -> list[Check]:
    """The check of the default view; none without the server."""
    return [Check("shown tools", partial(shown_tools, kernel))] if has_server() else []


def shown_tools(kernel: Kernel) -> Diagnosis:
    """Say which tools clients are shown, and name core tools for which there is no room."""
    from vr_server import choose_view

    try:
        view = choose_view(kernel)
    except VrError as error:
        return Diagnosis.fault(error.message, error.hint)
    if not view.without_room:
        return Diagnosis.ok(view.words)
    return Diagnosis.warning(
        f"{view.words} So are these core tools, for which there is no room:"
        f" {', '.join(view.without_room)}.",
        "Choose what is shown: toolsets in [kernel]; or turn off plugins: disabled in [kernel].",
    )
