"""Errors as OpenAI-compatible services send them."""

from __future__ import annotations

import json

from vr_testing.service.errors import ServiceError
from vr_testing.service.reply import HttpReply

# HTTP status -> the type, the code and the usual message.
_USUAL: dict[int, tuple[str, str | None, str]] = {
    400: ("invalid_request_error", None, "Invalid request."),
    401: ("invalid_request_error", "invalid_api_key", "Incorrect API key provided: sk-***."),
    402: ("insufficient_credits", None, "Insufficient credits."),
    403: ("invalid_request_error", "unsupported_country", "You are not allowed to do this."),
    404: ("invalid_request_error", "model_not_found", "The model does not exist."),
    413: ("invalid_request_error", None, "Request too large."),
    429: ("requests", "rate_limit_exceeded", "Rate limit reached."),
    500: ("server_error", None, "The server had an error while processing your request."),
    503: ("server_error", None, "The engine is currently overloaded, please try again later."),
}


def as_error(error: ServiceError) -> HttpReply:
    """The error with its body."""
    kind, code, message = _USUAL.get(error.code, ("error", None, "Unknown error."))
    fault = {
        "message": error.message or message,
        "type": kind,
        "param": None,
        "code": error.kind or code,
    }
    return HttpReply(
        status=error.code,
        body=json.dumps({"error": fault}).encode(),
        headers={"Content-Type": "application/json", **error.headers},
    )


def unsupported(what: str) -> ServiceError:
    """The refusal of something that the model does not take."""
    return ServiceError(400, f"{what} is not supported by this model.", kind="unsupported_value")


def too_long(tokens: int, most: int) -> ServiceError:
    """The refusal of a request that is larger than the window."""
    return ServiceError(
        400,
        f"This model's maximum context length is {most} tokens. However, your messages resulted in"
        f" {tokens} tokens.",
        kind="context_length_exceeded",
    )


def unknown_model(model: str) -> ServiceError:
    """The answer to a model that does not exist."""
    return ServiceError(404, f"The model `{model}` does not exist or you do not have access to it.")
