"""Answers with the quotes that they rest on, or, without a model, the passages that fit best."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from vr_kernel import Services
from vr_kernel.views import Block, Item, Link, Mark, Prose, Quote, Records, View, view

from vr_plugin_knowledge.answering.results import AnswerSource, KnowledgeAnswer
from vr_plugin_knowledge.answering.writer import PASSAGES_ALONE
from vr_plugin_knowledge.views.items import item_of_record, read_fields
from vr_plugin_knowledge.views.places import name_sources, place_of

PASSAGE_CHARS = 240
"""Longest passage that is shown, in characters."""
UNSUPPORTED = "(no quote was found for this)"


@view(tool="knowledge_ask")
async def show_answer(services: Services, answer: KnowledgeAnswer) -> View:
    """The answer and its quotes, or what was found instead; each of them once."""
    about = [f"answered by {answer.model}"] if answer.model else []
    names = await name_sources(services, (each.source for each in answer.sources))
    if answer.claims:
        blocks: list[Block] = [_claimed(answer, names)]
    elif passages := dict(_passages(answer)):
        about = ["1 passage" if len(passages) == 1 else f"{len(passages)} passages"]
        items = [
            await _item(services, each, names, passages[each.number], answer.query)
            for each in answer.sources
        ]
        blocks = [Records(items)]
    else:
        blocks = [Prose(answer.answer)]
        if answer.sources:
            items = [await _item(services, each, names) for each in answer.sources]
            blocks.append(Records(items, title="Sources"))
    return View(answer.query, blocks, about, notes=answer.notes)


def _claimed(answer: KnowledgeAnswer, names: Mapping[str, str]) -> Prose:
    """The claims as one text; each quote is a reference, as often as it is cited."""
    places = {source.number: _place(source, names) for source in answer.sources}
    quotes: dict[Quote, int] = {}
    said = []
    for claim in answer.claims:
        numbers = []
        for cited in claim.citations:
            mark: Mark = cited.verdict
            quote = Quote(cited.quote, places.get(cited.source, Link()), mark)
            numbers.append(quotes.setdefault(quote, len(quotes) + 1))
        marks = "".join(f"[{each}]" for each in dict.fromkeys(numbers))
        said += [claim.text, *filter(None, [marks, "" if claim.supported else UNSUPPORTED])]
    return Prose(" ".join(said), list(quotes))


def _passages(answer: KnowledgeAnswer) -> Iterator[tuple[int, str]]:
    """The passages in an answer that no model wrote, by the numbers of their sources."""
    before, found, rest = answer.answer.partition(f"{PASSAGES_ALONE}\n\n")
    if before or not found:
        return
    for place, source in enumerate(answer.sources, 1):
        last = place == len(answer.sources)
        end = f" [{source.number}]" if last else f" [{source.number}]\n\n"
        text, _, rest = rest.rpartition(end) if last else rest.partition(end)
        yield source.number, text


async def _item(
    services: Services,
    source: AnswerSource,
    names: Mapping[str, str],
    text: str = "",
    query: str = "",
) -> Item:
    """A passage under its title, with its place and source."""
    record = (source.collection, source.object_id)
    fields = await read_fields(services, *record, {})
    place = place_of(source.link, source.locator)
    name = names.get(source.source or "", "")
    return item_of_record(services, record, fields, place, name, text, query, PASSAGE_CHARS)


def _place(source: AnswerSource, names: Mapping[str, str]) -> Link:
    name = names.get(source.source or "") or source.collection
    return place_of(source.link or source.source, source.locator, name)
