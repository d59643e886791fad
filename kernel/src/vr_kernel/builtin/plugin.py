"""The hooks of the kernel's own plugin, and a resource for the files that tools produced."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from vr_kernel.builtin.cache import infra_cache
from vr_kernel.builtin.installed import infra_plugins
from vr_kernel.builtin.jobs import job_cancel, job_list, job_result, job_status
from vr_kernel.builtin.models import infra_configure, infra_models
from vr_kernel.builtin.usage import infra_estimate, infra_usage
from vr_kernel.documents import DOCUMENT_PASSAGES
from vr_kernel.files.artifacts import URI_PREFIX, Artifact
from vr_kernel.hookspecs import hookimpl
from vr_kernel.records import RecordKind
from vr_kernel.resources import resource
from vr_kernel.services import Services


@resource(URI_PREFIX + "{name}")
async def artifact(services: Services, name: str) -> Artifact:
    """A file that a tool produced."""
    return await asyncio.to_thread(services.artifacts.find, name)


@hookimpl
def vr_tools() -> list[Any]:
    """The kernel's tools."""
    return [
        infra_cache,
        infra_configure,
        infra_estimate,
        infra_models,
        infra_plugins,
        infra_usage,
        job_cancel,
        job_list,
        job_result,
        job_status,
    ]


@hookimpl
def vr_resources() -> list[Any]:
    """The files that tools produced."""
    return [artifact]


@hookimpl
def vr_record_kinds() -> list[RecordKind]:
    """List the record kinds that plugins of several domains share."""
    return [DOCUMENT_PASSAGES]


@hookimpl
def vr_views() -> list[Callable[..., Any]]:
    """Views of the results of the kernel's tools, and of passages."""
    from vr_kernel.builtin.cost_views import show_estimate, show_usage
    from vr_kernel.builtin.views import VIEWS

    return [*VIEWS, show_estimate, show_usage]
