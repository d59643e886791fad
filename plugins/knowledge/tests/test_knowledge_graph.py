"""Names, merging, traversal, ranking and exports of the knowledge graph."""

from __future__ import annotations

import random
import time
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from graph_samples import apply, change, network_of
from hypothesis import given, settings
from hypothesis import strategies as st
from vr_plugin_knowledge.graph.citations import MOST_CITATIONS, Citation
from vr_plugin_knowledge.graph.concepts import Origin, concept_fields, read_concept
from vr_plugin_knowledge.graph.graphml import NAMESPACE, as_graphml
from vr_plugin_knowledge.graph.identity import (
    CONCEPTS,
    EDGES,
    TYPES,
    identify,
    identify_edge,
    key_of,
)
from vr_plugin_knowledge.graph.layout import lay_out
from vr_plugin_knowledge.graph.merging import Merger
from vr_plugin_knowledge.graph.mermaid import as_mermaid
from vr_plugin_knowledge.graph.network import Network
from vr_plugin_knowledge.graph.presenting import RESULT_TOKENS, present
from vr_plugin_knowledge.graph.reading import Reading, Source, split
from vr_plugin_knowledge.graph.traversal import DAMPING, Region, rank, traverse

NAMES = [
    "fox",
    "Fox",
    "foxes",
    "雪",
    "Füchse",
    "ثعلب",
    "a b",
    "A  B",
    "C++",
    "C#",
    '"x"',
    "<b>",
    "🦊",
]
names = st.sampled_from(NAMES)
edges = st.lists(st.tuples(names, st.sampled_from(TYPES), names), max_size=30)
HOSTILE = '"]; click n0 "javascript:x" %%{init: {}}%% <script>alert(1)</script> `x` #35; \n end'


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Transformer", "transformers"),
        ("  Vector \t search ", "vector search"),
        ("\uff26ox", "fox"),
        ("Theory", "theories"),
        ("index", "indexes"),
        ("cache", "caches"),
        ("branch", "branches"),
        ("LLMs", "LLM"),
        ("“Attention”", '"attention".'),
        ("STRASSE", "Straße"),
    ],
)
def test_spellings_of_one_concept(one: str, other: str) -> None:
    assert identify(one) == identify(other)
    assert key_of(CONCEPTS, identify(one)) == key_of(CONCEPTS, identify(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [("C++", "C#"), ("C", "C#"), ("HTTPS", "HTTP"), ("class", "clas"), ("雪", "雨"), ("bus", "bu")],
)
def test_names_of_different_concepts(one: str, other: str) -> None:
    assert identify(one) != identify(other)


def test_mutual_relationships_are_the_same_in_both_directions() -> None:
    assert identify_edge("a", "related_to", "b") == identify_edge("b", "related_to", "a")
    assert identify_edge("a", "enables", "b") != identify_edge("b", "enables", "a")


@given(st.text(max_size=40))
def test_every_name_has_one_identity(name: str) -> None:
    assert identify(name) == identify(f"  {name}\n")
    assert "\x1f" not in identify(name)


@settings(max_examples=30)
@given(edges)
def test_scores_are_those_of_personalised_pagerank(triples: list[tuple[str, str, str]]) -> None:
    network = network_of(triples)
    seeds = {identify(triples[0][0]): 1.0} if triples else {}
    region = rank(traverse(network, seeds, depth=3))
    assert region.scores.keys() == region.concepts.keys()
    expected = _solved(region)
    assert sum(region.scores.values()) == pytest.approx(1.0 if triples else 0.0)
    for identity, score in expected.items():
        assert region.scores[identity] == pytest.approx(score, abs=1e-5)


def _solved(region: Region) -> dict[str, float]:
    """The stationary distribution itself, from a system of equations."""
    import numpy as np

    order = {identity: number for number, identity in enumerate(region.concepts)}
    if not order:
        return {}
    flow = np.zeros((len(order), len(order)))
    for each in region.relations:
        start, end = order[each.start], order[each.end]
        flow[end, start] += 1
        if start != end:
            flow[start, end] += 1
    back = np.array([1.0 if each in region.seeds else 0.0 for each in order])
    back /= back.sum()
    out = flow.sum(axis=0)
    flow = np.where(out > 0, flow / np.where(out > 0, out, 1), back[:, None])
    found = np.linalg.solve(np.eye(len(order)) - DAMPING * flow, (1 - DAMPING) * back)
    return {identity: float(found[number]) for identity, number in order.items()}


def test_the_seed_of_a_star_comes_first() -> None:
    network = network_of([("sun", "enables", f"ray {n}") for n in range(9)])
    region = rank(traverse(network, {"sun": 1.0}, depth=1))
    assert max(region.scores, key=region.score) == "sun"
    from_a_ray = rank(traverse(network, {"ray 3": 1.0}, depth=2))
    assert list(from_a_ray.cut(2).concepts) == ["ray 3", "sun"]


def test_depth_type_and_direction_bound_a_region() -> None:
    network = network_of(
        [("a", "enables", "b"), ("b", "enables", "c"), ("c", "enables", "d"),
         ("z", "builds_on", "a"), ("a", "contradicts", "x")]
    )  # fmt: skip

    def around(**limits: Any) -> set[str]:
        return set(traverse(network, {"a": 1.0}, **limits).concepts)

    assert around(depth=1) == {"a", "b", "x", "z"}
    assert around(depth=2) == {"a", "b", "c", "x", "z"}
    assert around(depth=3, direction="out") == {"a", "b", "c", "d", "x"}
    assert around(depth=3, direction="in") == {"a", "x", "z"}
    assert around(depth=3, kinds={"builds_on"}) == {"a", "z"}
    assert set(traverse(network, {}, depth=0).concepts) == set("abcdxz")


@settings(max_examples=30)
@given(edges, st.randoms())
def test_a_graph_follows_the_journal_in_any_order(
    triples: list[tuple[str, str, str]], chance: random.Random
) -> None:
    states = [
        (f"e{number}", {"from_concept": a, "relationship_type": kind, "to_concept": b})
        for number, (a, kind, b) in enumerate(triples)
    ]
    kept, gone = states[::2], states[1::2]
    network = Network()
    for key, fields in chance.sample(states, len(states)):
        network.apply(change(EDGES, key, fields))
        network.apply(change(EDGES, key, fields))
    for key, _ in gone:
        network.apply(change(EDGES, key, None))
    plain = network_of([])
    for key, fields in kept:
        plain.apply(change(EDGES, key, fields))
    assert network.relations.keys() == plain.relations.keys()
    assert set(network.identities()) == set(plain.identities())


readings = st.lists(
    st.tuples(
        st.sampled_from(["r1", "r2", "r3"]),
        st.lists(names, max_size=4),
        st.lists(st.tuples(names, st.sampled_from(TYPES), names), max_size=4),
    ),
    max_size=4,
)


@settings(max_examples=20)
@given(readings)
def test_merging_the_same_again_changes_nothing(
    told: list[tuple[str, list[str], list[tuple[str, str, str]]]],
) -> None:
    network = Network()
    latest = {record: (record, concepts, triples) for record, concepts, triples in told}
    for each in [*told, *latest.values()]:
        _merge(network, *each)
    before = _told(network)
    for each in latest.values():
        _merge(network, *each)
    assert _told(network) == before
    cited = {c.object_id for each in network.concepts.values() for c in each.citations}
    assert cited <= latest.keys()


def _told(network: Network) -> dict[str, set[Citation]]:
    """Concepts of a network, with the records that name them."""
    whole = [*network.concepts.values(), *network.relations.values()]
    return {each.id: set(each.citations) for each in whole}


def _merge(network: Network, *told: Any) -> None:
    merger = Merger(network)
    merger.add(*_source(*told))
    apply(network, merger.records())
    for kind, key in merger.forgotten():
        network.apply(change(kind, key, None))


def _source(
    record: str, concepts: list[str], triples: list[tuple[str, str, str]]
) -> tuple[Source, Reading]:
    seen = [{"name": name, "quote": f"of {name}"} for name in concepts]
    said = [
        {"from_concept": a, "type": kind, "to_concept": b, "quote": "so"} for a, kind, b in triples
    ]
    version = f"{hash((tuple(concepts), tuple(triples))) & 0xFFFF:x}"
    source = Source("text", Citation("Notes", record, version), Origin("url", "title", "cat"))
    return source, Reading.model_validate({"concepts": seen, "relations": said})


def test_records_can_be_read_back() -> None:
    fields = {"concept_name": "Fox", "sources": ["Notes/1#v", "broken"], "quotes": ["q"]}
    concept = read_concept("k", fields, by_hand=True)
    assert concept is not None
    assert concept.citations == (Citation("Notes", "1", "v", "q"),)
    assert read_concept("k", concept_fields(concept), by_hand=True) is not None
    assert read_concept("k", {"concept_name": " "}, by_hand=True) is None


def test_a_concept_of_everywhere_names_some_of_its_records() -> None:
    network = Network()
    for number in range(MOST_CITATIONS + 5):
        _merge(network, f"r{number}", ["fox"], [])
    assert len(network.concepts["fox"].citations) == MOST_CITATIONS


def test_what_a_person_recorded_wins_in_any_order() -> None:
    mine = {"concept_name": "foxes", "state": "fuzzy", "description": "mine"}
    theirs = {"concept_name": "Fox", "state": "unknown", "description": "theirs"}
    for order in ([0, 1], [1, 0]):
        network = Network()
        for who in order:
            fields, tool = [(mine, "knowledge_ingest"), (theirs, "knowledge_extract")][who]
            network.apply(change(CONCEPTS, f"key{who}", fields, tool))
        (fox,) = network.concepts.values()
        assert (fox.state, fox.description) == ("fuzzy", "mine")


@given(st.text(max_size=60_000, alphabet=st.sampled_from("ab. \n雪")))
def test_the_parts_of_a_text_are_the_text(text: str) -> None:
    parts = list(split(text))
    assert "".join(parts).strip() == text.strip() or "".join(parts) == text.rstrip()
    assert all(len(part) <= 20_000 for part in parts)


@settings(max_examples=30)
@given(st.lists(st.text(max_size=30), max_size=8))
def test_graphml_is_read_back_whatever_the_names_are(given_names: list[str]) -> None:
    network = network_of([(f"x{name}", "related_to", HOSTILE) for name in given_names])
    region = rank(traverse(network, {}, depth=0))
    root = ET.fromstring(as_graphml(region))
    at = {"g": NAMESPACE}
    nodes = {node.get("id") for node in root.findall(".//g:node", at)}
    assert len(nodes) == len(region.concepts)
    keys = {key.get("id") for key in root.findall("g:key", at)}
    assert {data.get("key") for data in root.iter(f"{{{NAMESPACE}}}data")} <= keys
    ends = [(e.get("source"), e.get("target")) for e in root.findall(".//g:edge", at)]
    assert len(ends) == len(region.relations)
    assert all(start in nodes and end in nodes for start, end in ends)


@given(st.text(min_size=1, max_size=30))
def test_a_name_cannot_leave_its_label_in_mermaid(name: str) -> None:
    network = network_of([(f"x{name}{HOSTILE}", f"kind{HOSTILE}", "plain")])
    chart = as_mermaid(rank(traverse(network, {"plain": 1.0}, depth=1)))
    head, one, two, edge, *styles = chart.splitlines()
    assert head == "flowchart LR"
    for line, start, end in ((one, 'n0["', '"]'), (two, 'n1["', '"]'), (edge, 'n1 -->|"', '"| n0')):
        assert line.startswith(start)
        assert line.endswith(end)
        assert not set(line.removeprefix(start).removesuffix(end)) & set('"<>[]{}%`|&\\')
    assert all(line.startswith(("classDef ", "class n")) for line in styles)


def test_a_layout_is_stable_and_has_room_for_all() -> None:
    ends = [(n, (n * 7) % 40) for n in range(40)] + [(41, 42)]
    first = lay_out(50, ends)
    assert first == lay_out(50, ends)
    assert len(set(first)) == 50
    assert max(abs(x) + abs(y) for x, y in first) < 6
    assert lay_out(0, []) == []


def test_a_result_fits_whatever_the_graph_is() -> None:
    long = "word " * 200
    network = network_of(
        [(f"{n} {long}", "enables", "hub") for n in range(300)],
        [{"concept_name": f"{n} {long}", "description": long} for n in range(300)],
    )
    result = present(rank(traverse(network, {"hub": 1.0}, depth=1)), 300)
    assert len(result.model_dump_json()) < 4 * RESULT_TOKENS
    assert result.nodes[0].concept == "hub"
    assert result.total_nodes == 301


@pytest.mark.slow
def test_a_hundred_thousand_relationships_are_ranked_within_a_second() -> None:
    # Processor time: what else the machine does does not count.
    chance = random.Random(1)

    def name() -> str:
        return f"concept {int(25_000 * chance.random() ** 2)}"

    network = network_of((name(), chance.choice(TYPES), name()) for _ in range(100_000))
    took = []
    for _ in range(3):
        begun = time.process_time()
        region = rank(traverse(network, {"concept 7": 1.0}, depth=3))
        took.append(time.process_time() - begun)
    assert len(region.relations) > 70_000
    assert min(took) < 1.0
