"""A part of a graph as GraphML, for Gephi, yEd, Cytoscape and others."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vr_kernel import visible

from vr_plugin_knowledge.graph.citations import Citation
from vr_plugin_knowledge.graph.concepts import UNKNOWN
from vr_plugin_knowledge.graph.traversal import Region

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

NAMESPACE = "http://graphml.graphdrawing.org/xmlns"
_NODE = {"label": "string", "description": "string", "state": "string", "score": "double"}
_EDGE = {"relationship_type": "string", "weight": "double"}
_BOTH = {"sources": "string", "quotes": "string"}
_NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def as_graphml(region: Region) -> bytes:
    """The document, in UTF-8; characters that XML 1.0 does not have are left out."""
    from xml.etree.ElementTree import Element, SubElement, indent, tostring

    root = Element("graphml", xmlns=NAMESPACE)
    for domain, fields in (("node", _NODE), ("edge", _EDGE), ("all", _BOTH)):
        for name, kind in fields.items():
            key = {"id": name, "for": domain, "attr.name": name, "attr.type": kind}
            SubElement(root, "key", key)
    graph = SubElement(root, "graph", id="knowledge", edgedefault="directed")
    places = {identity: f"n{number}" for number, identity in enumerate(region.concepts)}
    for identity, concept in region.concepts.items():
        node = SubElement(graph, "node", id=places[identity])
        _write(node, "label", concept.name)
        _write(node, "description", concept.description)
        _write(node, "state", concept.state or UNKNOWN)
        _write(node, "score", f"{region.score(identity):.9f}")
        _cite(node, concept.citations)
    for number, each in enumerate(region.relations):
        ends = {"source": places[each.start], "target": places[each.end]}
        edge = SubElement(graph, "edge", {"id": f"e{number}", **ends})
        _write(edge, "relationship_type", each.kind)
        _write(edge, "weight", str(float(max(1, len(each.citations)))))
        _cite(edge, each.citations)
    indent(root)
    document: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return document


def _cite(element: Element, citations: tuple[Citation, ...]) -> None:
    _write(element, "sources", "\n".join(each.link or each.address for each in citations))
    _write(element, "quotes", "\n".join(each.quote for each in citations))


def _write(element: Element, name: str, text: str) -> None:
    from xml.etree.ElementTree import SubElement

    if text:
        SubElement(element, "data", key=name).text = _NO_XML.sub("", visible(text))
