"""The survey finds every tool, and can call each of them."""

from __future__ import annotations

import pytest
from abuse_bench import Bench
from tool_arguments import Kind, filled, installed_arguments, installed_tools
from vr_kernel import Code

pytestmark = pytest.mark.asyncio(loop_scope="module")
MISFITS = frozenset({Code.INVALID_INPUT, Code.INTERNAL})


@pytest.mark.parametrize("tool", installed_tools())
async def test_every_tool_can_be_called(bench: Bench, tool: str) -> None:
    outcome = await bench.call(tool, bench.absolute(filled(tool)), tool)
    error = outcome.error
    assert error is None or error.code not in MISFITS or error.category == "JOB_UNKNOWN", (
        f"{tool} does not take what it is called with ({error}); add good values of its"
        " arguments to VALUES or ALWAYS in tool_arguments.py"
    )
    bench.verdict()


async def test_every_kind_is_met() -> None:
    assert {argument.kind for argument in installed_arguments()} == set(Kind)
    by_name = {str(argument): argument.kind for argument in installed_arguments()}
    assert by_name["video_analyze-url"] is Kind.URL
    assert by_name["video_scenes-file_path"] is Kind.PATH
    assert by_name["video_analyze-output_schema"] is Kind.SCHEMA
    assert by_name["knowledge_search-date_from"] is Kind.DATE
    assert by_name["knowledge_search-cursor"] is Kind.IDENTIFIER
    assert by_name["infra_usage-by"] is Kind.CHOICE
