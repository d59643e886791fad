"""Three who share one server: nothing leads from one to what is another's."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from principals_walk import NAMES, Answer, Offer, Principal, Walk
from server_process import HttpServerProcess
from vr_kernel import Kernel, VrError, load_config
from vr_testing import FakeGemini

TOKENS = {name: f"{name}-secret-0123456789" for name in NAMES}
SERVICES = ("SEMANTIC_SCHOLAR", "OPENALEX", "ARXIV")
PAPERS = [f"VR_SEARCH__{name}_BASE_URL" for name in SERVICES]
PARAMETER = re.compile(r"\{(\w+)\*?\}")
WATCHING = frozenset({"video_analyze", "video_batch_analyze", "video_scenes", "video_transcript"})
"""Tools that may look through a whole recording on this machine."""


@dataclass(frozen=True)
class Inside:
    """The way of a principal to a kernel of this process."""

    kernel: Kernel
    name: str | None

    async def tools(self) -> list[Offer]:
        return [Offer(each.name, each.input_schema) for each in self.kernel.tools.values()]

    async def prompts(self) -> list[Offer]:
        prompts = self.kernel.prompts.values()
        return [Offer(p.name, {a.name: {} for a in p.arguments if a.required}) for p in prompts]

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> Answer:
        outcome = await self.kernel.run(tool, arguments, principal=self.name)
        if outcome.error is not None:
            return Answer(json.dumps(outcome.error.as_dict("")), None, failed=True)
        return Answer(json.dumps([outcome.data, outcome.notes]), outcome.data, failed=False)

    async def read(self, uri: str) -> Answer:
        head, _, last = uri.rpartition("/")
        of = {each.uri.partition("/{")[0]: each for each in self.kernel.resources.values()}
        resource = of.get(uri) or of[head]
        given = dict.fromkeys(PARAMETER.findall(resource.uri), last)
        try:
            found = await self.kernel.read(resource, given, self.name)
        except VrError as error:
            return Answer(f"{error.message} {error.hint}", None, failed=True)
        return Answer(str(found), None, failed=False)

    async def write(self, prompt: str, arguments: Mapping[str, str]) -> Answer:
        written = self.kernel.write(self.kernel.prompts[prompt], arguments)
        return Answer(str(written), None, failed=False)


@dataclass(frozen=True)
class Wire:
    """The way of a principal over HTTP."""

    client: Any

    async def tools(self) -> list[Offer]:
        return [Offer(each.name, each.input_schema) for each in await self.client.list_tools()]

    async def prompts(self) -> list[Offer]:
        listed = await self.client.list_prompts()
        return [
            Offer(p.name, {a.name: {} for a in p.arguments or () if a.required}) for p in listed
        ]

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> Answer:
        answer = await self.client.call_tool(tool, arguments, raise_on_error=False)
        said = " ".join(getattr(block, "text", "") for block in answer.content)
        return Answer(said, answer.structured_content, failed=answer.is_error)

    async def read(self, uri: str) -> Answer:
        try:
            found = await self.client.read_resource(uri)
        except Exception as error:  # noqa: BLE001 - of whichever kind the client makes of it
            return Answer(str(error), None, failed=True)
        return Answer(str(found), None, failed=False)

    async def write(self, prompt: str, arguments: Mapping[str, str]) -> Answer:
        return Answer(str(await self.client.get_prompt(prompt, arguments)), None, failed=False)


@pytest.fixture
def shared(
    fresh_environment: Callable[..., dict[str, str]], tmp_path: Path, talk: Path
) -> Iterator[dict[str, str]]:
    """The environment of a server for three, each with a recording of their own."""
    for name in NAMES:
        (tmp_path / name).mkdir()
        own = b"free" + name.encode()
        film = talk.read_bytes() + (len(own) + 4).to_bytes(4, "big") + own
        (tmp_path / name / "talk.mp4").write_bytes(film)
    with FakeGemini() as gemini:
        yield fresh_environment(
            **{f"VR_{name}_DIR": str(tmp_path / name) for name in ("CONFIG", "STATE", "CACHE")},
            GEMINI_API_KEY="a-key",
            GOOGLE_GEMINI_BASE_URL=gemini.url,
            VR_HTTP_TOKENS=f"{TOKENS['owner']}, anna:{TOKENS['anna']}, ben:{TOKENS['ben']}",
            VR_KERNEL__SERVE__ROOTS=json.dumps(
                {name: [str(tmp_path / name)] for name in ("anna", "ben")}
            ),
            VR_KERNEL__HANDLE_AFTER_S="2",
            VR_TOOLSETS="all",
            **dict.fromkeys(PAPERS, gemini.url),  # it knows no papers
        )


@pytest.mark.slow
async def test_nothing_leads_from_one_to_another(shared: dict[str, str], tmp_path: Path) -> None:
    config = load_config(shared, working_folder=tmp_path / "owner")
    async with Kernel.open(config, roots=[tmp_path / "owner"]) as kernel:
        people = [
            Principal(name, Inside(kernel, None if name == "owner" else name), tmp_path / name)
            for name in NAMES
        ]
        await Walk(people, seed=1).run(extra=0, without=WATCHING)


@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.parametrize("seed", range(2))
def test_nothing_leads_from_one_to_another_over_http(
    shared: dict[str, str], tmp_path: Path, seed: int
) -> None:
    from fastmcp import Client
    from fastmcp.client.auth import BearerAuth

    async def walk(url: str) -> None:
        async with AsyncExitStack() as stack:
            people = []
            for name in NAMES:
                client = Client(url, auth=BearerAuth(TOKENS[name]))
                entered = await stack.enter_async_context(client)
                people.append(Principal(name, Wire(entered), tmp_path / name))
            await Walk(people, seed).run(extra=60)

    with HttpServerProcess(shared, tmp_path / "owner") as server:
        asyncio.run(walk(server.url))


async def test_who_shares_a_workspace_shares_what_is_recorded(
    shared: dict[str, str], tmp_path: Path
) -> None:
    """A turn is a record, which both find; the conversation is its own's alone."""
    sharing = {
        "VR_KERNEL__SERVE__SHARED_WORKSPACES": '["team"]',
        "VR_KERNEL__SERVE__WORKSPACES": json.dumps({"anna": "team", "ben": "team"}),
    }
    config = load_config({**shared, **sharing}, working_folder=tmp_path / "owner")
    film = str(tmp_path / "anna" / "talk.mp4")
    async with Kernel.open(config, roots=[tmp_path / "owner"]) as kernel:

        async def said(who: str | None, tool: str, **arguments: Any) -> Any:
            outcome = await kernel.run(tool, arguments, principal=who)
            assert outcome.error is None, outcome.error
            return outcome.data

        begun = (await said("anna", "video_create_session", file_path=film))["session_id"]
        await said("anna", "video_continue_session", session_id=begun, prompt="A heron?")
        search = {"query": "heron", "collections": ["SessionTranscripts"]}
        for who, hits in (("anna", 1), ("ben", 1), (None, 0)):
            assert len((await said(who, "knowledge_search", **search))["results"]) == hits
        assert (await said("ben", "video_list_sessions"))["sessions"] == []
        arguments = {"session_id": begun, "prompt": "And now?"}
        refused = await kernel.run("video_continue_session", arguments, principal="ben")
        assert refused.error is not None
        assert refused.error.category == "SESSION_UNKNOWN"
