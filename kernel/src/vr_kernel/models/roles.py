"""The models that are asked for each role, by configuration or by what providers suggest."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from functools import partial

from vr_kernel.config.model_settings import AUTO, GEMINI, ModelConfiguration
from vr_kernel.errors import Code, VrError, did_you_mean
from vr_kernel.generation import Role
from vr_kernel.models.consent import Consent
from vr_kernel.models.provided import ProvidedModel
from vr_kernel.models.provider import ModelProvider
from vr_kernel.providers import ProviderRegistry
from vr_kernel.spending.prices import Price

EMBEDDING = " Or name a model of another provider: [models] embedding = ['provider/model']."


class Roles:
    """Resolves roles to models.

    A role is a list, tried in order. An entry is `provider/model`; the name of a provider, for the
    models that it suggests; `auto`, for every provider of the hierarchy; or a preset.
    """

    def __init__(
        self, configuration: ModelConfiguration, providers: ProviderRegistry, consent: Consent
    ) -> None:
        self.configuration = configuration
        self.consent = consent
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
                NOT_ALLOWED when the user agreed to no provider that could be asked;
                INVALID_INPUT for an unknown model or preset.
        """
        found: list[ProvidedModel] = []
        missing: VrError | None = None
        unfit: VrError | None = None
        for each in [self._wanted(model, role)] if model else self._chosen(role):
            if isinstance(each, VrError):
                missing = missing or each
                continue
            try:
                self.consent.require(each)
                with each.contained():
                    each.provider.check()
            except VrError as error:
                missing = missing or error
                continue
            try:
                each.require(role, kinds)
            except VrError as error:
                unfit = unfit or error
            else:
                own = self.configuration.current.prices
                prices = {name: Price(**price.model_dump()) for name, price in own.items()}
                found.append(replace(each, role=role, prices=prices))
        if not found:
            raise unfit or self._explained(missing, role) or _nobody(role)
        return list({each.name: each for each in found}.values())

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
        serving, contained = self._provider(provider, model)
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

    def meant(self, entry: str) -> ProvidedModel | None:
        """The model that an entry of a role means; None for the name of a provider.

        Raises:
            VrError: INVALID_INPUT, naming the nearest.
        """
        return None if entry in self.providers else self._wanted(entry, "default")

    @property
    def providers(self) -> Sequence[str]:
        """The names of all that are installed, the preferred first."""
        return self._providers.names(ModelProvider)

    def provider(self, name: str) -> ModelProvider:
        """The provider of a name.

        Raises:
            VrError: UNAVAILABLE when there is none.
        """
        return self._providers.get(ModelProvider, name)

    def plugin_of(self, name: str) -> str:
        """The plugin that has a provider."""
        return self._providers.owner_of(ModelProvider, name).plugin

    def contained(self, name: str) -> AbstractContextManager[None]:
        """A context for calls of a provider; see `ProviderRegistry.contained`."""
        return self._providers.contained(ModelProvider, name)

    def presets(self, role: Role) -> dict[str, str]:
        """The models of all presets, as `provider/model`."""
        found: dict[str, str] = {}
        for provider in self.providers:
            with suppress(VrError):  # a provider that fails has none; its log says why
                with self.contained(provider):
                    presets = _presets(self.provider(provider), role)
                for preset, model in presets.items():
                    found.setdefault(preset, f"{provider}/{model}")
        return found

    @property
    def hierarchy(self) -> Sequence[str]:
        """The providers that `auto` walks, in order.

        Raises:
            VrError: INVALID_INPUT for one that is not installed, naming the nearest.
        """
        known = self._providers.names(ModelProvider)
        chosen = self.configuration.current.hierarchy
        for name in chosen:
            if name not in known:
                raise _unknown_provider(name, name, known)
        return chosen or known

    def _explained(self, missing: VrError | None, role: Role) -> VrError | None:
        """The error of what one provider lacks, which says what else the user has."""
        if missing is not None and missing.code is Code.AUTH:
            more = EMBEDDING if role == "embedding" else self.consent.instead(self.providers)
            return missing.reworded(missing.message, missing.hint + more)
        return missing

    def _provider(
        self, name: str, asked: str
    ) -> tuple[ModelProvider, Callable[[], AbstractContextManager[None]]]:
        known = self._providers.names(ModelProvider)
        if name not in known:
            raise _unknown_provider(name, asked, known)
        return self._of(name)

    def _wanted(self, model: str, role: Role) -> ProvidedModel:
        """The model that one call wants, by its name or by that of a preset.

        Raises:
            VrError: INVALID_INPUT, naming the nearest.
        """
        if "/" in model or (model.startswith(f"{GEMINI}-") and self._preset(model, role) is None):
            return self.named(model)
        found = self._preset(model, role)
        if found is not None:
            return found
        raise VrError(
            f"There is no model or preset {model!r}.",
            Code.INVALID_INPUT,
            category="MODEL_UNKNOWN",
            hint=f"{did_you_mean(model, list(self._known_names(role)))}Name it as provider/model.",
        )

    def _preset(self, name: str, role: Role) -> ProvidedModel | None:
        """The model of a preset; None when no provider has one of that name."""
        model = self.presets(role).get(name)
        return None if model is None else self.named(model)

    def _known_names(self, role: Role) -> Iterator[str]:
        """The names of presets and models, for the nearest one."""
        yield from self.presets(role)
        for provider in self.providers:
            with suppress(VrError):
                serving, contained = self._of(provider)
                with contained():
                    yield from (f"{provider}/{info.name}" for info in serving.models())

    def _chosen(self, role: Role) -> Iterator[ProvidedModel | VrError]:
        """The models of a role, and the errors of providers that cannot be asked."""
        for name in self.configuration.current.models_of(role) or [AUTO]:
            if name == AUTO:
                for provider in self.hierarchy:
                    yield from self._suggested(provider, role)
            elif name in self._providers.names(ModelProvider):
                yield from self._suggested(name, role, alone=True)
            else:
                first = self._wanted(name, role)
                yield first
                yield from self._models_for(first.provider, first.contained, role, first.id)

    def _suggested(
        self, name: str, role: Role, *, alone: bool = False
    ) -> Iterator[ProvidedModel | VrError]:
        """The models that a provider suggests, or its error; nothing of one that is broken.

        Args:
            name: of the provider.
            role: the use of the models.
            alone: whether the provider was named: what it lacks is then an error.
        """
        try:
            provider, contained = self._of(name)
            models = list(self._models_for(provider, contained, role))
            if alone and not models:
                with contained():
                    provider.check()
        except VrError as error:
            if error.code is not Code.INTERNAL:  # of one that is broken the log says why
                yield error
        else:
            yield from models

    def _models_for(
        self,
        provider: ModelProvider,
        contained: Callable[[], AbstractContextManager[None]],
        role: Role,
        model: str = "",
    ) -> Iterator[ProvidedModel]:
        with contained():
            if models_for := getattr(provider, "models_for", None):
                names: Sequence[str] = models_for(role, model)
            else:
                names = [] if model else [provider.model_for(role) or ""]
        yield from (ProvidedModel(provider, each, contained) for each in names if each)

    def _of(self, name: str) -> tuple[ModelProvider, Callable[[], AbstractContextManager[None]]]:
        provider = self._providers.get(ModelProvider, name)
        return provider, partial(self._providers.contained, ModelProvider, name)


def _presets(provider: ModelProvider, role: Role) -> Mapping[str, str]:
    found: Mapping[str, str] = getattr(provider, "presets", lambda _role: {})(role)
    return found


def _unknown_provider(provider: str, asked: str, known: Sequence[str]) -> VrError:
    return VrError(
        f"No provider {provider!r} of models is installed, which {asked!r} asks for.",
        Code.INVALID_INPUT,
        category="MODEL_UNKNOWN",
        hint=f"{did_you_mean(provider, known)}Installed: {', '.join(known) or 'none'}.",
    )


def _nobody(role: Role) -> VrError:
    return VrError(
        f"No model serves the role {role!r}.",
        Code.UNAVAILABLE,
        category="MODEL_UNAVAILABLE",
        hint=f"Set [models] {role} = ['provider/model'].",
    )
