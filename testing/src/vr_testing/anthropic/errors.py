"""Errors as Anthropic sends them."""

from __future__ import annotations

import json

from vr_testing.service.errors import ServiceError
from vr_testing.service.reply import HttpReply

# HTTP status -> the type of the error, and the usual message.
_USUAL: dict[int, tuple[str, str]] = {
    400: ("invalid_request_error", "Invalid request."),
    401: ("authentication_error", "invalid x-api-key"),
    402: ("billing_error", "Your credit balance is too low to access the API."),
    403: ("permission_error", "Your API key does not have permission to use this resource."),
    404: ("not_found_error", "Not found."),
    413: ("request_too_large", "Request exceeds the maximum size."),
    429: ("rate_limit_error", "This request would exceed your rate limit."),
    500: ("api_error", "Internal server error."),
    529: ("overloaded_error", "Overloaded"),
}


def as_error(error: ServiceError) -> HttpReply:
    """The error with its body."""
    kind, message = _USUAL.get(error.code, ("api_error", "Unknown error."))
    fault = {"type": error.kind or kind, "message": error.message or message}
    return HttpReply(
        status=error.code,
        body=json.dumps({"type": "error", "error": fault}).encode(),
        headers={"Content-Type": "application/json", **error.headers},
    )
