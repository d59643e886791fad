"""Logs: structured, to stderr, never to stdout."""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Mapping
from typing import Any, Literal

# Terminal escapes and control characters that a title or an error text could smuggle in.
_UNPRINTABLE = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    r"\ufff9-\ufffb\U000e0000-\U000e007f]"
)
LogFormat = Literal["console", "json"]


class Log:
    """A structured log on stderr, at and above a level.

    The library behind it is imported with the first line that is written: most runs write
    none. Nothing global is configured, so two kernels keep two logs.
    """

    def __init__(
        self, level: str, form: LogFormat, context: Mapping[str, Any] | None = None
    ) -> None:
        self._level = level
        self._form: LogFormat = form
        self._context = dict(context or {})
        self._threshold = logging.getLevelNamesMapping().get(level.upper(), logging.INFO)
        self._logger: Any = None

    def bind(self, **context: Any) -> Log:
        """A log whose every line carries the context too."""
        return Log(self._level, self._form, {**self._context, **context})

    def debug(self, event: str, **fields: Any) -> None:
        """Write what helps a developer."""
        self._write(logging.DEBUG, event, fields)

    def info(self, event: str, **fields: Any) -> None:
        """Write what happened as expected."""
        self._write(logging.INFO, event, fields)

    def warning(self, event: str, **fields: Any) -> None:
        """Write what works less well than it should."""
        self._write(logging.WARNING, event, fields)

    def error(self, event: str, **fields: Any) -> None:
        """Write what does not work."""
        self._write(logging.ERROR, event, fields)

    def exception(self, event: str, **fields: Any) -> None:
        """Write what does not work, with the traceback of the exception being handled."""
        self._write(logging.ERROR, event, {**fields, "exc_info": True})

    def _write(self, level: int, event: str, fields: Mapping[str, Any]) -> None:
        if level < self._threshold:
            return
        if self._logger is None:
            self._logger = _structured(self._form).bind(**self._context)
        getattr(self._logger, logging.getLevelName(level).lower())(event, **fields)


def _structured(form: LogFormat) -> Any:
    import structlog

    renderer = structlog.processors.JSONRenderer() if form == "json" else _render
    return structlog.wrap_logger(
        structlog.PrintLogger(sys.stderr),
        wrapper_class=structlog.BoundLogger,
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
