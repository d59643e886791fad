"""Three who share one server over HTTP: nothing leads from one to what is another's."""

from __future__ import annotations

import asyncio
import json
import random
import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from installation import SERVE
from vr_kernel.testing import FakeGemini

NAMES = ("owner", "anna", "ben")
TOKENS = {name: f"{name}-secret-0123456789" for name in NAMES}
CANARY = {"owner": "heliotrope", "anna": "tourmaline", "ben": "vermiculite"}
"""A word of what this principal gave, which anybody may ask for."""
SECRET = {name: f"{word}rosegarden" for name, word in CANARY.items()}
"""What stands beside that word, and is in no question of another."""
_ID = re.compile(r"\b(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32}|[0-9a-f]{12})\b")
"""Of jobs, sessions and records; files have the digest of what they hold, whoever made them."""
NO_ENTRY = {"workspace", "backend", "model", "preset"}
"""Arguments that are left out: the owner's look into other workspaces, and settings."""
SHARED = {"infra_configure", "infra_plugins", "knowledge_schema"}
"""Tools about the program, not about what somebody recorded."""


@dataclass
class Principal:
    """One who asks, and what they have seen that is theirs."""

    name: str
    client: Any
    folder: Path
    seen: dict[str, str] = field(default_factory=dict)
    known: set[str] = field(default_factory=set)


@dataclass
class House:
    """A server, those who ask, and what each was told."""

    people: dict[str, Principal]
    rng: random.Random
    tools: list[Any] = field(default_factory=list)

    async def ask(self, who: Principal, tool: str, arguments: dict[str, Any]) -> Any:
        """Call a tool; its answer says nothing that is another's."""
        answer = await who.client.call_tool(tool, arguments, raise_on_error=False)
        told = " ".join(getattr(block, "text", "") for block in answer.content)
        self.check(who, told, json.dumps(arguments))
        return answer

    def check(self, who: Principal, told: str, asked: str) -> None:
        """Nothing of another's is told, but what who asks has named before."""
        who.known.update(_ID.findall(asked))
        for other in self.people.values():
            if other is who:
                continue
            assert SECRET[other.name] not in told, (who.name, asked, told)
            leaked = [each for each in other.seen if each in told and each not in who.known]
            assert not leaked, (who.name, leaked, asked, told, other.name, other.seen[leaked[0]])
        for each in set(_ID.findall(told)) - who.known:
            who.seen.setdefault(each, f"{asked} -> {told}")
        who.known.update(who.seen)

    def any_id(self) -> str:
        """An id that anybody has seen."""
        known = sorted(each for person in self.people.values() for each in person.seen)
        return self.rng.choice([*known, "0" * 32])

    def any_word(self) -> str:
        """What somebody may look for."""
        files = [str(person.folder / "talk.mp4") for person in self.people.values()]
        return self.rng.choice([*CANARY.values(), self.any_id(), self.any_id(), *files])

    def value_of(self, name: str, schema: dict[str, Any]) -> Any:
        """Some value of an argument."""
        one = next((s for s in schema.get("anyOf", [schema]) if s.get("type") != "null"), schema)
        choices: dict[str, Any] = {
            "boolean": self.rng.random() < 0.5,
            "integer": max(one.get("minimum", 0), one.get("exclusiveMinimum", 0), 1),
            "number": max(one.get("minimum", 0), one.get("exclusiveMinimum", 0), 1),
            "object": {},
        }
        if "enum" in one:
            return self.rng.choice(one["enum"])
        if one.get("type") == "array":
            return [self.value_of(name, one.get("items", {}))]
        if "collection" in name:
            return self.rng.choice(["DocumentPassages", "VideoAnalyses", "SessionTranscripts"])
        said = self.any_id() if name.endswith(("id", "ids")) else self.any_word()
        return choices.get(one.get("type", ""), said)


async def walk(house: House, steps: int) -> None:
    """Everybody asks anything, in turn; counts are each one's own."""
    owner = house.people["owner"]
    house.tools = await owner.client.list_tools()
    for person in house.people.values():
        await begin(house, person)
    for _ in range(steps):
        person = house.people[house.rng.choice(NAMES)]
        if house.rng.random() < 0.15:
            await read(house, person)
            continue
        tool = house.rng.choice(house.tools)
        schema = tool.input_schema
        arguments = {
            name: house.value_of(name, each)
            for name, each in schema["properties"].items()
            if name not in NO_ENTRY
            and (name in schema.get("required", ()) or house.rng.random() < 0.4)
        }
        if tool.name in ("knowledge_forget", "knowledge_ingest"):
            arguments = {"object_ids": [house.any_id()], "confirm": True}
            arguments["dry_run"] = False
            await forget(house, person, arguments)
            continue
        if tool.name in SHARED:
            arguments = {}
        if tool.name.startswith("job_result"):
            arguments["wait_s"] = 5
        await house.ask(person, tool.name, arguments)
    for person in house.people.values():
        await settle(house, person)


