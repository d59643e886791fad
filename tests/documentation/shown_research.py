"""Calls of the tools that search and research, and what models and services answer them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from paper_server import paper
from vr_testing import Answer
from vr_testing.gemini import RecordedRequest

DOI = "10.5555/pumps.1"
QUESTION = "What does the pump P7 weigh?"
CARE = "What do they say about care?"
MILLS = "How pumps came to be used in mills"
SEARCH = (
    ("web_search", 'vr web search "which pump suits a boat?"'),
    ("paper_search", 'vr paper search "small pumps" --limit 2'),
    ("paper_citations", f"vr paper citations {DOI} --direction references"),
)
RESEARCH = (
    ("research_plan", f'vr research plan "{QUESTION}"'),
    (
        "research_deep",
        (
            f'vr research deep "{QUESTION}" --documents pumps/p7.md --documents leaflet.md'
            " --search-in knowledge"
        ),
    ),
    ("research_verify", "vr research verify {report}"),
    ("research_export", "vr research export {report} -o report.md"),
    (
        "research_assess_evidence",
        (
            'vr research assess-evidence "The pump P7 weighs 4 kg." --sources pumps/p7.md'
            " --sources leaflet.md"
        ),
    ),
    (
        "research_document",
        f'vr research document "{CARE}" --file-paths pumps/p7.md --file-paths pumps/p9.md',
    ),
    ("research_web", f'vr research web "{MILLS}"'),
    ("research_web_status", "vr research web-status {interaction} --wait-s 50"),
    ("research_web_followup", 'vr research web-followup {interaction} "Which mills were first?"'),
    ("research_web_cancel", "vr research web-cancel {other}"),
    ("knowledge_conflicts", "vr knowledge conflicts"),
)
LEAFLET = """# Our pumps

The pump P7 weighs 6 kg and is easily carried.

Its filter asks for no care at all.
"""
PAPERS: Mapping[str, Any] = {
    "/search": {
        "total": 2,
        "data": [
            paper(
                1,
                "Small pumps for small boats",
                abstract="We measure the yield of nine small pumps over two years at sea.",
                authors=[{"name": "Ada Lovelace"}, {"name": "Grace Hopper"}],
                venue="Journal of Pumps",
                year=2021,
                citationCount=42,
                externalIds={"DOI": DOI},
                openAccessPdf={"url": "https://pumps.example/small.pdf"},
            ),
            paper(
                2,
                "What wears pumps out",
                abstract="Sand wears pumps out sooner than salt does.",
                authors=[{"name": "Emmy Noether"}],
                venue="arXiv",
                year=2019,
                citationCount=7,
                externalIds={"ArXiv": "1901.00001"},
            ),
        ],
    },
    f"/DOI:{DOI}/references": {
        "data": [
            {
                "citedPaper": paper(
                    3,
                    "A pump without a filter",
                    authors=[{"name": "Alan Turing"}],
                    venue="Pumps and Valves",
                    year=1998,
                    citationCount=180,
                    externalIds={"DOI": "10.5555/pumps.0"},
                )
            }
        ]
    },
}
WEB = Answer(
    "For a boat choose a pump that runs on twelve volts and needs little room.",
    sources=(
        ("Pumps for boats", "https://boats.example/pumps"),
        ("Twelve volts at sea", "https://sea.example/volts"),
    ),
)
MILL_REPORT = Answer(
    "# Pumps in mills\n\nMills had pumps **from 1850 on**, when cheap ones of iron came up.",
    sources=(("A history of mills", "https://mills.example/history"),),
)
FIRST_MILLS = Answer("Those of Derby, as far as the sources tell.")


def write_documents(folder: Path) -> None:
    """Write what is read beside the pumps' own sheets."""
    (folder / "leaflet.md").write_text(LEAFLET, "utf-8")


def answer_to(request: RecordedRequest) -> Any:
    """The answer of a model that researches; None where something else is asked."""
    if "interactions" in request.path:
        return FIRST_MILLS if "previous_interaction_id" in request.body else MILL_REPORT
    if request.has_tool("googleSearch"):
        return WEB
    fields = set((request.schema or {}).get("properties", {}))
    if fields == {"topics"}:
        return _crossed(request.text)
    forms = [form for wanted, form in _FORMS if wanted <= fields]
    return forms[0](request.text) if forms else None


def _questions(text: str) -> Mapping[str, Any]:
    asked = CARE if CARE in text else QUESTION
    return {"questions": [{"question": asked, "queries": ["pump P7"]}]}


def _plan(text: str) -> Mapping[str, Any]:
    reading = {"task": "Read the sheets of the maker", "agents": 2}
    asking = {"task": "Ask for measurements of others"}
    return {
        **_questions(text),
        "phases": [
            {"name": "Read", "tasks": [reading], "done_when": "Each sheet was read."},
            {"name": "Compare", "tasks": [asking]},
        ],
        "task_decomposition": ["Read the sheets", "Compare them with measurements"],
        "stakeholders": ["People who carry it"],
        "constraints": ["Weights without water"],
    }


