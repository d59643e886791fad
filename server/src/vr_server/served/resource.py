"""One resource of a plugin, or a family of them, as FastMCP lists and reads it."""

from __future__ import annotations

import asyncio
from typing import Any

from fastmcp import FastMCP
from fastmcp.resources import Resource as McpResource
from fastmcp.resources import ResourceContent, ResourceResult
from fastmcp.resources.template import ResourceTemplate
from pydantic import AnyUrl, BaseModel, PrivateAttr
from vr_kernel import Artifact, Code, Content, Kernel, Reading, Resource, VrError, visible
from vr_kernel.isolation import contained

from vr_server.blocks import plain_line, visible_schema, visible_text
from vr_server.failures import RefusedError
from vr_server.identity import principal

MOST_BYTES = 32 << 20
"""Bytes of the largest artifact that is sent: an answer is one message, several times in memory."""


class ServedResource(McpResource):
    """A resource at one address."""

    _kernel: Kernel = PrivateAttr()
    _resource: Resource = PrivateAttr()
    _parts: dict[str, Any] = PrivateAttr(default_factory=dict)

    @classmethod
    def of(
        cls, kernel: Kernel, resource: Resource, uri: str, parts: dict[str, Any]
    ) -> ServedResource:
        """Wrap a resource, or the member of a family whose address has these parts."""
        served = cls(
            uri=AnyUrl(uri),
            name=visible(resource.name),
            description=visible(resource.description),
            mime_type=resource.mime,
        )
        served._kernel = kernel
        served._resource = resource
        served._parts = parts
        return served

    async def read(self) -> ResourceResult:
        """Read the resource."""
        kernel, resource = self._kernel, self._resource
        try:
            found = await kernel.read(resource, self._parts, principal())
            with contained(f"Resource {resource.uri}", resource.plugin, kernel.log):
                return ResourceResult([await _content(found, resource.mime)])
        except VrError as error:
            raise RefusedError(error) from None


class ServedFamily(ResourceTemplate):
    """A family of resources, whose address has parts that the client fills in."""

    _kernel: Kernel = PrivateAttr()
    _resource: Resource = PrivateAttr()

    @classmethod
    def of(cls, kernel: Kernel, resource: Resource) -> ServedFamily:
        """Wrap a family of resources."""
        served = cls(
            uri_template=resource.uri,
            name=visible(resource.name),
            description=visible(resource.description),
            mime_type=resource.mime,
            parameters=visible_schema(resource.arguments.model_json_schema()),
        )
        served._kernel = kernel
        served._resource = resource
        return served

    async def create_resource(self, uri: str, params: dict[str, Any]) -> ServedResource:
        """Make the resource at one address of the family."""
        return ServedResource.of(self._kernel, self._resource, uri, params)


def add_resource(app: FastMCP[Any], kernel: Kernel, resource: Resource) -> None:
    """Add a resource, or a family of them, to an application."""
    if "{" in resource.uri:
        app.add_template(ServedFamily.of(kernel, resource))
    else:
        app.add_resource(ServedResource.of(kernel, resource, resource.uri, {}))


async def _content(found: Reading, mime: str) -> ResourceContent:
    if isinstance(found, Artifact):
        if found.size > MOST_BYTES:
            raise VrError(
                f"The artifact has {found.size:,} bytes; at most {MOST_BYTES:,} are read at once.",
                Code.TOO_LARGE,
                hint="Ask the tool for less, such as a shorter part; all of it is in the"
                " artifacts folder of the server.",
            )
        stored = await asyncio.to_thread(found.path.read_bytes)
        return ResourceContent(stored, mime_type=found.mime)
    if isinstance(found, BaseModel):
        found = Content(found.model_dump_json(), "application/json")
    content = found if isinstance(found, Content) else Content(found, mime)
    data = content.data
    if isinstance(data, str):
        data = visible_text(data, content.mime)
    return ResourceContent(data, mime_type=plain_line(content.mime))
