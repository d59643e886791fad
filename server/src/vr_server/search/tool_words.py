"""Words of tools and of requests: phrases of authors, significant words, sentences."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Mapping
from importlib import resources
from typing import TYPE_CHECKING

from pydantic import TypeAdapter
from vr_kernel import Tool

if TYPE_CHECKING:
    from vr_kernel import Log

_WORD = re.compile(r"[^\W_]+")
_STOP = (
    "a an and any anything are as at be been by can could did do does for from give had has have"
    " how i if in into is it its let me my now of on or our please so something than that the"
    " their them then there these they this to us want was we were what when where who will with"
    " would you your"
)
_STOP_WORDS = frozenset(_STOP.split())
"""Words that say nothing about a task; among few tools they would be rare, and so count."""
_BREAK = re.compile(r"[.,;:?!]\s+")
MOST_SENTENCES = 5
PHRASES_FILE = "phrases.toml"
PhrasesByTool = Mapping[str, list[str]]


class Phrases:
    """The phrases that authors of tools expect; each package's file is read once."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._files: dict[str, PhrasesByTool] = {}

    def of(self, tool: Tool) -> list[str]:
        """Return the phrases of `@tool(words=…)` and those in `PHRASES_FILE` under the tool's name.

        The file lies in the top package of the tool's function; one that cannot be read is
        logged, and its tools are found by their names and descriptions.
        """
        package = tool.function.__module__.partition(".")[0]
        if package not in self._files:
            self._files[package] = self._read(package)
        declared = filter(None, map(str.strip, tool.words.split(";")))
        return [*declared, *self._files[package].get(tool.name, ())]

    def _read(self, package: str) -> PhrasesByTool:
        if not hasattr(sys.modules.get(package), "__path__"):
            return {}  # a single module, which has no files
        try:
            text = resources.files(package).joinpath(PHRASES_FILE).read_text("utf-8")
            return TypeAdapter(dict[str, list[str]]).validate_python(tomllib.loads(text))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            self._log.warning("phrases of tools are left out", package=package, error=str(error))
            return {}


def telling_words(request: str) -> list[str]:
    """Return the words of a request that say something about the task, each once."""
    words = dict.fromkeys(_WORD.findall(request.casefold()))
    return [word for word in words if word not in _STOP_WORDS]


def sentences(request: str) -> list[str]:
    """Split a request into itself and each part of two words or more.

    One part may name the task, others its topic. At most `MOST_SENTENCES` are returned.
    """
    parts = [part.strip() for part in _BREAK.split(request) if len(part.split()) > 1]
    return [request, *(parts if len(parts) > 1 else [])][:MOST_SENTENCES]
