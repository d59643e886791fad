"""Finds what a person names: a source, a record, a job, or a file."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from vr_kernel import (
    Code,
    Kernel,
    Source,
    Tool,
    View,
    VrError,
    did_you_mean,
    entity_key,
)
from vr_kernel import visible_line as line
from vr_kernel.views import Item, Link, from_data, link_words, shown_host

from vr_cli.showing.kept_file import hint_of_file, plain_file, read_kept, require_plain
from vr_cli.showing.latest import named_records, stored

SEARCH = "search"
"""Word of the command that searches texts, where a plugin has one."""
SHORTEST = 4
"""Fewest characters that are taken for the beginning of an id."""
ID_CHARS = 8
NAMED = 6
"""Most things that an error names."""
WORDS_CHARS, TITLE_CHARS = 100, 80
"""Most characters of each in a message."""
PAGE = 500
_HEX = frozenset("0123456789abcdef-")
_ENDED = ("done", "failed", "cancelled")


@dataclass(frozen=True, slots=True)
class Subject:
    """A thing that can be shown: the words for it, and what makes its view."""

    words: str
    show: Callable[[], Awaitable[View]]


async def all_sources(kernel: Kernel) -> AsyncIterator[Source]:
    """Every source that records are about, the last changed first."""
    journal, workspace = kernel.services.journal, kernel.services.workspace
    after: int | None = None
    while page := await journal.sources(workspace, after, PAGE):
        for each in page:
            yield each
        after = page[-1].seq


def title_of_source(source: Source) -> str:
    """The title of a source; without one its host or the name of its file."""
    return line(source.title) or shown_host(source.source)


async def find_subject(kernel: Kernel, text: str) -> Subject:
    """Return the only thing that a text names.

    Raises:
        VrError: NOT_FOUND when it names nothing; INVALID_INPUT when it names several.
    """
    finder = _Finder(kernel)
    if not _is_text(text):
        raise await finder.unknown(line(text))
    found = await finder.exact(text)
    if found is not None:
        return found
    fitting = [*await finder.sources(text), *await finder.jobs(text), *await finder.records(text)]
    fitting = fitting or await finder.named(text)
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise _ambiguous(text, [each.words for each in fitting])
    require_plain(text)
    raise await finder.unknown(text)


def _is_text(text: str) -> bool:
    """False for the name of a file that is not UTF-8: no record can hold it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


