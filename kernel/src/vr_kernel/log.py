"""Logs: structured, to stderr, never to stdout."""

from __future__ import annotations

import logging
import re
import sys
from typing import Any, Literal

# Terminal escapes and control characters that a title or an error text could smuggle in.
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069]")
LogFormat = Literal["console", "json"]


def build_logger(level: str, form: LogFormat) -> Any:
    """A structlog logger that writes to stderr at and above `level`.

    It is an object of its own: nothing global is configured, so two kernels keep two logs.
    """
    import structlog

    renderer = structlog.processors.JSONRenderer() if form == "json" else _render
    return structlog.wrap_logger(
        structlog.PrintLogger(sys.stderr),
        wrapper_class=structlog.make_filtering_bound_logger(
            logging.getLevelNamesMapping().get(level.upper(), logging.INFO)
        ),
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso"),
            structlog.processors.format_exc_info,
            _clean,
            renderer,
        ],
    )


def _clean(_logger: Any, _method: str, event: Any) -> Any:
    return {
        key: _UNPRINTABLE.sub("", value) if isinstance(value, str) else value
        for key, value in event.items()
    }


def _render(_logger: Any, _method: str, event: Any) -> str:
    head = f"{event.pop('timestamp', '')} {event.pop('level', '')}: {event.pop('event', '')}"
    trace = event.pop("exception", "")
    rest = " ".join(f"{key}={value!r}" for key, value in event.items())
    return "\n".join(part for part in (f"{head} {rest}".rstrip(), trace) if part)
