"""A kernel with every installed plugin, and the judge of what it answers to a bad call."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tool_arguments import NOBODY, Argument, Kind, filled
from vr_kernel import Code, Kernel
from vr_kernel.running.runner import Outcome

CANARY = "canary-of-the-outside"
"""In the names of what must not be opened."""
SECRET = "what-the-canary-sings"
"""In what must not be read."""
REFUSED_S = 1.0
"""Processor time: a refusal takes 250 ms; four times that on a machine that does much else."""
ANSWERED_S = 20.0
WAITED = 5
"""How many times as long it may take by the clock, while other programs have the processor."""
REFUSED_BYTES, ANSWERED_BYTES = 50_000_000, 500_000_000
"""How much a process may grow at most; models and libraries are loaded with an answer."""
COSTS = ("took ", "grew by ")
"""How a problem of time or memory begins."""
ANSWER_CHARS = 40_000
ERROR_CHARS = 10_000
RAW = re.compile(
    "[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u2069\\ufeff"
    "\\U000e0000-\\U000e007f]"
)
"""Characters that steer a terminal, or that a reader does not see."""
_SYSTEM = ("/etc/passwd", "/proc/self/environ", "/dev/zero")


class Watch:
    """Sees every file that Python opens, and every connection, of this process."""

    def __init__(self) -> None:
        self._seen: list[str] | None = None
        sys.addaudithook(self._see)

    @contextmanager
    def watching(self) -> Iterator[list[str]]:
        """Collect what is touched meanwhile and must not be."""
        seen: list[str] = []
        self._seen = seen
        try:
            yield seen
        finally:
            self._seen = None

    def _see(self, event: str, details: tuple[Any, ...]) -> None:
        if self._seen is None or not details:
            return
        if event in ("socket.connect", "socket.getaddrinfo", "urllib.Request"):
            if _is_nobody(event, details):
                return
            self._seen.append(f"{event} {details[-1] if event == 'socket.connect' else details[0]}")
        elif event == "open" and _is_kept_out(str(details[0])):
            self._seen.append(f"opened {details[0]}")


@dataclass(slots=True)
class Bench:
    """One kernel, the folder it may read, and the folder beside it that it may not."""

    kernel: Kernel
    inside: Path
    outside: Path
    watch: Watch
    problems: list[str] = field(default_factory=list)

    def absolute(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The filled-in arguments with a path where a file's name stands."""
        named = {name: str(arguments.get(name)) for name in ("file_path", "directory")}
        there = {name: str(self.inside / given) for name, given in named.items()}
        return {**arguments, **{k: v for k, v in there.items() if k in arguments}}

    async def abuse(
        self, argument: Argument, value: Any, codes: Collection[Code] | None = None
    ) -> None:
        """Call with a bad value and collect what is wrong with the answer.

        Args:
            argument: the one that gets the value; the others get good ones.
            value: the bad value.
            codes: one of them is demanded; without them a capped result will do too.
        """
        beside = self.absolute(filled(argument.tool, argument.name))
        if argument.kind is Kind.URL:
            for local in ("file_path", "directory"):
                beside.pop(local, None)
        said = f"{argument}={_short(value)}"
        await self.call(argument.tool, {**beside, argument.name: value}, said, codes)

    async def call(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        said: str,
        codes: Collection[Code] | None = None,
    ) -> Outcome:
        """Call a tool and collect what is wrong with the answer, told as of `said`."""
        outcome, found = await self._judged(tool, arguments, codes)
        if outcome.error is not None and any(problem.startswith(COSTS) for problem in found):
            # A library may be loaded meanwhile; what a refusal itself costs, it costs again.
            kept = [problem for problem in found if not problem.startswith(COSTS)]
            outcome, again = await self._judged(tool, arguments, codes)
            found = kept + again
        self.problems += [f"{said}: {problem}" for problem in found]
        return outcome

    async def _judged(
        self, tool: str, arguments: Mapping[str, Any], codes: Collection[Code] | None
    ) -> tuple[Outcome, list[str]]:
        recorded = await self.kernel.services.journal.last_seq()
        began, worked = time.perf_counter(), time.process_time()
        with self.watch.watching() as touched, _growth() as grown:
            outcome = await self.kernel.run(tool, arguments)
        worked = time.process_time() - worked
        took = max(worked, (time.perf_counter() - began) / WAITED)
        found = list(touched)
        found += list(answer_problems(outcome, None if codes is None else set(codes)))
        refused = outcome.error is not None
        if took > (REFUSED_S if refused else ANSWERED_S):
            found.append(f"took {took:.2f} s")
        if grown and grown[0] > (REFUSED_BYTES if refused else ANSWERED_BYTES):
            found.append(f"grew by {grown[0] / 1e6:.0f} MB")
        if refused and await self.kernel.services.journal.last_seq() != recorded:
            found.append("was refused and recorded all the same")
        return outcome, found

    def verdict(self) -> None:
        """Fail with every problem that was collected."""
        found, self.problems = self.problems, []
        assert not found, "\n".join([f"{len(found)} problems", *found[:20]])


