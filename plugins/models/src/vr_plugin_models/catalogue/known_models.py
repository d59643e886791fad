"""Prices, windows and media of models, read from `models.json`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import date
from functools import cache
from importlib.resources import files
from typing import Any

from vr_kernel import ModelInfo, Price

from vr_plugin_models.catalogue.embedding_models import does_embed

_DEAR_PICTURES = "gpt-4o-mini"
"""Begins the names of models that count 2,833 tokens for a picture and 5,667 for each of at most
eight tiles of 512 pixels. Source: OpenAI's guide, "Images and vision"."""
_MOST_OF_A_PICTURE = 2_833 + 8 * 5_667
_SEES = re.compile(
    r"vision|\bvl\b|[-_/]vl|omni|llava|pixtral|gpt-(4o|4\.1|5|6)|claude|gemma-?[34]|minicpm-v",
    re.IGNORECASE,
)


@cache
def _file() -> Mapping[str, Any]:
    """The whole file; it never changes."""
    text = (files(__package__) / "models.json").read_text("utf-8")
    found: Mapping[str, Any] = json.loads(text)
    return found


def priced_at() -> date:
    """The day of the prices."""
    return date.fromisoformat(_file()["as_of"])


def rows_of(provider: str) -> Mapping[str, Mapping[str, Any]]:
    """The row of each model of a provider."""
    found: Mapping[str, Mapping[str, Any]] = _file()["providers"].get(provider, {})
    return found


def price_of(provider: str, model: str) -> Price | None:
    """The price of a model; None when it is not known."""
    return Price.of(rows_of(provider).get(model, {}))


def info_of(provider: str, model: str, context: int = 0) -> ModelInfo:
    """Describe a model, by its row or as its name suggests.

    Args:
        provider: its name.
        model: at the provider.
        context: its window, where the table does not know it.
    """
    row = rows_of(provider).get(model, {})
    sees = bool(row.get("images")) if row else bool(_SEES.search(model))
    embeds = bool(row.get("embeds")) if row else does_embed(model)
    return ModelInfo(
        model,
        thinking=("minimal", "low", "medium", "high") if row.get("thinks") else (),
        accepts=frozenset({"text", "image"} if sees and not embeds else {"text"}),
        embeds=embeds,
        tools=not embeds and (bool(row.get("tools")) or "tools" not in row),
        context=int(row.get("context") or context),
        output=int(row.get("output_limit") or 0),
        picture=_MOST_OF_A_PICTURE if model.startswith(_DEAR_PICTURES) else 0,
    )


def output_limit(provider: str, model: str) -> int:
    """The most tokens of an answer; 0 when that is not known."""
    return int(rows_of(provider).get(model, {}).get("output_limit") or 0)
