"""A model that reads well, but invents one quote in five and moves one place in ten."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

TEN = 10
"""Findings that it reports of a source, at most."""
INVENTED = frozenset({2, 7})
MOVED = frozenset({4})
_SOURCE = re.compile(r"=== source ([0-9a-f]{12}), (.*?)\n\n(.*)\n\n=== source \1 ends", re.DOTALL)
_PART = re.compile(r"\[(?P<place>[^\]\n]+)\]\n(?P<text>.*?)(?=\n\n\[|\Z)", re.DOTALL)
_LISTED = re.compile(r"^(\d+)\. ", re.MULTILINE)
_FINDING = re.compile(
    r"^(F\d+) \[source (\d+),[^\]]*?; question (\d+); [^\]]*\] (.*) - \"(.*)\"$", re.MULTILINE
)
_VERB = re.compile(r"\b(inspected|rose|described?|lasted|asked|replaced|needs|paid|calls)\b")
OUTPUT = {
    "question": "How much did the Severn Point station produce?",
    "queries": ["Severn Point station produced electricity"],
}
OPENING = {
    "question": "When did the Severn Point station open?",
    "queries": ["Severn Point station opened commercial operation"],
}
UNKNOWN = {"question": "Who wrote the first poem about the moon?", "queries": ["moon poem"]}
"""A question that no source answers."""
Form = Callable[["ScriptedModel", str, str], Mapping[str, Any]]


@dataclass
class ScriptedModel:
    """Answers every task of research by the form that is asked for.

    Attributes:
        questions: those that it finds in any topic.
        invented: quotes that stand in no source.
        moved: true quotes that were given with a wrong place, with the right one.
        true: quotes that were given as they stand, with their place.
        read: the sources that it was given to read, by a part of their digest.
    """

    questions: list[dict[str, Any]] = field(default_factory=lambda: [OUTPUT, OPENING])
    invented: set[str] = field(default_factory=set)
    moved: dict[str, str] = field(default_factory=dict)
    true: set[str] = field(default_factory=set)
    read: list[str] = field(default_factory=list)

    def answer(self, request: Any, word: str = "") -> Mapping[str, Any]:
        """The answer to a request of any of the fakes; it has the word that is given."""
        fields = set((request.schema or {}).get("properties", {}))
        for name, form in _FORMS.items():
            if name in fields:
                return form(self, request.text, word)
        raise AssertionError(f"nobody asks for {fields}")

    def _questions(self, _text: str, word: str) -> Mapping[str, Any]:
        return {"questions": self.questions, "stakeholders": [f"people {word}"]}

    def _plan(self, text: str, word: str) -> Mapping[str, Any]:
        phase = {"name": "Search", "tasks": [{"task": "Search the web"}]}
        asked = self._questions(text, word)
        return {**asked, "task_decomposition": ["Search", "Read"], "phases": [phase]}

    def _queries(self, _text: str, word: str) -> Mapping[str, Any]:
        words = ("survey", "budget", "incidents", "shift")
        return {
            "queries": [
                {"query": f"Severn Point {each}", "question": 1, "reason": f"open {word}"}
                for each in words
            ]
        }

    def _selection(self, text: str, word: str) -> Mapping[str, Any]:
        listed = text.partition("=== source list")[2]
        return {
            "results": [
                {"id": int(number), "keep": True, "relevance": 0.8, "reason": f"near {word}"}
                for number in _LISTED.findall(listed)
            ]
        }

    def _map(self, _text: str, word: str) -> Mapping[str, Any]:
        return {
            "title": "A report",
            "kind": "report",
            "summary": f"It reports {word}.",
            "sections": [{"title": "Page", "place": "p. 1"}, {"title": "None", "place": "p. 99"}],
            "key_claims": ["It is so."],
        }

    def _crossed(self, _text: str, word: str) -> Mapping[str, Any]:
        return {"topics": [{"topic": "Output", "agreement": f"much {word}", "sources": [1, 2, 99]}]}

    def _judgement(self, _text: str, word: str) -> Mapping[str, Any]:
        return {"tier": "CONFIRMED", "confidence": 0.9, "reasoning": f"It stands {word}."}

    def _findings(self, text: str, word: str) -> Mapping[str, Any]:
        found = _SOURCE.search(text)
        assert found, text[:300]
        mark, body = found[1], found[3]
        self.read.append(mark)
        lines = [
            (part["place"], line)
            for part in _PART.finditer(body)
            for line in re.split(r"(?<=\.) ", part["text"])
        ]
        told = [self._finding(mark, at, lines, word) for at in range(min(TEN, len(lines)))]
        if "A claim, which may be wrong" in text:
            told = [{"stance": "supports", **it} for it in told]
        return {"findings": told}

    def _finding(
        self, mark: str, at: int, lines: Sequence[tuple[str, str]], word: str
    ) -> dict[str, Any]:
        place, line = lines[at]
        claim, quote = line, _as_models_quote(line, at)
        if at in INVENTED:
            quote = _invented(int(mark, 16) + at, at, [text for _, text in lines])
            claim = f"Something else was reported by source {mark} as number {at}."
            self.invented.add(quote)
        elif at in MOVED:
            self.moved[line] = place
            place = next((it for it, _ in lines if it != place), place)
        else:
            self.true.add(line)
        return {
            "claim": claim,
            "question": 2 if "opened" in line else 1,
            "quote": quote,
            "place": place,
            "tier": "CONFIRMED",
            "confidence": 0.95,
            "reasoning": f"It says so {word}.",
        }

    def _synthesis(self, text: str, word: str) -> Mapping[str, Any]:
        claims = [
            {
                "claim": claim,
                "question": int(question),
                "tier": "CONFIRMED",
                "confidence": 0.97,
                "reasoning": f"The source says so {word}.",
                "supports": [name],
            }
            for name, _, question, claim, _ in _FINDING.findall(text)
        ]
        return {
            "executive_summary": f"The station runs [F1] {word}.",
            "claims": claims,
            "open_questions": ["Who pays?"],
            "methodology_critique": "Few sources.",
            "recommendations": ["Ask the owner."],
        }


_FORMS: Mapping[str, Form] = {
    "executive_summary": ScriptedModel._synthesis,
    "findings": ScriptedModel._findings,
    "results": ScriptedModel._selection,
    "queries": ScriptedModel._queries,
    "phases": ScriptedModel._plan,
    "questions": ScriptedModel._questions,
    "key_claims": ScriptedModel._map,
    "topics": ScriptedModel._crossed,
    "tier": ScriptedModel._judgement,
}
"""The answer to each task, by a field that only its form has."""


def _as_models_quote(line: str, at: int) -> str:
    """A line in the ways in which models quote: their signs differ, and they leave words out."""
    words = line.rstrip(".").split()
    return {
        1: line.casefold(),
        3: "\n".join([" ".join(words[:4]), " ".join(words[4:])]),
        5: f"{' '.join(words[:6])} … {' '.join(words[-5:])}",
        6: f"“{line}”",
    }.get(at, " ".join(words))


def _invented(choice: int, at: int, lines: Sequence[str]) -> str:
    """A quote of the source's own words that nobody said."""
    line, other = lines[at], lines[(at + 3) % len(lines)]
    made = (_collage, _with_another_number, _denied, _joined)[choice % 4](line, other)
    assert made not in " ".join(lines)
    return made


def _collage(line: str, other: str) -> str:
    words = re.findall(r"[a-z]{4,}", f"{line} {other}")
    return " ".join(words[at * 5 % len(words)] for at in range(9))


def _with_another_number(line: str, _other: str) -> str:
    return re.sub(r"\d+", lambda found: str(int(found[0]) + 6), line)


def _denied(line: str, _other: str) -> str:
    return _VERB.sub(r"never \1", line)


def _joined(line: str, other: str) -> str:
    one, two = line.split(), other.split()
    return " ".join([*one[: len(one) // 2], *two[len(two) // 2 :]])
