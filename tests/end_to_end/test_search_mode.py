"""Search mode with all that ships: the tool that a request needs is found, for few tokens."""

from __future__ import annotations

import json
import tomllib
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
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
FIRST = 3
ENOUGH = 95
ENOUGH_PHRASES = 10
TOKENS_LIMIT = 400
REQUESTS: Mapping[str, Sequence[str]] = {
    "video_analyze": (
        "Summarise this YouTube talk for me",
        "what is this recording about?",
        "give me the key takeaways of the lecture in ~/talks/physics.mp4",
        "watch https://youtu.be/abc and tell me what happens",
        "I have a two hour meeting video, I need the main points",
        "pull a table of products and prices out of this video as JSON",
        "does the speaker in this video sound positive or negative?",
        "make chapters for this podcast episode",
        "Analyse minutes 10 to 20 of the keynote video",
    ),
    "video_transcript": (
        "write down everything that is said in this interview",
        "I need subtitles for my video",
        "transcribe this mp3",
        "make an srt file from the webinar",
        "get me the captions of a YouTube clip",
        "what exactly did she say at 12:30 in the video?",
        "full text of the speech in talk.mp4, with times",
        "speech to text for a voice memo",
    ),
    "video_scenes": (
        "extract the slides from this lecture",
        "take a picture of every scene in the film",
        "read the text that is shown on the screen in the video",
        "when does the picture change in this clip?",
        "OCR the presentation slides in the recording",
        "split the movie into shots",
        "list of slides with the times they appear",
    ),
    "video_clip": (
        "cut the part from 2:10 to 2:40 out of this video",
        "save a short mp4 of that moment",
        "make a gif of the demo",
        "give me the sound of minutes 3 to 5 as an mp3",
        "a still image of the video at 1:15",
    ),
    "video_batch_analyze": (
        "analyse every video in this folder",
        "go through all the recordings in ~/lectures and summarise each",
        "summarise the whole playlist, one by one",
        "process a directory of mp4 files at once",
        "bulk analysis of many videos",
    ),
    "video_create_session": (
        "I want to chat with this video",
        "start a conversation about the lecture",
        "open a session to ask several questions about a film",
        "let me talk about this recording question by question",
    ),
    "video_continue_session": (
        "ask a follow-up question in our video session",
        "next question about the same video: who is the second speaker?",
        "go on with the video chat",
        "continue the conversation about the clip",
    ),
    "video_list_sessions": (
        "which video chats do I have open?",
        "list my earlier conversations about videos",
        "show the sessions I started",
        "what was the id of yesterday's video chat?",
    ),
    "video_export_session": (
        "save our video conversation as Markdown",
        "export the chat about the lecture",
        "give me the whole dialogue of the session as a file",
        "download the questions and answers of my video chat",
    ),
    "video_export": (
        "make a web page of this video's analysis",
        "an HTML report of the talk with player and timeline",
        "something I can send to a colleague that shows slides and transcript offline",
        "export the video summary to a file",
    ),
    "video_metadata": (
        "how many views does this YouTube video have?",
        "who uploaded this video and when?",
        "what is the length and the channel of the clip?",
        "get the tags and the description of a YouTube video",
    ),
    "video_comments": (
        "what do the viewers say about this YouTube video?",
        "show me the most liked comments",
        "is the audience happy with the video?",
        "summarise the comment section",
    ),
    "video_playlist": (
        "which videos are in this YouTube playlist?",
        "list the episodes of the course playlist",
        "get the links of all videos in a playlist",
        "how many lectures does the series have?",
    ),
    "knowledge_search": (
        "what do I already know about transformers?",
        "find where I saw gradient descent explained",
        "search my notes for the word entropy",
        "have we looked at this video before?",
        "look up earlier results about climate policy",
        "which of the recorded videos mention Lisbon?",
        "search everything we have stored by meaning",
        "query the knowledge base about battery chemistry",
    ),
    "knowledge_fetch": (
        "open the second search hit completely",
        "show me the whole record with id 3f2a",
        "get the object 7c1e from the collection VideoAnalyses",
        "read the full entry that the search found",
        "fetch one stored record by its id",
        "I want all properties of that object",
    ),
    "knowledge_ingest": (
        "save this finding in the knowledge base",
        "store my own notes as records",
        "add a new entry to the collection",
        "put these facts into the store so I can find them later",
        "remember this object for me",
        "import a list of objects into a collection",
    ),
    "knowledge_schema": (
        "what collections are there and what fields do they have?",
        "which properties can a record have?",
        "show an example object of a collection",
        "describe the data model of the knowledge store",
        "what must an object look like before I ingest it?",
        "structure of the collection VideoAnalyses",
    ),
    "knowledge_stats": (
        "how many records do I have?",
        "count the entries in each collection",
        "how big is my knowledge base?",
        "number of analysed videos per category",
        "statistics of what is stored",
        "group the records by source tool and count them",
    ),
    "knowledge_ask": (
        "answer this from my library, with sources: why do transformers need positions?",
        "what do our recordings say about inflation? quote them",
        "explain from what we collected how RLHF works",
        "write me an answer with citations from the knowledge base",
        "according to my talks, which index is faster?",
    ),
    "knowledge_related": (
        "what else is like this record?",
        "more of the same as hit number two",
        "records that are similar to this one",
        "find neighbours of the entry 7c1e",
    ),
    "knowledge_forget": (
        "delete the record 3f2a for good",
        "forget everything from that meeting",
        "remove all records that are older than a year",
        "erase what we stored about this video",
    ),
    "knowledge_extract": (
        "pull the concepts out of my analyses",
        "build a knowledge graph from these records",
        "find out which ideas these lectures are about and how they relate",
        "extract entities and relationships",
    ),
    "knowledge_graph": (
        "show how attention and transformers are connected",
        "draw a concept map around entropy",
        "which concepts build on gradient descent?",
        "export the graph as mermaid",
    ),
    "infra_cache": (
        "delete the cached results",
        "how much space does the cache take?",
        "throw away old cached analyses so it runs fresh",
        "empty the cache for this one video",
        "list cached files",
        "is there a context cached at Gemini?",
    ),
    "infra_configure": (
        "use a cheaper model from now on",
        "switch to gemini flash",
        "make it think harder",
        "which model is active at the moment?",
        "change the preset to budget",
        "lower the thinking level",
    ),
    "infra_plugins": (
        "which plugins are installed?",
        "why is the weather plugin not loaded?",
        "what extensions do I have?",
        "show me every plugin and whether it works",
        "list the tools of each plugin",
    ),
    "infra_usage": (
        "how many tokens did I spend this week?",
        "what did the language models cost me?",
        "usage per day since Monday",
        "which tool used the most tokens?",
        "show consumption by model",
    ),
    "job_status": (
        "how far is my analysis?",
        "is the job still running?",
        "progress of job 81ab",
        "check on the job I started",
        "what state is job 5 in?",
        "is it done yet, the job with id 77?",
    ),
    "job_result": (
        "give me the result of the job",
        "wait until the job has finished and show what came out",
        "get the output of job 81ab",
        "resume the job that was interrupted by the crash",
        "collect the answer of the long call I handed off",
    ),
    "job_cancel": (
        "stop the job",
        "cancel the analysis that is running",
        "abort job 81ab",
        "kill that job, I do not need it any more",
        "end the long job early",
    ),
    "job_list": (
        "which jobs are there?",
        "show all my running jobs",
        "list failed jobs",
        "what is running in the background?",
        "my latest jobs, newest first",
        "did any job fail today?",
    ),
}
"""What people say, by the tool that they need.

What tools declare was once completed with what was missed of these, so this set is fitted.
"""
EMBEDDERS = {"embedder-minilm"}
SHARES = {"requests_development": (97, 95), "requests_unseen": (90, 80)}
"""Of requests in `tests/data`, whose authors saw no ranking: in how many of a hundred a right tool
is among the first, with the embedder that ships and by the words alone.

Measured with 31 tools: 179 of the 180 of the first set, whose misses were read when phrases were
written, so that it says little; and 90 of 93 (96.8 %; the 95 % interval is 91 to 99) of the second,
whose misses were never read: do not print them, or it is unseen no longer. By words alone 175
and 79. The bounds are what was measured less a margin: another processor rounds otherwise.
"""


