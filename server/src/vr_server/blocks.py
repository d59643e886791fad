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
from vr_kernel import Content, visible, visible_json, visible_line
from vr_kernel.text import result_text


def block_of(content: Content | str) -> ContentBlock:
    """Make the block that shows some content; a text with an address is a file."""
    if isinstance(content, str):
        return text_block(visible(content))
    if isinstance(content.data, str):
        return _file_of_text(content, content.data) if content.uri else block_of(content.data)
    data, mime = base64.b64encode(content.data).decode(), plain_line(content.mime)
    kind = mime.partition("/")[0]
    if kind == "image":
        return ImageContent(type="image", data=data, mime_type=mime)
    if kind == "audio":
        return AudioContent(type="audio", data=data, mime_type=mime)
    uri = plain_line(content.uri) or "vr://content"
    return EmbeddedResource(
        type="resource", resource=BlobResourceContents(uri=uri, mime_type=mime, blob=data)
    )


def text_block(text: str) -> TextContent:
    """Make a block of text, with `?` for each character that UTF-8 cannot encode."""
    return TextContent(type="text", text=plain(text))


def plain(text: str) -> str:
    """Replace each character that UTF-8 cannot encode by `?`, since one would end the stream."""
    return text.encode("utf-8", "replace").decode()


def plain_line(text: str) -> str:
    """Make a media type or an address visible and encodable, on one line."""
    return plain(visible_line(text))


def visible_text(text: str, mime: str) -> str:
    """Make the text of a resource visible and encodable: JSON stays JSON."""
    return plain(visible_json(text, result_text) if mime.endswith("json") else visible(text))


def encodable(data: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the data as JSON text and as data, with `?` for what UTF-8 cannot encode.

    A file name that is not UTF-8 holds such characters.
    """
    body = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    sound = plain(body)
    return sound, data if sound == body else json.loads(sound)


def visible_schema(schema: Any) -> Any:
    """Take invisible characters out of the titles and descriptions of a JSON schema."""
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
    text = visible_text(text, content.mime)
    uri, mime = plain_line(content.uri), plain_line(content.mime)
    inner = TextResourceContents(uri=uri, mime_type=mime, text=text)
    return EmbeddedResource(type="resource", resource=inner)
