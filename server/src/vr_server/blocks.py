"""Texts, images, sounds and files as blocks of the protocol."""

from __future__ import annotations

import base64
import json
from typing import Any

from mcp_types import (
    AudioContent,
    BlobResourceContents,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    TextContent,
    TextResourceContents,
)
from vr_kernel import Content, visible, visible_json
from vr_kernel.text import result_text


def block_of(content: Content | str) -> ContentBlock:
    """The block that shows some content; a text with an address is a file."""
    if isinstance(content, str):
        return text_block(visible(content))
    if isinstance(content.data, str):
        return _file_of_text(content, content.data) if content.uri else block_of(content.data)
    data = base64.b64encode(content.data).decode()
    kind = content.mime.partition("/")[0]
    if kind == "image":
        return ImageContent(type="image", data=data, mime_type=content.mime)
    if kind == "audio":
        return AudioContent(type="audio", data=data, mime_type=content.mime)
    uri = content.uri or "vr://content"
    return EmbeddedResource(
        type="resource", resource=BlobResourceContents(uri=uri, mime_type=content.mime, blob=data)
    )


def text_block(text: str) -> TextContent:
    """Words, with `?` for what UTF-8 has no code for."""
    return TextContent(type="text", text=plain(text))


def plain(text: str) -> str:
    """The text with `?` for what UTF-8 has no code for; such a character would end the stream."""
    return text.encode("utf-8", "replace").decode()


def shown(text: str, mime: str) -> str:
    """What stands at an address, as far as it is seen, with `?` for what UTF-8 has no code for."""
    return plain(visible_json(text, result_text) if mime.endswith("json") else visible(text))


def encodable(data: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The data as JSON and as it is, with `?` for what UTF-8 has no code for.

    A file name that is no UTF-8 holds such characters; on the wire one would end the stream.
    """
    body = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    sound = plain(body)
    return sound, data if sound == body else json.loads(sound)


def visible_schema(schema: Any) -> Any:
    """A JSON schema whose descriptions hold nothing unseen."""
    if isinstance(schema, list):
        return [visible_schema(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: visible(part)
        if key in ("title", "description") and isinstance(part, str)
        else visible_schema(part)
        for key, part in schema.items()
    }


def _file_of_text(content: Content, text: str) -> EmbeddedResource:
    text = shown(text, content.mime)
    inner = TextResourceContents(uri=content.uri, mime_type=content.mime, text=text)
    return EmbeddedResource(type="resource", resource=inner)
