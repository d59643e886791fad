"""Logs: structured, to stderr, never to stdout."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal

from vr_kernel.visible_text import visible

MOST_TRACE = 20_000
"""Longest traceback in a line, in characters."""
TRACE = "Traceback (most recent call last)"
LogFormat = Literal["console", "json"]
Listener = Callable[[str, str, Mapping[str, Any]], None]
"""Takes the level, the event and the fields of a line."""


class Log:
    """A structured log on stderr, at and above a level.

    The library behind it is imported with the first line that is written: most runs write
    none. Nothing global is configured, so two kernels keep two logs.
    """

    def __init__(
        self,
        level: str,
        form: LogFormat,
        context: Mapping[str, Any] | None = None,
        listeners: list[Listener] | None = None,
        redact: Callable[[str], str] = str,
    ) -> None:
        self._level = level
        self._form: LogFormat = form
        self._context = dict(context or {})
        self._listeners = [] if listeners is None else listeners
        self._redact = redact
        self._threshold = logging.getLevelNamesMapping().get(level.upper(), logging.INFO)
        self._logger: Any = None

    def bind(self, **context: Any) -> Log:
        """A log whose every line carries the context too."""
        context = {**self._context, **context}
        return Log(self._level, self._form, context, self._listeners, self._redact)

    def clean(self, text: str) -> str:
        """A text fit for a log or a message: nothing that steers a terminal, and no secret."""
        return self._redact(visible(text))

    @contextmanager
    def heard_by(self, listener: Listener) -> Iterator[None]:
        """Give a listener, meanwhile, each line of any level of this log and of those bound."""
        self._listeners.append(listener)
        try:
            yield
        finally:
            self._listeners.remove(listener)

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
        for listener in tuple(self._listeners):
            listener(logging.getLevelName(level).lower(), event, {**self._context, **fields})
        if level < self._threshold:
            return
        if self._logger is None:
            self._logger = _structured(self._form, self.clean).bind(**self._context)
        getattr(self._logger, logging.getLevelName(level).lower())(event, **fields)


def _structured(form: LogFormat, clean: Callable[[str], str]) -> Any:
    import structlog

    renderer = structlog.processors.JSONRenderer() if form == "json" else _render
    return structlog.wrap_logger(
        structlog.PrintLogger(sys.stderr),
        wrapper_class=structlog.BoundLogger,
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso"),
            _traced,
            lambda _logger, _method, event: {key: _cleaned(event[key], clean) for key in event},
            renderer,
        ],
    )


def _traced(logger: Any, method: str, event: Any) -> Any:
    """The line with its traceback as text, of a long one the beginning and the end."""
    from traceback import format_tb

    from structlog.processors import format_exc_info

    kind, _, at = sys.exc_info()
    try:
        event = format_exc_info(logger, method, event)
    except BaseException:  # noqa: BLE001 - what an exception says is code of whoever wrote it
        told = f"{kind.__name__ if kind else ''} (it cannot be shown)"
        event = {**event, "exception": f"{TRACE}:\n{''.join(format_tb(at))}{told}"}
        event.pop("exc_info", None)
    if len(trace := event.get("exception", "")) > MOST_TRACE:
        half = MOST_TRACE // 2
        event["exception"] = f"{trace[:half]}\n(…)\n{trace[-half:]}"
    return event


def _cleaned(value: Any, clean: Callable[[str], str]) -> Any:
    """The value with all its texts cleaned; what is of another type is shown by its text."""
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, Mapping):
        return {clean(str(key)): _cleaned(item, clean) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_cleaned(item, clean) for item in value]
    return clean(str(value))


def _render(_logger: Any, _method: str, event: Any) -> str:
    head = f"{event.pop('timestamp', '')} {event.pop('level', '')}: {event.pop('event', '')}"
    trace = event.pop("exception", "")
    rest = " ".join(f"{key}={value!r}" for key, value in event.items())
    return "\n".join(part for part in (f"{head} {rest}".rstrip(), trace) if part)
