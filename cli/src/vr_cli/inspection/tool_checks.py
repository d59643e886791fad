"""Checks of tools as a model reads them, and of commands."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from typing import Any

from vr_kernel import Command, Diagnosis, Effects, Tool, build_tool
from vr_kernel.loading import explain

from vr_cli.inspection.findings import Finding
from vr_cli.inspection.waiting_checks import check_waiting

TOKEN_LIMIT = 150
"""Tokens of one tool above which its author is warned: a client sends them with every request."""
CHARACTERS_A_TOKEN = 4
"""A common estimate for English text and JSON."""
DESCRIPTION_LENGTHS = range(12, 401)
"""Least and most characters of a good description."""
_TOOLS, _COMMANDS = "tools", "commands"
_UNSEEN = frozenset({"Cc", "Cf", "Co"})
_CHOSEN_FORMS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2}")
# Wording of poisoned descriptions that address a model, after published attacks.
_ORDERS = re.compile(
    r"</?\s*(important|system|instructions?|secret)\b[^>]*>"
    r"|\b(ignore|disregard|forget)\b.{0,20}\b(previous|prior|above|other)\b.{0,20}\binstructions?"
    r"|\b(do not|don't|never)\b.{0,20}\b(tell|mention|inform|show)\b.{0,20}\buser\b"
    r"|\bbefore (using|calling) (this|any|other|another)\b.{0,20}\btools?\b",
    re.IGNORECASE | re.DOTALL,
)


def check_tool(function: Any, plugin: str) -> Iterator[Finding]:
    """Check that a tool can be served, and that its texts suit a model."""
    try:
        tool = build_tool(function, plugin)
    except Exception as failure:  # noqa: BLE001 - annotations may do anything when they are read
        name = getattr(function, "__name__", repr(function))
        fix = "Write: @tool(effects=…) async def domain_verb(call: Call, …) -> Model."
        yield (_TOOLS, Diagnosis.fault(f"{name} cannot be served: {explain(failure)}", fix))
        return
    yield from _check_description(tool)
    yield from _check_words(tool)
    yield from _check_parameters(tool)
    yield from check_waiting(_TOOLS, tool.name, tool.function)
    if Effects.READ_ONLY in tool.effects and tool.effects & _CHANGES:
        yield (
            _TOOLS,
            Diagnosis.fault(
                f"{tool.name} says that it changes nothing, and that it does.",
                "Leave out READ_ONLY, or WRITES_LOCAL and DESTRUCTIVE.",
            ),
        )
    if (tokens := tokens_of(tool)) > TOKEN_LIMIT:
        yield (
            _TOOLS,
            Diagnosis.warning(
                f"{tool.name} costs a client about {tokens} tokens in every request.",
                f"Shorten descriptions and drop parameters: {TOKEN_LIMIT} are plenty.",
            ),
        )


def tokens_of(tool: Tool) -> int:
    """About how many tokens a model reads of a tool: name, description and input schema."""
    seen = {"name": tool.name, "description": tool.description, "inputSchema": tool.input_schema}
    return len(json.dumps(seen, ensure_ascii=False, separators=(",", ":"))) // CHARACTERS_A_TOKEN


def check_command(command: Command) -> Iterator[Finding]:
    """Check that a command's module exists; it is not imported before the command runs."""
    words = " ".join(command.path)
    module, colon, attribute = command.target.partition(":")
    try:
        found = colon and attribute and find_spec(module)
    except (ImportError, ValueError):
        found = None
    if not found:
        message = f"{words} runs {command.target!r}, which is not there."
        yield (_COMMANDS, Diagnosis.fault(message, 'Write target="package.module:attribute".'))
    if not command.help:
        yield (_COMMANDS, Diagnosis.warning(f"{words} has no help.", "Say in a line what it does."))


_CHANGES = Effects.WRITES_LOCAL | Effects.DESTRUCTIVE


def _check_description(tool: Tool) -> Iterator[Finding]:
    length = len(tool.description)
    if not length:
        fix = "Write a docstring: its first paragraph is the description."
        yield (
            _TOOLS,
            Diagnosis.warning(f"{tool.name} has no description for a model to go by.", fix),
        )
    elif length < DESCRIPTION_LENGTHS.start:
        fix = "Say in a sentence what it answers, and when to use it."
        yield (_TOOLS, Diagnosis.warning(f"{tool.name} is described in {length} characters.", fix))
    elif length not in DESCRIPTION_LENGTHS:
        fix = "Only the first paragraph is sent: move what a model need not know below it."
        yield (_TOOLS, Diagnosis.warning(f"{tool.name} is described in {length} characters.", fix))


def _check_words(tool: Tool) -> Iterator[Finding]:
    """Check for invisible characters, and for orders to the model."""
    text = f"{tool.description}\n{json.dumps(tool.input_schema, ensure_ascii=False)}"
    hidden = {c for c in text if unicodedata.category(c) in _UNSEEN and c != "\n"}
    if hidden or _CHOSEN_FORMS.search(text):
        signs = ", ".join(sorted(f"U+{ord(c):04X}" for c in hidden)) or "variation selectors"
        fix = "Take them out: clients take hidden text for an attack on the model."
        yield (
            _TOOLS,
            Diagnosis.warning(f"{tool.name} is described with signs nobody sees: {signs}.", fix),
        )
    if found := _ORDERS.search(text):
        fix = "Say what the tool does. Clients take orders in a description for an attack."
        yield (
            _TOOLS,
            Diagnosis.warning(f"{tool.name} gives the model orders: {found[0]!r:.60}.", fix),
        )


def _check_parameters(tool: Tool) -> Iterator[Finding]:
    schemas = tool.input_schema.get("properties", {})
    bare = [name for name, schema in schemas.items() if not _says_enough(tool, name, schema)]
    if bare:
        verb = "is" if len(bare) == 1 else "are"
        yield (
            _TOOLS,
            Diagnosis.warning(
                f"{tool.name} does not say what {', '.join(bare)} {verb}.",
                'Write Annotated[…, Field(description="…")], or name it in the docstring.',
            ),
        )


def _says_enough(tool: Tool, name: str, schema: Mapping[str, Any]) -> bool:
    """True for a description, a choice, a switch, or a name that other descriptions mention."""
    if "description" in schema or "enum" in schema or "$ref" in schema:
        return True
    others = tool.input_schema["properties"].values()
    texts = [tool.description, *(str(other.get("description", "")) for other in others)]
    told = set(re.findall(r"[a-z0-9]+", " ".join(texts).lower()))
    words = set(name.lower().split("_"))
    return schema.get("type") == "boolean" or bool(words & (told | {f"{word}s" for word in told}))
