"""Errors of the SDKs of OpenAI and Anthropic, which are built alike, as the kernel's errors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from vr_plugin_models.failures import Failures

_LEAST = 300
"""The least status that is no answer."""
_NO_STATUS = 500
"""Stands for the status of an error within a stream."""


@contextmanager
def translated(failures: Failures, model: str, library: str = "openai") -> Iterator[None]:
    """Turn every error of an SDK and of its HTTP client into one of the kernel's.

    Args:
        failures: makes the errors.
        model: that was asked; empty for none.
        library: `openai` or `anthropic`, whose errors have the same names.

    Raises:
        VrError: UNAVAILABLE for what did not arrive or cannot be read; else by its status.
    """
    import httpx2

    sdk: Any = import_module(library)
    try:
        yield
    except sdk.APIStatusError as error:
        words = f"{_code(error)} {_message(error)}"
        # An error that Anthropic sends within a stream has the status of the stream: 200.
        status = error.status_code if error.status_code >= _LEAST else _NO_STATUS
        raise failures.answer(status, words, dict(error.response.headers), model) from None
    except sdk.APITimeoutError:
        raise failures.network("did not answer in time") from None
    except sdk.APIConnectionError as error:
        cause = error.__cause__ or error
        name = type(cause).__name__
        if isinstance(cause, httpx2.ConnectError | httpx2.ConnectTimeout | httpx2.PoolTimeout):
            raise failures.unreachable(name) from None
        raise failures.network(f"cut the connection ({name})") from None
    except sdk.APIResponseValidationError as error:
        raise failures.unreadable(type(error).__name__) from None
    except sdk.APIError as error:  # an error within a stream
        raise failures.answer(_NO_STATUS, _message(error), model=model) from None
    except (httpx2.HTTPError, httpx2.StreamError) as error:
        raise failures.network(f"cut the connection ({type(error).__name__})") from None
    except (ValueError, TypeError, AttributeError, KeyError, IndexError, RecursionError) as error:
        # An answer in another form makes json, pydantic and the reading fail in all these ways.
        raise failures.unreadable(type(error).__name__) from None


def _code(error: Any) -> str:
    return str(getattr(error, "code", None) or "")


def _message(error: Any) -> str:
    body = getattr(error, "body", None)
    inner = body.get("error", body) if isinstance(body, dict) else None
    said = inner.get("message") if isinstance(inner, dict) else inner
    return str(said or getattr(error, "message", "") or "")
