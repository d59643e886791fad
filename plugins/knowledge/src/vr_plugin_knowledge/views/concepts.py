"""Records of concepts and relationships, with the words that show them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from vr_kernel import Services, StoredRecord, visible_line
from vr_kernel.views import Block, Cell, Facts, Item, Link, Prose, Quote, Records, View, view

from vr_plugin_knowledge.graph.citations import Citation, read_citations
from vr_plugin_knowledge.graph.concepts import UNKNOWN
from vr_plugin_knowledge.graph.identity import CONCEPTS, EDGES, edge_name


@view(kind=CONCEPTS)
async def show_concepts(services: Services, records: Sequence[StoredRecord]) -> View:
    """A concept with its description and quotes, or a list of concepts."""
    del services
    if len(records) > 1:
        return _listed("Concepts", records)
    fields = records[0].fields
    aliases = ", ".join(visible_line(each) for each in fields.get("aliases") or ())
    facts: list[tuple[str, Cell]] = [("State", _state(fields))]
    facts += [("Also called", aliases)] if aliases else []
    text = str(fields.get("description") or "")
    return View(
        _name(records[0].kind, fields), [Facts(facts), *_quoted(text, read_citations(fields))]
    )


@view(kind=EDGES)
async def show_relationships(services: Services, records: Sequence[StoredRecord]) -> View:
    """A relationship with its quotes, or a list of relationships."""
    del services
    if len(records) > 1:
        return _listed("Relationships", records)
    fields = records[0].fields
    return View(_name(EDGES, fields), _quoted("", read_citations(fields)), ["relationship"])


def quote_of(citation: Citation) -> Quote:
    """The words of a citation, with title, moment and link."""
    label = citation.title or citation.collection
    return Quote(citation.quote, Link(citation.link, label, citation.seconds))


def _quoted(text: str, citations: Sequence[Citation]) -> list[Block]:
    """A text, and the quotes that it rests on as references."""
    marks = "".join(f"[{number}]" for number in range(1, len(citations) + 1))
    said = " ".join(filter(None, [text or ("It is named here:" if citations else ""), marks]))
    return [Prose(said, [quote_of(each) for each in citations])] if said else []


def item_of_entry(kind: str, key: str, fields: Mapping[str, Any]) -> Item:
    """A concept or a relationship in a list, with its first source."""
    cited = read_citations(fields)
    first = quote_of(cited[0]) if cited else Quote("")
    text = str(fields.get("description") or first.text)
    facts = [_state(fields)] if kind == CONCEPTS else []
    facts += [first.place.label] if first.place.label else []
    place = Link(first.place.address, "", first.place.start)
    return Item(_name(kind, fields), visible_line(text), place, facts, f"{kind}/{key}")


def _listed(title: str, records: Sequence[StoredRecord]) -> View:
    items = [item_of_entry(each.kind, each.key, each.fields) for each in records]
    return View(title, [Records(items, len(items))], [f"{len(items)} records"])


def _name(kind: str, fields: Mapping[str, Any]) -> str:
    if kind == CONCEPTS:
        return visible_line(str(fields.get("concept_name") or "")) or "Concept"
    return visible_line(edge_name(fields)) or "Relationship"


def _state(fields: Mapping[str, Any]) -> str:
    return str(fields.get("state") or UNKNOWN)
