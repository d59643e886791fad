"""Errors of pages that cannot be fetched, without secrets."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from vr_kernel.errors import Code, ErrorRule, ErrorTable, VrError

_ANSWERED = "{where} answered with status {status}."
_STATUSES = ErrorTable(
    ErrorRule(
        statuses={404, 410},
        code=Code.NOT_FOUND,
        message=_ANSWERED,
        category="HTTP_NOT_FOUND",
        hint="Check the address.",
    ),
    ErrorRule(
        statuses={401, 403, 407, 451},
        code=Code.NOT_ALLOWED,
        message=_ANSWERED,
        category="HTTP_FORBIDDEN",
        hint="The page is not open to everybody.",
    ),
    ErrorRule(
        statuses={429},
        code=Code.QUOTA,
        message=_ANSWERED,
        category="HTTP_TOO_MANY_REQUESTS",
        hint="Wait, then try again.",
        retryable=True,
    ),
    ErrorRule(
        statuses={416},
        code=Code.INVALID_INPUT,
        message=_ANSWERED,
        category="RANGE_INVALID",
        hint="Start over: the file has no such offset.",
    ),
    ErrorRule(
        statuses={408, *range(500, 1000)},
        code=Code.UNAVAILABLE,
        message=_ANSWERED,
        category="HTTP_SERVER_ERROR",
        hint="Try again later.",
        retryable=True,
    ),
    otherwise=ErrorRule(
        code=Code.UNAVAILABLE,
        message=_ANSWERED,
        category="HTTP_STATUS",
        hint="Open the address in a browser to see what it wants.",
    ),
)


def invalid(why: str, hint: str = "Give the address as the browser shows it.") -> VrError:
    """The text is no address of a page. It is not repeated, since it may hold secrets."""
    message = f"This is no address of a page: {why}."
    return VrError(message, Code.INVALID_INPUT, category="URL_INVALID", hint=hint)


def not_allowed(why: str, hint: str) -> VrError:
    """The address is one that is never fetched."""
    message = f"This address is not fetched: {why}."
    return VrError(message, Code.NOT_ALLOWED, category="URL_NOT_ALLOWED", hint=hint)


def no_local_host(what: str) -> VrError:
    """A host that only this machine or its network reaches."""
    return not_allowed(
        f"{what} is no public host",
        "A host of your own is allowed by its name: allowed_hosts in [kernel.http].",
    )


def network_error(message: str, *, retryable: bool = True, hint: str = "") -> VrError:
    """The network, the name service or the server failed."""
    return VrError(
        message,
        Code.UNAVAILABLE,
        category="NETWORK_ERROR",
        hint=hint or ("Try again later." if retryable else "Check the address."),
        retryable=retryable,
    )


def too_large(limit: int) -> VrError:
    """The answer is too large, as it arrives or unpacked."""
    return VrError(
        f"The answer is larger than {limit:,} bytes.",
        Code.TOO_LARGE,
        category="FILE_TOO_LARGE",
        hint="Ask for a smaller file, or raise max_bytes in [kernel.http].",
    )


def too_many_redirects(limit: int) -> VrError:
    """There were too many redirects."""
    return VrError(
        f"The address redirects more than {limit} times.",
        Code.UNAVAILABLE,
        category="TOO_MANY_REDIRECTS",
        hint="Give the address that the browser shows once the page is there.",
    )


def led_on(where: str, error: VrError) -> VrError:
    """The refusal of an address that another one redirects to."""
    return error.reworded(f"{where} redirects. {error.message}", error.hint)


def wrong_type(mime: str, accept: str) -> VrError:
    """The server sent another kind of content than the caller reads."""
    return VrError(
        f"The answer is {mime or 'of an unnamed type'}, not {accept}.",
        Code.UNSUPPORTED,
        category="CONTENT_TYPE",
        hint="Give the address of a file of that type.",
    )


def wrong_coding(coding: str) -> VrError:
    """The body has a content coding that was not requested."""
    return VrError(
        f"The answer is packed as {coding!r}, which was not asked for.",
        Code.UNSUPPORTED,
        category="CONTENT_ENCODING",
        hint="The server is at fault: look for the page elsewhere.",
    )


def status_error(status: int, headers: Mapping[str, str], where: str) -> VrError:
    """The error of a status other than success."""
    from vr_kernel.http.retry_after import parse_retry_after

    retry_after = parse_retry_after(headers.get("retry-after", ""))
    return _STATUSES.error(status, where=where, retry_after=retry_after)


@contextmanager
def failures_named(where: str) -> Iterator[None]:
    """Turn all that the network libraries raise into errors that name the host only."""
    import httpcore2
    import httpx2

    try:
        yield
    except httpcore2.ConnectError as error:
        raise _no_connection(where, error) from error
    except (httpcore2.ConnectTimeout, OSError) as error:
        raise _no_connection(where, error) from error
    except (httpcore2.NetworkError, httpcore2.TimeoutException) as error:
        raise network_error(f"{where} broke off the answer.") from error
    except httpcore2.RemoteProtocolError as error:
        raise network_error(f"{where} broke off, or does not speak HTTP.") from error
    except (httpx2.DecodingError, httpcore2.ProtocolError) as error:
        raise network_error(f"{where} sent a damaged answer.", retryable=False) from error


def _no_connection(where: str, error: Exception) -> VrError:
    causes = (error, error.__cause__, error.__context__)
    if any(isinstance(cause, ssl.SSLError) for cause in causes):
        hint = "Its certificate may be expired, or signed by nobody this machine trusts."
        return network_error(f"{where} could not prove its identity.", retryable=False, hint=hint)
    if isinstance(error, socket.gaierror):
        final = error.errno == socket.EAI_NONAME
        hint = "Check the address, and that this machine is online." if final else ""
        return network_error(f"{where} has no address.", retryable=not final, hint=hint)
    return network_error(f"{where} cannot be reached.")
