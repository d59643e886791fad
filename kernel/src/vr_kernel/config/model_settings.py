"""`[models]`: keys, roles, and how hard to try."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from vr_kernel.config.settings import EnvAlias, Keys, Names, Section
from vr_kernel.errors import Code, VrError, did_you_mean
from vr_kernel.generation import Role, ThinkingLevel
from vr_kernel.generation.requests import THINKING_LEVELS

AUTO = "auto"
"""The entry of a role that stands for every provider of the hierarchy."""
GEMINI = "gemini"
HIGHEST_TEMPERATURE = 2
Preset = Literal["best", "stable", "budget"]
Dollars = Annotated[float, Field(ge=0, le=1_000_000)]
"""An amount in US dollars."""


class ModelPrice(Section):
    """A price in US dollars for a million tokens, and for one search of the web."""

    input: Dollars
    output: Dollars = 0.0
    cached: Dollars | None = None
    audio: Dollars | None = None
    cached_audio: Dollars | None = None
    written: Dollars | None = None
    search: Dollars = 0.0


class ModelsSettings(Section):
    """`[models]`: keys, roles, and how hard to try. Times in seconds."""

    gemini_api_keys: Annotated[
        Keys, EnvAlias("GEMINI_API_KEYS"), EnvAlias("GEMINI_API_KEY"), EnvAlias("GOOGLE_API_KEY")
    ] = Field([], description="Keys of Gemini, used in turn.")
    gemini_base_url: Annotated[str, EnvAlias("GOOGLE_GEMINI_BASE_URL")] = Field(
        "", description="Another address of the service, such as a proxy."
    )
    gemini_api_version: str = Field(
        "v1beta", pattern=r"^v[0-9][a-z0-9]*$", description="Version of the service's interface."
    )
    gemini_model: Annotated[str, EnvAlias("GEMINI_MODEL"), EnvAlias("GOOGLE_MODEL")] = Field(
        "", description="Gemini's model for most work; empty: the preset's."
    )
    gemini_flash_model: Annotated[str, EnvAlias("GEMINI_FLASH_MODEL")] = Field(
        "", description="Gemini's model for small work; empty: the preset's."
    )
    gemini_fallback_model: Annotated[
        str, EnvAlias("GEMINI_FALLBACK_MODEL"), EnvAlias("GOOGLE_FALLBACK_MODEL")
    ] = Field("", description="Gemini's model that is asked when the first one does not answer.")
    gemini_recursive_model: Annotated[
        str, EnvAlias("GEMINI_RECURSIVE_MODEL"), EnvAlias("GOOGLE_RECURSIVE_MODEL")
    ] = Field(
        "", description="Gemini's model for parts of large questions; empty: as for small work."
    )
    preset: Preset = Field(
        "best", description="A set of Gemini's models: by quality, by rate limits, or by cost."
    )
    thinking_level: Annotated[ThinkingLevel, EnvAlias("GEMINI_THINKING_LEVEL")] = Field(
        "high", description="How hard models think when a call does not say."
    )
    temperature: Annotated[
        float,
        Field(ge=0, le=2),
        EnvAlias("GEMINI_TEMPERATURE"),
        EnvAlias("VRLMRAG_TEMPERATURE"),
    ] = Field(1.0, description="How free models choose words when a call does not say.")
    default: Names = Field(
        [], description="Models for all roles without their own, as provider/model, best first."
    )
    fast: Names = Field([], description="Models for small work.")
    deep: Names = Field([], description="Models for hard questions.")
    vision: Names = Field([], description="Models that watch videos and look at pictures.")
    embedding: Names = Field([], description="Models that turn text into vectors.")
    judge: Names = Field([], description="Models that judge answers and rank results.")
    recursive: Names = Field([], description="Models that split large questions up.")
    hierarchy: Annotated[Names, EnvAlias("PROVIDER_HIERARCHY")] = Field(
        [], description="Providers that `auto` walks, in order; empty: Gemini, then all others."
    )
    agreed: Names = Field(
        [], description="Providers that may be asked with a key found in the environment."
    )
    declined: Names = Field(
        [], description="Providers whose keys there are not to be used, nor to be asked about."
    )
    local_only: bool = Field(False, description="Ask only models on this machine.")
    provider: Annotated[str, EnvAlias("VRLMRAG_PROVIDER")] = Field(
        "", description="The provider for all roles without their own models; auto: all."
    )
    model: Annotated[str, EnvAlias("VRLMRAG_MODEL")] = Field(
        "", description="The model for them, of that provider, or as provider/model."
    )
    template: Annotated[str, EnvAlias("VRLMRAG_TEMPLATE")] = Field(
        "", description="A preset for them, such as fast-free."
    )
    attempts: Annotated[int, Field(ge=1, le=10), EnvAlias("GEMINI_RETRY_MAX_ATTEMPTS")] = Field(
        3, description="How often a request is tried."
    )
    retry_base_delay_s: Annotated[
        float, Field(gt=0, le=60), EnvAlias("GEMINI_RETRY_BASE_DELAY")
    ] = Field(1.0, description="Pause before the second try; it doubles each time.")
    retry_max_delay_s: Annotated[float, Field(gt=0, le=600), EnvAlias("GEMINI_RETRY_MAX_DELAY")] = (
        Field(60.0, description="Longest pause between two tries.")
    )
    deadline_s: float = Field(
        600,
        gt=0,
        le=86_400,
        description="For one request, all tries and waiting for its turn included.",
    )
    upload_deadline_s: float = Field(600, gt=0, le=86_400, description="For an upload to be ready.")
    concurrency: int = Field(32, ge=1, le=1000, description="Most requests at the same time.")
    context_cache_ttl_s: Annotated[float, EnvAlias("GEMINI_CONTEXT_CACHE_TTL")] = Field(
        3600,
        ge=60,
        le=604_800,
        description="How long the service keeps a video ready between questions.",
    )
    clear_context_caches: Annotated[bool, EnvAlias("CLEAR_CACHE_ON_SHUTDOWN")] = Field(
        False, description="End all of them when the program ends."
    )

    call_budget_usd: Dollars | None = Field(
        None, description="The most that one call of a tool may cost, in US dollars."
    )
    day_budget_usd: Dollars | None = Field(
        None, description="The most that all calls of a UTC day may cost together."
    )
    principal_budget_usd: Dollars | None = Field(
        None, description="The most that the calls of one principal may cost in a UTC day."
    )
    budget_ease_at: float = Field(
        0.8, gt=0, le=1, description="Part of a budget after which requests are made cheaper."
    )
    prices: dict[str, ModelPrice] = Field(
        {}, description="Prices of models, over those that are known; by provider/model."
    )

    def models_of(self, role: Role) -> list[str]:
        """The models chosen for a role, as `provider/model`, best first; empty for none."""
        chosen: list[str] = getattr(self, role)
        return chosen or ([] if role == "embedding" else self.default or self._former)

    @property
    def named_providers(self) -> frozenset[str]:
        """The providers that the user named, and so agreed to."""
        named = [*self.default, *self.fast, *self.deep, *self.vision, *self.embedding]
        named += [*self.judge, *self.recursive, *self._former, *self.hierarchy, *self.agreed]
        return frozenset(name.partition("/")[0] for name in named)

    @property
    def _former(self) -> list[str]:
        """The choice by `provider`, `model` and `template`, the names of a former system."""
        if self.template:
            return [self.template]
        provider = "" if self.provider == "auto" else self.provider
        whole = "/".join(filter(None, (provider, self.model)))
        return [whole] if whole else []


class ModelConfiguration:
    """The settings of `[models]` as they are now; `change` holds for later calls."""

    def __init__(self, settings: ModelsSettings) -> None:
        self.current = settings
        self.agreed_providers = settings.named_providers
        """Those that the user named; what a tool changes later is no agreement."""

    def change(self, **changes: Any) -> ModelsSettings:
        """Replace some settings, all or none.

        Raises:
            VrError: INVALID_INPUT when one does not fit.
        """
        merged = {name: getattr(self.current, name) for name in ModelsSettings.model_fields}
        try:
            self.current = ModelsSettings.model_validate({**merged, **changes})
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            raise VrError(
                f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}.",
                Code.INVALID_INPUT,
                hint="Nothing was changed.",
            ) from None
        return self.current

    def chosen(
        self, thinking: str | None, temperature: float | None
    ) -> tuple[ThinkingLevel, float]:
        """Return the caller's choice, or the configured one where that is None.

        Raises:
            VrError: INVALID_INPUT for an invalid level or temperature.
        """
        level = self.current.thinking_level if thinking is None else thinking
        degree = self.current.temperature if temperature is None else temperature
        for known in THINKING_LEVELS:
            if known == level and 0 <= degree <= HIGHEST_TEMPERATURE:
                return known, degree
        raise VrError(
            f"There is no thinking level {level!r} with a temperature of {degree}.",
            Code.INVALID_INPUT,
            hint=f"{'' if level in THINKING_LEVELS else did_you_mean(level, THINKING_LEVELS)}"
            f"Levels: {', '.join(THINKING_LEVELS)};"
            f" temperatures: 0 to {HIGHEST_TEMPERATURE}.",
        )
