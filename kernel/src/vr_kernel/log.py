"""Logs: structured, to stderr, never to stdout."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Literal

from vr_kernel.text.visible_text import visible

if TYPE_CHECKING:
    from vr_kernel.text.log_lines import Lines

LogFormat = Literal["console", "json"]
Listener = Callable[[str, str, Mapping[str, Any]], None]
"""Called with the level, the event and the fields of a line."""


class Log:
    """A structured log on stderr, at and above a level.

    The code that writes is imported with the first line, since most runs write none. Nothing global
    is configured, so two kernels have two logs. Lines of a kind that repeats often are counted.
    """

    def __init__(
        self,
        level: str,
        form: LogFormat,
        context: Mapping[str, Any] | None = None,
        listeners: list[Listener] | None = None,
        redact: Callable[[str], str] = str,
        lines: list[Lines] | None = None,
    ) -> None:
        self._level = level
        self._form: LogFormat = form
        self._context = dict(context or {})
        self._listeners = [] if listeners is None else listeners
        self._redact = redact
        self._threshold = logging.getLevelNamesMapping().get(level.upper(), logging.INFO)
        self._lines = [] if lines is None else lines

    def bind(self, **context: Any) -> Log:
        """A log that adds the context to every line."""
        context = {**self._context, **context}
        more = (context, self._listeners, self._redact, self._lines)
        return Log(self._level, self._form, *more)

    def clean(self, text: str) -> str:
        """A text fit for a log or a message: without control characters and secrets."""
        return self._redact(visible(text))

    @contextmanager
    def heard_by(self, listener: Listener) -> Iterator[None]:
        """Give a listener every line of this log and of those bound to it, inside a block."""
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
        """Write a warning: something works less well than it should."""
        self._write(logging.WARNING, event, fields)

    def error(self, event: str, **fields: Any) -> None:
        """Write what does not work."""
        self._write(logging.ERROR, event, fields)

    def exception(self, event: str, **fields: Any) -> None:
        """Write an error, with the traceback of the exception being handled."""
        self._write(logging.ERROR, event, {**fields, "exc_info": True})

    @contextmanager
    def of_libraries(self) -> Iterator[None]:
        """Write warnings and errors that libraries log, inside a block."""
        taker = _Taker(self._write)
        root = logging.getLogger()
        known = [x for x in root.manager.loggerDict.values() if isinstance(x, logging.Logger)]
        before = [(each, each.handlers, each.propagate) for each in (root, *known)]
        for each in known:
            each.handlers, each.propagate = [], True
        root.handlers = [taker]
        try:
            yield
        finally:
            for each, handlers, propagate in before:
                each.handlers, each.propagate = handlers, propagate

    def prepare(self) -> None:
        """Import the code that writes lines: later the process may have no file descriptor left."""
        if not self._lines:
            self._lines.append(self._begun())

    def tell_counted(self) -> None:
        """Write how many repeated lines were counted instead of written."""
        for lines in self._lines:
            lines.tell_counted(all_of_them=True)

    def _write(self, level: int, event: str, fields: Mapping[str, Any], kind: str = "") -> None:
        for listener in tuple(self._listeners):
            listener(logging.getLevelName(level).lower(), event, {**self._context, **fields})
        if level < self._threshold:
            return
        self.prepare()
        said = {**self._context, **fields}
        # The same event of two plugins counts as two kinds.
        self._lines[0].write(level, event, said, kind or f"{event} {said.get('plugin', '')}")

    def _begun(self) -> Lines:
        from vr_kernel.text.log_lines import BYTES_A_SECOND, FOR_DEBUGGING, Lines, Volume

        times = FOR_DEBUGGING if self._threshold <= logging.DEBUG else 1
        volume = Volume(BYTES_A_SECOND * times)
        return Lines(as_json=self._form == "json", clean=self.clean, volume=volume)


class _Taker(logging.Handler):
    """Passes on what libraries log; the kind of a line is the place in their code."""

    def __init__(self, write: Callable[[int, str, Mapping[str, Any], str], None]) -> None:
        super().__init__(logging.WARNING)
        self._write = write

    def emit(self, record: logging.LogRecord) -> None:
        """Take a record; one that cannot be written is dropped."""
        fields = {"logger": record.name}
        more = {"exc_info": record.exc_info} if record.exc_info else {}
        with suppress(Exception):  # also one that cannot be formatted
            kind = f"{record.pathname}:{record.lineno}"
            self._write(record.levelno, record.getMessage(), {**fields, **more}, kind)
