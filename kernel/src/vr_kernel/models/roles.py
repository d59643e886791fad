"""The models that are asked for each role, and the settings that name them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from pydantic import ValidationError

from vr_kernel.config.settings import ModelsSettings
from vr_kernel.errors import Code, VrError, did_you_mean
from vr_kernel.generation import Role, ThinkingLevel
from vr_kernel.generation.requests import THINKING_LEVELS
from vr_kernel.models.provider import ModelInfo, ModelProvider
from vr_kernel.providers import ProviderRegistry

AUTO = "auto"
GEMINI = "gemini"
HIGHEST_TEMPERATURE = 2


class ModelConfiguration:
    """The settings of `[models]` as they are now; `change` holds for later calls."""

    def __init__(self, settings: ModelsSettings) -> None:
        self.current = settings

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


@dataclass(frozen=True, slots=True)
class ProvidedModel:
    """A model and its provider.

    Args:
        provider: reaches the model.
        id: its name at the provider.
        contained: a context for its calls, which names the provider's plugin when they fail.
        role: for which it is asked.
    """

    provider: ModelProvider
    id: str
    contained: Callable[[], AbstractContextManager[None]] = field(
        default=nullcontext, compare=False
    )
    role: str = field(default="", compare=False)

    @property
    def name(self) -> str:
        """The name in configuration and results: `provider/model`."""
        return f"{self.provider.name}/{self.id}"

    def known(self) -> ModelInfo:
        """Return the model as its provider knows it.

        One that its provider does not name takes tools when all do that it names.
        """
        with self.contained():
            infos = list(self.provider.models())
        for info in infos:
            if info.name == self.id:
                return replace(info, name=self.name)
        others = [info.tools for info in infos if not info.embeds]
        return ModelInfo(self.name, tools=bool(others) and all(others))

    def require(self, role: Role, kinds: Collection[str]) -> None:
        """Refuse media that the model is known not to take.

        Raises:
            VrError: UNSUPPORTED, category MEDIA_UNSUPPORTED.
        """
        known = {info.name: info.accepts for info in self.provider.models()} if kinds else {}
        for kind in sorted(set(kinds) - known.get(self.id, frozenset(kinds))):
            raise VrError(
                f"{self.name} does not take {kind}.",
                Code.UNSUPPORTED,
                category="MEDIA_UNSUPPORTED",
                hint=f"It takes {', '.join(sorted(known[self.id]))}. Name a model that takes"
                f" {kind}: [models] {role} = ['provider/model'].",
            )


class Roles:
    """Resolves roles to models, by configuration or by what the providers suggest."""

    def __init__(self, configuration: ModelConfiguration, providers: ProviderRegistry) -> None:
        self.configuration = configuration
        self._providers = providers

    def models(
        self, role: Role, kinds: Collection[str] = (), model: str = ""
    ) -> list[ProvidedModel]:
        """The models of a role that are ready to be asked, best first; at least one.

        Args:
            role: the use of the models.
            kinds: the media that they must take, see `Media.kind`.
            model: the only one to ask, instead of the role's: `provider/model`, or a preset.

        Raises:
            VrError: AUTH when a key is missing; UNAVAILABLE when nothing serves the role;
                UNSUPPORTED, category MEDIA_UNSUPPORTED, when none takes such media;
                INVALID_INPUT for an unknown model or preset.
        """
        found: list[ProvidedModel] = []
        missing: VrError | None = None
        for each in [self._wanted(model, role)] if model else self._chosen(role):
            try:
                with each.contained():
                    each.provider.check()
                    each.require(role, kinds)
            except VrError as error:
                missing = missing or error
            else:
                found.append(replace(each, role=role))
        if not found:
            raise missing or _nobody(role)
        return found

    def names(self, role: Role, model: str = "") -> list[str]:
        """The models that would be asked now, as `provider/model`; for cache keys."""
        return [each.name for each in self.models(role, model=model)]

    def named(self, model: str) -> ProvidedModel:
        """The model of a name such as `provider/model`, or of a lone Gemini name.

        Raises:
            VrError: INVALID_INPUT, naming the nearest provider, or that the model has no name.
        """
        provider, slash, rest = model.removeprefix("models/").partition("/")
        if not slash:
            provider, rest = GEMINI, provider
        known = self._providers.names(ModelProvider)
        if provider not in known:
            raise VrError(
                f"No provider {provider!r} of models is installed, which {model!r} asks for.",
                Code.INVALID_INPUT,
                category="MODEL_UNKNOWN",
                hint=f"{did_you_mean(provider, known)}Installed: {', '.join(known) or 'none'}.",
            )
        serving, contained = self._of(provider)
        if not rest:
            with contained():
                models = ", ".join(info.name for info in serving.models() if not info.embeds)
            raise VrError(
                f"{model!r} names no model of {provider}.",
                Code.INVALID_INPUT,
                category="MODEL_UNKNOWN",
                hint=f"Known: {models or 'none'}.",
            )
        return ProvidedModel(serving, rest, contained)

    def _wanted(self, model: str, role: Role) -> ProvidedModel:
        """The model that one call wants, by its name or by that of a preset.

        Raises:
            VrError: INVALID_INPUT, naming the nearest.
        """
        if "/" in model or model.startswith(GEMINI):
            return self.named(model)
        known: list[str] = []
        for name in self._providers.names(ModelProvider):
            presets: Mapping[str, str] = {}
            with suppress(VrError):  # a provider that fails knows nothing; its log says why
                provider, contained = self._of(name)
                with contained():
                    presets = getattr(provider, "presets", lambda _role: {})(role)
                    known += [*presets, *(f"{name}/{info.name}" for info in provider.models())]
            if model in presets:
                return ProvidedModel(provider, presets[model], contained)
        raise VrError(
            f"There is no model or preset {model!r}.",
            Code.INVALID_INPUT,
            category="MODEL_UNKNOWN",
            hint=f"{did_you_mean(model, known)}Name it as provider/model.",
        )

    def _chosen(self, role: Role) -> list[ProvidedModel]:
        chosen: list[ProvidedModel] = []
        for name in self.configuration.current.models_of(role) or [AUTO]:
            chosen += self._suggested(role) if name == AUTO else [self.named(name)]
        return chosen

    def _suggested(self, role: Role) -> list[ProvidedModel]:
        found = []
        for name in self._providers.names(ModelProvider):
            try:
                provider, contained = self._of(name)
                with contained():
                    model = provider.model_for(role)
            except VrError as error:
                if error.code is not Code.INTERNAL:
                    raise
                continue  # a provider that fails suggests nothing; its log says why
            if model:
                found.append(ProvidedModel(provider, model, contained))
        return found

    def _of(self, name: str) -> tuple[ModelProvider, Callable[[], AbstractContextManager[None]]]:
        provider = self._providers.get(ModelProvider, name)
        return provider, partial(self._providers.contained, ModelProvider, name)


def _nobody(role: Role) -> VrError:
    return VrError(
        f"No model serves the role {role!r}.",
        Code.UNAVAILABLE,
        category="MODEL_UNAVAILABLE",
        hint=f"Set [models] {role} = ['provider/model'].",
    )
