"""Search mode with all that ships: the tool that a request needs is found, for few tokens."""

from __future__ import annotations

import json
import tomllib
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
import pytest_asyncio
from fastmcp import Client
from installation import REPOSITORY
from vr_kernel import Kernel, load_config
from vr_server import build_server
from vr_server.search.tool_words import Phrases

from benchmarks.tokens import token_counter, tokens_of

pytestmark = pytest.mark.asyncio(loop_scope="module")
DATA = REPOSITORY / "tests" / "data"
FIRST = 3
ENOUGH_PHRASES = 10
TOKENS_LIMIT = 400
EMBEDDERS = {"embedder-minilm"}
SHARES = {"requests_development": (97, 95), "requests_unseen": (90, 80)}
"""Share of requests in `tests/data`, in percent, that find a right tool among the first: with the
embedder that ships, and by words alone. Their authors saw no ranking.

Measured with 51 tools: of the 251 of the first set 251 and 244, but its misses were read when
phrases were written, so it says little. Of the 136 of the second set 126 and 117 (92.6 %; the 95 %
interval is 87 to 96); with the 37 tools before search and research it was 89 of 93. Its misses were
never read: do not print them, or it is unseen no longer. Its last 43 requests, for the 14 newest
tools, were written before the phrases of research, but by the same author.
The bounds leave a margin, since another processor rounds otherwise.
"""


@pytest.fixture(scope="module", params=[pytest.param("meaning", marks=pytest.mark.slow), "words"])
def by(request: pytest.FixtureRequest) -> str:
    """The way by which tools are found."""
    found: str = request.param
    return found


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def kernel(
    fresh_environment: Callable[..., dict[str, str]],
    tmp_path_factory: pytest.TempPathFactory,
    by: str,
) -> AsyncIterator[Kernel]:
    """One for all tests: the embedder reads what all tools say of themselves once."""
    installed = {folder.name for folder in (REPOSITORY / "plugins").iterdir()}
    ours = installed if by == "meaning" else installed - EMBEDDERS
    environment = fresh_environment(VR_TOOL_SEARCH="1", VR_PLUGINS=",".join(sorted(ours)))
    config = load_config(environment, working_folder=tmp_path_factory.mktemp("work"))
    async with Kernel.open(config, roots=[]) as kernel:
        yield kernel


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def client(kernel: Kernel) -> AsyncIterator[Client[Any]]:
    async with Client(build_server(kernel)) as client:
        yield client


async def test_the_list_costs_few_tokens(client: Client[Any]) -> None:
    tools = [tool.model_dump(by_alias=True) for tool in await client.list_tools()]
    assert [tool["name"] for tool in tools] == ["tool_search", "tool_call"]
    count = token_counter()
    assert sum(tokens_of(tool, count) for tool in tools) <= TOKENS_LIMIT


@pytest.mark.parametrize(
    "name", [pytest.param("requests_development", marks=pytest.mark.slow), "requests_unseen"]
)
async def test_strangers_find_the_right_tool(name: str, by: str, client: Client[Any]) -> None:
    asked = requests(name)
    found = [
        bool(set(each["tools"]) & set(await found_first(client, each["request"]))) for each in asked
    ]
    share = 100 * sum(found) / len(found)
    assert share >= SHARES[name][by == "words"], f"{share:.1f} %"


async def test_every_tool_that_ships_is_asked_for(kernel: Kernel) -> None:
    asked = {tool for name in SHARES for each in requests(name) for tool in each["tools"]}
    assert asked == set(kernel.tools)


async def test_authors_say_what_people_ask(kernel: Kernel) -> None:
    said = Phrases(kernel.log)
    few = [name for name, tool in kernel.tools.items() if len(said.of(tool)) < ENOUGH_PHRASES]
    assert few == []
    files = list(REPOSITORY.glob("*/src/*/phrases.toml"))
    files += REPOSITORY.glob("plugins/*/src/*/phrases.toml")
    named = [name for file in files for name in tomllib.loads(file.read_text("utf-8"))]
    assert set(named) <= set(kernel.tools), "phrases of tools that there are not"


def requests(name: str) -> list[dict[str, Any]]:
    """Read a set of requests: each has its words, and the tools that serve it."""
    read: list[dict[str, Any]] = json.loads((DATA / f"{name}.json").read_text("utf-8"))
    return read


async def found_first(client: Client[Any], request: str) -> list[str]:
    """The names that a search for a request begins with."""
    found = await client.call_tool("tool_search", {"query": request, "limit": FIRST})
    assert found.structured_content
    return [tool["name"] for tool in found.structured_content["tools"]]
