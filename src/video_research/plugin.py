"""Watch a talk, search it, and see how to add the server to a client."""

from __future__ import annotations

from vr_kernel import Command, hookimpl


@hookimpl
def vr_commands() -> list[Command]:
    """The command of the demonstration."""
    return [
        Command(
            path=("demo",),
            help="Watch a talk, search it, and see how to add the server to a client.",
            target="video_research.demo:demo",
        )
    ]
