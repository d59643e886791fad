"""A request as it came over the wire, and its contents."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlsplit

_MODEL = re.compile(r"/(?P<version>v\w+)/(?:models|tunedModels)/(?P<model>[^:/]+):(?P<action>\w+)")
_RESOURCE = re.compile(
    r"(?P<upload>/upload)?/(?P<version>v\w+)/(?P<kind>\w+)(?:/(?P<id>[^/]+)(?:/(?P<verb>cancel))?)?"
)
_VERBS = {"GET": "get", "PATCH": "patch", "DELETE": "delete", "POST": "create"}


def look_up(value: Any, name: str, default: Any = None) -> Any:
    """A field of a JSON object by its camelCase name; the SDK sends some in snake_case."""
    if not isinstance(value, Mapping):
        return default
    snake = re.sub(r"(?<!^)([A-Z])", lambda match: "_" + match[1].lower(), name)
    return value.get(name, value.get(snake, default))


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    """One request.

    Args:
        method: the HTTP method.
        path: the path, without what follows `?`.
        query: what follows it.
        headers: by name in lower case.
        body: the parsed JSON; None where there is none, as with the bytes of an upload.
        size: bytes of the body, as announced; 0 for a body sent in chunks.
        at: when it came, in seconds of `time.monotonic`.
        version: `v1beta` or `v1`.
        action: `generateContent` and the like, or a kind and a verb, such as `files.get`,
            `files.upload`, `cachedContents.create`, `interactions.get`, `interactions.cancel`.
        model: the model asked, without `models/`.
        name: the id of the file, cache or interaction.
        parts: every part of it, as sent.
    """

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: Any
    size: int
    at: float
    version: str = ""
    action: str = ""
    model: str = ""
    name: str = ""
    parts: tuple[Mapping[str, Any], ...] = field(default=(), repr=False)

    @property
    def api_key(self) -> str:
        """The API key it was sent with, empty when none."""
        return self.headers.get("x-goog-api-key", self.query.get("key", ""))

    @property
    def text(self) -> str:
        """Its text parts, one per line, without the system instruction."""
        return "\n".join(part["text"] for part in self.parts if "text" in part)

    @property
    def media(self) -> list[Mapping[str, Any]]:
        """Its parts that are files or bytes, as sent."""
        return [part for part in self.parts if look_up(part, "fileData") or _inline(part)]

    @property
    def system(self) -> str:
        """The text of the system instruction."""
        value = look_up(self.generation, "systemInstruction", "")
        return value if isinstance(value, str) else "\n".join(_texts(value))

    @property
    def schema(self) -> Mapping[str, Any] | None:
        """The schema that the answer is to fit."""
        return _schema(self.generation)

    @property
    def config(self) -> Mapping[str, Any]:
        """The generation configuration, empty when none was sent."""
        return look_up(self.generation, "generationConfig") or {}

    @property
    def generation(self) -> Mapping[str, Any]:
        """The generation request in the body; `countTokens` may wrap it."""
        body = self.body if isinstance(self.body, Mapping) else {}
        return look_up(body, "generateContentRequest") or body

    @property
    def cached_content(self) -> str:
        """The id of the context cache it builds on, empty when none."""
        return str(look_up(self.generation, "cachedContent", "")).removeprefix("cachedContents/")

    @property
    def file_ids(self) -> list[str]:
        """The ids of the uploaded files it refers to."""
        uris = [str(look_up(look_up(part, "fileData"), "fileUri", "")) for part in self.media]
        return [uri.rsplit("/files/", 1)[1] for uri in uris if "/files/" in uri]

    @property
    def thinking_level(self) -> str:
        """The thinking level in capitals, empty when none was asked for."""
        return str(look_up(look_up(self.config, "thinkingConfig"), "thinkingLevel", "")).upper()

    def has_tool(self, name: str) -> bool:
        """Check if a tool such as `googleSearch` was offered."""
        tools = look_up(self.generation, "tools") or []
        return any(look_up(tool, name) is not None for tool in tools)

    @property
    def functions(self) -> list[Mapping[str, Any]]:
        """The functions that it declares, as sent."""
        tools = look_up(self.generation, "tools") or []
        return [each for tool in tools for each in look_up(tool, "functionDeclarations") or []]

    @property
    def results(self) -> list[Mapping[str, Any]]:
        """The results of functions in it, as sent."""
        found = [look_up(part, "functionResponse") for part in self.parts]
        return [each for each in found if each is not None]

    @property
    def asks_model(self) -> bool:
        """True when a model answers it, which costs money."""
        return self.action in PAID or self.action == "interactions.create"

    @property
    def generates(self) -> bool:
        """True when a model answers it in words."""
        return self.action in {"generateContent", "streamGenerateContent"}


PAID = frozenset({"generateContent", "streamGenerateContent", "embedContent", "batchEmbedContents"})


def read_request(
    method: str, target: str, headers: Mapping[str, str], raw: bytes | None, at: float
) -> RecordedRequest:
    """Parse a request as read from the socket; `raw` is None where the body is not kept."""
    url = urlsplit(target)
    body = _parse(raw)
    found = _locate(method, url.path, headers)
    if not found["model"]:
        found["model"] = str(look_up(body, "model", "") or look_up(body, "agent", "") or "")
    return RecordedRequest(
        method=method,
        path=url.path,
        query=dict(parse_qsl(url.query)),
        headers=headers,
        body=body,
        size=int(headers.get("content-length") or 0),
        at=at,
        version=found["version"],
        action=found["action"],
        model=found["model"].removeprefix("models/"),
        name=found["name"],
        parts=tuple(_parts(body)),
    )


def is_upload(method: str, target: str, headers: Mapping[str, str]) -> bool:
    """Check if the body is the bytes of a file."""
    return _locate(method, urlsplit(target).path, headers)["action"] == "files.upload"


def _locate(method: str, path: str, headers: Mapping[str, str]) -> dict[str, str]:
    if match := _MODEL.fullmatch(path):
        return {**match.groupdict(), "name": ""}
    match = _RESOURCE.fullmatch(path)
    if match is None:
        return {"version": "", "action": "", "model": "", "name": ""}
    kind, name = match["kind"], match["id"] or ""
    verb = "list" if method == "GET" and not name else _VERBS.get(method, method.lower())
    if method == "POST" and match["verb"]:
        verb = match["verb"]
    if match["upload"]:
        command = headers.get("x-goog-upload-command", "").split(",")[0].strip()
        verb = {"start": "create"}.get(command, command)
    return {"version": match["version"], "action": f"{kind}.{verb}", "model": "", "name": name}


def _parse(raw: bytes | None) -> Any:
    try:
        return json.loads(raw) if raw else None
    except ValueError:
        return None


def _parts(body: Any) -> Iterator[Mapping[str, Any]]:
    """Every part of a body: of a question, a cache, texts to embed or an interaction's input."""
    body = look_up(body, "generateContentRequest") or body
    contents = [*_listed(look_up(body, "contents")), *_listed(look_up(body, "content"))]
    contents += [look_up(each, "content") for each in _listed(look_up(body, "requests"))]
    for content in contents:
        yield from content_parts(content)
    given = look_up(body, "input")
    if isinstance(given, str):
        yield {"text": given}
    for item in _listed(given):
        yield from [item, *_listed(look_up(item, "content"))] if isinstance(item, Mapping) else ()


def content_parts(content: Any) -> list[Mapping[str, Any]]:
    """The parts of one content."""
    return [part for part in _listed(look_up(content, "parts")) if isinstance(part, Mapping)]


def _listed(value: Any) -> list[Any]:
    if isinstance(value, Mapping):
        return [value]
    return value if isinstance(value, list) else []


def _texts(content: Any) -> list[str]:
    return [part["text"] for part in content_parts(content) if "text" in part]


def _inline(part: Mapping[str, Any]) -> Any:
    return look_up(part, "inlineData")


def _schema(generation: Mapping[str, Any]) -> Mapping[str, Any] | None:
    config = look_up(generation, "generationConfig") or {}
    for name in ("responseJsonSchema", "responseSchema"):
        if schema := look_up(config, name):
            return dict(schema)
    schema = look_up(generation, "responseFormat")
    schema = look_up(schema, "schema", schema)
    return dict(schema) if isinstance(schema, Mapping) else None
