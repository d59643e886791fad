"""Errors of Ollama's library and of its HTTP client, as the kernel's errors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from vr_plugin_models.failures import Failures

_NO_STATUS = 500
"""Stands for the status of an error within a stream."""


@contextmanager
def translated(failures: Failures, model: str) -> Iterator[None]:
    """Turn every error of the library into one of the kernel's.

    Raises:
        VrError: UNAVAILABLE for what did not arrive or cannot be read; else by its status.
    """
    import httpx
    from ollama import ResponseError

    try:
        yield
    except ResponseError as error:
        status = error.status_code if error.status_code > 0 else _NO_STATUS
        # The library keeps no headers; the error of its HTTP client has them.
        answer = getattr(error.__context__, "response", None)
        headers = {} if answer is None else dict(answer.headers)
        raise failures.answer(status, str(error.error), headers, model) from None
    except (ConnectionError, httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
        raise failures.unreachable(type(error).__name__) from None
    except httpx.TimeoutException:
        raise failures.network("did not answer in time") from None
    except (httpx.HTTPError, httpx.StreamError) as error:
        raise failures.network(f"cut the connection ({type(error).__name__})") from None
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError) as error:
        # An answer in another form makes json, pydantic and the reading fail in all these ways.
        raise failures.unreadable(type(error).__name__) from None
