"""Clients of OpenAI's SDK, one for each address, and what they fail with."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

from vr_plugin_models.endpoint import Endpoint
from vr_plugin_models.failures import Failures

if TYPE_CHECKING:
    from openai import AsyncOpenAI

CONNECT_S = 15.0
NO_KEY = "none"
"""Stands for a key where a service has none; the SDK insists on one."""


class Clients:
    """The clients of one provider, made at first use."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._made: dict[str, AsyncOpenAI] = {}

    @property
    def addresses(self) -> list[str]:
        """The addresses, in the order in which they are tried."""
        endpoint, row = self._endpoint, self._endpoint.row
        before = row.before if row.before and endpoint.address == row.address else ""
        if before and not endpoint.setting("coding_plan"):
            before = ""
        return [address for address in (before, endpoint.address) if address]

    async def at(self, address: str) -> AsyncOpenAI:
        """The client of an address; the SDK is imported in a thread."""
        if address not in self._made:
            openai = await asyncio.to_thread(import_module, "openai")
            self._made.setdefault(address, self._make(openai, address))
        return self._made[address]

    async def aclose(self) -> None:
        """Close every connection."""
        made, self._made = list(self._made.values()), {}
        for client in made:
            await client.close()

    def _make(self, openai: Any, address: str) -> AsyncOpenAI:
        endpoint = self._endpoint
        shared: dict[str, Any] = {
            "api_key": endpoint.key or NO_KEY,
            "max_retries": 0,  # the kernel retries
            "timeout": openai.Timeout(None, connect=CONNECT_S),  # the kernel has the deadline
        }
        client: AsyncOpenAI
        if endpoint.row.family == "azure":
            client = openai.AsyncAzureOpenAI(
                azure_endpoint=address, api_version=endpoint.setting("api_version"), **shared
            )
        else:
            client = openai.AsyncOpenAI(base_url=address, **shared)
        return client


@contextmanager
def translated(failures: Failures, model: str) -> Iterator[None]:
    """Turn every error of the SDK and of its HTTP client into one of the kernel's.

    Raises:
        VrError: UNAVAILABLE for what did not arrive or cannot be read; else by its status.
    """
    import httpx2
    import openai

    try:
        yield
    except openai.APIStatusError as error:
        words = f"{_code(error)} {_message(error)}"
        raise failures.answer(
            error.status_code, words, dict(error.response.headers), model
        ) from None
    except openai.APITimeoutError:
        raise failures.network("did not answer in time") from None
    except openai.APIConnectionError as error:
        cause = error.__cause__ or error
        name = type(cause).__name__
        if isinstance(cause, httpx2.ConnectError | httpx2.ConnectTimeout | httpx2.PoolTimeout):
            raise failures.unreachable(name) from None
        raise failures.network(f"cut the connection ({name})") from None
    except openai.APIResponseValidationError as error:
        raise failures.unreadable(type(error).__name__) from None
    except openai.APIError as error:  # an error within a stream
        raise failures.answer(500, _message(error), model=model) from None
    except (httpx2.HTTPError, httpx2.StreamError) as error:
        raise failures.network(f"cut the connection ({type(error).__name__})") from None
    except (ValueError, TypeError, AttributeError, KeyError, IndexError, RecursionError) as error:
        # An answer in another form makes json, pydantic and the reading fail in all these ways.
        raise failures.unreadable(type(error).__name__) from None


def _code(error: Any) -> str:
    return str(getattr(error, "code", None) or "")


def _message(error: Any) -> str:
    body = getattr(error, "body", None)
    said = body.get("message") if isinstance(body, dict) else None
    return str(said or getattr(error, "message", "") or "")
