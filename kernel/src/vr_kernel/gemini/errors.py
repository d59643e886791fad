"""Failures of the Gemini API and of the connection to it, as the kernel's errors."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from vr_kernel.errors import Code, ErrorRule, ErrorTable, VrError
from vr_kernel.gemini.catalogue import bare, instead
from vr_kernel.http.retry_after import parse_retry_after
from vr_kernel.text.secrets import SECRET_SHAPES

KEY_PAGE = "https://aistudio.google.com/apikey"
KEY_HINT = f"Run `vr init`, or set GEMINI_API_KEY to a valid key; get one at {KEY_PAGE}."
WORDS = 300
"""Maximum characters of the service's message that an error repeats."""
_HIDDEN = re.compile(rf"https?://\S+|api_key:[^\s'\"]+|{SECRET_SHAPES.pattern}")
_PLACES = re.compile("user location|your country|your region|billing", re.IGNORECASE)
# Google's `google.api.ErrorReason`, and the words of messages that come without one.
_ACCOUNT_REASONS = re.compile(
    r"(API_KEY|ACCESS_TOKEN|ACCOUNT|CONSUMER|SERVICE|BILLING|CREDENTIALS|USER_PROJECT)_"
)
_ACCOUNT_WORDS = re.compile(
    r"api.?key|\bproject\b|\bconsumer\b|\brequests (from|to)\b", re.IGNORECASE
)
BAD_REQUEST, FORBIDDEN, NOT_FOUND, TOO_MANY, SERVER = 400, 403, 404, 429, 500
_KEY = r"^400 .*\bAPI_KEY_|^400 .*\n.*(?i:api key)"
_ABOUT_PLACE = rf"\n.*(?i:{_PLACES.pattern})"
_ANSWERS = ErrorTable(  # its words: HTTP status, Google's status, reasons; then a line of message
    ErrorRule(
        words=re.compile(rf"{_KEY}|^40[13] (?!.*{_ABOUT_PLACE})"),
        code=Code.AUTH,
        message="The Gemini API refused the key: {said}",
        category="API_PERMISSION_DENIED",
        hint=KEY_HINT,
    ),
    ErrorRule(
        statuses={TOO_MANY},
        code=Code.QUOTA,
        message="The quota of the Gemini API is used up: {said}",
        category="API_QUOTA_EXCEEDED",
        hint="Wait, raise the quota, or add keys to GEMINI_API_KEYS.",
        retryable=True,
    ),
    ErrorRule(
        statuses={NOT_FOUND},
        code=Code.NOT_FOUND,
        message="The Gemini API does not know {asked}: {said}",
        category="API_NOT_FOUND",
        hint="{instead}",
    ),
    ErrorRule(
        statuses={408, 409, *range(SERVER, 1000)},
        words=re.compile("not in an active state", re.IGNORECASE),
        code=Code.UNAVAILABLE,
        message="The Gemini API failed with HTTP {status}: {said}",
        category="SERVICE_ERROR",
        hint="The service is at fault; try again later.",
        retryable=True,
    ),
    ErrorRule(
        words=re.compile(rf"^\d+ FAILED_PRECONDITION |{_ABOUT_PLACE}"),
        code=Code.NOT_ALLOWED,
        message="The Gemini API is not open to this account: {said}",
        category="API_PERMISSION_DENIED",
        hint="Check the account's billing, and whether Gemini is offered where you are.",
    ),
    ErrorRule(
        statuses={413},
        code=Code.TOO_LARGE,
        message="The request is too large for the Gemini API: {said}",
        hint="Send less at once.",
    ),
    otherwise=ErrorRule(
        code=Code.INVALID_INPUT,
        message="The Gemini API refused the request: {said}",
        category="API_INVALID_ARGUMENT",
        hint="Change what was asked; the same request will be refused again.",
    ),
)


class ServiceError(VrError):
    """An error that the service answered with: its HTTP status, and its own words.

    `account` is True for an error about the key, its project or its location, not the request.
    """

    status = 0
    words = ""
    account = False


def service_error(
    status: int,
    body: Any,
    headers: Mapping[str, str] | None = None,
    *,
    model: str = "",
    secret: str = "",
) -> ServiceError:
    """The error of an HTTP status and the JSON that came with it.

    Args:
        status: the HTTP status.
        body: `{"error": {"status", "message", "details"}}`, or anything else.
        headers: of the answer; `Retry-After` is used.
        model: that was asked, to name the nearest one when it is unknown.
        secret: the key that was used, which no message repeats.
    """
    fault = _fault(body)
    said = _said(fault, secret)
    error = _error(
        status,
        f"{status} {fault.get('status')} {' '.join(_reasons(fault))}\n{said}",
        said,
        _retry_after(fault, headers or {}),
        model,
    )
    error.words = said.lower()
    error.account = _is_about_account(fault)
    return error


