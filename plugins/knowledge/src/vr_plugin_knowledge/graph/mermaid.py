"""A part of a graph as a Mermaid flowchart."""

from __future__ import annotations

import re

from vr_kernel import visible_line

from vr_plugin_knowledge.graph.traversal import Region

_OTHER_SIGNS = re.compile(r"[^\w ,.\-:/()']|_", re.ASCII)
_STYLES = """\
classDef know fill:#dcfce7,stroke:#16a34a,color:#14532d
classDef fuzzy fill:#fef3c7,stroke:#d97706,color:#78350f
classDef seed stroke-width:3px"""


def as_mermaid(region: Region) -> str:
    """The flowchart; recorded text cannot end a label, style anything or add a directive."""
    lines = ["flowchart LR"]
    places = {identity: f"n{number}" for number, identity in enumerate(region.concepts)}
    for identity, concept in region.concepts.items():
        lines.append(f'{places[identity]}["{_label(concept.name)}"]')
    lines += [
        f'{places[each.start]} -->|"{_label(each.kind.replace("_", " "))}"| {places[each.end]}'
        for each in region.relations
    ]
    lines += _STYLES.splitlines()
    for name in ("know", "fuzzy"):
        chosen = [places[i] for i, concept in region.concepts.items() if concept.state == name]
        lines += [f"class {','.join(chosen)} {name}"] if chosen else []
    seeds = [places[identity] for identity in region.seeds if identity in places]
    lines += [f"class {','.join(seeds)} seed"] if seeds else []
    return "\n".join(lines) + "\n"


def _label(text: str) -> str:
    """A label on one line, with characters that are special to Mermaid written by number."""
    line = visible_line(text)
    return _OTHER_SIGNS.sub(lambda sign: _coded(sign[0]), line)


def _coded(sign: str) -> str:
    return f"#{ord(sign)};" if sign.isascii() else sign
