"""Servers of models on this machine: whether one answers, known by the form of its answer.

Ports such as 8000 belong to many programs, and an answer may be anything. The forms are those of
`GET /api/tags` in Ollama's API reference, and of `GET /v1/models`, the list of OpenAI's interface,
in the documentation of LM Studio and vLLM.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from vr_plugin_models.catalogue.provider_row import Family

ANSWER_S = 1.0
"""Longest wait; a server of this machine that lists its models answers at once."""
MOST_BYTES = 2_000_000
HTTP_OK = 200
_PORTS = {"ollama": 11434}
"""The port that is meant where an address names none, as in `OLLAMA_HOST=127.0.0.1`."""
_ANYWHERE = "0.0.0.0"  # noqa: S104 - the address at which a server listens, not one to ask


async def find_server(family: Family, address: str) -> list[str] | None:
    """The models of a server at an address of this machine; None when none of that kind answers."""
    try:
        answer = await _answer(_list_of(family, address))
    except (OSError, ValueError, RecursionError):
        return None
    return _ollama(answer) if family == "ollama" else _openai(answer)


def _list_of(family: Family, address: str) -> str:
    """The address of the list of models.

    Raises:
        ValueError: for what is no address.
    """
    parts = urlsplit(address)
    host = "127.0.0.1" if parts.hostname == _ANYWHERE else parts.hostname or ""
    host = f"[{host}]" if ":" in host else host
    port = parts.port or (_PORTS.get(family, 80) if parts.scheme == "http" else 443)
    path = "/api/tags" if family == "ollama" else "/models"
    return f"{parts.scheme}://{host}:{port}{parts.path.rstrip('/')}{path}"


async def _answer(address: str) -> Any:
    """The JSON that is at an address.

    Raises:
        OSError: when nothing answers in time.
        ValueError: for another answer.
    """
    import httpx2

    try:
        # No proxy of the environment is asked for what is on this machine.
        async with (
            httpx2.AsyncClient(trust_env=False, timeout=None) as client,
            asyncio.timeout(ANSWER_S),
            client.stream("GET", address) as response,
        ):
            if response.status_code != HTTP_OK:
                raise ValueError(response.status_code)
            text = b""
            async for part in response.aiter_bytes():
                text += part
                if len(text) > MOST_BYTES:
                    raise ValueError("too long")
    except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError) as error:
        raise OSError(str(error)) from None
    return json.loads(text)


def _ollama(answer: Any) -> list[str] | None:
    models = answer.get("models") if isinstance(answer, Mapping) else None
    return _names(models, "name")


def _openai(answer: Any) -> list[str] | None:
    if not isinstance(answer, Mapping) or answer.get("object") != "list":
        return None
    return _names(answer.get("data"), "id")


def _names(models: Any, field: str) -> list[str] | None:
    """The names in a list of models; None for any other list."""
    if not isinstance(models, list):
        return None
    names = [str(model[field]) for model in models if _is_named(model, field)]
    return sorted(names) if len(names) == len(models) else None


def _is_named(model: Any, field: str) -> bool:
    name = model.get(field) if isinstance(model, Mapping) else None
    return isinstance(name, str) and bool(name.strip())
