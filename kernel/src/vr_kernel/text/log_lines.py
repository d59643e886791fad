"""The lines of a log: their form, their length, and their number."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TextIO

import structlog

from vr_kernel.text.bounds import bounded

SAME_LINES = 30
"""Warnings or errors of one kind that are written in `WINDOW_S`; the others are counted."""
WINDOW_S = 60.0
KINDS, KIND_CHARS, OTHERS = 500, 200, "other lines"
"""Maximum number of kinds at a time, the length of their names, and the kind of all others."""
TEXT_BYTES, TRACE_BYTES, LINE_BYTES = 4_096, 32_768, 65_536
"""Maximum bytes of a text in a line, of a traceback, and of a whole line."""
BURST_BYTES = 262_144
"""Bytes that may be written at once; half of them are reserved for the first line of each kind."""
BYTES_A_SECOND = 2_048
FOR_DEBUGGING = 10
"""Factor by which more is written at the level `debug`."""


@dataclass(slots=True)
class Kind:
    """Equal lines since the time `since`."""

    said: str
    since: float
    written: int = 0
    counted: int = 0


@dataclass(slots=True)
class Volume:
    """Volume of a log: the lines of a kind, and the bytes, that it may write in a time.

    Args:
        a_second: bytes, on average.
        burst: bytes at once.
        clock: a monotonic clock, in seconds.
    """

    a_second: float = BYTES_A_SECOND
    burst: float = BURST_BYTES
    clock: Callable[[], float] = time.monotonic
    _kinds: dict[str, Kind] = field(default_factory=dict)
    _spent: float = 0.0
    _at: float = 0.0

    def admit(self, name: str, level: int, said: str) -> bool:
        """True when a line of this kind may be written; otherwise it is counted."""
        now = self.clock()
        self._spent = max(0.0, self._spent - (now - self._at) * self.a_second)
        self._at = now
        if name not in self._kinds and len(self._kinds) >= KINDS:
            name = said = OTHERS
        kind = self._kinds.setdefault(name, Kind(said, now))
        room = self.burst if not kind.written else self.burst / 2
        too_often = level >= logging.WARNING and kind.written >= SAME_LINES
        if too_often or self._spent >= room:
            kind.counted += 1
            return False
        kind.written += 1
        return True

    def spend(self, size: int) -> None:
        """Count bytes that were written."""
        self._spent += size

    def over(self, *, all_of_them: bool = False) -> Iterator[tuple[str, int, float]]:
        """Kinds whose period ended with lines left out: their words, the number, the seconds."""
        now = self.clock()
        for name, kind in list(self._kinds.items()):
            if all_of_them or now - kind.since >= WINDOW_S:
                del self._kinds[name]
                if kind.counted:
                    yield kind.said, kind.counted, now - kind.since


class Lines:
    """Writes lines to a stream, within the volume allowed; safe from any thread.

    Args:
        as_json: writes one JSON object per line, for programs.
        clean: removes from a text what must not be shown.
        volume: how much is written.
        stream: where to; stderr when left out.
    """

    def __init__(
        self,
        *,
        as_json: bool,
        clean: Callable[[str], str],
        volume: Volume,
        stream: TextIO | None = None,
    ) -> None:
        self._render = _as_json if as_json else _as_words
        self._clean = clean
        self._volume = volume
        self._stream = sys.stderr if stream is None else stream
        self._lock = threading.RLock()
        self._timer: asyncio.TimerHandle | None = None
        self._steps = (
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso"),
            _traced,
        )

    def write(self, level: int, event: str, fields: Mapping[str, Any], kind: str) -> None:
        """Write a line, or count it if many of its kind were written recently."""
        with self._lock:
            self.tell_counted()
            if self._volume.admit(kind[:KIND_CHARS], level, event[:KIND_CHARS]):
                self._put(level, event, fields)
            else:
                self._tell_later()

    def tell_counted(self, *, all_of_them: bool = False) -> None:
        """For each kind whose period is over, write the number of lines left out."""
        with self._lock:
            for said, count, seconds in self._volume.over(all_of_them=all_of_them):
                more = f"{said} … said {count:,} times more in the last {seconds:.0f} s"
                self._put(logging.WARNING, more, {"counted": count})

    def _put(self, level: int, event: str, fields: Mapping[str, Any]) -> None:
        line: Any = {**fields, "event": event}
        for step in self._steps:
            line = step(None, logging.getLevelName(level).lower(), line)
        said = {key: _cleaned(line[key], key, self._clean) for key in line}
        text = self._render(said)
        if len(text) > LINE_BYTES:
            kept = {key: said[key] for key in ("timestamp", "level", "event")}
            text = self._render({**kept, "left_out": f"{len(text):,} characters"})
        self._volume.spend(len(text))
        with suppress(OSError, ValueError):  # a full disk must not fail a call
            self._stream.write(text + "\n")
            self._stream.flush()

    def _tell_later(self) -> None:
        with suppress(RuntimeError):  # without a loop the next line reports it
            loop = asyncio.get_running_loop()
            if self._timer is None or self._timer.when() <= loop.time():
                self._timer = loop.call_later(WINDOW_S, self.tell_counted)


def _traced(logger: Any, method: str, line: Any) -> Any:
    """Add the traceback as text; for an exception that cannot be formatted, only its frames."""
    failed = line.get("exc_info")
    kind, _, at = failed if isinstance(failed, tuple) else sys.exc_info()
    try:
        return structlog.processors.format_exc_info(logger, method, line)
    except BaseException:  # noqa: BLE001 - what an exception says is code of whoever wrote it
        shown = "".join(traceback.format_tb(at))
        told = f"{kind.__name__ if kind else 'It'} (it cannot be shown)"
        line.pop("exc_info", None)
        return {**line, "exception": f"Traceback (most recent call last):\n{shown}{told}"}


def _cleaned(value: Any, name: str, clean: Callable[[str], str]) -> Any:
    """The value with all its texts cleaned; other types are converted to text."""
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, Mapping):
        return {clean(str(key)): _cleaned(item, "", clean) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_cleaned(item, "", clean) for item in value]
    return bounded(str(value), TRACE_BYTES if name == "exception" else TEXT_BYTES, clean)


def _as_json(line: dict[str, Any]) -> str:
    return json.dumps(line, default=repr)


def _as_words(line: dict[str, Any]) -> str:
    line = dict(line)
    head = f"{line.pop('timestamp', '')} {line.pop('level', '')}: {line.pop('event', '')}"
    trace = line.pop("exception", "")
    rest = " ".join(f"{key}={value!r}" for key, value in line.items())
    return "\n".join(part for part in (f"{head} {rest}".rstrip(), trace) if part)
