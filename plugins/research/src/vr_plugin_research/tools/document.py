"""`research_document`."""

from __future__ import annotations

from vr_kernel import CALLS_OUT, PAID, READ_ONLY, Call, Code, ThinkingLevel, VrError, tool

from vr_plugin_research.arguments import DEFAULT_SCOPE, DEFAULT_THINKING, EngineChoice
from vr_plugin_research.results.documents import DocumentReport
from vr_plugin_research.results.report import Scope


@tool(effects=READ_ONLY | CALLS_OUT | PAID, long=True)
async def research_document(
    call: Call,
    instruction: str,
    file_paths: list[str] | None = None,
    urls: list[str] | None = None,
    scope: Scope = DEFAULT_SCOPE,
    thinking_level: ThinkingLevel = DEFAULT_THINKING,
    engine: EngineChoice = "auto",
) -> DocumentReport:
    """Research a question in given documents: maps, findings, cross-references, report."""
    from vr_plugin_research.documents.answering import DocumentResearch
    from vr_plugin_research.request import check_given, check_topic
    from vr_plugin_research.settings import ResearchSettings

    files, addresses = file_paths or [], urls or []
    given = [*files, *addresses]
    settings: ResearchSettings = call.settings
    if not given:
        raise VrError(
            "No document was given.",
            Code.INVALID_INPUT,
            category="SOURCE_AMBIGUOUS",
            hint="Give file_paths, urls, or both; research_deep searches itself.",
        )
    if len(given) > settings.max_documents:
        raise VrError(
            f"{len(given)} documents were given; at most {settings.max_documents} are taken.",
            Code.TOO_LARGE,
            hint="Give fewer, or raise [plugins.research] max_documents.",
        )
    check_given(given)
    topic = check_topic(instruction)
    research = DocumentResearch(call, topic, scope, thinking_level, engine)
    return await research.run(files, addresses)
