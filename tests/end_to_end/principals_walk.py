"""A walk of three who share one server: each asks everything, and none gets what is another's."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

NAMES = ("owner", "anna", "ben")
CANARY = {"owner": "heliotrope", "anna": "tourmaline", "ben": "vermiculite"}
"""A word of what this principal gave, which anybody may ask for."""
SECRET = {name: f"{word}rosegarden" for name, word in CANARY.items()}
"""What stands beside that word, and is in no question of another."""
_ID = re.compile(r"\b(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32}|[0-9a-f]{12})\b")
"""Of jobs, sessions and records; files have the digest of what they hold, whoever made them."""
_URI = re.compile(r"vr://artifacts/[\w-]+(?:\.\w+)*")
NO_ENTRY = {"workspace", "backend", "model", "preset"}
"""Arguments that are left out: the owner's look into other workspaces, and settings."""
BARE = {"infra_configure", "infra_plugins", "knowledge_schema"}
"""Tools about the program, called without arguments."""
FORGETTING = {"object_ids", "confirm", "dry_run"}
COUNTS: Mapping[str, Mapping[str, Any]] = {
    "knowledge_stats": {},
    "infra_usage": {"by": "tool"},
    "infra_cache": {"action": "stats"},
    "job_list": {"limit": 100},
}
NOT_COUNTED = {"cache_dir", "total_size_mb", "pending", "pending_vectors", "refused", "notes"}
"""Of a folder, or of how far the store is with everybody's records, which the owner is told."""


@dataclass(frozen=True)
class Answer:
    """An answer: its words, its data, and whether it is an error."""

    said: str
    data: Any
    failed: bool


@dataclass(frozen=True)
class Offer:
    """A tool or a prompt: its name, and a JSON schema of its arguments."""

    name: str
    schema: Mapping[str, Any]


class Door(Protocol):
    """One principal's way to the server."""

    async def tools(self) -> list[Offer]:
        """Names of the tools that it can call."""

    async def prompts(self) -> list[Offer]:
        """Words that it can have written."""

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> Answer:
        """Call a tool."""

    async def read(self, uri: str) -> Answer:
        """Read a resource."""

    async def write(self, prompt: str, arguments: Mapping[str, str]) -> Answer:
        """Have a prompt written."""


@dataclass
class Principal:
    """One who asks, and what they were told."""

    name: str
    door: Door
    folder: Path
    seen: dict[str, str] = field(default_factory=dict)
    known: set[str] = field(default_factory=set)
    uris: dict[str, None] = field(default_factory=dict)
    called: set[str] = field(default_factory=set)

    @property
    def talk(self) -> str:
        """The recording of this principal."""
        return str(self.folder / "talk.mp4")


