"""The Gemini models that are known, as data: what each takes, and which a preset chooses.

Sources, read on 2026-11-21: Google's page "Gemini deprecations" (copy of September 2026) for
what is served; the model list of google-genai 3.4.0 and Google Cloud's "Get started with
Gemini 4" for `gemini-4-argon`; "Thinking" and "What's new in Gemini 3.6 Flash" of the Gemini
API for thinking levels and for the sampling parameters that newer models no longer take;
"Embeddings" for how `gemini-embedding-2` is told what a text is for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from vr_kernel.config.model_settings import ModelsSettings, Preset
from vr_kernel.errors import did_you_mean
from vr_kernel.generation import Role, ThinkingLevel
from vr_kernel.generation.requests import THINKING_LEVELS
from vr_kernel.models.provider import ModelInfo, VectorInfo

SEES = frozenset({"text", "image", "audio", "video", "pdf", "youtube"})
WINDOW = 1_048_576
"""Most tokens of a request to any of them."""
LONGEST = 65_536
"""Most tokens of an answer of any of them, thinking included."""
VECTORS = VectorInfo(3072, shortens=True, items=100)
"""The vectors of the embedding models. Source: "Embeddings" of the Gemini API."""
NO_MINIMAL: tuple[ThinkingLevel, ...] = ("low", "medium", "high")
_SMALL: tuple[Role, ...] = ("fast", "recursive")
DEEP_RESEARCH = "deep-research-preview-04-2026"
"""The Deep Research agent; `deep-research-max-preview-04-2026` searches more widely."""


@dataclass(frozen=True, slots=True)
class KnownModel:
    """A model that is known.

    Args:
        info: what the kernel may ask of it.
        samples: whether it takes a temperature; newer models ignore it or refuse it.
        words: whether an embedding model is told in words what a text is for.
    """

    info: ModelInfo
    samples: bool = True
    words: bool = False


@dataclass(frozen=True, slots=True)
class Choice:
    """The models of a preset."""

    default: str
    flash: str
    embedding: str


def _sees(
    name: str, thinking: tuple[ThinkingLevel, ...], *, samples: bool = True
) -> tuple[str, KnownModel]:
    info = ModelInfo(name, thinking, SEES, tools=True, context=WINDOW, output=LONGEST)
    return name, KnownModel(info, samples=samples)


def _embeds(
    name: str, context: int, *, words: bool, accepts: frozenset[str] = frozenset({"text"})
) -> tuple[str, KnownModel]:
    info = ModelInfo(name, accepts=accepts, embeds=True, context=context, vectors=VECTORS)
    return name, KnownModel(info, words=words)


KNOWN: Mapping[str, KnownModel] = dict(
    [
        _sees("gemini-4-argon", NO_MINIMAL, samples=False),  # 2026-10
        _sees("gemini-3.8-flash", NO_MINIMAL, samples=False),  # 2026-09-02
        _sees("gemini-3.7-flash", NO_MINIMAL, samples=False),  # 2026-08-13
        _sees("gemini-3.6-flash", THINKING_LEVELS, samples=False),  # 2026-07-21
        _sees("gemini-3.5-flash-lite", THINKING_LEVELS, samples=False),  # 2026-07-21
        _sees("gemini-3.5-flash", THINKING_LEVELS),  # 2026-05-19, now answered by 3.6
        _sees("gemini-3.1-flash-lite", THINKING_LEVELS),  # 2026-05-07, until 2027-05-07
        _sees("gemini-3.1-pro-preview", NO_MINIMAL),  # 2026-02-19
        _embeds(
            "gemini-embedding-2", 8192, words=True, accepts=frozenset({"text", "image"})
        ),  # 2026-04-22
        _embeds("gemini-embedding-001", 2048, words=False),
    ]
)
PRESETS: Mapping[Preset, Choice] = {
    "best": Choice("gemini-4-argon", "gemini-3.8-flash", "gemini-embedding-2"),
    "stable": Choice("gemini-3.8-flash", "gemini-3.5-flash-lite", "gemini-embedding-2"),
    "budget": Choice("gemini-3.5-flash-lite", "gemini-3.1-flash-lite", "gemini-embedding-001"),
}


FLASH = "gemini-flash"
"""The preset of a former system; the model that it meant is no longer served."""


def presets(role: Role) -> dict[str, str]:
    """The model of each preset for a role."""
    named: dict[str, str] = {name: _of(role, choice) for name, choice in PRESETS.items()}
    return {**named, FLASH: PRESETS["best"].flash}


def suggest(role: Role, settings: ModelsSettings) -> str:
    """The model for a role: the one that is configured, else the one of the preset."""
    small = dict.fromkeys(_SMALL, settings.gemini_flash_model)
    recursive = settings.gemini_recursive_model or settings.gemini_flash_model
    configured = {"embedding": "", **small, "recursive": recursive}
    model = bare(configured.get(role, settings.gemini_model))
    return model or _of(role, PRESETS[settings.preset])


def _of(role: Role, choice: Choice) -> str:
    if role == "embedding":
        return choice.embedding
    return choice.flash if role in _SMALL else choice.default


def bare(model: str) -> str:
    """A model's name without `models/` before it, as Google's own tools write it."""
    return model.strip().removeprefix("models/")


def instead(model: str) -> str:
    """A hint that names the model nearest to one that the service does not know."""
    others = [name for name in KNOWN if name != model]
    if model not in KNOWN:
        return f"{did_you_mean(model, others)}Check the name in [models]."
    near = next(iter(get_close_matches(model, others, n=1, cutoff=0)))
    return (
        "It may have been withdrawn, or not be open to this key. Name another one in [models], or"
        f" choose another preset; {near!r} is near."
    )


def clamp(model: str, level: ThinkingLevel | None) -> tuple[ThinkingLevel | None, list[str]]:
    """The nearest thinking level that a model takes, and a note when that is another one."""
    takes = KNOWN[model].info.thinking if model in KNOWN else ()
    if level is None or not takes or level in takes:
        return level, []
    wanted = THINKING_LEVELS.index(level)
    taken = min(takes, key=lambda name: abs(THINKING_LEVELS.index(name) - wanted))
    return taken, [f"{model} does not take thinking level {level}; {taken} was used."]


def temper(model: str, temperature: float | None) -> tuple[float | None, list[str]]:
    """The temperature that a model is sent, and a note when one that matters is left out."""
    if temperature is None or model not in KNOWN or KNOWN[model].samples:
        return temperature, []
    neutral = 1.0
    notes = [] if temperature == neutral else [f"{model} takes no temperature; it was left out."]
    return None, notes
