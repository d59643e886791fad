"""Write the prices, windows and media of models, from two published price lists.

    python scripts/model_prices.py LITELLM_JSON GENAI_PRICES_FOLDER AS_OF

`LITELLM_JSON` is `model_prices_and_context_window_backup.json` of an installed `litellm`;
`GENAI_PRICES_FOLDER` is a folder in which `genai-prices` is installed. Figures are facts; they are
taken over as they stand, for the providers of the table alone.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "plugins/models/src/vr_plugin_models/catalogue/models.json"
GEMINI = ROOT / "kernel/src/vr_kernel/gemini/prices.json"
MILLION = 1_000_000
PROVIDERS = {
    "anthropic": "anthropic",
    "azure": "azure_openai",
    "cerebras": "cerebras",
    "deepseek": "deepseek",
    "fireworks_ai": "fireworks",
    "fireworks_ai-embedding-models": "fireworks",
    "groq": "groq",
    "mistral": "mistral",
    "nebius": "nebius",
    "openai": "openai",
    "sambanova": "sambanova",
    "together_ai": "together",
    "zai": "zai",
}
"""Names of the list, each with ours."""
ALSO = {"openrouter": "openrouter", "cerebras": "cerebras"}
"""Names of the second list, for what the first one lacks."""
TIERS = (128_000, 200_000, 256_000, 272_000, 512_000)


def main(litellm: Path, genai_prices: Path, as_of: str) -> None:
    """Write both files."""
    models: dict[str, dict[str, Any]] = {name: {} for name in sorted({*PROVIDERS.values()})}
    listed = json.loads(litellm.read_text("utf-8"))
    _write_gemini(listed, as_of)
    for name, row in listed.items():
        provider = PROVIDERS.get(row.get("litellm_provider", ""))
        if provider and row.get("mode") in {"chat", "embedding"} and not name.startswith("ft:"):
            models[provider][_bare(name, row["litellm_provider"])] = _known(row)
    for provider, name, row in _second(genai_prices):
        models.setdefault(provider, {}).setdefault(name, row)
    shown = {name: dict(sorted(rows.items())) for name, rows in sorted(models.items())}
    head = {"as_of": as_of, "source": "price lists of litellm and genai-prices"}
    lines = [f'"{name}": {{\n{_rows(rows)}\n}}' for name, rows in shown.items()]
    text = json.dumps(head)[:-1] + ', "providers": {\n' + ",\n".join(lines) + "\n}}\n"
    TARGET.write_text(text, "utf-8")


def _write_gemini(listed: dict[str, dict[str, Any]], as_of: str) -> None:
    """Write the prices of the kernel's own provider."""
    rows = {}
    for name, row in listed.items():
        bare = name.removeprefix("gemini/")
        if row.get("litellm_provider") == "gemini" and bare != name and _is_text(bare, row):
            rows[bare] = _priced(row)
    head = json.dumps({"as_of": as_of, "source": "price list of litellm"})[:-1]
    text = f'{head}, "models": {{\n{_rows(dict(sorted(rows.items())))}\n}}}}\n'
    GEMINI.write_text(text, "utf-8")


def _is_text(name: str, row: dict[str, Any]) -> bool:
    """Check for a model of the service; experimental ones stand in the list without a price."""
    ours = name.startswith(("gemini-", "deep-research")) and row.get("input_cost_per_token")
    return bool(ours) and row.get("mode") in {"chat", "embedding"}


def _rows(rows: dict[str, Any]) -> str:
    return ",\n".join(f"{json.dumps(name)}: {json.dumps(row)}" for name, row in rows.items())


def _bare(name: str, provider: str) -> str:
    provider = provider.removesuffix("-embedding-models")
    return name.removeprefix(f"{provider}/")


def _known(row: dict[str, Any]) -> dict[str, Any]:
    """The row of a model of the first list."""
    known = _priced(row)
    known |= {"context": row["max_input_tokens"]} if row.get("max_input_tokens") else {}
    known |= {"output_limit": row["max_output_tokens"]} if row.get("max_output_tokens") else {}
    known |= {"images": True} if row.get("supports_vision") else {}
    known |= {"pdf": True} if row.get("supports_pdf_input") else {}
    known |= {"embeds": True} if row.get("mode") == "embedding" else {}
    known |= {"tools": True} if row.get("supports_function_calling") else {}
    known |= {"thinks": True} if row.get("supports_reasoning") else {}
    return known


def _priced(row: dict[str, Any]) -> dict[str, Any]:
    """The price of a model, with that of longer requests where it has one."""
    for tier in TIERS:
        suffix = f"_above_{tier // 1000}k_tokens"
        if f"input_cost_per_token{suffix}" in row:
            return {**_price(row, ""), "above": tier, "beyond": _price(row, suffix)}
    return {**_price(row, "")}


def _price(row: dict[str, Any], suffix: str) -> dict[str, float]:
    names = {
        "input": "input_cost_per_token",
        "output": "output_cost_per_token",
        "cached": "cache_read_input_token_cost",
        "audio": "input_cost_per_audio_token",
        "cached_audio": "cache_read_input_audio_token_cost",
        "written": "cache_creation_input_token_cost",
    }
    found = {short: row.get(f"{name}{suffix}") for short, name in names.items()}
    known = {name: round(usd * MILLION, 6) for name, usd in found.items() if usd is not None}
    return known | _searches(row)


def _searches(row: dict[str, Any]) -> dict[str, Any]:
    """The price of a search of the web, where Google's list has one."""
    if row["litellm_provider"] != "gemini" or "search_context_cost_per_query" not in row:
        return {}
    usd = row["search_context_cost_per_query"]["search_context_size_medium"]
    once = {} if row.get("web_search_billing_unit") == "per_query" else {"search_once": True}
    return {"search": usd, **once}


def _second(folder: Path) -> list[tuple[str, str, dict[str, Any]]]:
    sys.path.insert(0, str(folder))
    from genai_prices import data  # type: ignore[import-not-found, unused-ignore]

    found = []
    for provider in data.providers:
        if ours := ALSO.get(provider.id):
            for model in provider.models:
                prices = model.prices[-1].prices if isinstance(model.prices, list) else model.prices
                given = {
                    "input": prices.input_mtok,
                    "output": prices.output_mtok,
                    "cached": prices.cache_read_mtok,
                }
                row = {k: float(v) for k, v in given.items() if _is_number(v)}
                row |= {"context": model.context_window} if model.context_window else {}
                found.append((ours, model.id, row))
    return found


def _is_number(value: object) -> bool:
    return value is not None and not hasattr(value, "tiers")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