class Walk:
    """Everybody's steps, in an order that the seed decides."""

    def __init__(self, people: list[Principal], seed: int) -> None:
        self.people = people
        self.rng = random.Random(seed)

    async def run(self, *, extra: int, without: frozenset[str] = frozenset()) -> None:
        """Each has something, then calls every tool, then `extra` more, in turns.

        Args:
            extra: how many turns after everybody has called every tool.
            without: tools that take long.
        """
        tools = {each.name: each for each in await self.people[0].door.tools()}
        first = [await self.begin(person) for person in self.people]
        paid = [each.pop("infra_usage") for each in first]
        calls = [{row["key"]: row["calls"] for row in each["rows"]} for each in paid]
        # All did the same, and the first was alone then.
        assert first[0] == first[1] == first[2]
        assert calls == [calls[0]] * 3
        assert calls[0]
        turns = [(p, name) for p in self.people for name in tools if name not in without]
        self.rng.shuffle(turns)
        turns += [self.rng.choice(turns) for _ in range(extra)]
        for start in range(0, len(turns), 12):
            for person in self.people:
                mine = [name for who, name in turns[start : start + 12] if who is person]
                await self.turn(person, [tools[name] for name in mine])
        for person in self.people:
            assert person.called >= set(tools) - without
            await self.read_and_write(person)
            await self.ask_for_jobs(person)

    async def begin(self, person: Principal) -> dict[str, Any]:
        """A record, a recording that was watched, a conversation, an artifact; and the counts."""
        word, secret = CANARY[person.name], SECRET[person.name]
        passage = {"source": f"/{word}", "sha256": word, "text": f"The {word} shines: {secret}."}
        arguments: dict[str, dict[str, Any]] = {
            "knowledge_ingest": {"collection": "DocumentPassages", "properties": passage},
            "video_analyze": {"file_path": person.talk, "instruction": f"Look for {secret}."},
            "video_clip": {"file_path": person.talk, "start": "1", "end": "2", "format": "jpg"},
            "video_create_session": {"file_path": person.talk, "description": secret},
        }
        for tool, given in arguments.items():
            answer = await self.ask(person, tool, given)
            assert not answer.failed, (person.name, tool, answer.said)
        for each in CANARY.values():
            found = await self.ask(person, "knowledge_search", {"query": each})
            assert each != word or secret in found.said
        return await self.counts(person)

    async def turn(self, person: Principal, tools: list[Offer]) -> None:
        """Some calls of one principal, by which nothing changes for the others."""
        others = [each for each in self.people if each is not person]
        before = [await self.counts(each) for each in others]
        for tool in tools:
            given = self.arguments(tool)
            answer = await self.ask(person, tool.name, given)
            if isinstance(answer.data, dict) and answer.data.get("state") == "running":
                await self.ask(person, "job_result", {"job_id": answer.data["job_id"]})
        asked = [tool.name for tool in tools]
        assert [await self.counts(each) for each in others] == before, (person.name, asked)

    async def counts(self, person: Principal) -> dict[str, Any]:
        """Numbers of everything, as a principal is told them."""
        told = {}
        for tool, given in COUNTS.items():
            answer = await self.ask(person, tool, dict(given))
            assert not answer.failed, (person.name, tool, answer.said)
            told[tool] = {k: v for k, v in answer.data.items() if k not in NOT_COUNTED}
        told["job_list"] = {"jobs": sorted(job["tool"] for job in told["job_list"]["jobs"])}
        told["infra_cache"]["contexts"] = len(told["infra_cache"]["contexts"])
        return told

    async def ask(self, person: Principal, tool: str, arguments: dict[str, Any]) -> Answer:
        """Call a tool; its answer says nothing that is another's."""
        person.called.add(tool)
        answer = await person.door.call(tool, arguments)
        self.check(person, answer.said, json.dumps(arguments))
        return answer

    async def read_and_write(self, person: Principal) -> None:
        """Every artifact that anybody was told of, and every prompt."""
        unknown = "vr://artifacts/nobody-has-this.jpg"
        nothing = (await person.door.read(unknown)).said
        for uri in dict.fromkeys(uri for each in self.people for uri in each.uris):
            answer = await person.door.read(uri)
            assert answer.failed == (uri not in person.uris), (person.name, uri, answer.said)
            if answer.failed:
                assert answer.said == nothing.replace(unknown, uri).replace(
                    unknown.rpartition("/")[2], uri.rpartition("/")[2]
                )
            self.check(person, answer.said, uri)
        for prompt in await person.door.prompts():
            given = {name: self.any_word() for name in prompt.schema}
            answer = await person.door.write(prompt.name, given)
            self.check(person, answer.said, json.dumps(given))

    async def ask_for_jobs(self, person: Principal) -> None:
        """A job of another is as unknown as one that never was."""
        foreign = [each for other in self.people if other is not person for each in other.seen]
        for each in [it for it in foreign if len(it) == 32][:20]:
            for tool in ("job_status", "job_result", "job_cancel"):
                asked = [await self.ask(person, tool, {"job_id": it}) for it in (each, "f" * 32)]
                assert asked[0].failed
                # Each says the id of its own call.
                assert _ID.sub("", asked[0].said) == _ID.sub("", asked[1].said)

    def check(self, person: Principal, told: str, asked: str) -> None:
        """Nothing of another's is told, but what was named in the question."""
        person.known.update(_ID.findall(asked))
        for other in self.people:
            if other is person:
                continue
            assert SECRET[other.name] not in told, (person.name, asked, told)
            leaked = [each for each in other.seen if each in told and each not in person.known]
            assert not leaked, (person.name, leaked, asked, told, other.seen[leaked[0]])
        for each in _ID.findall(told):
            if each not in person.known:
                person.seen.setdefault(each, f"{asked} -> {told}")
        person.known.update(person.seen)
        person.uris.update(dict.fromkeys(set(_URI.findall(told)) - set(_URI.findall(asked))))

    def arguments(self, tool: Offer) -> dict[str, Any]:
        """Some arguments of a tool: what is needed, and some of the rest."""
        if tool.name in BARE:
            return {}
        if tool.name == "knowledge_forget":
            return {"object_ids": [self.any_id()], "confirm": True, "dry_run": False}
        required = tool.schema.get("required", ())
        return {
            name: self.value_of(name, each)
            for name, each in tool.schema["properties"].items()
            if name not in NO_ENTRY and (name in required or self.rng.random() < 0.4)
        }

    def any_id(self) -> str:
        """An id that anybody was told."""
        return self.rng.choice([*(each for p in self.people for each in p.seen), "0" * 32])

    def any_word(self) -> str:
        """Words that somebody may look for."""
        talks = [person.talk for person in self.people]
        return self.rng.choice([*CANARY.values(), self.any_id(), self.any_id(), *talks])

    def value_of(self, name: str, schema: Mapping[str, Any]) -> Any:
        """Some value of an argument."""
        one = next((s for s in schema.get("anyOf", [schema]) if s.get("type") != "null"), schema)
        if "enum" in one:
            return self.rng.choice(one["enum"])
        if one.get("type") == "array":
            return [self.value_of(name, one.get("items", {}))]
        if "collection" in name:
            return self.rng.choice(["DocumentPassages", "VideoAnalyses", "SessionTranscripts"])
        if name == "file_path":
            return self.rng.choice([person.talk for person in self.people])
        least = max(one.get("minimum", 0), one.get("exclusiveMinimum", 0), 1)
        plain = {
            "boolean": self.rng.random() < 0.5,
            "integer": least,
            "number": least,
            "object": {},
        }
        said = self.any_id() if name.endswith(("id", "ids")) else self.any_word()
        return plain.get(one.get("type", ""), said)