async def begin(house: House, person: Principal) -> None:
    """What each has: a record, a file that was watched, a conversation, a cached result."""
    word = CANARY[person.name]
    made = await house.ask(
        person,
        "knowledge_ingest",
        {
            "collection": "DocumentPassages",
            "properties": {
                "source": f"/{word}.txt",
                "sha256": word,
                "text": f"The {word} shines: {SECRET[person.name]}.",
            },
        },
    )
    assert not made.is_error, made.content
    talk = str(person.folder / "talk.mp4")
    for tool, arguments in {
        "video_clip": {"file_path": talk, "start": "1", "end": "2", "format": "jpg"},
        "video_create_session": {"file_path": talk, "description": SECRET[person.name]},
        "knowledge_search": {"query": word},
        "infra_cache": {"action": "list"},
        "job_list": {},
    }.items():
        answer = await house.ask(person, tool, arguments)
        assert not answer.is_error, (person.name, tool, answer.content)


async def forget(house: House, person: Principal, arguments: dict[str, Any]) -> None:
    """Forgetting removes one's own alone: what it says it removed is one's own."""
    before = await total(house, person)
    others = {p.name: await total(house, p) for p in house.people.values() if p is not person}
    await house.ask(person, "knowledge_forget", arguments)
    assert await total(house, person) <= before
    after = {p.name: await total(house, p) for p in house.people.values() if p is not person}
    assert after == others


async def total(house: House, person: Principal) -> int:
    """How many records somebody is told there are."""
    answer = await house.ask(person, "knowledge_stats", {})
    assert not answer.is_error, answer.content
    assert answer.structured_content["pending"] == 0
    return int(answer.structured_content["total"])


async def read(house: House, person: Principal) -> None:
    """Read an artifact by a name that somebody may have seen."""
    for suffix in (".jpg", ".json"):
        uri = f"vr://artifacts/{house.any_id()}{suffix}"
        try:
            found = await person.client.read_resource(uri)
        except Exception as error:  # noqa: BLE001 - of whichever kind the client makes of it
            house.check(person, str(error), uri)
        else:
            mine = {each for each in person.seen if each in uri}
            assert mine, f"{person.name} read {uri}, which is another's"
            house.check(person, str(found), uri)


async def settle(house: House, person: Principal) -> None:
    """At the end: nobody's clear emptied another's cache, and foreign equals unknown."""
    for other in house.people.values():
        for foreign in sorted(other.seen)[:20]:
            if other is person or len(foreign) != 32:
                continue
            for tool in ("job_status", "job_cancel"):
                answers = [
                    await house.ask(person, tool, {"job_id": asked})
                    for asked in (foreign, "f" * 32)
                ]
                said = [each.content[0].text.replace("f" * 32, foreign) for each in answers]
                assert said[0] == said[1]


@pytest.fixture(scope="module")
def house_url(
    fresh_environment: Callable[..., dict[str, str]],
    tmp_path_factory: pytest.TempPathFactory,
    talk: Path,
) -> Iterator[tuple[str, Path]]:
    folder = tmp_path_factory.mktemp("house")
    for name in NAMES:
        (folder / name).mkdir()
        own = b"free" + name.encode()
        film = talk.read_bytes() + (len(own) + 4).to_bytes(4, "big") + own
        (folder / name / "talk.mp4").write_bytes(film)
    roots = {name: [str(folder / name)] for name in ("anna", "ben")}
    tokens = f"{TOKENS['owner']}, anna:{TOKENS['anna']}, ben:{TOKENS['ben']}"
    with FakeGemini() as gemini:
        environment = fresh_environment(
            GEMINI_API_KEY="a-key",
            GOOGLE_GEMINI_BASE_URL=gemini.url,
            VR_HTTP_TOKENS=tokens,
            VR_KERNEL__SERVE__ROOTS=json.dumps(roots),
            VR_KERNEL__HANDLE_AFTER_S="2",
        )
        process = subprocess.Popen(
            [*SERVE, "--http", "0"],
            env=environment,
            cwd=folder / "owner",
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            assert process.stderr
            url = next(line.split()[-1] for line in process.stderr if "Serving on" in line)
            yield url, folder
        finally:
            process.terminate()
            process.communicate(timeout=30)


async def _live(url: str, folder: Path, seed: int, steps: int) -> None:
    from contextlib import AsyncExitStack

    from fastmcp import Client
    from fastmcp.client.auth import BearerAuth

    async with AsyncExitStack() as stack:
        people = {
            name: Principal(
                name,
                await stack.enter_async_context(Client(url, auth=BearerAuth(TOKENS[name]))),
                folder / name,
            )
            for name in NAMES
        }
        await walk(House(people, random.Random(seed)), steps)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.slow
def test_nothing_leads_from_one_to_another(house_url: tuple[str, Path], seed: int) -> None:
    url, folder = house_url
    asyncio.run(_live(url, folder, seed, steps=100))
