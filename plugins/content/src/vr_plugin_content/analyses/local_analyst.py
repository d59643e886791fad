"""Analyses without a language model: outline, telling sentences, and names by rule."""

from __future__ import annotations

from vr_kernel import Document

from vr_plugin_content.analyses.entities import names_in
from vr_plugin_content.analyses.sentences import Sentence, sentences_of, telling
from vr_plugin_content.passages.running_heads import without_running_heads
from vr_plugin_content.reading.answering import outline_of
from vr_plugin_content.results.analysis import ContentAnalysis, KeyPoint

MOST_POINTS = 10
MOST_NAMES = 20
SUMMARY_SENTENCES = 3
MADE_SO = (
    "Made without a language model: sentences of the document itself, chosen by how often it says"
    " their words. `vr init` sets up a model."
)


def analyse_locally(document: Document) -> ContentAnalysis:
    """Make an analysis of a document; blocks."""
    texts = [segment.text for segment in document.segments]
    if any(segment.locator.page for segment in document.segments):
        texts = without_running_heads(texts)
    sentences = sentences_of(texts)
    best = telling(sentences, MOST_POINTS)
    chosen = sorted(best, key=sentences.index)
    return ContentAnalysis(
        source=document.source,
        title=document.title,
        mime=document.mime,
        sha256=document.sha256,
        limits=[MADE_SO, *document.limits],
        engine="local",
        summary=_summary(document, [it for it in chosen if it in best[:SUMMARY_SENTENCES]]),
        key_points=[_point(document, each) for each in chosen],
        entities=names_in(texts, MOST_NAMES),
        outline=outline_of(document.outline),
    )


def _summary(document: Document, chosen: list[Sentence]) -> str:
    if not chosen:
        words = " ".join(" ".join(each.text.split()) for each in document.segments[:3])
        return f"{words[:300].rstrip()}..." if len(words) > 300 else words  # noqa: PLR2004
    return " ".join(each.text for each in chosen)


def _point(document: Document, sentence: Sentence) -> KeyPoint:
    at = document.segments[sentence.part]
    return KeyPoint(
        text=sentence.text,
        place=at.locator.label,
        page=at.locator.page or at.locator.slide,
        link=at.link,
        status="verified",
    )
