"""Cost of tools/list for a client in tokens of the o200k tokenizer."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from statistics import mean
from typing import Any

from benchmarks.domains import TOOLS
from benchmarks.environments import Environment, Environments
from benchmarks.processes import StdioServer, clean_environment
from benchmarks.rows import Row, bar

MEAN_LIMIT = 120
TOOL_LIMIT = 350
CORE_LIMIT, CORE = 1_500, ("video_", "knowledge_", "job_")
"""For the core tools of video and knowledge, and the tools of jobs that come with them."""
NARROWED_TOOLS, NARROWED_LIMIT, SEARCH_LIMIT = 24, 3_000, 400
SEARCH = ("tool_search", "tool_call")
SHOWN_TO_MODELS = ("name", "description", "inputSchema")


def token_counter() -> Callable[[str], int]:
    """Counts the o200k tokens of a text, offline."""
    with warnings.catch_warnings():
        # The library opens its own data in a way that Python calls old.
        warnings.simplefilter("ignore", DeprecationWarning)
        import bpe_openai

        encoding = bpe_openai.get_encoding("o200k_base")
    return lambda text: len(encoding.encode(text, disallowed_special=()))


def tokens_of(tool: Mapping[str, Any], count: Callable[[str], int]) -> int:
    """Tokens of what a model sees of a tool: name, description and input schema as JSON."""
    return count(_json({key: tool.get(key) for key in SHOWN_TO_MODELS}))


def output_tokens_of(tool: Mapping[str, Any], count: Callable[[str], int]) -> int:
    """Tokens of a tool's output schema, which clients keep to themselves; 0 without one."""
    schema = tool.get("outputSchema")
    return count(_json(schema)) if schema else 0


def measure(environments: Environments, rounds: int) -> list[Row]:
    """Count, for ours and the peer; counting once is enough."""
    del rounds
    count = token_counter()
    ours = _listed(environments, environments.ours, VR_TOOLSETS="all")
    peer = _listed(environments, environments.peer)
    costs = {tool["name"]: tokens_of(tool, count) for tool in ours}
    peers = [tokens_of(tool, count) for tool in peer]
    outputs = mean(output_tokens_of(tool, count) for tool in ours)
    core = _listed(environments, environments.ours, VR_TOOLSETS="core")
    shown, search = apart(_listed(environments, environments.ours))
    domains = str(environments.domains)
    crowded, _ = apart(_listed(environments, environments.ours, PYTHONPATH=domains))
    return [
        bar(
            "tokens a tool, mean",
            mean(costs.values()),
            peer=mean(peers),
            sign="<=",
            limit=MEAN_LIMIT,
        ),
        bar(
            "tokens of the longest tool",
            max(costs.values()),
            peer=max(peers),
            sign="<=",
            limit=TOOL_LIMIT,
        ),
        Row(f"tokens of all {len(ours)} (peer {len(peer)})", sum(costs.values()), "", sum(peers)),
        bar(
            "tokens of core, of video, knowledge and jobs",
            sum(tokens_of(tool, count) for tool in core if tool["name"].startswith(CORE)),
            sign="<=",
            limit=CORE_LIMIT,
        ),
        bar(
            f"tokens of the {len(core)} of core",
            sum(tokens_of(tool, count) for tool in core),
            sign="<=",
            limit=NARROWED_LIMIT,
        ),
        *_shown_rows("tools shown by default", shown, count),
        *_shown_rows(f"tools shown, with {TOOLS} more", crowded, count),
        bar(
            "tokens of the search beside them",
            sum(tokens_of(tool, count) for tool in search),
            sign="<=",
            limit=SEARCH_LIMIT,
        ),
        Row(
            "output schemas, mean, apart",
            outputs,
            peer=mean(output_tokens_of(tool, count) for tool in peer),
        ),
        *(
            Row(f"  {name}", cost)
            for name, cost in sorted(costs.items(), key=lambda item: -item[1])
        ),
    ]


def apart(tools: Sequence[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The tools that a client is shown themselves, and those that search the others."""
    shown = [tool for tool in tools if tool["name"] not in SEARCH]
    return shown, [tool for tool in tools if tool["name"] in SEARCH]


def _shown_rows(
    name: str, shown: Sequence[dict[str, Any]], count: Callable[[str], int]
) -> list[Row]:
    tokens = sum(tokens_of(tool, count) for tool in shown)
    return [
        bar(name, len(shown), sign="<=", limit=NARROWED_TOOLS),
        bar("  tokens of these", tokens, sign="<=", limit=NARROWED_LIMIT),
    ]


def _listed(
    environments: Environments, environment: Environment, **more: str
) -> Sequence[dict[str, Any]]:
    home = environments.home(environment.name)
    with StdioServer(environment.server, clean_environment(home, **more), home) as server:
        server.shake_hands()
        return server.tools()


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