class _Finder:
    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._services = kernel.services
        self._workspace = kernel.services.workspace

    async def exact(self, text: str) -> Subject | None:
        """A file, an address, a whole id, or a record with its kind."""
        kind, slash, key = text.partition("/")
        if slash and kind in await self._kinds():
            return await self._record(kind, key)
        if (path := plain_file(text)) and path.suffix.lower() == ".json":
            return Subject(text, lambda: self._kept(path))
        named = [text, *([str(path), str(path.resolve())] if path else [])]
        for each in [text, *(entity_key("source", name) for name in named)]:
            if source := await self._services.journal.source(self._workspace, each):
                return self._source(source)
        return None

    async def sources(self, text: str) -> list[Subject]:
        """Sources whose id begins so, or whose title or file name has these words."""
        begun, words = text.lower(), text.casefold()
        exact, fitting = [], []
        async for each in all_sources(self._kernel):
            title, name = title_of_source(each).casefold(), shown_host(each.source).casefold()
            if words in (title, name, Path(name).stem):
                exact.append(self._source(each))
            elif words in title or (len(begun) >= SHORTEST and each.id.startswith(begun)):
                fitting.append(self._source(each))
        return exact or fitting

    async def jobs(self, text: str) -> list[Subject]:
        """Jobs whose id begins so."""
        if not _may_be_id(text):
            return []
        principal = self._services.identity.principal
        found = await self._services.jobs.list(principal, (), PAGE)
        return [
            Subject(f"job {it.id[:ID_CHARS]} ({it.tool})", lambda it=it: self._job(it.id, it.state))  # type: ignore[misc]
            for it in found
            if it.id.startswith(text.lower())
        ]

    async def records(self, text: str) -> list[Subject]:
        """Records of any kind whose key begins so."""
        if not _may_be_id(text):
            return []
        found = []
        for kind in await self._kinds():
            keys = await self._services.journal.keys(kind, self._workspace)
            found += [self._shown(kind, key) for key in keys if key.startswith(text.lower())]
        return found

    async def named(self, text: str, kind: str = "") -> list[Subject]:
        """Records of a kind, or of any, with these words in their names."""
        words, found = line(text), []
        for each in [kind] if kind else await self._kinds():
            found += await named_records(self._kernel, each, words)
        exact = [it for it in found if it.title.casefold() == words.casefold()]
        return [self._listed(it) for it in exact or found]

    async def unknown(self, text: str) -> VrError:
        """The error of what nothing is known of, with the nearest title."""
        titles = [title_of_source(each) async for each in all_sources(self._kernel)]
        near = did_you_mean(text, titles)
        near += self._hint_of_kind(text) + hint_of_file(text)
        if any(tool.command == SEARCH for tool in self._kernel.tools.values()):
            near += f"`vr {SEARCH}` looks in all texts, "
        return VrError(
            f"Nothing is known of {line(text, WORDS_CHARS)!r}.",
            Code.NOT_FOUND,
            category="SUBJECT_UNKNOWN",
            hint=f"{near}`vr list` shows the sources, `vr job list` the jobs.",
        )

    def _hint_of_kind(self, text: str) -> str:
        named = [it for it in self._services.kinds if it.casefold() == text.casefold()]
        return f"`vr list {named[0]}` lists the records of that kind. " if named else ""

    async def _kinds(self) -> list[str]:
        known = list(self._services.kinds)
        gone = await self._services.journal.undeclared(self._workspace, known)
        return [*known, *(each.kind for each in gone)]

    async def _record(self, kind: str, key: str) -> Subject:
        keys = await self._services.journal.keys(kind, self._workspace)
        fitting = [key] if key in keys else [it for it in keys if key and it.startswith(key)]
        if fitting:
            found = [self._shown(kind, it, f"{kind}/{it}") for it in fitting]
        else:
            found = await self.named(key, kind) if key.strip() else []
        if len(found) > 1:
            raise _ambiguous(f"{kind}/{key}", [it.words for it in found])
        if not found:
            hint = f"`vr list {kind}` shows the records of that kind."
            raise VrError(f"There is no record {kind}/{line(key)}.", Code.NOT_FOUND, hint=hint)
        return found[0]

    def _listed(self, item: Item) -> Subject:
        """A record that its name found, with what tells it from others of that name."""
        kind, _, key = item.id.partition("/")
        place = item.place
        where = link_words(Link(start=place.start, end=place.end, page=place.page))
        title = line(item.title, TITLE_CHARS)
        told = f"{title}, {where}" if where else title
        return self._shown(kind, key, f"{kind}/{key[:ID_CHARS]} ({told})")

    def _shown(self, kind: str, key: str, words: str = "") -> Subject:
        async def show() -> View:
            found = await self._services.journal.record(self._workspace, kind, key)
            if found is None:
                raise VrError(f"The record {kind}/{key} is damaged or gone.", Code.NOT_FOUND)
            return await self._services.views.of_records([stored(found)])

        return Subject(words or f"{kind}/{key[:ID_CHARS]}", show)

    def _source(self, source: Source) -> Subject:
        words = f"source {source.id[:ID_CHARS]} ({line(title_of_source(source), TITLE_CHARS)})"
        return Subject(words, lambda: self._services.views.of_source(source.id))

    async def _job(self, job_id: str, state: str) -> View:
        """The result of a job that has ended; else its progress."""
        name = "job_result" if state in _ENDED else "job_status"
        outcome = await self._kernel.run(name, {"job_id": job_id})
        if outcome.error is not None or outcome.result is None:
            raise outcome.error or VrError("The job has no result.", Code.NOT_FOUND)
        return await self._services.views.of_result(self._kernel.tools[name], outcome.result)

    async def _kept(self, path: Path) -> View:
        """A view or a result that was written with `-o`."""
        data = read_kept(path)
        if not isinstance(data, dict):
            return from_data(data)
        fitting = [it for it in self._kernel.tools.values() if _returns(it, data)]
        if not fitting and isinstance(data.get("blocks"), list):
            return from_data(data)
        views = self._services.views
        made = [await views.of_result_data(it.name, data) for it in fitting]
        if made and all(each == made[0] for each in made):
            return made[0]
        several = ", ".join(it.name for it in fitting[:NAMED])
        why = f"Several tools return this: {several}." if several else "No tool here returns this."
        plain = await views.of_result_data(path.name, data)
        return replace(plain, title=path.name, notes=[f"{why} These are its plain values."])


def _returns(tool: Tool, data: Mapping[str, Any]) -> bool:
    """True when a tool returns exactly this: it can be read as a result, and is printed so."""
    if not data.keys() <= {*tool.result.model_fields, *tool.result.model_computed_fields}:
        return False
    try:
        result = tool.result.model_validate_json(json.dumps(data), strict=True)
    except (ValueError, RecursionError):
        return False
    return bool(result.model_dump(mode="json") == data)


def _may_be_id(text: str) -> bool:
    return len(text) >= SHORTEST and _HEX.issuperset(text.lower())


def _ambiguous(text: str, fitting: Sequence[str]) -> VrError:
    more = [f"and {len(fitting) - NAMED} more"] if len(fitting) > NAMED else []
    return VrError(
        f"{line(text, WORDS_CHARS)!r} may be {len(fitting)} things.",
        Code.INVALID_INPUT,
        category="SUBJECT_AMBIGUOUS",
        hint="\n  ".join(["Name one of them:", *fitting[:NAMED], *more]),
    )