def _error(
    status: int, words: str, said: str, retry_after: float | None, model: str = ""
) -> ServiceError:
    error = _ANSWERS.error(
        status,
        words,
        retry_after=retry_after,
        error_type=ServiceError,
        said=said,
        asked=model or "what was asked for",
        instead=instead(bare(model)) if model else "Check the name in [models].",
    )
    assert isinstance(error, ServiceError)
    error.status = status
    return error


def is_gone(error: VrError) -> bool:
    """Check if the service says that a file or cache is not there, or not for this key."""
    if not isinstance(error, ServiceError) or error.account or "models/" in error.words:
        return False
    if error.status in {FORBIDDEN, NOT_FOUND}:
        return True
    return error.status == BAD_REQUEST and "expired" in error.words


@contextmanager
def translated(model: str = "", secret: str = "") -> Iterator[None]:
    """Turn every error of the SDK and of its HTTP client into one of the kernel's.

    Raises:
        VrError: UNAVAILABLE for what did not arrive or cannot be read; else by its status.
    """
    import httpx2
    from google.genai.errors import APIError

    try:
        yield
    except APIError as error:
        headers = getattr(error.response, "headers", None)
        raise service_error(
            error.code or SERVER, error.details, headers, model=model, secret=secret
        ) from None
    except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout) as error:
        raise unreachable(type(error).__name__) from None
    except httpx2.TimeoutException:
        raise network_error("did not answer in time") from None
    except (httpx2.HTTPError, httpx2.StreamError) as error:
        raise network_error(f"was cut off ({type(error).__name__})") from None
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError) as error:
        # An answer in another form makes json, pydantic and the SDK fail in all these ways.
        raise unreadable(type(error).__name__) from None


def unreachable(why: str) -> VrError:
    """Make the error of a request that was never sent."""
    error = network_error(f"could not be reached ({why})")
    error.category = "SERVICE_UNREACHABLE"
    return error


def network_error(what: str) -> VrError:
    """Make the error of a request that was sent; its reply may have been made and lost."""
    return VrError(
        f"The Gemini API {what}.",
        Code.UNAVAILABLE,
        category="NETWORK_ERROR",
        hint="Check the network and [models] gemini_base_url, then try again.",
        retryable=True,
    )


def unreadable(why: str) -> VrError:
    """Make the error of an answer that is not in the form of the API."""
    return VrError(
        f"The Gemini API sent an answer that cannot be read ({why}).",
        Code.UNAVAILABLE,
        category="REPLY_UNREADABLE",
        hint="Try again.",
        retryable=True,
    )


def key_missing() -> VrError:
    """Make the error of a configuration without a key."""
    return VrError(
        "No key of the Gemini API is configured.",
        Code.AUTH,
        category="API_PERMISSION_DENIED",
        hint=KEY_HINT,
    )


def exhausted(retry_after: float) -> VrError:
    """Make the error for when all keys rest, the first of them for `retry_after` seconds."""
    error = _error(TOO_MANY, "", "every key rests.", retry_after)
    error.status = 0  # nothing was sent
    return error


def _is_about_account(fault: Mapping[str, Any]) -> bool:
    words = str(fault.get("message", ""))
    named = any(map(_ACCOUNT_REASONS.match, _reasons(fault)))
    return named or bool(_PLACES.search(words) or _ACCOUNT_WORDS.search(words))


def _fault(body: Any) -> Mapping[str, Any]:
    if isinstance(body, list) and body:
        body = body[0]
    fault = body.get("error", body) if isinstance(body, Mapping) else None
    return fault if isinstance(fault, Mapping) else {}


def _said(fault: Mapping[str, Any], secret: str) -> str:
    text = " ".join(str(fault.get("message") or fault.get("status") or "no reason given").split())
    if secret:
        text = text.replace(secret, "[key]")
    text = _HIDDEN.sub("[...]", text)[:WORDS]
    return text if text.endswith(".") else f"{text}."


def _details(fault: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    details = fault.get("details")
    return [d for d in details if isinstance(d, Mapping)] if isinstance(details, list) else []


def _reasons(fault: Mapping[str, Any]) -> list[str]:
    return [" ".join(str(d.get("reason", "")).split()) for d in _details(fault)]


def _retry_after(fault: Mapping[str, Any], headers: Mapping[str, str]) -> float | None:
    """Seconds, by the header `Retry-After` or the detail `RetryInfo`; the longer of both."""
    given = [parse_retry_after(str(d["retryDelay"])) for d in _details(fault) if "retryDelay" in d]
    if headers.get("retry-after"):
        given.append(parse_retry_after(headers["retry-after"]))
    known = [seconds for seconds in given if seconds is not None]
    return max(known) if known else None