def _queries(_text: str) -> Mapping[str, Any]:
    return {"queries": [{"query": "P7 scales", "question": 1, "reason": "Two weights differ."}]}


def _selection(text: str) -> Mapping[str, Any]:
    listed = re.findall(r"^(\d+)\. ", text, re.MULTILINE)
    return {"results": [{"id": int(it), "keep": False, "relevance": 0.1} for it in listed]}


def _findings(text: str) -> Mapping[str, Any]:
    kinds = [_CARED] if CARE in text else [_WEIGHED] if "which may be wrong" in text else [*_ALL]
    quoted = {quote: finding for kind in kinds for quote, finding in kind.items()}
    return {"findings": [finding for quote, finding in quoted.items() if quote in text]}


def _synthesis(text: str) -> Mapping[str, Any]:
    listed: dict[str, list[str]] = {}
    for name, claim in re.findall(r"^(F\d+) \[[^\]]*\] (.*) - \"", text, re.MULTILINE):
        listed.setdefault(claim, []).append(name)
    claims = [
        {
            "claim": claim,
            "question": 1,
            "tier": "CONFIRMED",
            "confidence": 0.9,
            "supports": names,
        }
        for claim, names in listed.items()
    ]
    if CARE in text:
        return {"executive_summary": "Both filters want cleaning once a month.", "claims": claims}
    return {
        "executive_summary": "Its maker says 4 kg, a leaflet says 6 kg.",
        "claims": claims,
        "open_questions": ["Was it weighed with water in it?"],
        "recommendations": ["Put it on scales."],
    }


def _map(text: str) -> Mapping[str, Any]:
    name = "P9" if "P9" in text else "P7"
    return {
        "title": f"Pump {name}",
        "kind": "data sheet",
        "summary": f"What the {name} needs.",
        "sections": [{"title": "Care", "place": f"Pump {name} > Care"}],
        "key_claims": ["The filter is cleaned monthly."],
    }


def _crossed(_text: str) -> Mapping[str, Any]:
    topic = {"topic": "Care", "agreement": "Both filters are cleaned monthly.", "sources": [1, 2]}
    return {"topics": [topic]}


def _judgement(_text: str) -> Mapping[str, Any]:
    said = "The sheet of the maker says so, a leaflet says otherwise."
    return {"tier": "STRONG INDICATOR", "confidence": 0.7, "reasoning": said}


def _finding(claim: str, quote: str, stance: str, place: str = "") -> Mapping[str, Any]:
    return {
        "claim": claim,
        "question": 1,
        "quote": quote,
        "place": place,
        "stance": stance,
        "tier": "CONFIRMED",
        "confidence": 0.9,
        "reasoning": "It says so.",
    }


_WEIGHED: Mapping[str, Mapping[str, Any]] = {
    "twelve volts and weighs 4 kg": _finding(
        "The pump P7 weighs 4 kg.",
        "It runs on twelve volts and weighs 4 kg",
        "supports",
    ),
    "weighs 6 kg": _finding("The pump P7 weighs 6 kg.", "The pump P7 weighs 6 kg", "contradicts"),
}
_INVENTED: Mapping[str, Mapping[str, Any]] = {
    "easily carried": _finding(
        "The pump P7 is the lightest of its class.", "none of its class is lighter", "supports"
    ),
}
_CARED: Mapping[str, Mapping[str, Any]] = {
    "Clean the filter": _finding(
        "The filter is cleaned once a month.", "Clean the filter once a month", "supports"
    ),
}
_ALL = (_WEIGHED, _INVENTED)
_FORMS: Sequence[tuple[set[str], Callable[[str], Mapping[str, Any]]]] = (
    ({"executive_summary"}, _synthesis),
    ({"findings"}, _findings),
    ({"results"}, _selection),
    ({"queries"}, _queries),
    ({"phases"}, _plan),
    ({"questions"}, _questions),
    ({"key_claims"}, _map),
    ({"tier", "reasoning"}, _judgement),
)
"""The answer to each task, by fields that only its form has."""


def names_after(tool: str, shown: Callable[[str], str]) -> dict[str, str]:
    """The names that later calls refer to; `shown` is what a command prints."""
    if tool == "research_deep":
        (listed,) = json.loads(shown("vr list ResearchReports --json"))["records"]
        return {"report": listed["key"]}
    if tool == "research_web":
        begun = [shown(f'vr research web "{topic}" --json') for topic in (MILLS, f"{MILLS} at sea")]
        one, other = (json.loads(each)["interaction_id"] for each in begun)
        return {"interaction": one, "other": other}
    return {}