@pytest.fixture(scope="module", params=["meaning", "words"])
def by(request: pytest.FixtureRequest) -> str:
    """What tools are found by."""
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


@pytest.mark.slow
async def test_the_right_tool_is_among_the_first(client: Client[Any]) -> None:
    asked = [(tool, request) for tool, requests in REQUESTS.items() for request in requests]
    assert len(asked) == len({request for _, request in asked}) >= 100
    missed = [
        f"{tool}: {request}"
        for tool, request in asked
        if tool not in await found_first(client, request)
    ]
    assert len(missed) <= len(asked) * (100 - ENOUGH) / 100, "\n".join(missed)


@pytest.mark.parametrize(
    "name", [pytest.param("requests_development", marks=pytest.mark.slow), "requests_unseen"]
)
async def test_strangers_find_the_right_tool(name: str, by: str, client: Client[Any]) -> None:
    asked = json.loads((REPOSITORY / "tests" / "data" / f"{name}.json").read_text())
    found = [
        bool(set(each["tools"]) & set(await found_first(client, each["request"]))) for each in asked
    ]
    share = 100 * sum(found) / len(found)
    assert share >= SHARES[name][by == "words"], f"{share:.1f} %"


async def test_every_tool_that_ships_is_asked_for(kernel: Kernel) -> None:
    assert set(REQUESTS) == set(kernel.tools)


async def test_authors_say_what_people_ask(kernel: Kernel) -> None:
    said = Phrases(kernel.log)
    few = [name for name, tool in kernel.tools.items() if len(said.of(tool)) < ENOUGH_PHRASES]
    assert few == []
    files = list(REPOSITORY.glob("*/src/*/phrases.toml"))
    files += REPOSITORY.glob("plugins/*/src/*/phrases.toml")
    named = [name for file in files for name in tomllib.loads(file.read_text("utf-8"))]
    assert set(named) <= set(kernel.tools), "phrases of tools that there are not"


async def found_first(client: Client[Any], request: str) -> list[str]:
    """The names that a search for a request begins with."""
    found = await client.call_tool("tool_search", {"query": request, "limit": FIRST})
    assert found.structured_content
    return [tool["name"] for tool in found.structured_content["tools"]]
