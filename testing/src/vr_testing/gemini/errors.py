"""Errors as the service sends them: HTTP status, Google's error body and wording."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from vr_testing.service.errors import ServiceError
from vr_testing.service.reply import HttpReply

# HTTP status -> the name of the status, and the service's message or its beginning.
MESSAGES: dict[int, tuple[str, str]] = {
    400: ("INVALID_ARGUMENT", "Request contains an invalid argument."),
    401: (
        "UNAUTHENTICATED",
        "Request had invalid authentication credentials. Expected OAuth 2 access token.",
    ),
    403: ("PERMISSION_DENIED", "The caller does not have permission"),
    404: ("NOT_FOUND", "Requested entity was not found."),
    409: ("ABORTED", "The operation was aborted."),
    429: (
        "RESOURCE_EXHAUSTED",
        "You exceeded your current quota, please check your plan and billing details.",
    ),
    500: ("INTERNAL", "An internal error has occurred. Please retry."),
    502: ("UNAVAILABLE", "Bad gateway."),
    503: ("UNAVAILABLE", "The model is overloaded. Please try again later."),
    504: ("DEADLINE_EXCEEDED", "Deadline expired before operation could complete."),
}
KEY_MESSAGE = "API key not valid. Please pass a valid API key."
NO_KEY_MESSAGE = (
    "Method doesn't allow unregistered callers (callers without established identity). Please use "
    "API Key or other form of API consumer identity to call this API."
)


class ApiError(ServiceError):
    """An answer that is an error.

    Args:
        code: the HTTP status.
        message: what the service says; its usual words for that status when left out.
        status: the name of the status; the usual one when left out.
        details: typed details, each with an `@type`.
        headers: HTTP headers besides the usual ones, such as `Retry-After`.
    """

    def __init__(
        self,
        code: int,
        message: str = "",
        *,
        status: str = "",
        details: Sequence[Mapping[str, Any]] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        usual = MESSAGES.get(code, ("UNKNOWN", "Unknown error."))
        super().__init__(code, message or usual[1], headers=headers)
        self.status = status or usual[0]
        self.details = list(details)

    @property
    def body(self) -> dict[str, Any]:
        """The JSON that the service sends."""
        error: dict[str, Any] = {"code": self.code, "message": self.message, "status": self.status}
        if self.details:
            error["details"] = self.details
        return {"error": error}


def as_error(error: ServiceError) -> HttpReply:
    """Google's error body."""
    if not isinstance(error, ApiError):
        error = ApiError(error.code, error.message, headers=error.headers)
    return HttpReply(
        status=error.code,
        body=json.dumps(error.body, indent=2).encode(),
        headers={"Content-Type": "application/json; charset=UTF-8", **error.headers},
    )


def invalid_key() -> ApiError:
    """The refusal of a key that does not exist, which the service calls an invalid argument."""
    return ApiError(
        400,
        KEY_MESSAGE,
        details=[
            {
                "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                "reason": "API_KEY_INVALID",
                "domain": "googleapis.com",
                "metadata": {"service": "generativelanguage.googleapis.com"},
            },
            {
                "@type": "type.googleapis.com/google.rpc.LocalizedMessage",
                "locale": "en-US",
                "message": KEY_MESSAGE,
            },
        ],
    )


def throttled(retry_after: float | None, retry_delay: float | None) -> ApiError:
    """Quota used up: `Retry-After` in the header, `retryDelay` in the body, each if given."""
    details: list[dict[str, Any]] = []
    if retry_delay is not None:
        kind = "type.googleapis.com/google.rpc.RetryInfo"
        details.append({"@type": kind, "retryDelay": f"{retry_delay:g}s"})
    headers = {} if retry_after is None else {"Retry-After": f"{retry_after:g}"}
    return ApiError(429, details=details, headers=headers)


def file_forbidden(file_id: str) -> ApiError:
    """The answer to a file that expired, was deleted or belongs to another key."""
    return ApiError(
        403, f"You do not have permission to access the File {file_id} or it may not exist."
    )


def cache_gone() -> ApiError:
    """The answer to a context cache that expired, was deleted or belongs to another key."""
    return ApiError(403, "CachedContent not found (or permission denied)")


def cache_too_small(tokens: int, least: int) -> ApiError:
    """The refusal of a context cache that is too small."""
    return ApiError(
        400,
        f"Cached content is too small. total_token_count={tokens}, min_total_token_count={least}",
    )


def unknown_model(model: str, version: str, action: str) -> ApiError:
    """The answer to a model that does not exist or cannot do this."""
    return ApiError(
        404,
        f"models/{model} is not found for API version {version}, or is not supported for {action}. "
        "Call ListModels to see the list of available models and their supported methods.",
    )