def _is_nobody(event: str, details: tuple[Any, ...]) -> bool:
    if event == "socket.connect":
        return bool(details[-1] == NOBODY)
    if event == "socket.getaddrinfo":
        return (details[0], str(details[1])) == (NOBODY[0], str(NOBODY[1]))
    return str(details[0]).startswith("http://{}:{}/".format(*NOBODY))


def _is_kept_out(path: str) -> bool:
    return path.startswith(_SYSTEM) or CANARY in path or "/.ssh/" in path


def answer_problems(outcome: Outcome, codes: set[Code] | None) -> Iterator[str]:
    """Yield each fault of an answer, whatever was asked."""
    error = outcome.error
    if error is None:
        if codes is not None:
            yield f"was not refused: {_short(outcome.data)}"
        text = json.dumps(outcome.data, ensure_ascii=False)
        limit = ANSWER_CHARS
    else:
        if error.code is Code.INTERNAL or error.category == "UNKNOWN":
            yield f"crashed: {error.message}"
        elif codes is not None and error.code not in codes:
            yield f"is {error.code}: {_short(error.message)}"
        if not error.message.strip() or not error.hint.strip():
            yield f"has no message or no hint: {_short(error.message)}"
        text = f"{error.message} {error.hint}"
        limit = ERROR_CHARS
        if RAW.search(text):
            yield f"shows characters that nobody sees: {_short(text)}"
    yield from _text_problems(text, limit)


def _text_problems(text: str, limit: int) -> Iterator[str]:
    if SECRET in text:
        yield "gives away a file of the outside"
    if "Traceback" in text or 'File "' in text:
        yield f"shows a traceback: {_short(text)}"
    if len(text) > limit:
        yield f"has {len(text):,} characters"
    try:
        text.encode()
    except UnicodeEncodeError:
        yield f"cannot be sent: {_short(text)}"


@contextmanager
def _growth() -> Iterator[list[int]]:
    """By how many bytes the process grew at most meanwhile; empty where nobody tells."""
    grown: list[int] = []
    before = _peak(reset=True)
    yield grown
    if before is not None:
        after = _peak(reset=False)
        grown.append((after or before) - before)


def _peak(*, reset: bool) -> int | None:
    with suppress(OSError, StopIteration):
        if reset:
            Path("/proc/self/clear_refs").write_text("5", "ascii")
        lines = Path("/proc/self/status").read_text("ascii").splitlines()
        line = next(line for line in lines if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    return None


def _short(value: Any) -> str:
    try:
        text = ascii(value)
    except RecursionError:
        return f"a deeply nested {type(value).__name__}"
    return text if len(text) <= 160 else f"{text[:140]}... ({len(text):,})"


def make_outside(outside: Path, inside: Path) -> None:
    """Files that must not be read, and the ways into them from the folder that may be."""
    for folder in (outside, inside.with_name(f"{inside.name}-evil")):
        folder.mkdir()
        for name in (f"{CANARY}.mp4", f"{CANARY}.txt"):
            (folder / name).write_text(f"Outside, {SECRET}.", "utf-8")
    (inside / "link.mp4").symlink_to(outside / f"{CANARY}.mp4")
    (inside / "link").symlink_to(outside)
    (inside / "loop.mp4").symlink_to(inside / "loop.mp4")
    (inside / "dangling.mp4").symlink_to(outside / "nothing.mp4")
    (inside / "folder.mp4").mkdir()
    os.mkfifo(inside / "pipe.mp4")
    (inside / "zero.mp4").symlink_to("/dev/zero")
    (inside / "environ.mp4").symlink_to("/proc/self/environ")
