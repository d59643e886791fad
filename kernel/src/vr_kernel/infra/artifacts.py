"""The files that tools produced, by their address."""

from __future__ import annotations

import asyncio

from vr_kernel.files.artifacts import URI_PREFIX, Artifact
from vr_kernel.resources import resource
from vr_kernel.services import Services


@resource(URI_PREFIX + "{name}")
async def artifact(services: Services, name: str) -> Artifact:
    """A file that a tool produced."""
    return await asyncio.to_thread(services.artifacts.find, name)
